"""PDF files: their words, title, language and links; and what hostile, locked and broken ones come to (J5, F87)."""

import contextlib
from collections.abc import AsyncIterator

import pypdfium2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jird_daemon.errors import ParserFailedError
from jird_daemon.extract import pdf
from jird_daemon.extract.document import ParsedDocument, ParseJob, ParseKind
from jird_daemon.extract.page import parse_page
from jird_daemon.extract.pool import ParsePool
from jird_daemon.store.text_pile import decode_pile
from testkit.pdf import deflated, make_pdf

URL = "https://a.test/docs/paper.pdf"
NOW_S = 1_796_000_000.0


def job(body: bytes, **fields: object) -> ParseJob:
    return ParseJob(URL, body, "application/pdf", **fields)  # type: ignore[arg-type]


def parse(body: bytes, **fields: object) -> ParsedDocument:
    return parse_page(job(body, **fields), NOW_S)


def text_of(document: ParsedDocument) -> str:
    return decode_pile(document.pile_bytes).text


def test_words_are_neither_glued_nor_split_at_the_ends_of_lines_and_pages() -> None:
    document = parse(make_pdf(["one line\nand an exam-\nple of (two)", "über\nnext"]))
    assert document.kind is ParseKind.DOCUMENT
    assert text_of(document) == "one line\nand an example of (two)\nüber\nnext"
    assert document.media_type == "application/pdf"


def test_ligatures_are_the_letters_that_they_stand_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pypdfium2.PdfTextPage, "get_text_bounded", lambda _: "e\ufb03cient \ufb01le")
    assert text_of(parse(make_pdf(["x"]))) == "efficient file"


def test_what_a_file_says_of_itself() -> None:
    body = make_pdf(
        ["words"], title="Ein Titel — gut", subject="worum es geht", language="de-AT",
        created="D:20200102030405+01'00'", outline=["Chapter  one", "Chapter two"],
    )  # fmt: skip
    document = parse(body)
    assert (document.title, document.language) == ("Ein Titel — gut", "de")
    assert document.description == "worum es geht"
    assert document.headings == ("Chapter one", "Chapter two")
    assert document.published_s == 1_577_930_645.0


@pytest.mark.parametrize(
    ("title", "expected"),
    [("", "First line"), ("Microsoft Word - draft.doc", "First line"), ("paper.dvi", "First line"), (" A  b ", "A b")],
)
def test_a_title_that_a_program_made_up_is_none(title: str, expected: str) -> None:
    assert parse(make_pdf(["First line\nsecond"], title=title)).title == expected


@pytest.mark.parametrize("created", ["", "yesterday", "D:0001", "D:99991231", "D:20201399", "D:20200102990000"])
def test_dates_that_cannot_be_are_none(created: str) -> None:
    assert parse(make_pdf(["words"], created=created)).published_s is None


def test_links_are_followed_as_those_of_a_page() -> None:
    links = ["https://b.test/x#part", "/other", "mailto:a@b.test", "more.pdf", "javascript:alert(1)"]
    document = parse(make_pdf(["words"], links=links))
    assert [(link.to_url, link.is_crawlable) for link in document.links] == [
        ("https://b.test/x", True), ("https://a.test/other", True), ("mailto:a@b.test", False),
        ("https://a.test/docs/more.pdf", True),
    ]  # fmt: skip
    document = parse(make_pdf(["words"], links=links), x_robots_tag=("noindex, nofollow",))
    assert document.is_noindex
    assert not any(link.is_crawlable for link in document.links)


def test_a_locked_file_is_of_a_kind_that_is_not_read() -> None:
    document = parse(make_pdf(["secret"], is_encrypted=True))
    assert (document.kind, document.media_type) == (ParseKind.UNKNOWN_TYPE, "application/pdf")
    assert "password" in document.message


@pytest.mark.parametrize("body", [b"", b"%PDF-1.7\n", b"<html>not a PDF", make_pdf(["x" * 500])[:300]])
def test_what_is_no_whole_file_is_not_read(body: bytes) -> None:
    document = parse(body)
    assert document.kind is ParseKind.UNKNOWN_TYPE
    assert document.message


def test_limits_cut_and_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "PDF_PAGES_MAX", 3)
    document = parse(make_pdf([f"page {number}" for number in range(5)]))
    assert text_of(document) == "page 0\npage 1\npage 2"
    assert document.truncated == ("document_pdf_pages",)
    monkeypatch.setattr(pdf, "DOCUMENT_TEXT_CHARS_MAX", 9)
    document = parse(make_pdf(["one two", "three four", "five"]))
    assert text_of(document).startswith("one two\nt")
    assert len(text_of(document)) <= 10
    assert document.truncated == ("document_text_chars",)
    monkeypatch.setattr(pdf, "PDF_CPU_S", -1.0)
    assert parse(make_pdf(["one"])).truncated == ("document_pdf_time",)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damage_is_never_more_than_a_refusal(data: st.DataObject) -> None:
    body = bytearray(make_pdf(["some words"], title="T", outline=["a"], links=["/x"]))
    for _ in range(data.draw(st.integers(1, 8))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    assert parse(bytes(body)).kind in (ParseKind.DOCUMENT, ParseKind.UNKNOWN_TYPE)


@pytest.fixture
async def pool() -> AsyncIterator[ParsePool]:
    made = ParsePool(1, page_timeout_ms=20_000)
    await made.start()
    yield made
    await made.close()


async def test_a_confined_worker_reads_files_and_outlives_bombs(pool: ParsePool) -> None:
    """J5: memory and time of a worker are bounded; the file is lost with a reason, and the next one is read."""
    bomb = deflated(bytes(64_000_000), times=2)
    assert len(bomb) < 2_000
    bombs = [
        make_pdf([], contents=[bomb] * 4, filters="/FlateDecode /FlateDecode"),
        make_pdf([], contents=[deflated(b"BT /F1 12 Tf (x) Tj ET\n" * 30_000)] * 3, filters="/FlateDecode"),
        make_pdf([], contents=[deflated(b"q " * 2_000_000)], filters="/FlateDecode"),
    ]
    for body in bombs:
        with contextlib.suppress(ParserFailedError):
            assert (await pool.parse(job(body))).kind in (ParseKind.DOCUMENT, ParseKind.UNKNOWN_TYPE)
    found = await pool.parse(job(make_pdf(["the next one"], title="T")))
    assert (found.title, text_of(found)) == ("T", "the next one")
