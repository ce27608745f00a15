"""Encodings of pages (J155's types; F79, F81, F83; HTML Standard 13.2.3.2)."""

import pytest

from jird_daemon.extract.charset import PRESCAN_BYTES, decode_body, load_codecs, prescan


def decoded(body: bytes, content_type: str = "text/html") -> tuple[str, str]:
    result = decode_body(body, content_type, is_html=True)
    return result.text, result.charset


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b'<meta charset="Shift_JIS">', "shift_jis"),
        (b"<META http-equiv=Content-Type content=\"charset=gbk\">", "gbk"),
        (b"<meta http-equiv='content-type' content='text/html; charset = \"koi8-r\"'>", "koi8-r"),
        (b"<meta name=x content='text/html; charset=koi8-r'>", ""),
        (b"<script charset=utf-8 src=x></script>"
         b"<meta http-equiv=Content-Type content='text/html; charset=ISO-8859-15'>", "iso-8859-15"),
        (b"<!-- <meta charset=koi8-r> --><meta charset=greek>", "iso-8859-7"),
        (b"<!--><meta charset=koi8-r>", "koi8-r"),
        (b"<a title='<meta charset=koi8-r>'><meta charset=greek>", "iso-8859-7"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta charset=nonsense><meta charset=koi8-r>", "koi8-r"),
        (b"<metadata charset=koi8-r>", ""),
        (b"<meta/charset=koi8-r>", "koi8-r"),
        (b"<meta charset='koi8-r", ""),
        (b"<?xml version='1.0' encoding='windows-1251'?>", "windows-1251"),
        (b" " * PRESCAN_BYTES + b"<meta charset=koi8-r>", ""),
        (b"<" * 1_024, ""),
        (b"<meta " * 200, ""),
    ],
)  # fmt: skip
def test_declaration_is_found_as_browsers_find_it(head: bytes, expected: str) -> None:
    """F79, F81."""
    assert prescan(head) == expected


def test_byte_order_mark_beats_header_and_header_beats_meta() -> None:
    """F83."""
    body = "<meta charset=koi8-r>ü".encode()
    assert decoded(b"\xef\xbb\xbf" + body, "text/html; charset=latin1") == ("<meta charset=koi8-r>ü", "utf-8")
    assert decoded(body, "text/html; charset=utf-8")[1] == "utf-8"
    assert decoded(body)[1] == "koi8-r"
    assert decoded(b"\xff\xfe" + "ü".encode("utf-16-le")) == ("ü", "utf-16le")
    assert decoded(b"\xfe\xff" + "ü".encode("utf-16-be"))[0] == "ü"


@pytest.mark.parametrize(
    ("label", "body", "expected"),
    [
        ("iso-8859-1", b"\x93x\x94 \x80", "\u201cx\u201d €"),
        ("windows-1252", b"a\x81b", "a\x81b"),
        ("gb2312", "镕".encode("gbk"), "镕"),
        ("gb2312", "𠀀".encode("gb18030"), "𠀀"),
        ("shift_jis", "①テスト".encode("cp932"), "①テスト"),
        ("euc-jp", "テスト".encode("euc-jp"), "テスト"),
        ("big5", "港聞".encode("big5"), "港聞"),
        ("euc-kr", "똠방".encode("cp949"), "똠방"),
        ("koi8-r", "привет".encode("koi8-r"), "привет"),
        ("utf-8", b"a\xffb", "a\ufffdb"),
    ],
)
def test_labels_mean_what_the_encoding_standard_says(label: str, body: bytes, expected: str) -> None:
    """F79."""
    assert decoded(body, f'text/html; charset="{label}"')[0] == expected


def test_undeclared_text_is_guessed() -> None:
    assert decoded("grüße 祝".encode()) == ("grüße 祝", "utf-8")
    russian = "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 5
    assert decoded(russian.encode("windows-1251")) == (russian, "windows-1251")
    japanese = "これは日本語の文章です。文字コードの判定を試します。" * 5
    assert decoded(japanese.encode("shift_jis"))[0] == japanese
    assert decoded("Grüße aus Köln".encode("latin-1"))[0] == "Grüße aus Köln"


def test_late_declaration_still_counts_for_bytes_that_are_no_utf8() -> None:
    body = b" " * 2_000 + b"<meta charset=koi8-r>" + "привет".encode("koi8-r")
    assert decoded(body)[0].endswith("привет")


def test_dangerous_encodings_are_not_decoded() -> None:
    """Encoding Standard, the replacement encoding."""
    assert decoded(b"+ADw-script", "text/html; charset=iso-2022-kr") == ("\ufffd", "replacement")


def test_plain_text_has_no_meta() -> None:
    assert decode_body(b"<meta charset=koi8-r>x", "text/plain", is_html=False).charset == "utf-8"


def test_codecs_can_be_loaded_in_advance() -> None:
    load_codecs()
