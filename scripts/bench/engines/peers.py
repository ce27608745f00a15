"""The engines from PyPI and the standard library, with the settings under which they are fastest here.

Every one indexes the same tokens with positions (bm25s has none), in one thread, and neither stems nor drops anything.
"""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from engines.engine import Engine

WRITER_BYTES = 3_900_000_000
"""Tantivy's writer buffer with one thread: near its limit, so that the index has few segments."""
SQLITE_CACHE_KIB = 1_000_000
SQLITE_MMAP_BYTES = 8_000_000_000


class Tantivy(Engine):
    """The engine that figures are related to. It is exact in a formula that differs from jird's by the factor 2.2."""

    def __init__(self) -> None:
        import tantivy

        self._tantivy = tantivy
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("body", stored=False, tokenizer_name="blanks", index_option="position")
        schema.add_integer_field("id", stored=True, fast=True)
        self._schema = schema.build()

    def version(self) -> str:
        return f"{self._tantivy.__version__}, {self._searcher.num_segments} segments"

    def _index(self, *arguments: Any, **options: Any) -> Any:
        index = self._tantivy.Index(*arguments, **options)
        tokenizer = self._tantivy.TextAnalyzerBuilder(self._tantivy.Tokenizer.whitespace()).build()
        index.register_tokenizer("blanks", tokenizer)
        return index

    def build(self, text: Path, folder: Path) -> int:
        writer = self._index(self._schema, path=str(folder)).writer(heap_size=WRITER_BYTES, num_threads=1)
        number = -1
        with text.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                writer.add_document(self._tantivy.Document(body=line, id=number))
        writer.commit()
        writer.wait_merging_threads()
        return number + 1

    def open(self, folder: Path) -> None:
        index = self._index(self._schema, path=str(folder))
        index.reload()
        self._searcher = index.searcher()

    def prepare(self, kind: str, words: Sequence[str]) -> Any:
        query, occur = self._tantivy.Query, self._tantivy.Occur
        if kind == "phrase":
            return query.phrase_query(self._schema, "body", list(words))
        parts = [query.term_query(self._schema, "body", word) for word in words]
        how = occur.Must if kind == "and" else occur.Should
        return parts[0] if len(parts) == 1 else query.boolean_query([(how, part) for part in parts])

    def search(self, prepared: Any, k: int) -> Any:
        return self._searcher.search(prepared, k, count=False).hits

    def hits(self, found: Any) -> list[tuple[int, float]]:
        return [(self._searcher.doc(address)["id"][0], score) for score, address in found]


class SqliteFts5(Engine):
    """FTS5 without a content table, optimised to one b-tree."""

    _JOIN: ClassVar[dict[str, str]] = {"term": "", "or": " OR ", "and": " AND ", "phrase": " + "}

    def version(self) -> str:
        return sqlite3.sqlite_version

    def build(self, text: Path, folder: Path) -> int:
        database = sqlite3.connect(folder / "fts5.db")
        database.executescript(
            f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-{SQLITE_CACHE_KIB};"
            "CREATE VIRTUAL TABLE pages USING fts5(body, content='', tokenize='ascii');"
        )
        with text.open(encoding="utf-8") as lines:
            database.executemany("INSERT INTO pages(rowid, body) VALUES(?, ?)", enumerate(lines))
        database.execute("INSERT INTO pages(pages) VALUES('optimize')")
        database.commit()
        count = database.execute("SELECT count(*) FROM pages_docsize").fetchone()[0]
        database.close()
        return int(count)

    def open(self, folder: Path) -> None:
        self._database = sqlite3.connect(f"file:{folder / 'fts5.db'}?mode=ro", uri=True)
        self._database.execute(f"PRAGMA mmap_size={SQLITE_MMAP_BYTES}")
        self._database.execute(f"PRAGMA cache_size=-{SQLITE_CACHE_KIB // 2}")
        self._database.execute("SELECT count(*) FROM pages_config").fetchall()

    def prepare(self, kind: str, words: Sequence[str]) -> Any:
        return self._JOIN[kind].join(f'"{word}"' for word in words)

    def search(self, prepared: Any, k: int) -> Any:
        query = "SELECT rowid, -rank FROM pages WHERE pages MATCH ? ORDER BY rank LIMIT ?"
        return self._database.execute(query, (prepared, k)).fetchall()

    def hits(self, found: Any) -> list[tuple[int, float]]:
        return list(found)


class Bm25s(Engine):
    """Scores of every posting computed when indexing; its numba backend. It has neither conjunctions nor phrases."""

    kinds = ("term", "or")

    def version(self) -> str:
        import bm25s
        import numba

        return f"{bm25s.__version__}, numba {numba.__version__}"

    def build(self, text: Path, folder: Path) -> int:
        import bm25s

        vocabulary: dict[str, int] = {}
        documents = []
        with text.open(encoding="utf-8") as lines:
            for line in lines:
                documents.append([vocabulary.setdefault(word, len(vocabulary)) for word in line.split()])
        index = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend="numba")
        index.index((documents, vocabulary), show_progress=False)
        index.save(str(folder))
        return len(documents)

    def open(self, folder: Path) -> None:
        import bm25s

        self._index = bm25s.BM25.load(str(folder), mmap=True, load_vocab=True)
        self._index.backend = "numba"
        self._index.activate_numba_scorer()

    def prepare(self, kind: str, words: Sequence[str]) -> Any:
        vocabulary = self._index.vocab_dict
        return [[vocabulary[word] for word in words if word in vocabulary]]

    def search(self, prepared: Any, k: int) -> Any:
        return self._index.retrieve(prepared, k=k, show_progress=False, n_threads=1, sorted=True)

    def hits(self, found: Any) -> list[tuple[int, float]]:
        pairs = zip(found[0][0], found[1][0], strict=True)
        return [(int(docid), float(score)) for docid, score in pairs if score > 0]
