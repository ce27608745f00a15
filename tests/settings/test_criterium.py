"""The language of crawl policies (U100-U105, U117)."""

from dataclasses import dataclass
from typing import Any

import pytest

from jird_settings import CriteriumError, compile_criterium
from jird_settings.criterium import CRITERIA_MAX, DEPTH_MAX, compile_value


@dataclass(frozen=True)
class View:
    url: str = "https://h.example/a/b?q=1"
    scheme: str = "https"
    host: str = "h.example"
    port: int = 443
    path: str = "/a/b"
    query: str | None = "q=1"


def matches(raw: Any, view: View | None = None) -> bool:
    return compile_criterium(raw)(view or View())


@pytest.mark.parametrize(
    ("raw", "value", "expected"),
    [
        ({"equals": "ab"}, "ab", True),
        ({"equals": "ab"}, "AB", False),
        ({"has_prefix": "a"}, "ab", True),
        ({"has_suffix": "b"}, "ab", True),
        ({"contains": "x"}, "ab", False),
        ({"length": {"equals": 2}}, "\U0001f600b", True),
        ("is_none", None, True),
        ({"is_none": True}, "", False),
        ({"equals": "ab"}, None, False),
        ({"length": {"less_than": 9}}, None, False),
        ({"not_match": {"contains": "x"}}, "ab", True),
    ],
)
def test_string_criterium(raw: Any, value: str | None, expected: bool) -> None:
    """U103: length in code points; what is not there matches is_none alone."""
    assert compile_value(raw, "string")(value) is expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"equals": 5.0}, True),
        ({"less_than": 5}, False),
        ({"less_than_or_equal": 5}, True),
        ({"greater_than": 4.5}, True),
        ({"greater_than_or_equal": 6}, False),
        ({"in_list": [1, 5]}, True),
        ({"in_list": []}, False),
        ({"is_none": {}}, False),
    ],
)
def test_number_criterium(raw: Any, expected: bool) -> None:
    """U102: the same for whole numbers and fractions."""
    assert compile_value(raw, "number")(5) is expected


def test_boolean_criterium() -> None:
    """U100."""
    assert compile_value({"equals": True}, "boolean")(True)
    assert not compile_value({"equals": False}, "boolean")(True)
    assert compile_value("is_none", "boolean")(None)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"url": {"path": {"has_prefix": "/a"}}}, True),
        ({"url": {"host": {"equals": "h.example"}}}, True),
        ({"url": {"scheme": {"equals": "http"}}}, False),
        ({"url": {"port": {"in_list": [80, 443]}}}, True),
        ({"url": {"query": {"contains": "q="}}}, True),
        ({"url": {"user": {"equals": ""}}}, True),
        ({"url": {"password": "is_none"}}, True),
        ({"url": {"fragment": {"is_none": True}}}, True),
        ({"url": {"equals": "https://h.example/a/b?q=1"}}, True),
        ({"url": {"equals": "https://h.example/a/b?q=1#top"}}, False),
        ({"url": {"same_document_as": "https://h.example/a/b?q=2"}}, False),
        ({"and": [{"url": {"host": {"has_suffix": "example"}}}, {"url": {"port": {"equals": 443}}}]}, True),
        ({"or": [{"url": {"port": {"equals": 80}}}, "never"]}, False),
        ({"or": []}, False),
        ({"and": []}, True),
        ({"not": {"or": ["never", {"and": ["always", {"not": "never"}]}]}}, False),
        ({"url": {"path": {"or": [{"has_suffix": "/x"}, {"has_suffix": "/b"}]}}}, True),
        ({"url": {"not": {"path": {"has_prefix": "/a"}}}}, False),
        ("always", True),
        ({"never": True}, False),
    ],
)
def test_policy_criterium(raw: Any, expected: bool) -> None:
    """U101, U104, U105, U117: chains nest, at every level."""
    assert matches(raw) is expected


def test_query_that_is_not_there_is_none() -> None:
    """U105."""
    assert matches({"url": {"query": "is_none"}}, View(query=None))
    assert not matches({"url": {"query": {"has_prefix": ""}}}, View(query=None))
    assert matches({"url": {"query": {"equals": ""}}}, View(query=""))


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"url": {"path": {"has_prefx": "/a"}}}, "if.url.path.has_prefx is no string criterium; known: equals"),
        ({"url": {"path": {"has_prefix": 7}}}, "if.url.path.has_prefix is 7; it must be a string"),
        ({"and": [{"url": {"port": {"equals": "x"}}}]}, "if.and[1].url.port.equals is 'x'; it must be a number"),
        ({"and": {"url": {}}}, "if.and is {'url': {}}; it must be a list"),
        ({}, "if has 0 keys; it must be a table with one of url, and"),
        ({"url": {"path": "is_none"}, "and": []}, "if has 2 keys"),
        ("sometimes", "if is 'sometimes'; it must be a table"),
        ({"always": 3}, "if.always is 3; it takes no argument"),
        (None, "if is None"),
        ({"url": {"port": {"equals": True}}}, "it must be a number"),
    ],
)
def test_what_is_not_in_the_language_is_refused_with_its_place(raw: Any, words: str) -> None:
    with pytest.raises(CriteriumError) as caught:
        compile_criterium(raw)
    assert str(caught.value).startswith(words) or words in str(caught.value)


def test_criteria_are_bounded() -> None:
    deep: Any = "always"
    for _ in range(DEPTH_MAX + 1):
        deep = {"not": deep}
    for raw in (deep, {"or": ["never"] * CRITERIA_MAX}):
        with pytest.raises(CriteriumError, match="more than"):
            compile_criterium(raw)


def test_urls_are_compared_in_canonical_form() -> None:
    """U105: by the identity that the crawler uses."""

    def canonical(text: str) -> str:
        if not text.startswith("https://"):
            raise ValueError("no")
        return text.lower()

    assert compile_criterium({"url": {"equals": "https://H.example/A/B?q=1"}}, canonical)(View())
    with pytest.raises(CriteriumError, match="which is no URL: no"):
        compile_criterium({"url": {"same_document_as": "h.example"}}, canonical)
