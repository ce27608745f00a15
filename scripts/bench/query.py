"""Measure jird's index on any text and any queries, so that results can be compared with other engines from outside.

The corpus is JSON Lines (id, title, text), or, ending in .txt, one document a line whose id is its line number from 0.
A query is id, class, words, separated by tabs; its class begins with term, or, and, or phrase. Each query runs
--repeats times; the clock holds the whole call from Python, with dictionary look-up and tie order.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jird_native import (
    And,
    DocumentInput,
    DocumentOrder,
    Or,
    Query,
    Segment,
    SegmentBuilder,
    Snapshot,
    Term,
    merge_segments,
    phrase_of,
    tokenize,
)

MEMORY_BYTES = 400_000_000
"""A segment is written when the builder has this much; all are merged at the end."""
MAX_TOKENS = 1_000_000
"""Longer documents than jird's own limit, so that every engine indexes the same tokens."""


def read_corpus(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield (id, title, text) of each document."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if path.suffix == ".txt":
                yield number, "", line
            else:
                row = json.loads(line)
                yield int(row["id"]), row.get("title", ""), row.get("text", "")


def add(builder: SegmentBuilder, page_id: int, title: str, text: str, tokens: str) -> None:
    """Add one document; with whitespace tokens, title and text count alike."""
    if tokens == "whitespace":
        builder.add_terms(page_id, f"{title} {text}".encode())
    else:
        builder.add(DocumentInput(page_id, 0, 0, 0, 0, 0, (title, "", "", "", text), ()))


def build(corpus: Path, folder: Path, tokens: str) -> tuple[Path, dict[str, float]]:
    """Build one segment; gives its path and what it took."""
    cpu, wall = time.process_time(), time.perf_counter()
    parts: list[Path] = []
    builder, documents = SegmentBuilder(max_tokens=MAX_TOKENS), 0

    def seal() -> None:
        parts.append(folder / f"{len(parts)}.qix")
        builder.write(parts[-1], sync=False, order=DocumentOrder.GIVEN)

    for identity, title, text in read_corpus(corpus):
        add(builder, identity + 1, title, text, tokens)  # page ids begin at 1
        documents += 1
        if builder.memory_bytes > MEMORY_BYTES:
            seal()
            builder = SegmentBuilder(max_tokens=MAX_TOKENS)
    seal()
    if len(parts) > 1:
        segments = [(Segment.open(part), None) for part in parts]
        parts.append(folder / "merged.qix")
        merge_segments(segments, parts[-1], sync=False, order=DocumentOrder.GIVEN)
    figures = {"documents": documents, "bytes": parts[-1].stat().st_size}
    return parts[-1], figures | {
        "build_cpu_s": time.process_time() - cpu,
        "build_wall_s": time.perf_counter() - wall,
    }


def query_of(kind: str, words: str, tokens: str) -> Query:
    """The query tree of one line."""
    terms = words.split() if tokens == "whitespace" else [token.term for token in tokenize(words) if token.primary]
    if kind.startswith("phrase"):
        return phrase_of(terms)
    if kind.startswith("term") or len(terms) == 1:
        return Term(terms[0])
    children = tuple(Term(term) for term in terms)
    return And(children) if kind.startswith("and") else Or(children)


def run(snapshot: Snapshot, queries: Path, k: int, repeats: int, tokens: str) -> dict[str, Any]:
    """Run every query; gives nanoseconds of each repeat, and the hits of the first."""
    ns: dict[str, list[int]] = {}
    hits: dict[str, list[tuple[int, float]]] = {}
    for line in queries.read_text(encoding="utf-8").splitlines():
        identity, kind, words = line.split("\t")
        query = query_of(kind, words, tokens)
        result = snapshot.search(query, k)
        hits[identity] = [(page - 1, score) for page, score in zip(result.page_ids, result.scores, strict=True)]
        ns[identity] = []
        for _ in range(repeats):
            start = time.perf_counter_ns()
            snapshot.search(query, k)
            ns[identity].append(time.perf_counter_ns() - start)
    return {"ns": ns, "hits": hits}


def main() -> None:
    """Build or open, query, write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--queries", type=Path, required=True, help="id, class, words; tabs between")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tokens", choices=("jird", "whitespace"), default="jird")
    parser.add_argument("--json", type=Path, required=True, help="where the result goes")
    parser.add_argument("--index", type=Path, help="segment to open instead of building, or to keep")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.json.parent) as scratch:
        index: Path | None = arguments.index
        figures: dict[str, float] = {}
        if index is None or not index.exists():
            built, figures = build(arguments.corpus, Path(scratch), arguments.tokens)
            index = built.rename(index) if index else built
        start = time.perf_counter_ns()
        segment = Segment.open(index)
        snapshot = Snapshot([(segment, None)])
        open_ms = (time.perf_counter_ns() - start) / 1e6
        segment.check_chunks(0, segment.info.chunk_count)
        measured = run(snapshot, arguments.queries, arguments.k, arguments.repeats, arguments.tokens)
        result = {"engine": "qix", "version": "4", "k": arguments.k, "open_ms": open_ms, **measured, "figures": figures}
        arguments.json.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
