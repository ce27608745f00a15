"""Pictures of a page (S24-S27)."""

import pytest

from jird_daemon.extract.document import ParseJob
from jird_daemon.extract.images import srcset_urls
from jird_daemon.extract.limits import IMAGES_MAX
from jird_daemon.extract.page import parse_page
from jird_daemon.store.tables import Image


def images(html: str, url: str = "https://example.org/a/page") -> tuple[Image, ...]:
    return parse_page(ParseJob(url, html.encode(), "text/html; charset=utf-8"), 1_796_083_200.0).images


@pytest.mark.parametrize(
    "html",
    ["<img src=/i.png>", "<img data-src=/i.png>", "<img data-lazy-src=/i.png>", "<img data-original=/i.png>",
     "<img srcset='/i.png 2x'>", "<picture><source srcset=/i.png><img></picture>",
     "<meta property=og:image content=/i.png>", "<meta name=twitter:image content=/i.png>",
     "<link rel=image_src href=/i.png>", "<img src='/i.png#x'><img src=/i.png>", "<img src=' ../i.png '>"],
)  # fmt: skip
def test_every_source_is_read_once_resolved_and_without_fragment(html: str) -> None:
    """S24, S25, S26."""
    assert [image.url for image in images(html)] == ["https://example.org/i.png"]


@pytest.mark.parametrize(
    "source",
    ["data:image/png;base64,AAAA", "javascript:x()", "ftp://example.org/i.png", "https://localhost/i.png",
     "https://10.0.0.1/i.png", "https://8.8.8.8/i.png", "https://printer.local/i.png", "https://intranet/i.png",
     "http://[", ""],
)  # fmt: skip
def test_inline_and_unreachable_pictures_are_dropped(source: str) -> None:
    """S27."""
    assert images(f"<img src='{source}'>") == ()


def test_page_on_a_private_host_may_show_its_own_pictures() -> None:
    assert len(images("<img src=i.png><img src=https://other/i.png>", "https://wiki/page")) == 1


def test_pictures_keep_their_words() -> None:
    """S28: addresses and words, nothing else."""
    assert images(
        "<img src=a alt=' the\n cat '><img src=b title=dog><img src=a alt=other><img src=c><img src=c alt=d>"
    ) == (
        Image("https://example.org/a/a", "the cat"),
        Image("https://example.org/a/b", "dog"),
        Image("https://example.org/a/c", "d"),
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a.png 1x, b.png 2x", ["a.png", "b.png"]),
        ("a,b.png 100w,c.png", ["a,b.png", "c.png"]),
        (" , a.png,, b.png ,", ["a.png", "b.png"]),
        ("data:image/png;base64,AAA= 1x, b 2x", ["data:image/png;base64,AAA=", "b"]),
        ("", []),
        (",,,", []),
    ],
)
def test_srcset_is_read_as_browsers_do(value: str, expected: list[str]) -> None:
    """S25."""
    assert srcset_urls(value) == expected


def test_number_of_pictures_is_bounded() -> None:
    document = parse_page(
        ParseJob(
            "https://example.org/", "".join(f"<img src={n}.png>" for n in range(IMAGES_MAX + 9)).encode(), "text/html"
        ),
        1_796_083_200.0,
    )
    assert len(document.images) == IMAGES_MAX
    assert "document_images" in document.truncated
