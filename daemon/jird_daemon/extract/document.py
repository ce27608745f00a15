"""What goes to a parse worker, and what comes back."""

from enum import IntEnum

import msgspec

from jird_daemon.store.tables import Image, Link
from jird_daemon.store.text_pile import TextPile


class ParseJob(msgspec.Struct, frozen=True, array_like=True):
    """One fetched body and what HTTP said of it."""

    url: str  # canonical URL that answered; the base of relative links
    body: bytes  # decoded from its content coding
    content_type: str  # header as sent, may be empty
    x_robots_tag: tuple[str, ...] = ()  # every X-Robots-Tag header line
    link: tuple[str, ...] = ()  # every Link header line
    product_token: str = "jird"  # names that robots directives may be addressed to
    is_sitemap: bool = False  # it was asked for as a sitemap: whatever its type, only locations are read from it
    last_modified: str = ""  # header as sent


class ParseKind(IntEnum):
    """What a body turned out to be."""

    DOCUMENT = 1
    UNKNOWN_TYPE = 2  # not text/html, application/xhtml+xml or text/plain (J155)
    CHALLENGE = 3  # a captcha or challenge page (U51)
    TOO_COMPLEX = 4  # a limit of J161 that loses no text is not this; a document that cannot be read safely is
    SITEMAP = 5  # a sitemap or feed (J122)


class Location(msgspec.Struct, frozen=True, array_like=True):
    """A URL that a sitemap or feed names, and what it says of it; nothing of that is believed without need."""

    url: str  # canonical
    modified_s: float | None = None  # lastmod, pubDate, updated
    priority: float | None = None  # 0 to 1
    frequency: str = ""  # changefreq: always, hourly, daily, weekly, monthly, yearly, never


class Sitemap(msgspec.Struct, frozen=True, array_like=True):
    """What a sitemap or feed holds."""

    format: str = ""  # urlset, sitemapindex, text, rss or atom
    is_index: bool = False  # its locations are sitemaps
    locations: tuple[Location, ...] = ()  # distinct, in order, at most SITEMAP_LOCATIONS_MAX (J123)
    foreign: int = 0  # locations on other origins, left out (J124)
    refused: int = 0  # locations that are no URL, or hold markup
    repeated: int = 0
    is_cut: bool = False  # by a limit, or broken off
    refusal: str = ""  # why it is none; everything else is empty then


class ParsedDocument(msgspec.Struct, frozen=True, array_like=True):
    """A page as the crawler stores it; every field is bounded by the limits of J161-J163."""

    kind: ParseKind
    media_type: str = ""
    charset: str = ""
    title: str = ""
    description: str = ""
    headings: tuple[str, ...] = ()
    pile: TextPile | None = None
    pile_bytes: bytes = b""  # encode_pile(pile), so that ingest need not serialise it again; pile itself is None then
    pile_digest: bytes = b""
    language: str = ""  # as stated, or as its text shows; that of the pile is the stated one
    links: tuple[Link, ...] = ()  # destinations canonical; is_crawlable already says what meta and rel allow
    images: tuple[Image, ...] = ()
    canonical_url: str = ""  # valid, not the page itself; "" otherwise
    is_noindex: bool = False
    is_nofollow: bool = False
    published_s: float | None = None
    truncated: tuple[str, ...] = ()  # names of the limits that were met
    message: str = ""
    sitemap: Sitemap | None = None  # of the kind SITEMAP
    simhash: int = 0  # of the main text, 64 bits; 0 when it is too short
    modified_s: float | None = None  # when it was changed, as the page says, else the header; never before published_s
