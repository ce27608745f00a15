"""From the bytes of an answer to what jird keeps of it. Pure: no file, no network, the time is an argument."""

import re

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from jird_daemon.extract import media_type as media
from jird_daemon.extract.challenge import challenge_product
from jird_daemon.extract.charset import DecodedText, decode_body
from jird_daemon.extract.dates import plausible_date
from jird_daemon.extract.document import ParsedDocument, ParseJob, ParseKind, Sitemap
from jird_daemon.extract.elements import ARTICLE_RANGE
from jird_daemon.extract.feed import read_feed
from jird_daemon.extract.images import read_images
from jird_daemon.extract.language import language_of
from jird_daemon.extract.limits import DOCUMENT_TEXT_CHARS_MAX
from jird_daemon.extract.links import LinkReader
from jird_daemon.extract.main_text import main_ranges
from jird_daemon.extract.metadata import Metadata
from jird_daemon.extract.native_walk import walk_page
from jird_daemon.extract.nesting import guard
from jird_daemon.extract.pdf import PdfError, read_pdf
from jird_daemon.extract.sitemap import FEED_FORMATS, read_sitemap
from jird_daemon.extract.sniff import sniff
from jird_daemon.extract.tree import PageTree
from jird_daemon.extract.walk import UNWANTED
from jird_daemon.store.text_pile import Marker, MarkerKind, TextPile, encode_marked, encoded_digest, main_parts
from jird_daemon.url.directives import parse_x_robots_tag
from jird_native.page import scan_source, simhash

_PART_KINDS = frozenset({int(MarkerKind.MAIN), int(MarkerKind.NAVIGATION), ARTICLE_RANGE})
# An element that XML closes in its own tag; HTML would leave it open and swallow what follows.
_SELF_CLOSED = re.compile(
    r"<((?:script|style|title|textarea|iframe|a|div|span|p|td|i|b|em)\b)([^<>]*)/>", re.IGNORECASE
)


def parse_page(job: ParseJob, now_s: float) -> ParsedDocument:
    """Read one fetched body.

    Args:
        job: The body and its headers.
        now_s: Current time in unix seconds, for `unavailable_after` and dates that lie ahead.

    Returns:
        The document; of other media types than J155's only the type, of a challenge page all that is known of it, of a
        sitemap or feed its locations.
    """
    sniffed = sniff(job.content_type, job.body)
    media_type = sniffed.declared
    if job.is_sitemap or media_type in media.FEED_TYPES:
        return _parse_sitemap(job, media_type, now_s)
    if sniffed.actual in media.FEED_TYPES and media_type == media.HTML:
        return _parse_sitemap(job, sniffed.actual, now_s)
    if media_type not in media.DOCUMENT_TYPES or sniffed.conflict:
        message = sniffed.conflict or f"media type {media_type} is not indexed"
        return ParsedDocument(ParseKind.UNKNOWN_TYPE, sniffed.actual, message=message)
    if media_type == media.PDF:
        return _parse_pdf(job, now_s)
    decoded = decode_body(job.body, job.content_type, is_html=media_type != media.PLAIN)
    if media_type == media.PLAIN:
        return _parse_plain(job, media_type, decoded, now_s)
    return _parse_html(job, media_type, decoded, now_s)


def _parse_sitemap(job: ParseJob, media_type: str, now_s: float) -> ParsedDocument:
    sitemap = read_sitemap(job.body, job.url, job.content_type, is_own_origin=job.is_sitemap)
    if not sitemap.refusal:
        if job.is_sitemap or sitemap.format not in FEED_FORMATS:
            return ParsedDocument(ParseKind.SITEMAP, media_type, sitemap=sitemap)
        return _parse_feed(job, media_type, sitemap, now_s)
    if job.is_sitemap:
        return ParsedDocument(ParseKind.TOO_COMPLEX, media_type, message=f"not a sitemap: {sitemap.refusal}")
    return ParsedDocument(ParseKind.UNKNOWN_TYPE, media_type, message=f"{media_type} is not indexed: {sitemap.refusal}")


def _parse_feed(job: ParseJob, media_type: str, sitemap: Sitemap, now_s: float) -> ParsedDocument:
    """A feed with its words; whether they are indexed is for the crawler to say."""
    directives = parse_x_robots_tag(job.x_robots_tag, job.product_token, now_s).at(now_s)
    words = read_feed(job.body, job.content_type)
    pile_bytes = encode_marked(words.text, (), words.language)
    return ParsedDocument(
        ParseKind.SITEMAP,
        media_type,
        title=words.title,
        headings=tuple(words.headings),
        pile_bytes=pile_bytes,
        pile_digest=encoded_digest(pile_bytes),
        language=language_of(words.text, words.language),
        is_noindex=directives.is_noindex,
        is_nofollow=directives.is_nofollow,
        sitemap=sitemap,
        simhash=simhash(words.text),
    )


def _parse_plain(job: ParseJob, media_type: str, decoded: DecodedText, now_s: float) -> ParsedDocument:
    directives = parse_x_robots_tag(job.x_robots_tag, job.product_token, now_s).at(now_s)
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
    truncated = ("document_text_chars",) if len(text) > DOCUMENT_TEXT_CHARS_MAX else ()
    text = UNWANTED.sub("", text[:DOCUMENT_TEXT_CHARS_MAX]).strip()
    pile_bytes = encode_marked(text, (), "")
    return ParsedDocument(
        ParseKind.DOCUMENT,
        media_type,
        decoded.charset,
        pile_bytes=pile_bytes,
        pile_digest=encoded_digest(pile_bytes),
        language=language_of(text, ""),
        is_noindex=directives.is_noindex,
        is_nofollow=directives.is_nofollow,
        truncated=truncated,
        simhash=simhash(text),
        modified_s=plausible_date(job.last_modified, now_s),
    )


def _parse_pdf(job: ParseJob, now_s: float) -> ParsedDocument:
    try:
        pdf = read_pdf(job.body)
    except PdfError as error:
        return ParsedDocument(ParseKind.UNKNOWN_TYPE, media.PDF, message=f"a PDF that is not read: {error}")
    directives = parse_x_robots_tag(job.x_robots_tag, job.product_token, now_s).at(now_s)
    tree = pdf.tree
    reader = LinkReader(tree, tree.text, job.url, "utf-8")
    canonical = reader.canonical(job.link)
    links = reader.links(canonical, directives.is_nofollow)
    if reader.is_truncated:
        tree.truncated.add("document_links")
    pile_bytes = encode_marked(tree.text, (), pdf.language)
    return ParsedDocument(
        ParseKind.DOCUMENT,
        media.PDF,
        title=pdf.title,
        description=pdf.description,
        headings=pdf.headings,
        pile_bytes=pile_bytes,
        pile_digest=encoded_digest(pile_bytes),
        language=language_of(tree.text, pdf.language),
        links=links,
        canonical_url="" if directives.is_nofollow else canonical,
        is_noindex=directives.is_noindex,
        is_nofollow=directives.is_nofollow,
        published_s=plausible_date(pdf.created, now_s),
        truncated=tuple(sorted(tree.truncated)),
        simhash=simhash(tree.text),
        modified_s=plausible_date(job.last_modified, now_s),
    )


def _parse_html(job: ParseJob, media_type: str, decoded: DecodedText, now_s: float) -> ParsedDocument:
    html, source, was_guarded = _prepare(decoded, media_type)
    parser = _parse_tree(source)
    tree = walk_page(parser)
    if was_guarded:
        tree.truncated.add("document_nesting")
    text = tree.text
    if tree.has_unwanted and "&#" in html:
        # One for one, so that offsets stay what they are.
        text = UNWANTED.sub("\ufffd", text)
    metadata = Metadata(tree, text)
    directives = metadata.directives(job.product_token, now_s)
    directives = (directives | parse_x_robots_tag(job.x_robots_tag, job.product_token, now_s)).at(now_s)
    reader = LinkReader(tree, text, job.url, decoded.codec)
    canonical = reader.canonical(job.link)
    links = reader.links(canonical, directives.is_nofollow)
    if reader.is_truncated:
        tree.truncated.add("document_links")
    stated_language = metadata.language()
    markers = _markers(tree)
    pile_bytes = encode_marked(text, markers, stated_language)
    own_text = _own_text(text, markers)
    title = metadata.title()
    dates = metadata.dates(parser, source, job.last_modified, now_s)
    product = challenge_product(html, title, text)
    return ParsedDocument(
        ParseKind.CHALLENGE if product else ParseKind.DOCUMENT,
        media_type,
        decoded.charset,
        title,
        metadata.description(),
        metadata.headings(),
        None,
        pile_bytes,
        encoded_digest(pile_bytes),
        language_of(own_text, stated_language),
        links,
        read_images(tree, reader.resolver, job.url),
        "" if directives.is_nofollow else canonical,
        directives.is_noindex,
        directives.is_nofollow,
        dates.published_s,
        tuple(sorted(tree.truncated)),
        f"challenge page of {product}" if product else "",
        simhash=simhash(own_text),
        modified_s=dates.modified_s,
    )


def _own_text(text: str, markers: list[tuple[int, int, int]]) -> str:
    """What a page says itself: frame and navigation make all pages of a site alike."""
    told_apart = (MarkerKind.MAIN, MarkerKind.NAVIGATION)
    ranges = tuple(Marker(MarkerKind(kind), start, end) for kind, start, end in markers if kind in told_apart)
    return "\n".join([text[start:end] for start, end in main_parts(TextPile(text, ranges))])


def _prepare(decoded: DecodedText, media_type: str) -> tuple[str, bytes, bool]:
    """Give a source that is safe to parse, as text and in UTF-8, and whether it was cut for that."""
    html, source = decoded.text, decoded.utf8
    if media_type == media.XHTML:
        html = _SELF_CLOSED.sub(r"<\1\2></\1>", html)
    scan = scan_source(source)
    if scan.has_unwanted:
        html = UNWANTED.sub("", html)
    html, was_guarded = guard(html, scan.open_count)
    if html is not decoded.text:
        source = html.encode("utf-8", "ignore")
    return html, source, was_guarded


def _parse_tree(source: bytes) -> LexborHTMLParser:
    try:
        return LexborHTMLParser(source, scripting=True)
    except SelectolaxError as error:
        # The parser accepts every text; what it cannot do without is memory.
        raise MemoryError(str(error)) from error


def _markers(tree: PageTree) -> list[tuple[int, int, int]]:
    """Give the ranges with text in the order of the pile.

    The main part is what the page calls so, else a single article, else what its text tells.
    """
    ranges = [(start, -end, kind) for kind, start, end in tree.markers if 0 <= start < end and kind not in _PART_KINDS]
    ranges += [(start, -end, kind) for kind, start, end in main_ranges(tree)]
    ranges.sort()
    return [(kind, start, -end) for start, end, kind in ranges]
