"""What fetching and parsing cost at least: a libcurl multi loop over known URLs, a Lexbor tree of each, nothing else.

The arguments are the connections and a file of URLs, one a line; the result is one line of JSON.
"""

import json
import sys
import time
from io import BytesIO
from pathlib import Path

import pycurl
from selectolax.lexbor import LexborHTMLParser

SELECT_S = 1.0


def main() -> int:
    """Fetch and print."""
    connections, file = int(sys.argv[1]), Path(sys.argv[2])
    waiting = file.read_text().split()[::-1]
    multi = pycurl.CurlMulti()
    multi.setopt(pycurl.M_MAXCONNECTS, connections)
    free = [pycurl.Curl() for _ in range(connections)]
    bodies: dict[pycurl.Curl, BytesIO] = {}
    pages, started, cpu_before = 0, time.perf_counter(), time.process_time()
    while waiting or bodies:
        while waiting and free:
            handle, body = free.pop(), BytesIO()
            handle.setopt(pycurl.URL, waiting.pop())
            handle.setopt(pycurl.WRITEFUNCTION, body.write)
            bodies[handle] = body
            multi.add_handle(handle)
        multi.perform()
        multi.poll(SELECT_S) if hasattr(multi, "poll") else multi.select(SELECT_S)
        _, done, failed = multi.info_read()
        if failed:
            raise RuntimeError(f"{len(failed)} requests failed, the first with {failed[0][2]}")
        for handle in done:
            multi.remove_handle(handle)
            root = LexborHTMLParser(bodies.pop(handle).getvalue()).root
            pages += root is not None
            free.append(handle)
    figures = {"seconds": time.perf_counter() - started, "cpu_s": time.process_time() - cpu_before}
    json.dump({"pages": pages, **figures}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
