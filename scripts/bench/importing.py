"""Import and export real documentation with jirdctl: from the command until all of it can be found, or is on the disk.

The pages of build/docs become JSON Lines, once with their text as jird itself reads it and once with their source; each
file is imported into a daemon of its own, by the program that a person uses. Afterwards the same file is imported
again, and everything is exported in both formats, and the WARC is imported.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "tests")]

from extraction import NOW_S, load_jobs  # noqa: E402
from jird_daemon.extract.document import ParseJob  # noqa: E402
from jird_daemon.extract.page import parse_page  # noqa: E402
from jird_daemon.store.text_pile import decode_pile  # noqa: E402
from measure import ROOT, report  # noqa: E402
from testkit.daemon import Daemon  # noqa: E402

_encode = msgspec.json.Encoder().encode


def main() -> int:
    """Run it once and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2, help="parse workers (default: 2)")
    parser.add_argument("--pages", type=int, default=0, help="a sample of so many pages; 0 takes all (default)")
    args = parser.parse_args()
    jobs = load_jobs(args.pages, 0)
    work = Path(tempfile.mkdtemp(prefix="import-", dir=ROOT / "build"))
    try:
        figures = measure(work, jobs, args.workers)
    finally:
        shutil.rmtree(work)
    mean_bytes = sum(len(job.body) for job in jobs) // len(jobs)
    report("importing", {"documents": len(jobs), "mean_bytes": mean_bytes, "workers": args.workers}, figures)
    return 0


def measure(work: Path, jobs: list[ParseJob], workers: int) -> dict[str, float]:
    """Documents a second of each step."""
    text, html, warc = work / "text.jsonl", work / "html.jsonl", work / "pages.warc.gz"
    text.write_bytes(b"\n".join(map(text_line, jobs)))
    html.write_bytes(b"\n".join(map(html_line, jobs)))
    settings = {"crawl": {"workers": workers}}
    figures: dict[str, float] = {}
    with Daemon(work / "text", settings) as daemon:
        figures["text_per_second"] = len(jobs) / timed(daemon, "import", str(text))
        figures["again_per_second"] = len(jobs) / timed(daemon, "import", str(text))
        figures["export_jsonl_per_second"] = len(jobs) / timed(daemon, "export", "-o", str(work / "out.jsonl"))
    with Daemon(work / "html", settings) as daemon:
        figures["html_per_second"] = len(jobs) / timed(daemon, "import", str(html))
        figures["export_warc_per_second"] = len(jobs) / timed(daemon, "export", "-o", str(warc))
    with Daemon(work / "warc", settings) as daemon:
        figures["warc_per_second"] = len(jobs) / timed(daemon, "import", str(warc))
    return figures


def timed(daemon: Daemon, *arguments: str) -> float:
    """Seconds that a command takes, the start of the program included."""
    command = [sys.executable, "-m", "jird_cli", "--run-dir", str(daemon.run_dir), *arguments]
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


def text_line(job: ParseJob) -> bytes:
    """A page as who has only its text would write it."""
    document = parse_page(job, NOW_S)
    text = decode_pile(document.pile_bytes).text
    return _encode({"url": job.url, "title": document.title, "text": text, "language": document.language})


def html_line(job: ParseJob) -> bytes:
    """A page with its source."""
    return _encode({"url": job.url, "html": job.body.decode("utf-8", "replace")})


if __name__ == "__main__":
    sys.exit(main())
