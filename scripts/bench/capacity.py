"""Ten million generated documents on one machine: build, open, ask.

The text comes from the generator through a pipe and is never a file. Queries of two and three words are drawn from its
first documents; each one's latency is the fastest of its repeats. Memory is RssAnon plus RssShmem of the process that
answers, after it has answered everything and checked every chunk.
"""

import argparse
import random
import sys

from engines.large import LARGE_DOCUMENTS, measure_large
from measure import report
from texts.flat import TextError

ROUNDS = 5


def main() -> int:
    """Measure and report; 1 if it cannot be done, and why."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=LARGE_DOCUMENTS, help=f"(default: {LARGE_DOCUMENTS:,})")
    parser.add_argument("--tokens", type=int, default=300, help="of a document, on average (default: 300)")
    parser.add_argument("--repeats", type=int, default=ROUNDS, help=f"of each query (default: {ROUNDS})")
    parser.add_argument("--seed", type=int, help="of text and queries (default: drawn)")
    arguments = parser.parse_args()
    seed = random.randrange(1 << 31) if arguments.seed is None else arguments.seed
    try:
        parameters, figures = measure_large(arguments.documents, arguments.tokens, seed, arguments.repeats)
    except (TextError, OSError) as error:
        print(f"capacity: {error}", file=sys.stderr)
        return 1
    report("capacity", parameters, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
