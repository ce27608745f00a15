"""What a crawl makes of bodies that are no pages: PDF files are read, others recorded with what they truly are."""

from pathlib import Path

from jird_daemon.crawler.transfer import UNWANTED_BYTES_MAX
from jird_daemon.outcome import ExitCode
from testkit.crawling import crawling, html
from testkit.origin import Origin, Reply
from testkit.pdf import make_pdf

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00\x01" * 100


def sent(body: bytes, content_type: str) -> Reply:
    headers = (("Content-Type", content_type),) if content_type else ()
    return Reply(200, body, headers)


async def test_a_pdf_is_a_page_with_words_and_links(origin: Origin, tmp_path: Path) -> None:
    origin.add("/", Reply.html(html("Front", "/paper.pdf", "/locked.pdf")))
    origin.add("/paper.pdf", sent(make_pdf(["some words"], title="Paper", links=["/next"]), "application/pdf"))
    origin.add("/locked.pdf", sent(make_pdf(["secret"], is_encrypted=True), "application/pdf"))
    origin.add("/next", Reply.html(html("Next")))
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/")
        titles = {"/": "Front", "/paper.pdf": "Paper", "/next": "Next"}
        assert crawl.indexed() == {origin.url(path): title for path, title in titles.items()}
        assert crawl.exit_codes("/locked.pdf") == [ExitCode.FILE_OF_UNKNOWN_TYPE]
        assert "password" in crawl.log("/locked.pdf")[0].message


async def test_the_true_type_is_recorded_whatever_the_header_says(origin: Origin, tmp_path: Path) -> None:
    """F87, J155."""
    replies = {
        "/picture": (sent(PNG, "text/html"), "image/png", "sent as text/html, is image/png"),
        "/untyped": (sent(b"<html><p>words", ""), "text/html", "sent without a Content-Type, is text/html"),
        "/download": (
            sent(make_pdf(["words"]), "application/octet-stream"),
            "application/pdf",
            "sent as application/octet-stream, is application/pdf",
        ),
        "/large": (
            sent(PNG + bytes(4 * UNWANTED_BYTES_MAX), "application/octet-stream"),
            "image/png",
            "sent as application/octet-stream, is image/png",
        ),
        "/honest": (sent(PNG, "image/png"), "image/png", "media type image/png is not indexed"),
    }
    origin.add("/", Reply.html(html("Front", *replies)))
    for path, (reply, _, _) in replies.items():
        origin.add(path, reply)
    async with crawling(origin, tmp_path) as crawl:
        await crawl.run("/")
        for path, (_, media_type, message) in replies.items():
            assert crawl.exit_codes(path) == [ExitCode.FILE_OF_UNKNOWN_TYPE]
            assert crawl.log(path)[0].message == message
            page = crawl.page(path)
            assert page is not None
            assert (page.media_type, page.is_indexable) == (media_type, False)
        assert set(crawl.indexed()) == {origin.url("/")}
