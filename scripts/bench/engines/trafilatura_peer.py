"""Read pages with trafilatura, in the benchmarks' own environment: a JSON array of sources in, texts and time out."""

import json
import sys
import time

import trafilatura


def main() -> int:
    """Read the pages of standard input; the processor time is that of reading alone."""
    sources = json.load(sys.stdin)
    started = time.process_time()
    texts = [trafilatura.extract(html, include_comments=False) or "" for html in sources]
    json.dump({"texts": texts, "cpu_s": time.process_time() - started}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
