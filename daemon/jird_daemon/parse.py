"""The parse worker: a confined process that turns fetched bytes into documents, one at a time.

Started by the pool (extract/pool.py) with one end of a socket pair; ends when that is closed. Everything is loaded and
used once before the kernel takes away the means to load more (extract/sandbox.py).

Exit codes: 0 the pool closed the channel, 12 out of memory, 13 the confinement failed.
"""

import argparse
import gc
import os
import resource
import signal
import sys
import time
from typing import BinaryIO

from jird_daemon.child import die_with_parent, yield_to_searches
from jird_daemon.extract.charset import load_codecs
from jird_daemon.extract.document import ParseJob, ParseKind
from jird_daemon.extract.language import load_model
from jird_daemon.extract.page import parse_page
from jird_daemon.extract.probes import run_probe
from jird_daemon.extract.sandbox import SandboxError, confine
from jird_daemon.extract.wire import (
    DOCUMENT,
    EXIT_MEMORY,
    EXIT_UNCONFINED,
    FAILURE,
    HEADER,
    JOB,
    PROBE,
    READY,
    Failure,
    Parsed,
    Ready,
    decode_job,
    encode,
    frame,
)

# The probe of processor time shows the mechanism; it need not wait as long as a page may.
_PROBE_CPU_S = 0.2
_MESSAGE_CHARS_MAX = 500
# Objects made and not freed before the collector looks; a page at its limits makes fewer.
_COLLECT_EVERY = 200_000

_WARM_UP_PAGE = b"""<!doctype html><html lang=en><head><title>t &amp; t</title><base href=/b/>
<meta name=robots content="unavailable_after: Wed, 25 Jun 2081 15:00:00 PST"><meta name=date content=2020-01-01>
<script type="application/ld+json">{"datePublished": "2020\\u002d01-01T00:00:00Z"}</script></head>
<body><main role=main><h1>h</h1><p>a <a href="x?q=&uuml;">b</a> <img src=i.png srcset="a 1x, b 2x"><pre> c </pre>
<table><tr><td>d</table><time datetime="2020-01-01">e</time><p hidden style="display:none">f</body></html>"""

_WARM_UP_FEED = b"""<?xml version="1.0"?><rss><channel><item><link>https://example.org/a?b&amp;c</link>
<pubDate>Wed, 25 Jun 2081 15:00:00 GMT</pubDate></item></channel></rss>"""

# Without a table of its objects, which PDFium then finds by itself; its fonts are looked for now or never.
_WARM_UP_PDF = b"""%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R/Lang(en)/Outlines<</First 6 0 R/Last 6 0 R/Count 1>>>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>
/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(https://example.org/)>>>>]>> endobj
4 0 obj <</Length 33>> stream
BT /F 9 Tf 1 50 Td (warm up) Tj ET
endstream endobj
5 0 obj <</Type/Font/Subtype/TrueType/BaseFont/Arial>> endobj
6 0 obj <</Title(t)/Dest[3 0 R/Fit]>> endobj
7 0 obj <</Title(t)/CreationDate(D:20200101)>> endobj
trailer <</Root 1 0 R/Info 7 0 R>>"""


def main() -> int:
    """Load, confine, and answer until the channel is closed."""
    parser = argparse.ArgumentParser(prog="jird parse", description="Started by jird, never by a person.")
    parser.add_argument("--channel-fd", type=int, required=True)
    parser.add_argument("--parent-pid", type=int, required=True)
    parser.add_argument("--memory-bytes", type=int, required=True)
    parser.add_argument("--page-cpu-ms", type=int, required=True)
    arguments = parser.parse_args()
    inherited_kib = _peak_memory_kib()
    die_with_parent(arguments.parent_pid)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which stops its workers itself
    if os.nice(0) == 0:
        yield_to_searches()
    _warm_up()
    # What is loaded stays, and pages leave no cycles: looking for garbage among them would only cost time. What an
    # exception leaves is still found, now and then.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_EVERY)
    channel = os.fdopen(arguments.channel_fd, "r+b", buffering=0)
    reader = open(channel.fileno(), "rb", buffering=1 << 18, closefd=False)  # noqa: SIM115 - it lives as long as the process
    try:
        measures = confine(arguments.memory_bytes)
    except SandboxError as error:
        print(f"jird parse: cannot be confined: {error}", file=sys.stderr)
        return EXIT_UNCONFINED
    _send(channel, READY, encode(Ready(measures)))
    try:
        _serve(reader, channel, arguments.memory_bytes, arguments.page_cpu_ms / 1_000, inherited_kib)
    except MemoryError:
        os._exit(EXIT_MEMORY)
    return 0


def _warm_up() -> None:
    """Use every code path that loads something on first use."""
    load_codecs()
    load_model()
    for content_type in ("text/html", "application/xhtml+xml", "text/plain", "text/html; charset=gbk"):
        job = ParseJob("https://example.org/", _WARM_UP_PAGE, content_type, ("noindex",), ("<a>; rel=canonical",))
        encode(Parsed(parse_page(job, time.time()), 0))
        decode_job(encode(job))
    pdf = parse_page(ParseJob("https://example.org/", _WARM_UP_PDF, "application/pdf"), time.time())
    assert pdf.kind is ParseKind.DOCUMENT, pdf.message
    encode(parse_page(ParseJob("https://example.org/", _WARM_UP_FEED, "text/xml", is_sitemap=True), time.time()))


def _serve(reader: BinaryIO, channel: BinaryIO, memory_bytes: int, page_cpu_s: float, inherited_kib: int) -> None:
    while len(header := reader.read(HEADER.size)) == HEADER.size:
        size, kind = HEADER.unpack(header)
        payload = reader.read(size)
        if kind == JOB:
            # Processor time of this page alone; the signal's default action ends the process, also inside of C.
            signal.setitimer(signal.ITIMER_PROF, page_cpu_s)
            answer = _parse(payload, inherited_kib)
            signal.setitimer(signal.ITIMER_PROF, 0)
            _send(channel, *answer)
        elif kind == PROBE:
            signal.setitimer(signal.ITIMER_PROF, _PROBE_CPU_S)
            result = run_probe(payload.decode(), channel.fileno(), memory_bytes)
            signal.setitimer(signal.ITIMER_PROF, 0)
            _send(channel, PROBE, encode(result))


def _peak_memory_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _parse(payload: bytes, inherited_kib: int) -> tuple[bytes, bytes]:
    try:
        document = parse_page(decode_job(payload), time.time())
        # Linux lets the peak of the process that starts a program count for the program (getrusage(2)): no more than
        # that says nothing of this worker.
        peak_kib = _peak_memory_kib()
        return DOCUMENT, encode(Parsed(document, peak_kib if peak_kib > inherited_kib else 0))
    except MemoryError:
        raise
    except Exception as error:  # a fault of ours on one page; the pool records it, and the next page is parsed
        return FAILURE, encode(Failure(_describe(error)))


def _describe(error: Exception) -> str:
    """Give the exception and the place of its innermost frame."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f" at {os.path.basename(place.tb_frame.f_code.co_filename)}:{place.tb_lineno}" if place is not None else ""
    return f"{type(error).__name__}: {error}{where}"[:_MESSAGE_CHARS_MAX]


def _send(channel: BinaryIO, kind: bytes, payload: bytes) -> None:
    view = memoryview(frame(kind, payload))
    while view:
        view = view[channel.write(view) :]


if __name__ == "__main__":
    sys.exit(main())
