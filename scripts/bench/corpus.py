"""Make the texts and the queries that benchmarks run on.

    corpus.py real                        pages of Debian's documentation packages (300 MB are downloaded; 10 minutes)
    corpus.py generated [--documents N]   words after Zipf and Mandelbrot, documents in random order
    corpus.py queries TEXT OUT.tsv        queries drawn from a text: id, class, words

A text has one document a line, its tokens separated by blanks. All of it lies below build/bench/data, or the folder
that JIRD_BENCH_DATA names; what is there is not made again.
"""

import argparse
import random
import sys
from pathlib import Path

from texts.flat import TextError, flatten
from texts.generated import DOCUMENTS, SEED, make_generated
from texts.place import data_folder
from texts.queries import PER_CLASS, draw_queries, write_queries
from texts.sources import generated_file, text_file


def make_real_text(arguments: argparse.Namespace) -> None:
    """Make the real text, and say what is in it."""
    from texts.real import PAGES_MIN, make_real

    folder = data_folder() / "real"
    made = make_real(
        folder, arguments.packages or Path(__file__).parent / "texts" / "packages.txt", arguments.processes
    )
    print(
        f"{folder / 'documents.txt'}: {made.documents:,} documents, {made.tokens:,} tokens, "
        f"{made.duplicates:,} duplicates left out"
    )
    if made.documents < PAGES_MIN and arguments.packages is None:
        raise TextError(f"{made.documents:,} documents; figures need {PAGES_MIN:,}: packages are missing")


def make_generated_text(arguments: argparse.Namespace) -> None:
    """Make a generated text."""
    path = generated_file(arguments.documents, arguments.seed)
    make_generated(path, arguments.documents, arguments.seed)
    print(f"{path}: {arguments.documents:,} documents, seed {arguments.seed}")


def make_queries(arguments: argparse.Namespace) -> None:
    """Draw queries from a text."""
    seed = random.randrange(1 << 31) if arguments.seed is None else arguments.seed
    queries = draw_queries(flatten(text_file(arguments.text)), seed, arguments.per_class)
    write_queries(arguments.out, queries)
    print(f"{arguments.out}: {len(queries)} queries, seed {seed}")


def main() -> int:
    """Do what the arguments say; 1 if it cannot be done, and why."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    real = commands.add_parser("real", help="text of real pages")
    real.add_argument("--packages", type=Path, help="a list of your own, one Debian package a line")
    real.add_argument("--processes", type=int, default=2, help="that read pages (default: 2)")
    real.set_defaults(make=make_real_text)
    generated = commands.add_parser("generated", help="generated text")
    generated.add_argument("--documents", type=int, default=DOCUMENTS, help=f"(default: {DOCUMENTS:,})")
    generated.add_argument("--seed", type=int, default=SEED, help=f"(default: {SEED})")
    generated.set_defaults(make=make_generated_text)
    queries = commands.add_parser("queries", help="queries of a text")
    queries.add_argument("text", help="real, generated or a file")
    queries.add_argument("out", type=Path, help="where they go")
    queries.add_argument("--seed", type=int, help="(default: drawn)")
    queries.add_argument("--per-class", type=int, default=PER_CLASS, help=f"(default: {PER_CLASS})")
    queries.set_defaults(make=make_queries)
    arguments = parser.parse_args()
    try:
        arguments.make(arguments)
    except (TextError, OSError) as error:
        print(f"corpus: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
