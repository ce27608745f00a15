"""jird's index measured alone, on any text and any queries, for those who compare engines from outside.

The corpus is JSON Lines (id, title, text), or, ending in .txt, one document a line whose id is its line number from 0.
"""

import gc
import json
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from engines.qix import build_lines, extension_stamp, new_builder, query_tree
from jird_native import FORMAT_VERSION, DocumentInput, DocumentOrder, Query, Segment, Snapshot, tokenize
from measure import RESULTS
from texts.place import file_digest
from texts.queries import kind_of

_BLANKS = re.compile(r"[ \t\r\n]+")
"""What separates tokens in SegmentBuilder.add_terms, and no other white space."""


class CorpusError(Exception):
    """A corpus cannot be read; the message names the line."""


def read_corpus(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield (id, title, text) of each document.

    Raises:
        CorpusError: An id is missing, negative or there twice, or a line is no JSON object with strings.
    """
    seen = set[int]()
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if path.suffix == ".txt":
                yield number - 1, "", line
                continue
            try:
                row = _row(line)
                if row[0] in seen:
                    raise ValueError(f"id {row[0]} is there twice")
            except (ValueError, TypeError) as error:
                raise CorpusError(f"{path}:{number}: {error}") from error
            seen.add(row[0])
            yield row


def _row(line: str) -> tuple[int, str, str]:
    """One document of JSON Lines."""
    row = json.loads(line)
    if not isinstance(row, dict) or "id" not in row:
        raise ValueError("a line must be an object with id, title and text")
    identity, title, text = int(row["id"]), row.get("title", ""), row.get("text", "")
    if identity < 0 or not isinstance(title, str) or not isinstance(text, str):
        raise ValueError("id must be a number from 0, title and text must be strings")
    return identity, title, text


def build(corpus: Path, target: Path, tokens: str) -> dict[str, float]:
    """Build one segment at `target`; gives what it took. With whitespace tokens, title and text count alike.

    Raises:
        CorpusError: The corpus is not what it must be.
    """
    cpu, wall = time.process_time(), time.perf_counter()
    if tokens == "whitespace" and corpus.suffix == ".txt":
        with corpus.open("rb") as lines:
            documents = build_lines(lines, target)
    else:
        documents = _build_rows(corpus, target, tokens)
    if documents == 0:
        target.unlink()
        raise CorpusError(f"{corpus}: no documents")
    return {
        "documents": documents,
        "bytes": target.stat().st_size,
        "build_cpu_s": time.process_time() - cpu,
        "build_wall_s": time.perf_counter() - wall,
    }


def _build_rows(corpus: Path, target: Path, tokens: str) -> int:
    builder = new_builder(target)
    for identity, title, text in read_corpus(corpus):
        page_id = identity + 1  # page ids begin at 1
        if tokens == "whitespace":
            builder.add_terms(page_id, f"{title} {text}".encode("utf-8", "replace"))
        else:
            builder.add(DocumentInput(page_id, 0, 0, 0, 0, 0, (title, "", "", "", text), ()))
    builder.write(target, sync=False, order=DocumentOrder.GIVEN)
    return builder.doc_count


def kept_index(corpus: Path, tokens: str) -> tuple[Path, dict[str, float]]:
    """The segment of a corpus, and what building it took; made unless there is one of the same bytes and extension.

    Raises:
        CorpusError: The corpus is not what it must be.
    """
    stamp = extension_stamp()
    above = RESULTS / "indexes" / "alone"
    folder = above / f"{file_digest(corpus)}-{corpus.suffix.strip('.')}-{tokens}-{stamp}"
    record = folder / "built.json"
    if not record.exists():
        for old in above.glob("*"):
            if not old.name.endswith(f"-{stamp}"):
                shutil.rmtree(old)  # of an extension that is no longer here
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        record.write_text(json.dumps(build(corpus, folder / "corpus.qix", tokens)))
    figures: dict[str, float] = json.loads(record.read_text())
    return folder / "corpus.qix", figures


def _terms_of(words: str) -> list[str]:
    return [token.term for token in tokenize(words) if token.primary]


def query_of(query_class: str, words: str, tokens: str) -> Query | None:
    """The query tree of one line; None if nothing in it is a word."""
    terms = _BLANKS.split(words.strip(" \t\r\n")) if tokens == "whitespace" else _terms_of(words)
    return query_tree(kind_of(query_class), terms) if terms else None


def run(
    snapshot: Snapshot, queries: Sequence[tuple[str, Query | None]], k: int, repeats: int
) -> tuple[dict[str, list[int]], dict[str, list[tuple[int, float]]]]:
    """Run every query once to see its hits, then all of them `repeats` times; gives nanoseconds of each, and hits.

    The clock holds the whole call from Python: look-up in the dictionary, scoring, order, and the result's lists.
    """
    ns: dict[str, list[int]] = {identity: [] for identity, _ in queries}
    hits: dict[str, list[tuple[int, float]]] = {}
    search, clock = snapshot.search, time.perf_counter_ns
    for identity, query in queries:
        hits[identity] = []
        if query is not None:
            found = search(query, k)
            hits[identity] = [(page - 1, score) for page, score in zip(found.page_ids, found.scores, strict=True)]
    for identity, query in queries:
        if query is None:
            ns[identity] = [0] * repeats  # nothing is asked
    runs = [(query, ns[identity].append) for identity, query in queries if query is not None]
    gc.collect()
    gc.disable()
    for _ in range(repeats):
        for query, note in runs:
            start = clock()
            search(query, k)
            note(clock() - start)
    gc.enable()
    return ns, hits


def measure_segment(
    path: Path, queries: Sequence[tuple[str, str, str]], k: int, repeats: int, tokens: str
) -> dict[str, Any]:
    """Open a segment and ask it everything; gives the result file's contents."""
    trees = [(identity, query_of(query_class, words, tokens)) for identity, query_class, words in queries]
    start = time.perf_counter_ns()
    segment = Segment.open(path)
    snapshot = Snapshot([(segment, None)])
    open_ms = (time.perf_counter_ns() - start) / 1e6
    segment.check_chunks(0, segment.info.chunk_count)
    ns, hits = run(snapshot, trees, k, repeats)
    return {"engine": "qix", "version": str(FORMAT_VERSION), "k": k, "open_ms": open_ms, "ns": ns, "hits": hits}
