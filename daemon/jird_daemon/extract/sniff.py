"""What the first bytes of a body say that it is, beside what its Content-Type says.

The patterns are those of the MIME Sniffing Standard (https://mimesniff.spec.whatwg.org/), and a few more of formats
that sites serve under other names. What may be indexed is for the header to say (J155): bytes can show that a body is
not what it is called, and then it is not indexed; they never bring one into the index that was not called a document
(F87).
"""

import re
from dataclasses import dataclass

from jird_daemon.extract.media_type import FEED_TYPES, HTML, PDF, PLAIN, XHTML, media_type_of

# MIME Sniffing Standard section 5.2: the resource header.
SNIFF_BYTES = 1_445

OCTETS = "application/octet-stream"
RSS, ATOM = "application/rss+xml", "application/atom+xml"

# Sections 6 and 7.1; longest meaning first where one begins another.
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", PDF),
    (b"%!PS-Adobe-", "application/postscript"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"\x00\x00\x02\x00", "image/x-icon"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"ID3", "audio/mpeg"),
    (b"OggS\x00", "application/ogg"),
    (b"fLaC", "audio/flac"),
    (b"MThd\x00\x00\x00\x06", "audio/midi"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"Rar!\x1a\x07", "application/x-rar-compressed"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"BZh", "application/x-bzip2"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"\x7fELF", "application/x-executable"),
    (b"\x00asm", "application/wasm"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"\x00\x01\x00\x00", "font/ttf"),
    (b"OTTO", "font/otf"),
    (b"ttcf", "font/collection"),
)
# Containers that say behind their length what they hold.
_CONTAINERS = (
    (b"RIFF", {b"WEBP": "image/webp", b"WAVE": "audio/wave", b"AVI ": "video/avi"}),
    (b"FORM", {b"AIFF": "audio/aiff"}),
)
# Signatures with which a text may begin as well.
_LETTERS = frozenset({b"BM", b"ID3", b"BZh", b"OTTO", b"ttcf", b"wOFF", b"wOF2", b"fLaC"})
# Section 7.1: the tags that an HTML document may begin with, followed by a blank or the end of the tag.
_HTML = re.compile(
    rb"[\t\n\x0c\r ]*<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--)"
    rb"(?:[ >]|(?<=--))",
    re.IGNORECASE,
)
_XML = re.compile(rb"[\t\n\x0c\r ]*<\?xml")
_FEED = re.compile(rb"<(rss|feed|rdf:RDF)[\t\n\r >]")
# What may stand before the first element of a feed: beginning and end; a comment is more than a declaration.
_PROLOG = ((b"<!--", b"-->"), (b"<?", b"?>"), (b"<!", b">"))
_BOMS = (b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")
_MARKUP = (b"<", b"\n", b" ", b"\r")
# Section 3: bytes that no text has.
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_APACHE_CHARSETS = ("ISO-8859-1", "iso-8859-1", "UTF-8")
# Section 5.1: fields that old Apache servers send for any file.
_APACHE = frozenset(f"text/plain{charset}" for charset in ("", *(f"; charset={name}" for name in _APACHE_CHARSETS)))
_UNKNOWN = frozenset({"", "unknown/unknown", "application/unknown", "*/*"})
# Types under which sites serve anything that they have no better name for.
_CARELESS = re.compile(r"application/(?:octet-stream|x-download|force-download|msword|zip|vnd\..*(?<!xml)|x-.*)")
# First entries of a zip file that tell what it is: ODF and EPUB by their type, Office Open XML by its folders.
_ZIP_MIMETYPE = re.compile(rb"PK\x03\x04.{22}\x08\x00..mimetype([a-z/+.\-0-9]{8,100}?)(?:PK|\x00)", re.DOTALL)
_OFFICE = {
    b"word/": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    b"xl/": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    b"ppt/": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}


@dataclass(frozen=True, slots=True)
class Sniffed:
    """What a body is called, and what it is."""

    declared: str  # media type of its header, "" when there is none
    actual: str

    @property
    def conflict(self) -> str:
        """What is wrong between the two, for a person; "" when nothing is."""
        if self.declared == self.actual:
            return ""
        return f"sent {f'as {self.declared}' if self.declared else 'without a Content-Type'}, is {self.actual}"


def sniff(content_type: str, head: bytes) -> Sniffed:
    """Compare a Content-Type field with the first bytes of the body.

    Args:
        content_type: As sent; may be empty.
        head: The first SNIFF_BYTES, or all of a shorter body.
    """
    declared = media_type_of(content_type)
    head = head[:SNIFF_BYTES]
    return Sniffed(declared, _actual(declared, content_type, head) if head else declared or OCTETS)


def _actual(declared: str, content_type: str, head: bytes) -> str:
    if declared in _UNKNOWN:
        return _identify(head)
    if declared == PLAIN:
        return _plain(content_type, head)
    signed = _signature(head, is_text_likely=declared in (HTML, XHTML) or declared in FEED_TYPES)
    if declared == HTML:
        return signed or _feed(head) or HTML
    if declared == XHTML or declared in FEED_TYPES:
        return signed or declared
    if signed or _CARELESS.fullmatch(declared):
        # "application/zip" for what is inside of a zip file, and the like, are no lies: what is known better counts.
        found = signed or _identify(head)
        return declared if found == OCTETS else found
    return declared


def _plain(content_type: str, head: bytes) -> str:
    """Section 7.2: text or binary; what it looks like as a text does not matter.

    A stray control makes a binary file of it only where the field is one that servers send for want of a better.
    """
    if head.startswith(_BOMS) or not _BINARY.search(head):
        return PLAIN
    return _signature(head, is_text_likely=False) or (OCTETS if content_type in _APACHE else PLAIN)


def _identify(head: bytes) -> str:
    """Section 7.1, for a body of which nothing is known."""
    if _HTML.match(head):
        return HTML
    feed = _feed(head)
    if feed or _XML.match(head):
        return feed or "text/xml"
    signed = _signature(head, is_text_likely=False)
    if signed:
        return signed
    return PLAIN if head.startswith(_BOMS) or not _BINARY.search(head) else OCTETS


def _signature(head: bytes, *, is_text_likely: bool) -> str:
    """The type whose signature a body bears; "" for none. Where text is likely, letters alone are no signature."""
    if head.startswith(_MARKUP):  # most, and no signature
        return ""
    for kind, formats in _CONTAINERS:
        if head.startswith(kind) and head[8:12] in formats:
            return formats[head[8:12]]
    if head[4:8] == b"ftyp" and not is_text_likely:
        return "image/avif" if head[8:12] in (b"avif", b"avis") else "video/mp4"
    for signature, media_type in _SIGNATURES:
        if head.startswith(signature) and not (is_text_likely and signature in _LETTERS):
            return _in_zip(head) if media_type == "application/zip" else media_type
    return ""


def _in_zip(head: bytes) -> str:
    named = _ZIP_MIMETYPE.match(head)
    if named is not None:
        return named[1].decode("ascii")
    if b"[Content_Types].xml" in head or b"_rels/" in head:
        for folder, media_type in _OFFICE.items():
            if folder in head:
                return media_type
    return "application/zip"


def _feed(head: bytes) -> str:
    """Section 7.3, with comments and processing instructions before the first element; "" when it is none."""
    rest = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    while (end := next((end for start, end in _PROLOG if rest.startswith(start)), None)) is not None:
        rest = rest.partition(end)[2].lstrip()
    found = _FEED.match(rest)
    if found is None:
        return ""
    return ATOM if found[1] == b"feed" else RSS
