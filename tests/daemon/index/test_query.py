"""Query text to query trees: the syntax, what becomes of words, and the bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jird_daemon.errors import InvalidQueryError
from jird_daemon.index.query import QUERY_NODES_MAX, count_nodes, parse_query
from jird_daemon.index.query_words import QueryTerm
from jird_native import And, Field, Filter, Namespace, Not, Or, Phrase, Query, Term

TITLE = frozenset({Field.TITLE})
SITE = Namespace.SITE


def tree(text: str) -> Query | None:
    return parse_query(text).tree


def children(text: str) -> tuple[Query, ...]:
    found = tree(text)
    assert isinstance(found, Or)
    return found.children


def phrase(*terms: str) -> Phrase:
    return Phrase(tuple((term, i) for i, term in enumerate(terms)))


def terms(*words: str) -> tuple[Term, ...]:
    return tuple(Term(word) for word in words)


def depth(node: Query) -> int:
    match node:
        case And() | Or():
            return 1 + max(map(depth, node.children))
        case Not() | Filter():
            return 1 + depth(node.child)
        case _:
            return 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fox", Term("fox")),
        ("quick fox", Or(terms("quick", "fox"))),
        ("quick OR fox", Or(terms("quick", "fox"))),
        ("quick AND fox", And(terms("quick", "fox"))),
        ("a AND NOT b", And((Term("a"), Not(Term("b"))))),
        ("a NOT b", And((Term("a"), Not(Term("b"))))),
        ("a b AND c", Or((Term("a"), And(terms("b", "c"))))),
        ("(a OR b) AND c", And((Or(terms("a", "b")), Term("c")))),
    ],
)
def test_operators_join_words(text: str, expected: Query) -> None:
    assert tree(text) == expected


@pytest.mark.parametrize("text", ['"hello world"', "»hello world«", "«hello world»"])
def test_pairs_of_quotes_make_a_phrase(text: str) -> None:
    """UQ1, UQ2."""
    assert tree(text) == phrase("hello", "world")


def test_phrase_must_occur_unless_or_stands_beside_it() -> None:
    """UQ1."""
    assert tree('x "a b"') == And((Term("x"), phrase("a", "b")))
    assert tree('x OR "a b"') == Or((Term("x"), phrase("a", "b")))
    assert tree('"a b" OR x') == Or((phrase("a", "b"), Term("x")))


def test_backslash_escapes_inside_quotes() -> None:
    """UQ1."""
    assert tree(r'"a \"b\" c"') == phrase("a", "b", "c")


def test_quote_opens_after_a_space_and_closes_at_a_word_end() -> None:
    """UQ3."""
    assert tree('say"a b"') == Or(terms("say", "a", "b"))
    assert tree('"a b"c d"') == phrase("a", "b", "c", "d")


def test_negated_phrase_excludes_and_bare_negated_word_does_not() -> None:
    """UQ4: so that pasted error messages and options can be searched."""
    assert tree('x -"a b"') == And((Term("x"), Not(phrase("a", "b"))))
    assert tree("x -word") == Or(terms("x", "word"))
    assert tree("tar --exclude") == Or(terms("tar", "exclude"))


def test_negated_filter_excludes() -> None:
    """UQ5."""
    assert tree("x -site:example.org") == And((Term("x"), Not(Term("example.org", SITE))))
    assert tree("x -intitle:y") == And((Term("x"), Not(Term("y", fields=TITLE))))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x site:Example.ORG", Filter(Term("example.org", SITE))),
        ("x site:https://example.org/path", Filter(Term("example.org", SITE))),
        ("x site:bücher.de", Filter(Term("xn--bcher-kva.de", SITE))),
        ("x host:a.org:8443", Filter(Term("a.org:8443", Namespace.HOST))),
        ("x lang:de-AT", Filter(Term("de", Namespace.LANGUAGE))),
        ("x site:a.org site:b.org", Filter(Or((Term("a.org", SITE), Term("b.org", SITE))))),
        ("x intitle:y", Term("y", fields=TITLE)),
        ('x intitle:"y z"', Phrase((("y", 0), ("z", 1)), TITLE)),
        ("x inurl:y", Filter(Term("y", fields=frozenset({Field.URL})))),
    ],
)
def test_filters_narrow_the_results(text: str, expected: Query) -> None:
    """UQ1, UQ6."""
    assert tree(text) == And((Term("x"), expected))


def test_filter_alone_is_a_query() -> None:
    assert tree("site:example.org") == Term("example.org", SITE)


def test_accented_word_also_matches_plainly_but_weaker() -> None:
    found = tree("Über")
    assert isinstance(found, Or)
    exact, plain = found.children
    assert exact == Term("über")
    assert isinstance(plain, Term)
    assert plain.term == "uber"
    assert plain.weight < 1


def test_unspaced_word_becomes_its_bigrams() -> None:
    """F105."""
    assert [node.term for node in children("新年快乐") if isinstance(node, Term)] == ["新年", "年快", "快乐"]
    assert [node.term for node in children("ﾃｽﾄ") if isinstance(node, Term)] == ["テス", "スト"]
    assert tree("铁路12306") == Or(terms("铁路", "12306"))
    assert tree("本") == Term("本")


def test_bigrams_of_a_long_word_count_less_than_a_short_word() -> None:
    weights = [node.weight for node in children("新年 快乐快乐新年好") if isinstance(node, Term)]
    assert weights[0] > 1
    assert all(weight < 1 for weight in weights[1:] if weight != weights[0])


def test_unspaced_word_that_must_match_is_a_phrase() -> None:
    assert tree("a NOT 新年快") == And((Term("a"), Not(phrase("新年", "年快"))))


def test_compound_is_looked_for_whole_and_in_parts() -> None:
    assert tree("foo_bar") == Or(terms("foo_bar", "foo", "bar"))
    assert tree("e-mail") == Or(terms("email", "e", "mail"))
    assert tree("C++") == Term("c++")
    assert tree("1.2") == Or((Term("1.2"), phrase("1", "2")))
    assert tree("x AND foo_bar") == And((Term("x"), Or((Term("foo_bar"), phrase("foo", "bar")))))


def test_bigram_of_an_ending_counts_less() -> None:
    weights = {node.term: node.weight for node in children("使いやすいカード") if isinstance(node, Term)}
    assert weights["やす"] == weights["使い"] == weights["いカ"] < weights["カー"]


def test_repeated_word_counts_more_but_not_as_often() -> None:
    assert children("a b a a a") == (Term("a", weight=2), Term("b"))


def test_common_words_are_words_like_others() -> None:
    """F107: no word is dropped, by the parser or the index."""
    assert [node.term for node in children("to be or not to be") if isinstance(node, Term)] == ["to", "be", "or", "not"]
    assert tree("the") == Term("the")


@pytest.mark.parametrize("text", ["", "  ", "-", '""', "***", "NOT a", '-"a b"', "-site:a.org", "()"])
def test_query_without_a_word_to_look_for_has_no_tree(text: str) -> None:
    assert tree(text) is None


@pytest.mark.parametrize(
    ("text", "words"), [("* " * 500, 0), ("*a " * 330, 1), ("the " * 250, 1), ("the of to " * 90, 3)]
)
def test_query_of_only_wildcards_or_the_commonest_words_is_small_and_clear(text: str, words: int) -> None:
    """J158, F107: a wildcard is no operator, so a thousand of them cost nothing; a repeated word is one term."""
    parsed = parse_query(text)
    assert len(parsed.terms) == words
    assert parsed.tree is None or count_nodes(parsed.tree) <= words + 1
    assert (parsed.tree is None) == ("the query has no word that can be looked for" in parsed.notices)


def test_person_who_excludes_a_word_is_told_how() -> None:
    """UQ4: a bare -word does not exclude."""
    assert parse_query("leaves -rhubarb").notices == ('-rhubarb was read as a word; -"rhubarb" leaves it out',)
    assert not parse_query('leaves -"rhubarb" ls -la e-mail utf-8 -17').notices


def test_what_is_ignored_is_noticed() -> None:
    assert parse_query('"no end').notices
    assert parse_query("site: x").notices
    assert parse_query("x lang:!!").notices
    assert parse_query("NOT a").notices
    assert not parse_query('a "b c" AND d site:e.org').notices


def test_query_above_1024_characters_is_refused() -> None:
    assert parse_query("a" * 1024).tree is None
    with pytest.raises(InvalidQueryError) as error:
        parse_query("a" * 1025)
    assert error.value.reason == "QUERY_TOO_LONG"


@pytest.mark.parametrize("char", ["\0", "\x07", "\x1b", "\x7f", "\x85", "\ud800"])
def test_control_characters_are_refused(char: str) -> None:
    """F89."""
    with pytest.raises(InvalidQueryError) as error:
        parse_query(f"a{char}b")
    assert error.value.reason == "QUERY_NOT_TEXT"


def test_line_ends_are_spaces() -> None:
    assert parse_query("a\r\nb\tc").text == "a b c"


def test_first_32_distinct_terms_are_used() -> None:
    """J158."""
    words = [f"w{i}" for i in range(40)]
    parsed = parse_query(" ".join(words))
    assert parsed.tree == Or(terms(*words[:32]))
    assert [term.forms for term in parsed.terms] == [(word,) for word in words[:32]]
    assert parsed.notices


def test_first_256_tokens_are_used() -> None:
    """J158."""
    assert [node.term for node in children("a " * 255 + "b c") if isinstance(node, Term)] == ["a", "b"]


def test_long_unspaced_word_is_cut_at_the_bound() -> None:
    """J158."""
    parsed = parse_query("".join(chr(0x4E00 + i) for i in range(100)))
    assert isinstance(parsed.tree, Or)
    assert len(parsed.tree.children) == 32


def test_terms_name_what_is_looked_for_and_not_what_is_excluded() -> None:
    found = parse_query('Über C++ -"bad thing" NOT worse')
    assert [term.forms for term in found.terms] == [("über", "uber"), ("c++",)]
    assert parse_query("新年快乐 本").terms == (QueryTerm(("新年", "年快", "快乐"), is_run=True), QueryTerm(("本",)))


@given(st.text(alphabet=st.sampled_from('ab é京都ｶﾞ"»«-:()\\ANDORNOTsite:intitle:\t_.+'), max_size=200))
def test_any_text_gives_a_tree_within_the_engines_bounds(text: str) -> None:
    found = tree(text)
    if found is not None:
        assert count_nodes(found) <= QUERY_NODES_MAX
        assert depth(found) <= 16


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=1024))
def test_no_text_without_control_characters_is_an_error(text: str) -> None:
    assert parse_query(text).text == " ".join(text.split())


@pytest.mark.parametrize("text", ["site:", "SITE:", "-site:", "rodents site:"])
def test_filter_name_at_the_end_is_read_as_text(text: str) -> None:
    assert "site: has no value and was read as text" in parse_query(text).notices
