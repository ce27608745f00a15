"""The queries of relevance_queries.toml are fair: held against the pages themselves, without the engine."""

from collections import Counter
from pathlib import Path

import pytest

from jird_native import tokenize
from testkit.documentation import DocumentRoot, PageWords, RelevanceQuery, fetch_documentation, load_queries, read_page

QUERIES = load_queries()


@pytest.fixture(scope="module")
def roots() -> list[DocumentRoot]:
    return fetch_documentation()


@pytest.fixture(scope="module")
def expected(roots: list[DocumentRoot]) -> dict[str, PageWords]:
    """Every page that a query expects, by name."""
    base = roots[0].folder.parent
    return {page: read_page(base / page) for query in QUERIES for page in query.pages}


def words(text: str) -> set[str]:
    return {token.term for token in tokenize(text) if token.primary}


def test_documentation_has_three_thousand_pages_of_three_sets(roots: list[DocumentRoot]) -> None:
    assert len(roots) >= 3
    assert 3_000 <= sum(root.page_count for root in roots) <= 4_000


def test_thirty_queries_and_five_in_each_language() -> None:
    by_language = Counter(query.language for query in QUERIES)
    assert len(QUERIES) >= 30
    assert all(by_language[language] >= 5 for language in ("en", "de", "ja", "ru"))
    assert len({query.text for query in QUERIES}) == len(QUERIES)


def test_no_query_is_a_title(roots: list[DocumentRoot]) -> None:
    titles = {read_page(path).title.casefold() for root in roots for path in _pages(root)}
    bare = {title.lstrip("0123456789. ").casefold() for title in titles}
    assert not [query.text for query in QUERIES if query.text.casefold() in titles | bare]


def test_no_query_is_quoted() -> None:
    assert not [query.text for query in QUERIES if set(query.text) & set('"»«')]


def test_half_of_the_queries_need_the_body(expected: dict[str, PageWords]) -> None:
    """Some word of the query is in the page's body but not in its title or headlines."""
    needing = [query for query in QUERIES if any(_needs_body(query, expected[page]) for page in query.pages)]
    assert len(needing) * 2 >= len(QUERIES)


def test_every_expected_page_has_words_of_its_query(expected: dict[str, PageWords]) -> None:
    for query in QUERIES:
        assert all(words(query.text) & words(expected[page].body) for page in query.pages), query


def _needs_body(query: RelevanceQuery, page: PageWords) -> bool:
    headlines = words(" ".join((page.title, *page.headings)))
    return bool((words(query.text) & words(page.body)) - headlines)


def _pages(root: DocumentRoot) -> list[Path]:
    return sorted(root.folder.rglob("*.html"))
