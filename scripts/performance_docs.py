"""Put the figures of build/bench/*.json into docs/performance.md; `make performance-docs` calls it.

The document has a pair of lines for each benchmark, and what stands between them is made:

    <!-- figures: NAME -->
    <!-- end of figures -->

A benchmark without a result file keeps the figures that are there.
"""

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent / "bench")]

from engines.comparison import OURS  # noqa: E402
from engines.targets import target_of  # noqa: E402
from measure import RESULTS, ROOT  # noqa: E402

DOCUMENT = ROOT / "docs" / "performance.md"
_BLOCK = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
_LATENCY = re.compile(r"(?P<text>\w+?)_k(?P<k>\d+)_(?P<class>[a-z0-9]+)_(?P<engine>[a-z0-9]+)_mean_us")
_ENGINE = re.compile(r"(?P<engine>[a-z0-9]+)_documents_per_cpu_second")
_STATISTICS = ("mean", "p50", "p95", "p99")


class ResultError(Exception):
    """A result file is not what benchmarks write; the message names it."""


@dataclass(frozen=True, slots=True)
class Result:
    """One result file."""

    name: str
    parameters: Mapping[str, object]
    figures: Mapping[str, float]
    commit: str
    machine: str


def read_result(path: Path) -> Result:
    """Read what measure.keep wrote.

    Raises:
        ResultError: It is something else.
    """
    try:
        return Result(**json.loads(path.read_text()))
    except (ValueError, TypeError) as error:
        raise ResultError(f"{path}: {error}") from error


def number(value: float) -> str:
    """A figure with as many digits as mean something."""
    if isinstance(value, int) or abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.3f}" if abs(value) < 1 else f"{value:.1f}"


def row(*cells: str) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"


def head(*cells: str) -> list[str]:
    """The first two lines of a table."""
    return [row(*cells), row(*("---" for _ in cells))]


def query_tables(result: Result) -> list[str]:
    """A table for each text and k: latencies of every engine, and jird's part of Tantivy's with what it must be."""
    found = [match.groupdict() for match in map(_LATENCY.fullmatch, result.figures) if match]
    lines: list[str] = []
    for text, k in dict.fromkeys((each["text"], int(each["k"])) for each in found):
        mine = [each for each in found if (each["text"], int(each["k"])) == (text, k)]
        engines = list(dict.fromkeys(each["engine"] for each in mine))
        documents = result.parameters.get(f"{text}_documents", "")
        lines += [f"{text.capitalize()} text, {documents:,} documents, top {k}; {' / '.join(_STATISTICS)} in µs:", ""]
        lines += head("class", *engines, "mean, part of Tantivy's", "must", "aim", "p99, part", "must")
        for query_class in dict.fromkeys(each["class"] for each in mine):
            base = f"{text}_k{k}_{query_class}"
            cells = [_latencies(result.figures, f"{base}_{engine}") for engine in engines]
            lines.append(row(query_class, *cells, *_parts(result.figures, base, text, query_class, k)))
        checked = [
            f"{engine} {100 * result.figures[f'{text}_k{k}_exact_{engine}']:.1f} %"
            for engine in engines
            if f"{text}_k{k}_exact_{engine}" in result.figures
        ]
        lines += ["", f"Checked queries with exactly the hits of scoring everything: {', '.join(checked)}."]
        lines += [_losses(result.figures, f"{text}_k{k}", mine), ""]
    return lines


def _losses(figures: Mapping[str, float], base: str, found: Sequence[Mapping[str, str]]) -> str:
    """Where another engine's mean is lower than jird's."""
    means = {
        (each["class"], each["engine"]): figures[f"{base}_{each['class']}_{each['engine']}_mean_us"] for each in found
    }
    lost = [
        f"{engine} in {query_class} ({means[query_class, OURS] / mean:.2f} times its mean)"
        for (query_class, engine), mean in means.items()
        if engine != OURS and means.get((query_class, OURS), 0.0) > mean
    ]
    return f"jird is slower than {', '.join(lost)}." if lost else "jird has the lowest mean in every class."


def _latencies(figures: Mapping[str, float], base: str) -> str:
    values = [figures.get(f"{base}_{name}_us") for name in _STATISTICS]
    return " / ".join("-" if value is None else number(value) for value in values) if values[0] is not None else "-"


def _parts(figures: Mapping[str, float], base: str, text: str, query_class: str, k: int) -> list[str]:
    if f"{base}_part_mean" not in figures:
        return ["-"] * 5
    target, mean, p99 = target_of(text, query_class, k), figures[f"{base}_part_mean"], figures[f"{base}_part_p99"]
    limit = "-" if target.must_p99 is None else f"{target.must_p99:.3f}"
    return [_bold_if(mean > target.must_mean, mean), f"{target.must_mean:.3f}", f"{target.aim_mean:.3f}",
            _bold_if(target.must_p99 is not None and p99 > target.must_p99, p99), limit]  # fmt: skip


def _bold_if(is_missed: bool, value: float) -> str:
    """What is not reached is set in bold."""
    return f"**{value:.3f}**" if is_missed else f"{value:.3f}"


def build_table(result: Result) -> list[str]:
    """One line an engine, then the sections of jird's file."""
    lines = head("engine", "documents per CPU second", "peak memory MB", "index MB", "open ms")
    for match in filter(None, map(_ENGINE.fullmatch, result.figures)):
        name = match["engine"]
        kinds = ("documents_per_cpu_second", "peak_memory_mb", "index_mb", "open_ms")
        lines.append(row(name, *(number(result.figures[f"{name}_{kind}"]) for kind in kinds)))
    rest = {name: value for name, value in result.figures.items() if name.startswith(("rate_", "size_", "qix_mb_"))}
    return [*lines, "", *figure_table(rest)]


def figure_table(figures: Mapping[str, float]) -> list[str]:
    """One line a figure."""
    return [*head("figure", "value"), *(row(name, number(value)) for name, value in figures.items())]


def render(result: Result) -> str:
    """The block of one benchmark."""
    makers = {"query": query_tables, "build": build_table}
    lines = makers[result.name](result) if result.name in makers else figure_table(result.figures)
    parameters = ", ".join(f"{name} {value}" for name, value in result.parameters.items())
    return "\n".join(["", *lines, "", f"Commit {result.commit}; {result.machine}; {parameters}.", ""]).replace(
        "\n\n\n", "\n\n"
    )


def fill_in(text: str, results: Mapping[str, Result]) -> str:
    """The document with the figures of those benchmarks that have a result."""

    def block(match: re.Match[str]) -> str:
        result = results.get(match[2])
        return match[0] if result is None else f"{match[1]}{render(result)}\n{match[3]}"

    return _BLOCK.sub(block, text)


def main() -> int:
    """Fill the document in; 1 if a result file is unusable."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--document", type=Path, default=DOCUMENT, help="(default: docs/performance.md)")
    document: Path = parser.parse_args().document
    text = document.read_text(encoding="utf-8")
    names = [match[2] for match in _BLOCK.finditer(text)]
    try:
        paths = {name: RESULTS / f"{name}.json" for name in names}
        results = {name: read_result(path) for name, path in paths.items() if path.exists()}
    except ResultError as error:
        print(f"performance_docs: {error}", file=sys.stderr)
        return 1
    document.write_text(fill_in(text, results), encoding="utf-8")
    print(f"{document}: {len(results)} of {len(names)} benchmarks have figures of {RESULTS}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
