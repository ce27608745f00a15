# ruff: noqa: RUF001 - texts in many scripts are the point of this file
"""The tokenizer: which words it finds, in many languages, and what holds for any text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jird_native import TERM_CHARS_MAX, TokenKind, find_terms, tokenize


def primary(text: str) -> list[str]:
    return [token.term for token in tokenize(text) if token.primary]


def terms(text: str) -> set[str]:
    return {token.term for token in tokenize(text)}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "The QUICK fox", ["the", "quick", "fox"]),
        ("de", "Straße STRASSE Grüße", ["strasse", "strasse", "grüsse"]),
        ("fr", "L'ÉTÉ à l’île d'où", ["l", "été", "à", "l", "île", "d", "où"]),
        ("ru", "Ёлка И ЙОД", ["ёлка", "и", "йод"]),
        ("el", "ΟΔΟΣ οδός", ["οδοσ", "οδόσ"]),
        ("tr", "İstanbul ISTANBUL", ["istanbul", "istanbul"]),
        ("ja", "データベースを", ["デー", "ータ", "タベ", "ベー", "ース", "スを"]),
        ("zh", "新年快乐", ["新年", "年快", "快乐"]),
        ("ko", "서울에서 책", ["서울", "울에", "에서", "책"]),
        ("th", "กินข้าว", ["กิน", "นข้", "ข้า", "าว"]),
        ("ar", "كِتَاب ١٢٣", ["كِتَاب", "123"]),
        ("hi", "हिन्दी क़लम", ["हिन्दी", "क़लम"]),
        ("vi", "Tiếng Việt", ["tiếng", "việt"]),
    ],
)
def test_primary_tokens_of_a_language(language: str, text: str, expected: list[str]) -> None:
    assert primary(text) == expected, language


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("祝你们新年快乐", "快乐"),  # F105
        ("铁路12306", "12306"),  # F105
        ("ﾃｽﾄ", "テスト"),  # F105
        ("ｶﾞｲﾄﾞ", "ガイド"),
        ("ＡＢＣ１２", "abc12"),
        ("책을", "책"),
        ("本", "本"),
        ("日本語", "語"),
        ("résumé", "resume"),
        ("re\u0301sume\u0301", "résumé"),
        ("Ёлка", "елка"),
        ("Αθήνα", "ΑΘΗΝΑ"),
        ("ışık", "isik"),
        ("Łódź", "lodz"),
        ("Đà Nẵng", "da nang"),
        ("كِتَاب", "كتاب"),
        ("ﬁle", "file"),
        ("Wör\u00adter", "wörter"),
        ("می\u200cخواهم", "میخواهم"),
        ("v1.2.3", "1.2.3"),
        ("C++17", "c++"),
        ("(C#)", "C#"),
        ("foo_bar", "foo_bar"),
        ("foo_bar", "bar"),
        ("write to foo@example.org.", "foo@example.org"),
        ("e-mail", "email"),
        ("UTF-8", "utf8"),
        ("ASP.NET and .NET", ".net"),
        ("John’s", "john"),
        ("dell'acqua", "acqua"),
        ("don't", "dont"),
        ("กินข้าวแล้ว", "ข้าว"),
        ("ພາສາລາວ", "ລາວ"),
        ("ភាសាខ្មែរ", "ខ្មែរ"),
        ("မြန်မာဘာသာ", "ဘာသာ"),
        ("ㄅㄆㄇ", "ㄆㄇ"),
        ("各位𠮷野家", "𠮷野"),
    ],
)
def test_text_is_found_by(written: str, wanted: str) -> None:
    assert {token.term for token in tokenize(wanted) if token.primary} <= terms(written)
    joined = {token.term for token in tokenize(wanted) if token.kind & TokenKind.JOINED}
    assert joined <= terms(written)


@pytest.mark.parametrize(
    ("written", "unwanted"),
    [("йод", "иод"), ("C++", "c#"), ("2024-05", "202405"), ("が", "か"), ("½", "12"), ("a\x00b", "ab")],
)
def test_text_is_not_found_by(written: str, unwanted: str) -> None:
    assert unwanted not in terms(written)


def test_longer_word_than_128_characters_gives_no_token() -> None:
    """J157: the cap is on one token after segmentation, so that unspaced text is never dropped."""
    assert primary("x" * TERM_CHARS_MAX) == ["x" * TERM_CHARS_MAX]
    assert primary("x" * (TERM_CHARS_MAX + 1) + " y") == ["y"]
    assert len(primary("漢" * 500)) == 499
    assert primary("e\u0301" * TERM_CHARS_MAX) == ["é" * TERM_CHARS_MAX]


def test_every_letter_and_digit_folds_once_and_for_all() -> None:
    """Terms are in NFKC and case folded by The Unicode Standard, section 5.18.4, but for U+0130 (see the generator)."""
    letters = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code))[0] in "LN"]
    for term in {token.term for token in tokenize("\n".join(letters))}:
        assert unicodedata.normalize("NFKC", term.casefold()) == term


def test_words_are_not_stemmed_by_the_rules_of_another_language() -> None:
    """F109."""
    assert primary("Haus mains atlas Moskaus") == ["haus", "mains", "atlas", "moskaus"]


def test_alternates_share_the_position_of_their_word() -> None:
    tokens = [(t.term, t.position, t.kind) for t in tokenize("Über foo_bar")]
    assert tokens == [
        ("über", 0, TokenKind.PRIMARY),
        ("uber", 0, TokenKind.FOLDED),
        ("foo", 1, TokenKind.PRIMARY),
        ("bar", 2, TokenKind.PRIMARY),
        ("foo_bar", 2, TokenKind.JOINED),
    ]


def test_offsets_are_code_points_of_the_source() -> None:
    text = "𝄞 Straße ﾃﾞｽｸ 漢字"
    found = {text[t.start : t.end] for t in tokenize(text)}
    assert found == {"Straße", "ﾃﾞｽ", "ﾃﾞ", "ｽｸ", "ｽ", "ｸ", "漢字", "漢", "字"}


def test_find_terms_gives_the_places_of_wanted_terms() -> None:
    matches = find_terms("Die Straße, die strasse", ["strasse", "die"], 10)
    assert [(m.term, m.start, m.end) for m in matches] == [(1, 0, 3), (0, 4, 10), (1, 12, 15), (0, 16, 23)]


def test_find_terms_gives_the_first_occurrences_of_each() -> None:
    matches = find_terms("a " * 100 + "b", ["a", "b"], 7)
    assert [(m.term, m.start) for m in matches] == [(0, 2 * i) for i in range(7)] + [(1, 200)]
    assert find_terms("a", [], 7) == []
    many = [f"w{i}" for i in range(256)]
    assert [m.term for m in find_terms(" ".join(many), many, 1)] == list(range(256))


def test_find_terms_refuses_more_terms_than_it_can_hold() -> None:
    for terms in ([f"w{i}" for i in range(257)], ["a", "a"]):
        with pytest.raises(ValueError, match="terms"):
            find_terms("a", terms, 1)


@given(st.text())
def test_any_text_gives_ordered_tokens_within_it(text: str) -> None:
    position = -1
    for token in tokenize(text):
        assert 0 <= token.start < token.end <= len(text)
        assert 1 <= len(token.term) <= TERM_CHARS_MAX
        assert token.position == position + 1 if token.position != position else not token.primary
        position = token.position


@given(st.text(st.characters(categories=["L", "M", "N"])))
def test_word_in_a_query_is_the_word_in_a_document(word: str) -> None:
    """The tokens of a word do not depend on what stands around it."""
    alone = [(t.term, t.kind) for t in tokenize(word)]
    within = [(t.term, t.kind) for t in tokenize(f"before ({word}), after")][1:-1]
    assert within == alone


@given(st.text())
def test_primary_terms_tokenise_to_themselves(text: str) -> None:
    for term in primary(text):
        assert primary(term) == [term]


@given(st.text(st.characters(categories=["Ll", "Lu", "Mn", "Lo"])))
def test_terms_are_composed(text: str) -> None:
    for term in primary(text):
        assert unicodedata.normalize("NFC", term) == term
