"""Title, description, headlines, dates (J162, U19, U65)."""

from datetime import UTC, datetime

import pytest

from jird_daemon.extract.document import ParsedDocument, ParseJob
from jird_daemon.extract.limits import HEADINGS_MAX, TITLE_CHARS_MAX
from jird_daemon.extract.page import parse_page

# Tue, 01 Dec 2026 00:00:00 GMT
NOW_S = 1_796_083_200.0


def parse(html: str, last_modified: str = "") -> ParsedDocument:
    body, content_type = html.encode(), "text/html; charset=utf-8"
    return parse_page(ParseJob("https://example.org/", body, content_type, last_modified=last_modified), NOW_S)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<title> A\n title </title>", "A title"),
        ("<title>one</title><title>two</title>", "one"),
        ("<svg><title>no</title></svg><title>yes</title>", "yes"),
        ("<body><svg><title>no</title></svg><p>x", ""),
        ("<title>&lt;b&gt; &amp;</title>", "<b> &"),
        ("<title></title><meta property=og:title content=Shared>", "Shared"),
        ("<h1>Head</h1>", "Head"),
        ("", ""),
    ],
)
def test_title(html: str, expected: str) -> None:
    """J162."""
    assert parse(html).title == expected


def test_title_ends_at_its_limit() -> None:
    """J162."""
    assert len(parse(f"<title>{'x' * 5_000}</title>").title) == TITLE_CHARS_MAX


def test_description_comes_from_meta_elements() -> None:
    assert (
        parse("<meta name=Description content=' a  b '><meta property=og:description content=c>").description == "a b"
    )
    assert parse("<meta property=og:description content=c>").description == "c"


def test_headlines_are_in_order_and_bounded() -> None:
    document = parse("<h2>a</h2><h1>b<br>c</h1><h6></h6><h3><a href=x>d</a></h3>")
    assert document.headings == ("a", "b c", "d")
    many = parse("<h2>x</h2>" * (HEADINGS_MAX + 1))
    assert len(many.headings) == HEADINGS_MAX
    assert "document_headings" in many.truncated


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<meta property=article:published_time content=2020-05-06T07:08:09+02:00>", datetime(2020, 5, 6, 5, 8, 9)),
        ("<meta name=DC.date content=2020-05-06>", datetime(2020, 5, 6)),
        ("<meta name=citation_publication_date content=2020/5>", datetime(2020, 5, 1)),
        ("<meta itemprop=datePublished content=2020-05-06T07:08:09Z>", datetime(2020, 5, 6, 7, 8, 9)),
        (
            '<script type="application/ld+json">{"@graph":[{"datePublished" : "2020-05-06"}]}</script>',
            datetime(2020, 5, 6),
        ),
        ("<article><time datetime=2020-05-06>May</time></article>", datetime(2020, 5, 6)),
        ("<time datetime=2019-01-01>x</time><time pubdate datetime=2020-05-06>y</time>", datetime(2020, 5, 6)),
        ("<time datetime=2019-01-01>x</time><time datetime=2020-05-06>y</time>", None),
        ("<meta name=date content='Wed, 06 May 2020 07:08:09 GMT'>", datetime(2020, 5, 6, 7, 8, 9)),
        ("<meta name=date content=0001-01-01>", None),
        ("<meta name=date content=9999-12-31T23:59:59-12:00>", None),
        ("<meta name=date content=2027-01-01>", None),
        ("<meta name=date content=2020-13-45>", None),
        ("<meta name=date content=yesterday>", None),
        ("<meta name=date content=9999-12-31><meta name=pubdate content=2020-05-06>", datetime(2020, 5, 6)),
        ("<p>x", None),
    ],
)
def test_date_of_publication(html: str, expected: datetime | None) -> None:
    found = parse(html).published_s
    assert found == (expected.replace(tzinfo=UTC).timestamp() if expected is not None else None)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<meta property=article:modified_time content=2020-05-06T07:08:09+02:00>", datetime(2020, 5, 6, 5, 8, 9)),
        ("<meta property=og:updated_time content=2020-05-06>", datetime(2020, 5, 6)),
        ("<meta name=DCTERMS.modified content=2020-05-06>", datetime(2020, 5, 6)),
        ("<meta http-equiv=Last-Modified content='Wed, 06 May 2020 07:08:09 GMT'>", datetime(2020, 5, 6, 7, 8, 9)),
        ("<time itemprop='dateModified url' datetime=2020-05-06>May</time>", datetime(2020, 5, 6)),
        (
            '<script type="application/ld+json">{"dateModified": "2020-05-06", "datePublished":"2019-01-01"}</script>',
            datetime(2020, 5, 6),
        ),
        # What cannot be is passed over: the header is asked next.
        ("<meta name=lastmod content=9999-12-31>", datetime(2021, 2, 3, 4, 5, 6)),
        ("<meta name=lastmod content=0001-01-01>", datetime(2021, 2, 3, 4, 5, 6)),
        ("<meta name=date content=2020-06-01><meta name=lastmod content=2020-05-06>", datetime(2021, 2, 3, 4, 5, 6)),
        ("<meta name=date content=2022-06-01>", None),
        ("<p>x", datetime(2021, 2, 3, 4, 5, 6)),
    ],
)
def test_date_of_change_is_that_of_the_page_or_of_its_header_and_never_before_publication(
    html: str, expected: datetime | None
) -> None:
    """U65."""
    found = parse(html, "Wed, 03 Feb 2021 04:05:06 GMT").modified_s
    assert found == (expected.replace(tzinfo=UTC).timestamp() if expected is not None else None)


@pytest.mark.parametrize(
    "header", ["Sat, 01 Jan 0001 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "0", "-1", "today", "x" * 5_000]
)
def test_header_that_cannot_be_is_no_date_of_change(header: str) -> None:
    """U65."""
    assert parse("<p>x", header).modified_s is None


def test_time_of_a_change_is_not_taken_for_the_publication() -> None:
    document = parse("<time itemprop=dateModified datetime=2020-05-06>May</time>")
    assert document.published_s is None
