"""The words of feeds, and whether they are results themselves."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jird_daemon.extract.document import ParseJob, ParseKind
from jird_daemon.extract.feed import read_feed
from jird_daemon.extract.page import parse_page
from jird_daemon.outcome import ExitCode
from testkit.crawling import crawling, html
from testkit.origin import Origin, Reply

RSS = b"""<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0"><channel><title>A &amp; B</title><language>de-AT</language><description>News of it</description>
<image><title>not this</title></image>
<item><title>First</title><link>https://a.test/1</link>
<description>&lt;p&gt;One &lt;b&gt;b&lt;/b&gt;old&lt;br&gt;next &amp;amp; last</description></item>
<item><title><![CDATA[Se<i>co</i>nd]]></title><guid>https://a.test/2</guid></item>
</channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en-GB"><title>Atom</title><subtitle>below</subtitle>
<entry><title>Entry</title><author><name>not this</name></author><link href="/e"/><summary>short</summary>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>para <em>graph</em></p><p>two</p></div></content>
</entry></feed>"""


def test_rss() -> None:
    words = read_feed(RSS, "application/rss+xml")
    assert (words.title, words.language, words.headings) == ("A & B", "de", ["First", "Second"])
    assert words.text == "A & B\nNews of it\nFirst\nOne bold\nnext & last\nSecond"


def test_atom_with_markup_of_its_own() -> None:
    words = read_feed(ATOM, "application/atom+xml")
    assert (words.title, words.language, words.headings) == ("Atom", "en", ["Entry"])
    assert words.text == "Atom\nbelow\nEntry\nshort\npara graph\ntwo"


def test_a_feed_has_words_and_locations() -> None:
    document = parse_page(ParseJob("https://a.test/feed", RSS, "application/rss+xml"), 1_796_000_000.0)
    assert (document.kind, document.title) == (ParseKind.SITEMAP, "A & B")
    assert document.sitemap is not None
    assert len(document.sitemap.locations) == 2


@given(st.binary(max_size=300))
def test_no_bytes_make_it_raise(body: bytes) -> None:
    read_feed(b"<rss><channel>" + body, "text/xml").text.encode()


@pytest.mark.parametrize(
    "piece", [b"<", b"<a", b"&lt;", b"<item>", b"</item>", b"<title>", b"<description>&lt;b ", b"&"]
)
def test_a_megabyte_of_any_beginning_is_read_to_its_end(piece: bytes) -> None:
    """Work is linear: were it not, this would meet the test's deadline."""
    assert read_feed(b"<rss><channel><item><description>" + piece * (1_000_000 // len(piece)), "text/xml").title == ""


@pytest.mark.parametrize("is_indexed", [False, True])
async def test_a_feed_is_a_result_where_that_is_asked_for(origin: Origin, tmp_path: Path, is_indexed: bool) -> None:
    """J156 by default; its links are followed either way."""
    origin.add("/", Reply.html(html("Front", "/feed")))
    origin.add("/feed", Reply(body=ATOM, headers=(("Content-Type", "application/atom+xml"),)))
    origin.add("/e", Reply.html(html("Entry page")))
    async with crawling(origin, tmp_path, {"content": {"index_feeds": is_indexed}}) as crawl:
        await crawl.run("/")
        code = ExitCode.FILE_INGESTED if is_indexed else ExitCode.FILE_OF_UNKNOWN_TYPE
        assert crawl.exit_codes("/feed") == [code]
        expected = {origin.url("/"): "Front", origin.url("/e"): "Entry page"}
        assert crawl.indexed() == expected | ({origin.url("/feed"): "Atom"} if is_indexed else {})
