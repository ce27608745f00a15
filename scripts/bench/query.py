"""Measure queries: against other engines (without --corpus), or jird's index alone on any text and any queries.

Without --corpus: QIX, Tantivy, bm25s and SQLite FTS5 answer the same queries in turns, on real and on generated text,
with k = 10 and 100. The seed of the queries is drawn and printed. The table says which part of Tantivy's time jird's
index takes, what it must take, and whether the hits are those that scoring every document gives.

With --corpus FILE --queries TSV --json OUT: FILE is JSON Lines (id, title, text), or, ending in .txt, one document a
line whose id is its line number from 0. A query is id, class, words, separated by tabs; its class begins with term, or,
and, or phrase. Each query runs --repeats times; the clock holds the whole call from Python, with dictionary look-up and
tie order. OUT holds engine, version, k, open_ms, ns {query: [nanoseconds a repeat]}, hits {query: [[id, score], ...]}.
"""

import argparse
import json
import random
import sys
from contextlib import ExitStack
from pathlib import Path

from engines.alone import CorpusError, build, kept_index, measure_segment
from engines.comparison import check_exactness, compare, figures_of, open_engines, table_of
from engines.environment import PACKAGES, PeersMissingError
from engines.processes import ENGINES
from measure import keep, table
from texts.flat import TextError, flatten
from texts.queries import PER_CLASS, QueryFileError, draw_queries, read_queries, write_queries
from texts.sources import TEXTS, text_file

REPEATS = 5
ENGINES_OF = {"generated": ["qix", "tantivy"]}
"""bm25s takes 19 bytes of memory a token to index (2.7 GB for 144 million), and SQLite scores every match of a word."""
CHECKED = 25
"""Queries of each class whose hits are checked: scoring everything takes a hundredth of a second a query."""


def measure_alone(arguments: argparse.Namespace) -> None:
    """Build or open, query, write the result."""
    queries = read_queries(arguments.queries)
    if arguments.index is None:
        index, figures = kept_index(arguments.corpus, arguments.tokens)
    else:
        index, figures = arguments.index, {}
        if not index.exists():
            figures = build(arguments.corpus, index, arguments.tokens)
    result = measure_segment(index, queries, arguments.k or 10, arguments.repeats, arguments.tokens)
    arguments.json.write_text(json.dumps({**result, "figures": figures}))


def compare_engines(arguments: argparse.Namespace) -> None:
    """Measure every text with every k, print the tables, keep the figures."""
    seed = random.randrange(1 << 31) if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    ks = [arguments.k] if arguments.k else [10, 100]
    figures: dict[str, float] = {}
    parameters: dict[str, object] = {
        "seed": seed,
        "queries_per_class": arguments.per_class,
        "repeats": arguments.repeats,
        "packages": " ".join(PACKAGES),
    }
    for name in arguments.text:
        engines = arguments.engines or ENGINES_OF.get(name, list(ENGINES))
        flat = flatten(path := text_file(name))
        name = name if name in TEXTS else "own"
        parameters[f"{name}_documents"] = flat.document_count
        parameters[f"{name}_tokens"] = len(flat.tokens)
        queries = draw_queries(flat, seed, arguments.per_class)
        write_queries(flat.folder / f"queries-{seed}.tsv", queries)
        with ExitStack() as stack:
            opened = open_engines(stack, engines, path, flat.digest, arguments.index)
            for engine, process in opened.processes.items():
                parameters[f"{engine}_version"] = process.version
                figures[f"{name}_{engine}_open_ms"] = process.open_ms
            for k in ks:
                found = compare(name, opened, queries, k, arguments.repeats)
                check_exactness(found, opened, flat, queries, arguments.check)
                figures |= figures_of(found)
                print(table_of(found), flush=True)
    keep("query", parameters, figures)
    print("\n" + table("parameters", parameters, {}))


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, help="hits of each query (default: 10; when comparing, 10 and 100)")
    parser.add_argument("--repeats", type=int, default=REPEATS, help=f"times that each query runs (default: {REPEATS})")
    alone = parser.add_argument_group("jird's index alone")
    alone.add_argument("--corpus", type=Path, help="text to index")
    alone.add_argument("--queries", type=Path, help="id, class, words; tabs between")
    alone.add_argument("--tokens", choices=("jird", "whitespace"), default="jird", help="what a word is")
    alone.add_argument("--json", type=Path, help="where the result goes")
    alone.add_argument("--index", type=Path, help="segment to open instead of building, or to keep; when comparing, "
                       "the folder of an index")  # fmt: skip
    peers = parser.add_argument_group("comparing")
    peers.add_argument("--text", nargs="+", default=list(TEXTS), help=f"{', '.join(TEXTS)} or a file of tokens")
    peers.add_argument(
        "--engines", nargs="+", choices=list(ENGINES), help="(default: all; on generated text qix, tantivy)"
    )
    peers.add_argument("--seed", type=int, help="of the queries (default: drawn)")
    peers.add_argument("--per-class", type=int, default=PER_CLASS, help=f"queries of a class (default: {PER_CLASS})")
    peers.add_argument("--check", type=int, default=CHECKED, help=f"of them checked (default: {CHECKED})")
    found = parser.parse_args(arguments)
    if found.corpus and not (found.queries and found.json):
        parser.error("--corpus needs --queries and --json")
    if (found.k is not None and found.k < 1) or found.repeats < 1:
        parser.error("--k and --repeats must be at least 1")
    return found


def main() -> int:
    """Measure what the arguments say; 1 if something given is not as it must be, and what."""
    arguments = parse(sys.argv[1:])
    try:
        if arguments.corpus:
            measure_alone(arguments)
        else:
            compare_engines(arguments)
    except (CorpusError, QueryFileError, TextError, PeersMissingError, OSError) as error:
        print(f"query: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
