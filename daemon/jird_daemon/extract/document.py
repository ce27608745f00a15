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


class ParseKind(IntEnum):
    """What a body turned out to be."""

    DOCUMENT = 1
    UNKNOWN_TYPE = 2  # not text/html, application/xhtml+xml or text/plain (J155)
    CHALLENGE = 3  # a captcha or challenge page (U51)
    TOO_COMPLEX = 4  # a limit of J161 that loses no text is not this; a document that cannot be read safely is


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
    language: str = ""
    links: tuple[Link, ...] = ()  # destinations canonical; is_crawlable already says what meta and rel allow
    images: tuple[Image, ...] = ()
    canonical_url: str = ""  # valid, not the page itself; "" otherwise
    is_noindex: bool = False
    is_nofollow: bool = False
    published_s: float | None = None
    truncated: tuple[str, ...] = ()  # names of the limits that were met
    message: str = ""
