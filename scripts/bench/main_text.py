"""Compare the main text of pages with what people marked: how much of it is there, and how much else.

    python scripts/bench/main_text.py PAGES [--half tune|held] [--peer]

PAGES is JSON Lines, plain or .xz, a page a line: id, html (or html_b64) and text, the main text as people marked it.
The score is the F1 of the words of both, each as often as it is there, as a mean over the pages. Rules are tuned on the
pages whose id has an even first byte of BLAKE2b-512 (`tune`), and judged by the others (`held`). `--peer` has
trafilatura read the same pages, and compares the processor time of both, too.
"""

import argparse
import base64
import json
import lzma
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path

from engines.environment import peer_python
from jird_daemon.extract.document import ParseJob
from jird_daemon.extract.main_text import main_text
from jird_daemon.extract.page import parse_page
from jird_daemon.store.text_pile import decode_pile
from measure import report

PEER = Path(__file__).with_name("engines") / "trafilatura_peer.py"
NOW_S = 1_750_000_000.0
_WORD = re.compile(r"\w+")


def main() -> int:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", type=Path, metavar="PAGES")
    parser.add_argument("--half", choices=("all", "tune", "held"), default="all", help="which pages (default: all)")
    parser.add_argument("--peer", action="store_true", help="compare with trafilatura")
    arguments = parser.parse_args()
    pages = [page for page in read_pages(arguments.pages) if arguments.half in ("all", half_of(page[0]))]
    figures = _judge("jird", pages, _read_all)
    if arguments.peer:
        figures |= _judge("trafilatura", pages, _read_by_peer)
        figures["rate_of_trafilatura"] = figures["trafilatura_cpu_ms"] / figures["jird_cpu_ms"]
    report("main-text", {"pages": len(pages), "half": arguments.half}, figures)
    return 0


def read_pages(path: Path) -> Iterator[tuple[str, str, str]]:
    """Give id, source and main text of each page."""
    data = path.read_bytes()
    for line in (lzma.decompress(data) if path.suffix == ".xz" else data).splitlines():
        page = json.loads(line)
        html = page["html"] if "html" in page else base64.b64decode(page["html_b64"]).decode("utf-8", "replace")
        yield page["id"], html, page["text"]


def half_of(page_id: str) -> str:
    """Give the half that a page belongs to."""
    return "held" if blake2b(page_id.encode()).digest()[0] % 2 else "tune"


def score(found: str, expected: str) -> tuple[float, float, float]:
    """F1, precision and recall of the words of two texts."""
    words, wanted = Counter(_WORD.findall(found.lower())), Counter(_WORD.findall(expected.lower()))
    shared = (words & wanted).total()
    if not shared:
        return 0.0, 0.0, 0.0
    precision, recall = shared / words.total(), shared / wanted.total()
    return 2 * precision * recall / (precision + recall), precision, recall


_Reader = Callable[[list[str]], tuple[list[str], float]]  # sources to texts and the processor time of all, seconds


def _judge(name: str, pages: list[tuple[str, str, str]], read: _Reader) -> dict[str, float]:
    texts, cpu_s = read([html for _, html, _ in pages])
    rows = [score(text, expected) for text, (_, _, expected) in zip(texts, pages, strict=True)]
    f1, precision, recall = (sum(column) / len(rows) for column in zip(*rows, strict=True))
    return {
        f"{name}_f1": f1, f"{name}_precision": precision, f"{name}_recall": recall,
        f"{name}_cpu_ms": 1_000 * cpu_s / len(rows),
    }  # fmt: skip


def _read_all(sources: list[str]) -> tuple[list[str], float]:
    jobs = [
        ParseJob("https://example.org/", html.encode("utf-8", "replace"), "text/html; charset=utf-8")
        for html in sources
    ]
    started = time.process_time()
    piles = [parse_page(job, NOW_S).pile_bytes for job in jobs]
    cpu_s = time.process_time() - started
    return [main_text(decode_pile(pile)) if pile else "" for pile in piles], cpu_s


def _read_by_peer(sources: list[str]) -> tuple[list[str], float]:
    done = subprocess.run(
        [str(peer_python()), str(PEER)], input=json.dumps(sources), stdout=subprocess.PIPE, text=True, check=True
    )
    answer = json.loads(done.stdout)
    return answer["texts"], answer["cpu_s"]


if __name__ == "__main__":
    sys.exit(main())
