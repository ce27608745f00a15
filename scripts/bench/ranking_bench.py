"""The best LIMIT of N documents, ROUNDS times, for queries of one word, two words and a phrase."""

import random
import sys

from jird_native import Or, Query, Segment, Snapshot, Term, phrase_of
from measure import report
from stores.filled import build_segment, each_us, latency_figures, scratch_folder, texts
from stores.parameters import Number, read_parameters


def draw(kind: str, words: list[str], chance: random.Random) -> Query:
    """A query from a document's words."""
    if kind == "word":
        return Term(chance.choice(words))
    at = chance.randrange(len(words) - 1)
    return phrase_of(words[at : at + 2]) if kind == "phrase" else Or(tuple(map(Term, chance.sample(words, 2))))


def main() -> int:
    """Measure and report."""
    given = read_parameters(
        __doc__, N=Number(100_000, "documents"), ROUNDS=Number(1_000, "of each kind"), LIMIT=Number(20, "hits")
    )
    chance = random.Random(1)
    lines = [text.split() for text in texts(given["ROUNDS"])]
    figures: dict[str, float] = {}
    with scratch_folder() as folder:
        build_segment(given["N"], folder / "all.qix")
        snapshot = Snapshot([(Segment.open(folder / "all.qix"), None)])
        for kind in ("word", "two_words", "phrase"):
            queries = [draw(kind, words, chance) for words in lines]
            for query in queries:  # every chunk is checked and every page mapped before the clock runs
                snapshot.search(query, given["LIMIT"])
            us = each_us(lambda query: snapshot.search(query, given["LIMIT"]), queries)
            figures |= latency_figures(kind, us)
    report("ranking-bench", given, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
