"""Engines asked the same queries in turns, what their answers are worth, and the tables of it.

Turns are as long as one class of queries, so that whatever else the machine does meets all engines alike. A query's
time is the fastest of its repeats: a busy machine can only make one slower.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from engines.processes import ENGINES, BuiltIndex, EngineKind, EngineProcess, index_of
from engines.targets import target_of
from measure import percentile
from texts.flat import Exact, FlatText
from texts.queries import CLASSES, DrawnQuery

OURS, MEASURE_OF_ALL = "qix", "tantivy"
SLOW_SAMPLE = 10
"""Queries of each class that slow engines get."""
SLOW_REPEATS = 1
STATISTICS = {"mean": -1.0, "p50": 0.50, "p95": 0.95, "p99": 0.99}


@dataclass(slots=True)
class Times:
    """Nanoseconds of every repeat of every query of one class, by engine: one row a repeat."""

    rows: dict[str, list[list[int]]] = field(default_factory=dict)

    def best_us(self, engine: str) -> list[float]:
        """Each query's fastest repeat in microseconds."""
        return [min(times) / 1000 for times in zip(*self.rows[engine], strict=True)]

    def statistics(self, engine: str) -> dict[str, float]:
        """Mean and percentiles over the queries, in microseconds."""
        best = self.best_us(engine)
        return {name: sum(best) / len(best) if p < 0 else percentile(best, p) for name, p in STATISTICS.items()}

    def spread(self, engine: str) -> float:
        """The slowest repeat of all queries together, as a multiple of the fastest: how quiet the machine was."""
        totals = [sum(row) for row in self.rows[engine]]
        return max(totals) / min(totals)


@dataclass(slots=True)
class Compared:
    """One text, one k.

    Attributes:
        text_name: real, generated or a person's own.
        k: Hits of each query.
        times: By class.
        exact: Engine to (queries with the right hits, queries checked).
        wrong: The first queries of jird's index with other hits than the exhaustive scorer's.
    """

    text_name: str
    k: int
    times: dict[str, Times] = field(default_factory=dict)
    exact: dict[str, tuple[int, int]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Opened:
    """The engines of one text."""

    processes: dict[str, EngineProcess]
    built: dict[str, BuiltIndex]


def open_engines(stack: ExitStack, names: Sequence[str], text: Path, digest: str, ours: Path | None) -> Opened:
    """Build what is missing, and start a process for each engine; the stack ends them."""
    opened = Opened({}, {})
    for name in names:
        kind = ENGINES[name]
        if kind.is_ours and ours is not None:
            folder = ours
        else:
            opened.built[name] = index_of(kind, text, digest)
            folder = opened.built[name].folder
        opened.processes[name] = stack.enter_context(EngineProcess(kind, folder))
    return opened


def queries_for(kind: EngineKind, queries: Sequence[DrawnQuery]) -> list[DrawnQuery]:
    """Those of one class that an engine is asked."""
    able = [each for each in queries if each.kind in kind.kinds]
    return able[:SLOW_SAMPLE] if kind.is_slow else able


def compare(name: str, opened: Opened, queries: Sequence[DrawnQuery], k: int, repeats: int) -> Compared:
    """Ask all engines all queries in turns; a first round warms up and does not count."""
    found = Compared(name, k)
    for process in opened.processes.values():
        process.prepare(queries)
    by_class = {each: [query for query in queries if query.query_class == each] for each in CLASSES}
    for repeat in range(repeats + 1):
        for query_class, members in by_class.items():
            times = found.times.setdefault(query_class, Times())
            for engine, process in opened.processes.items():
                asked = queries_for(process.kind, members)
                if not asked or (process.kind.is_slow and repeat > SLOW_REPEATS):
                    continue
                row = process.run(asked, k)
                if repeat:
                    times.rows.setdefault(engine, []).append(row)
    return found


def check_exactness(found: Compared, opened: Opened, text: FlatText, queries: Sequence[DrawnQuery], each: int) -> None:
    """Compare hits with those of the exhaustive scorer: the first `each` queries of every class."""
    sample = [query for name in CLASSES for query in [q for q in queries if q.query_class == name][:each]]
    right: dict[str, list[Exact]] = {}
    for name, process in opened.processes.items():
        kind = process.kind
        if kind.formula not in right:
            pairs = [("or" if query.kind == "term" else query.kind, query.words) for query in sample]
            right[kind.formula] = text.score(pairs, found.k, kind.formula)
        checked = [
            (query, exact)
            for query, exact in zip(sample, right[kind.formula], strict=True)
            if query.kind in kind.checked_kinds
        ]
        if kind.is_slow:
            checked = checked[:: max(1, len(checked) // SLOW_SAMPLE)]
        hits = process.hits([query for query, _ in checked], found.k)
        verdicts = [is_right(kind, got, exact, found.k) for got, (_, exact) in zip(hits, checked, strict=True)]
        found.exact[name] = (sum(verdicts), len(verdicts))
        if kind.is_ours:
            bad = [query for good, (query, _) in zip(verdicts, checked, strict=True) if not good]
            found.wrong = [f"{query.query_class}: {' '.join(query.words)}" for query in bad[:5]]


def is_right(kind: EngineKind, got: Sequence[tuple[int, float]], exact: Exact, k: int) -> bool:
    """Whether hits are the best k. jird's must be the same documents, scores and order; of others, the scores must
    agree as far as their numbers go, and every document must be among the best or tie with the last."""
    if len(got) != min(k, exact.match_count):
        return False
    close = all(
        abs(score / kind.scale - wanted) <= kind.tolerance * abs(wanted) + 1e-12
        for (_, score), (_, wanted) in zip(got, exact.hits, strict=True)
    )
    ids = [docid for docid, _ in got]
    if kind.is_ours:
        return close and ids == [docid for docid, _ in exact.hits]
    return close and len(set(ids)) == len(ids) and all(docid in exact.near for docid in ids)


def figures_of(found: Compared) -> dict[str, float]:
    """Every number of the table under a name of its own."""
    figures: dict[str, float] = {}
    for query_class, times in found.times.items():
        base = f"{found.text_name}_k{found.k}_{query_class}"
        of_all = {engine: times.statistics(engine) for engine in times.rows}
        for engine, statistics in of_all.items():
            figures |= {f"{base}_{engine}_{name}_us": value for name, value in statistics.items()}
        if OURS in of_all and MEASURE_OF_ALL in of_all:
            for name in ("mean", "p99"):
                figures[f"{base}_part_{name}"] = of_all[OURS][name] / of_all[MEASURE_OF_ALL][name]
    for engine, (good, checked) in found.exact.items():
        figures[f"{found.text_name}_k{found.k}_exact_{engine}"] = good / checked if checked else 1.0
    return figures


def table_of(found: Compared) -> str:
    """The figures for a person."""
    lines = [
        f"\n{found.text_name} text, top {found.k}, microseconds",
        f"  {'class':<7} {'engine':<8} {'n':>4} {'mean':>9} {'p50':>9} {'p95':>9} {'p99':>9} {'spread':>6}"
        "   part of Tantivy's",
    ]
    for query_class, times in found.times.items():
        for engine in times.rows:
            row = times.statistics(engine)
            numbers = " ".join(f"{row[name]:9.1f}" for name in STATISTICS)
            count = len(times.rows[engine][0])
            verdict = _verdict(found, query_class, times, engine)
            lines.append(f"  {query_class:<7} {engine:<8} {count:>4} {numbers} {times.spread(engine):6.2f}   {verdict}")
    for engine, (good, checked) in found.exact.items():
        lines.append(f"  {engine}: {good} of {checked} checked queries give what scoring everything gives")
    lines += [f"  wrong: {query}" for query in found.wrong]
    return "\n".join(lines)


def _verdict(found: Compared, query_class: str, times: Times, engine: str) -> str:
    """An engine's part of Tantivy's time; for jird's, with what it must be and aims at."""
    if MEASURE_OF_ALL not in times.rows or engine == MEASURE_OF_ALL:
        return ""
    ours, theirs = times.statistics(engine), times.statistics(MEASURE_OF_ALL)
    mean, p99 = ours["mean"] / theirs["mean"], ours["p99"] / theirs["p99"]
    if engine != OURS:
        return f"mean {mean:.3f}, p99 {p99:.3f}"
    target = target_of(found.text_name, query_class, found.k)
    met = "aim" if mean <= target.aim_mean else "met" if mean <= target.must_mean else "NOT MET"
    said = f"mean {mean:.3f} (must {target.must_mean:.3f}, aim {target.aim_mean:.3f}: {met}), p99 {p99:.3f}"
    if target.must_p99 is None:
        return said
    return f"{said} (must {target.must_p99:.3f}: {'met' if p99 <= target.must_p99 else 'NOT MET'})"
