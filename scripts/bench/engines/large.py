"""An index of more text than anyone has on a disk: built from the generator's pipe, then asked."""

import subprocess
import tempfile
from pathlib import Path

from engines.processes import ENGINES, BuiltIndex, EngineProcess, build_index
from measure import RESULTS, percentile
from texts.flat import FlatText, TextError, flatten
from texts.generated import generator, make_generated
from texts.queries import DrawnQuery, draw_queries

LARGE_DOCUMENTS = 10_000_000
SAMPLE_DOCUMENTS = 100_000
"""The first documents, from which queries are drawn: enough to tell a common word from a rare one."""
PER_CLASS = 100
CLASSES = {"or2": (2, 2), "or3": (3, 3), "and2": (2, 2), "and3": (3, 3)}
K = 10


def measure_large(documents: int, tokens: int, seed: int, repeats: int) -> tuple[dict[str, object], dict[str, float]]:
    """Build an index of so many generated documents, open it and ask it; gives parameters and figures.

    Raises:
        TextError: A number is out of range.
    """
    command = generator(documents, seed, tokens)
    RESULTS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=RESULTS, prefix="large-") as scratch:
        folder = Path(scratch)
        queries = draw_queries(
            _sample(folder, min(documents, SAMPLE_DOCUMENTS), seed, tokens), seed, PER_CLASS, CLASSES
        )
        (folder / "index").mkdir()
        with subprocess.Popen(command, stdout=subprocess.PIPE) as source:
            built = build_index(
                ENGINES["qix"], Path(f"{documents} generated documents"), folder / "index", source.stdout
            )
        if source.returncode:
            raise TextError(f"the generator ended with {source.returncode}")
        figures = _build_figures(built) | _query_figures(folder / "index", queries, repeats)
    parameters: dict[str, object] = {"documents": documents, "tokens_each": tokens, "seed": seed, "k": K}
    return parameters | {"queries_per_class": PER_CLASS, "repeats": repeats}, figures


def _sample(folder: Path, documents: int, seed: int, tokens: int) -> FlatText:
    """Arrays of the first documents."""
    path = folder / "sample.txt"
    make_generated(path, documents, seed, tokens)
    return flatten(path, folder / "flat")


def _build_figures(built: BuiltIndex) -> dict[str, float]:
    return {
        "build_wall_s": built.wall_s,
        "build_cpu_s": built.cpu_s,
        "documents_per_cpu_second": built.documents / built.cpu_s,
        "build_peak_memory_mb": built.peak_memory_bytes / 1e6,
        "index_mb": built.index_bytes / 1e6,
    }


def _query_figures(folder: Path, queries: list[DrawnQuery], repeats: int) -> dict[str, float]:
    """Time to open, latencies by class and of all, memory at the end."""
    with EngineProcess(ENGINES["qix"], folder) as process:
        figures = {"open_ms": process.open_ms}
        process.prepare(queries)
        first = process.run(queries, K)
        rows = [process.run(queries, K) for _ in range(repeats)]
        best = [min(times) / 1e6 for times in zip(*rows, strict=True)]
        for name in CLASSES:
            of_class = [ms for ms, query in zip(best, queries, strict=True) if query.query_class == name]
            figures |= {f"{name}_p50_ms": percentile(of_class, 0.5), f"{name}_p99_ms": percentile(of_class, 0.99)}
        figures |= {"p50_ms": percentile(best, 0.5), "p99_ms": percentile(best, 0.99)}
        figures |= {"first_time_p99_ms": percentile([ns / 1e6 for ns in first], 0.99)}
        figures["anonymous_memory_mb"] = process.memory_bytes / 1e6
    return figures
