"""Queries with more words than are used (J158): one word REPEATED times, and as many different ones."""

import sys

from jird_daemon.index.query import parse_query
from jird_native import Segment, Snapshot
from measure import report
from stores.filled import COMMON, build_segment, each_us, latency_figures, scratch_folder, texts
from stores.parameters import Number, read_parameters

DOCUMENTS = 20_000
QUERY_CHARS_MAX = 1_024
"""A longer query is refused (jird's limit)."""


def main() -> int:
    """Measure and report."""
    given = read_parameters(
        __doc__, ROUNDS=Number(200, "queries of each kind"), REPEATED=Number(256, "words of a query")
    )
    count = given["REPEATED"]
    different = list(dict.fromkeys(word for text in texts(50) for word in text.split()))[:count]
    queries = {"repeated": " ".join([COMMON] * count), "different": " ".join(different)}
    figures: dict[str, float] = {}
    with scratch_folder() as folder:
        build_segment(DOCUMENTS, folder / "all.qix")
        snapshot = Snapshot([(Segment.open(folder / "all.qix"), None)])
        for name, query in queries.items():
            text = query[:QUERY_CHARS_MAX]
            tree = parse_query(text).tree
            assert tree is not None, "a query of words has a tree"
            figures |= latency_figures(f"{name}_parse", each_us(parse_query, [text] * given["ROUNDS"]))
            search_us = each_us(lambda query: snapshot.search(query, 10), [tree] * given["ROUNDS"])
            figures |= latency_figures(f"{name}_search", search_us)
    report("query-terms-bench", {**given, "documents": DOCUMENTS}, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
