"""jird's C extension as a library of its own: a tokenizer, and QIX, an index with exact BM25 ranking.

    builder = SegmentBuilder()
    builder.add(DocumentInput(1, 0, 0, 0, 0, 0, ("Cats", "", "", "", "All about cats."), ()))
    builder.write("pets.qix", sync=True)                    # one immutable file
    with Segment.open("pets.qix") as segment:               # mapped, checked, never trusted
        result = Snapshot([(segment, None)]).search(Term("cats"), k=10)
        print(result.page_ids, result.scores)

A segment never changes: deleted documents are Tombstones beside it, new ones go into further segments, a Snapshot
searches several as one index, and merge_segments makes one of them. docs/library.md says more, examples/index_folder.py
is a whole program;
native/qix/qix_format.h describes the file.
"""

from jird_native.builder import FIELD_WEIGHTS, MAX_TOKENS, DocumentOrder, SegmentBuilder, merge_segments
from jird_native.control import MergeControl
from jird_native.errors import (
    FORMAT_VERSION,
    CorruptSegmentError,
    FormatVersionError,
    JirdNativeError,
    SegmentLimitError,
    StoppedError,
)
from jird_native.explanation import Explanation, NodeFacts
from jird_native.model import (
    And,
    DocumentInput,
    Field,
    Filter,
    Namespace,
    Not,
    Or,
    Phrase,
    Query,
    Term,
    phrase_of,
)
from jird_native.segment import DocumentRow, Fault, Segment, SegmentInfo
from jird_native.snapshot import TOP_K_MAX, SearchResult, Snapshot
from jird_native.text import (
    ANALYSIS_VERSION,
    TERM_CHARS_MAX,
    UNICODE_VERSION,
    Match,
    Token,
    TokenKind,
    find_terms,
    iter_tokens,
    tokenize,
)
from jird_native.tombstones import Tombstones

__all__ = [
    "ANALYSIS_VERSION",
    "FIELD_WEIGHTS",
    "FORMAT_VERSION",
    "MAX_TOKENS",
    "TERM_CHARS_MAX",
    "TOP_K_MAX",
    "UNICODE_VERSION",
    "And",
    "CorruptSegmentError",
    "DocumentInput",
    "DocumentOrder",
    "DocumentRow",
    "Explanation",
    "Fault",
    "Field",
    "Filter",
    "FormatVersionError",
    "JirdNativeError",
    "Match",
    "MergeControl",
    "Namespace",
    "NodeFacts",
    "Not",
    "Or",
    "Phrase",
    "Query",
    "SearchResult",
    "Segment",
    "SegmentBuilder",
    "SegmentInfo",
    "SegmentLimitError",
    "Snapshot",
    "StoppedError",
    "Term",
    "Token",
    "TokenKind",
    "Tombstones",
    "find_terms",
    "iter_tokens",
    "merge_segments",
    "phrase_of",
    "tokenize",
]
