"""Build the index of the real text with QIX, Tantivy and SQLite FTS5, each in a process of its own, in turns.

Documents per CPU second, peak memory (RssAnon plus RssShmem), size, and the time to open the result. The least CPU time
of the rounds counts: a busy machine can only make one slower. Reading the text is in the time of each.
"""

import argparse
import mmap
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "tests")]

from engines.environment import PACKAGES, PeersMissingError  # noqa: E402
from engines.processes import ENGINES, BuiltIndex, EngineProcess, build_index  # noqa: E402
from measure import RESULTS, report  # noqa: E402
from testkit.qix_file import SECTIONS, section  # noqa: E402
from texts.flat import TextError  # noqa: E402
from texts.sources import text_file  # noqa: E402

NAMES = ("qix", "tantivy", "sqlite")
ROUNDS = 2
OPENS = 3
"""Times that an index is opened; the fastest counts."""


def section_figures(segment: Path) -> dict[str, float]:
    """Megabytes of each section of a QIX file that has any."""
    with segment.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        places = {name: section(data, name) for name in SECTIONS}  # type: ignore[arg-type]  # a map is as good as bytes
    sizes = {name: (place.stop - place.start) / 1e6 for name, place in places.items()}
    return {f"qix_mb_{name.lower()}": size for name, size in sizes.items() if size}


@dataclass(slots=True)
class Measured:
    """All builds of one engine: what each took, the fastest opening, and sections where the file has any."""

    builds: list[BuiltIndex] = field(default_factory=list)
    open_ms: float = float("inf")
    sections: dict[str, float] = field(default_factory=dict)

    def build(self, name: str, text: Path, folder: Path) -> None:
        """Build an index once, open it several times, and take it away again."""
        with tempfile.TemporaryDirectory(dir=folder, prefix=f"{name}-") as scratch:
            self.builds.append(build_index(ENGINES[name], text, Path(scratch)))
            for _ in range(OPENS):
                with EngineProcess(ENGINES[name], Path(scratch)) as process:
                    self.open_ms = min(self.open_ms, process.open_ms)
            for segment in Path(scratch).glob("*.qix"):
                self.sections = section_figures(segment)

    @property
    def rate(self) -> float:
        """Documents per CPU second."""
        return self.builds[0].documents / min(each.cpu_s for each in self.builds)

    @property
    def size_mb(self) -> float:
        """Of the index."""
        return self.builds[-1].index_bytes / 1e6


def figures_of(measured: Mapping[str, Measured]) -> dict[str, float]:
    """The best of the rounds for each engine, and QIX's parts of Tantivy's."""
    figures: dict[str, float] = {}
    for name, each in measured.items():
        figures |= {
            f"{name}_documents_per_cpu_second": each.rate,
            f"{name}_wall_seconds": min(build.wall_s for build in each.builds),
            f"{name}_peak_memory_mb": max(build.peak_memory_bytes for build in each.builds) / 1e6,
            f"{name}_index_mb": each.size_mb,
            f"{name}_open_ms": each.open_ms,
        }
    if {"qix", "tantivy"} <= measured.keys():
        figures["rate_as_multiple_of_tantivy"] = measured["qix"].rate / measured["tantivy"].rate
        figures["size_as_part_of_tantivy"] = measured["qix"].size_mb / measured["tantivy"].size_mb
    for each in measured.values():
        figures |= each.sections
    return figures


def main() -> int:
    """Build in turns and report; 1 if something is missing, and what."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", default="real", help="real, generated or a file of tokens (default: real)")
    parser.add_argument("--engines", nargs="+", default=list(NAMES), choices=list(ENGINES))
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"builds of each (default: {ROUNDS})")
    arguments = parser.parse_args()
    measured = {name: Measured() for name in arguments.engines}
    try:
        text = text_file(arguments.text)
        RESULTS.mkdir(parents=True, exist_ok=True)
        for _ in range(max(1, arguments.rounds)):
            for name, each in measured.items():
                each.build(name, text, RESULTS)
    except (TextError, PeersMissingError, OSError) as error:
        print(f"build: {error}", file=sys.stderr)
        return 1
    documents = next(iter(measured.values())).builds[0].documents
    parameters = {
        "text": arguments.text,
        "text_mb": text.stat().st_size // 1_000_000,
        "documents": documents,
        "rounds": arguments.rounds,
        "packages": " ".join(PACKAGES),
    }
    report("build", parameters, figures_of(measured))
    return 0


if __name__ == "__main__":
    sys.exit(main())
