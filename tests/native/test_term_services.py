"""What the dictionary answers by itself: the commonest terms with a prefix, and terms near a mistyped word."""

from pathlib import Path
from random import Random

import pytest

from jird_native import DocumentInput, Namespace, Segment, SegmentBuilder


def built(path: Path, *bodies: str, max_tokens: int = 50_000) -> Segment:
    builder = SegmentBuilder(max_tokens=max_tokens)
    for page_id, body in enumerate(bodies, start=1):
        builder.add(DocumentInput(page_id, 0, 0, 0, 0, 0, ("", "", "", "", body), ()))
    builder.write(path, sync=False)
    return Segment.open(path)


def edits_between(a: str, b: str) -> int:
    """Optimal string alignment, by its definition: a table of all beginnings."""
    table = {(i, j): i + j for i in range(len(a) + 1) for j in range(len(b) + 1) if 0 in (i, j)}
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 2 : i] == b[j - 1] + b[j - 2]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(a), len(b)]


@pytest.mark.parametrize("seed", range(3))
def test_each_term_is_found_and_none_of_those_around_it(seed: int, tmp_path: Path) -> None:
    """Terms that begin alike, beyond the eight bytes that the dictionary's index compares; the others cut or longer."""
    random = Random(seed)
    starts = ["", "a", "b", "aaaaaaa", "aaaaaaaa", "abababababab"]
    words = {random.choice(starts) + "".join(random.choices("ab", k=random.randint(1, 9))) for _ in range(1500)}
    counts = {word: random.randint(1, 3) for word in words}
    bodies = (" ".join(word for word, count in counts.items() if count > page) for page in range(3))
    around = {word[:-1] for word in words} | {word + end for word in words for end in ("a", "b", "c", "\0")}
    with built(tmp_path / "a", *bodies) as segment:
        for word in words | around | {"0", "c", "aaaaaaaac", "aaaaaaaa0"}:
            assert segment.df(word) == counts.get(word, 0), word


def test_near_terms_come_by_fewest_edits_then_by_frequency(tmp_path: Path) -> None:
    segment = built(tmp_path / "a", "search serach seach starch", "search seach", "search", "perch")
    assert segment.near_terms("saerch", 1) == [("search", 3)]
    assert segment.near_terms("serch", 2) == [("search", 3), ("seach", 2), ("serach", 1), ("starch", 1)]
    assert segment.near_terms("serch", 2, limit=1) == [("search", 3)]
    assert segment.near_terms("search", 1) == [("seach", 2), ("serach", 1), ("starch", 1)], "not itself"
    assert segment.near_terms("zebra", 2) == []


@pytest.mark.parametrize("alphabet", ["abc", "aäλ新"])
@pytest.mark.parametrize("seed", range(2))
def test_near_terms_are_those_that_comparing_with_every_term_finds(alphabet: str, seed: int, tmp_path: Path) -> None:
    """Characters count, not bytes; keys that the walk jumps over are none that it should have found."""
    random = Random(seed)

    def word() -> str:
        return "".join(random.choices(alphabet.replace("新", ""), k=random.randint(1, 7)))

    segment = built(tmp_path / "a", *(" ".join(word() for _ in range(random.randint(1, 300))) for _ in range(6)))
    terms = segment.terms("", limit=10_000)
    for asked in (word() for _ in range(15)):
        for max_edits in (1, 2):
            edits = {term: edits_between(asked, term) for term, _ in terms if term[0] == asked[0]}
            near = [row for row in terms if 0 < edits.get(row[0], 9) <= max_edits]
            expected = sorted(near, key=lambda row: (edits[row[0]], -row[1], row[0].encode()))
            assert segment.near_terms(asked, max_edits, limit=10_000) == expected


@pytest.mark.parametrize(
    ("term", "max_edits", "limit"), [("", 1, 1), ("a" * 129, 1, 1), ("a", 0, 1), ("a", 3, 1), ("a", -1, 1), ("a", 1, 0)]
)
def test_near_terms_beyond_the_bounds_are_refused(term: str, max_edits: int, limit: int, tmp_path: Path) -> None:
    with built(tmp_path / "a", "word") as segment, pytest.raises(ValueError, match="1 to 128 characters"):
        segment.near_terms(term, max_edits, limit)


def test_terms_refuse_limits_beyond_the_bounds(tmp_path: Path) -> None:
    with built(tmp_path / "a", "word") as segment:
        for limit in (0, -1):
            with pytest.raises(ValueError, match="limit must be 1"):
                segment.terms("w", limit)


def test_frequent_terms_lead_though_the_prefix_has_more_terms_than_are_read(tmp_path: Path) -> None:
    """One letter in a large dictionary: not all keys are read, and those of frequent terms are."""
    common = [f"a{number:x}common" for number in range(0, 80_000, 8_001)]
    rare = " ".join(f"a{number:x}" for number in range(80_000))
    bodies = [" ".join(common[: len(common) - rank]) for rank in range(len(common))]
    segment = built(tmp_path / "a", rare, "b", *(body for body in bodies for _ in range(300)), max_tokens=100_000)
    assert segment.term_count > 80_000
    expected = [(word, 300 * (len(common) - rank)) for rank, word in enumerate(common)]
    assert segment.terms("a", limit=len(common)) == expected
    assert segment.terms("", limit=len(common)) == expected
    assert segment.terms("a", limit=2, namespace=Namespace.HOST) == []
    assert len(segment.terms("a1", limit=10_000)) == 10_000
