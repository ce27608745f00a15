"""Completion of the last word of a query."""

import pytest

from jird_daemon.errors import InvalidQueryError
from jird_daemon.index.suggest import suggest
from jird_native import Namespace

TERMS = {
    Namespace.WORD: [
        ("install", 9),
        ("installer", 7),
        ("instance", 5),
        ("über", 4),
        ("快乐", 3),
        ("快速", 2),
        ("foo_bar", 1),
    ],
    Namespace.SITE: [("example.org", 4), ("exam.test", 2)],
}


def list_terms(prefix: str, limit: int, namespace: Namespace) -> list[tuple[str, int]]:
    return [(term, df) for term, df in TERMS.get(namespace, []) if term.startswith(prefix)][:limit]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("inst", ["install", "installer", "instance"]),
        ("how to Inst", ["how to install", "how to installer", "how to instance"]),
        ("install", ["installer"]),
        ("Üb", ["über"]),
        ("新年快", ["新年快乐", "新年快速"]),
        ("foo_b", ["foo_bar"]),
        ("x site:exa", ["x site:example.org", "x site:exam.test"]),
        ("-site:exa", ["-site:example.org", "-site:exam.test"]),
        ("install ", []),
        ("zzz", []),
        ("", []),
        ("?!", []),
    ],
)
def test_last_word_is_completed(text: str, expected: list[str]) -> None:
    assert suggest(text, list_terms) == expected


def test_no_more_than_wanted_are_given() -> None:
    assert suggest("inst", list_terms, 2) == ["install", "installer"]


def test_query_that_is_not_text_is_refused() -> None:
    with pytest.raises(InvalidQueryError):
        suggest("a\0", list_terms)
