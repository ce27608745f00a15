"""BM25 by hand."""

from math import log
from pathlib import Path

from jird_native import Or, Segment, SegmentBuilder, Snapshot, Term, phrase_of


def snapshot(path: Path, texts: list[str], **parameters: float) -> Snapshot:
    builder = SegmentBuilder()
    for page, text in enumerate(texts, start=1):
        builder.add_terms(page, text.encode())
    builder.write(path, sync=False)
    return Snapshot([(Segment.open(path), None)], **parameters)


def test_scores_and_order_are_those_computed_by_hand(tmp_path: Path) -> None:
    """J6: three documents of 3, 2 and 1 words (average 2); "cat" is in two of them."""
    result = snapshot(tmp_path / "a", ["cat cat dog", "cat bird", "dog"]).search(Term("cat"), 10)
    idf = log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    first = idf * 2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2))
    second = idf * 1 / (1 + 1.2 * (0.25 + 0.75 * 2 / 2))
    assert result.page_ids == [1, 2]
    assert [round(score, 12) for score in result.scores] == [round(first, 12), round(second, 12)]
    assert round(result.scores[0], 4) == 0.2575
    assert (result.match_count, result.exact) == (2, True)


def test_scores_of_several_terms_add_up(tmp_path: Path) -> None:
    """J6: "dog" is in documents 1 and 3, so that document 1 has both."""
    index = snapshot(tmp_path / "a", ["cat cat dog", "cat bird", "dog"])
    alone = [dict(zip(r.page_ids, r.scores, strict=True)) for r in (index.search(Term(w), 9) for w in ("cat", "dog"))]
    result = index.search(Or((Term("cat"), Term("dog"))), 10)
    assert result.page_ids == [1, 3, 2]
    assert result.scores == [alone[0][1] + alone[1][1], alone[1][3], alone[0][2]]


def test_phrase_scores_as_one_term_with_the_sum_of_idfs(tmp_path: Path) -> None:
    index = snapshot(tmp_path / "a", ["new york new york", "york new", "old york"])
    result = index.search(phrase_of(["new", "york"]), 10)
    idf = log(1 + 1.5 / 2.5) + log(1 + 0.5 / 3.5)
    assert result.page_ids == [1]
    assert abs(result.scores[0] - idf * 2 / (2 + 1.2 * (0.25 + 0.75 * 4 / (8 / 3)))) < 1e-12


def test_parameters_change_what_length_and_repetition_do(tmp_path: Path) -> None:
    texts = ["cat cat cat pad pad pad pad pad", "cat"]
    assert snapshot(tmp_path / "a", texts, b=0.0).search(Term("cat"), 9).page_ids == [1, 2]
    assert snapshot(tmp_path / "b", texts, b=1.0, k1=5.0).search(Term("cat"), 9).page_ids == [2, 1]
    assert len(set(snapshot(tmp_path / "c", texts, k1=0.0).search(Term("cat"), 9).scores)) == 1


def test_statistics_of_parts_add_up_without_reading_postings(tmp_path: Path) -> None:
    """J7: document count, total length and df are sums of what the segments store."""
    parts = []
    for name, texts in (("a", [b"x y", b"x"]), ("b", [b"x z z"])):
        builder = SegmentBuilder()
        for page, text in enumerate(texts):
            builder.add_terms(page + 1 + 10 * (name == "b"), text)
        builder.write(tmp_path / name, sync=False)
        parts.append((Segment.open(tmp_path / name), None))
    index = Snapshot(parts)
    assert (index.document_count, index.total_length, index.df("x"), index.df("z"), index.df("q")) == (3, 6, 3, 1, 0)
    absent = index.search(Term("q"), 5)
    assert (absent.match_count, absent.postings_decoded) == (0, 0)


def test_one_term_decodes_each_posting_once_and_holds_only_the_best(tmp_path: Path) -> None:
    """J8, J25: 5,000 matches and k = 2; blocks that cannot win are not decoded, the count stays exact."""
    index = snapshot(tmp_path / "a", ["word " + "pad " * (page // 100) for page in range(5000)])
    result = index.search(Term("word"), 2)
    assert (len(result.page_ids), result.match_count, result.exact) == (2, 5000, True)
    assert result.postings_decoded < 5000
    assert index.search(Term("word"), 5000).postings_decoded == 5000
