"""Which lines changed: checked by putting the changes back together."""

from hypothesis import given
from hypothesis import strategies as st

from jird_daemon.store.text_diff import COMPARED_LINES_MAX, LineKind, diff_texts

LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=1, max_size=40)


@given(LINES, LINES)
def test_hunks_turn_the_old_text_into_the_new_one(old: list[str], new: list[str]) -> None:
    rebuilt: list[str] = []
    position = 0
    for hunk in diff_texts("\n".join(old), "\n".join(new)):
        rebuilt += old[position : hunk.from_line - 1]
        assert hunk.to_line == len(rebuilt) + 1
        kept = [text for kind, text in hunk.lines if kind is not LineKind.ADDED]
        assert kept == old[hunk.from_line - 1 : hunk.from_line - 1 + len(kept)]
        rebuilt += [text for kind, text in hunk.lines if kind is not LineKind.REMOVED]
        position = hunk.from_line - 1 + len(kept)
    assert rebuilt + old[position:] == new


def test_same_texts_have_no_hunks() -> None:
    assert diff_texts("a\nb", "a\nb") == []


def test_texts_that_differ_in_too_many_lines_are_replaced_as_a_whole() -> None:
    """The cost of comparing is bounded, whatever two pages hold."""
    old = "\n".join(f"old {number}" for number in range(COMPARED_LINES_MAX))
    new = old.replace("old", "new")
    (hunk,) = diff_texts(f"head\n{old}\ntail", f"head\n{new}\ntail")
    assert {kind for kind, _ in hunk.lines} == {LineKind.REMOVED, LineKind.ADDED}
    assert hunk.lines[0] == (LineKind.REMOVED, "head")
