"""Which encoding a page is in, and its text.

The order is that of the HTML Standard (13.2.3.2): byte order mark, HTTP, meta element within the first 1,024 bytes.
What none of them says is guessed from the bytes: valid UTF-8 is UTF-8, else a detector is asked, else windows-1252
stands, as in browsers. Labels mean what the Encoding Standard says (`iso-8859-1` is windows-1252, `gb2312` is GBK).
"""

import codecs
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cchardet
import webencodings
from webencodings.labels import LABELS

# HTML Standard, "prescan a byte stream to determine its encoding".
PRESCAN_BYTES = 1_024
# The detector needs no more to be as sure as it gets.
DETECT_BYTES = 16_384

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16be"), (codecs.BOM_UTF16_LE, "utf-16le"))
_CHARSET_PARAMETER = re.compile(r"""charset\s*=\s*("[^"]*"|'[^']*'|[^\s;"']*)""", re.IGNORECASE)
# HTML Standard, "get an XML encoding": the first `encoding` decides, blanks are all bytes up to 0x20.
_XML_ENCODING = re.compile(rb"""encoding[\x00-\x20]*=[\x00-\x20]*("[^"\x00-\x20]*"|'[^'\x00-\x20]*')""")
_XML_UTF16 = ((b"<\0?\0x\0", "utf-16le"), (b"\0<\0?\0x", "utf-16be"))
_COMMENT_END = re.compile(rb"-->")
_META = re.compile(rb"<meta[\t\n\f\r /]", re.IGNORECASE)
_TAG = re.compile(rb"</?[A-Za-z][^\t\n\f\r >]*")
_BLANKS = re.compile(rb"[\t\n\f\r /]*")
_NAME = re.compile(rb"=?[^\t\n\f\r />=]*")
_EQUALS = re.compile(rb"[\t\n\f\r ]*=[\t\n\f\r ]*")
_BARE = re.compile(rb"[^\t\n\f\r >]+")
# Python codecs that differ from the Encoding Standard in what they are called or what they cover.
_PYTHON_CODECS = {"shift_jis": "cp932", "windows-874": "cp874", "gbk": "gb18030", "big5": "big5hkscs"}


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A body as text."""

    text: str
    charset: str  # name in the Encoding Standard, lower case
    codec: str  # Python codec, e.g. for the query of links
    utf8: bytes  # the text in UTF-8, as the HTML parser takes it


def decode_body(body: bytes, content_type: str, *, is_html: bool) -> DecodedText:
    """Decode a body; malformed bytes become U+FFFD.

    Args:
        body: As received, without content coding.
        content_type: Content-Type field, may be empty.
        is_html: Whether meta elements count; plain text has none.
    """
    for bom, name in _BOMS:
        if body.startswith(bom):
            return _decode(body[len(bom) :], name)
    name = _lookup(header_charset(content_type))
    if not name and is_html:
        name = prescan(body)
    if name:
        return _decode(body, name)
    return _guess(body, is_html)


def header_charset(content_type: str) -> str:
    """Give the charset parameter of a Content-Type field as written, or ""."""
    found = _CHARSET_PARAMETER.search(content_type)
    return found[1].strip("\"' ") if found is not None else ""


def prescan(body: bytes) -> str:
    """Find the encoding that a document declares in its first bytes; "" when there is none that is known."""
    for start, utf16 in _XML_UTF16:
        if body.startswith(start):
            return utf16
    # An XML declaration may be longer than the prescan: browsers read it to its end.
    return _prescan_markup(body[:PRESCAN_BYTES]) or _prescan_xml(body[:DETECT_BYTES])


def _prescan_markup(head: bytes) -> str:
    position = 0
    while position < len(head):
        position = head.find(b"<", position)
        if position < 0:
            break
        if head.startswith(b"<!--", position):
            # The two dashes that open a comment may be the two that close it.
            end = _COMMENT_END.search(head, position + 2)
            if end is None:
                break
            position = end.end()
        elif _META.match(head, position):
            name, position = _prescan_meta(head, position + 5)
            if name:
                return name
        else:
            position = _skip_tag(head, position)
    return ""


def _prescan_xml(head: bytes) -> str:
    start, end = head.find(b"encoding"), head.find(b">")
    if not head.startswith(b"<?xml") or not 0 <= start < end:
        return ""
    found = _XML_ENCODING.match(head, start)
    return _declared(found[1][1:-1].decode("latin-1")) if found is not None else ""


def _skip_tag(head: bytes, position: int) -> int:
    tag = _TAG.match(head, position)
    if tag is not None:
        position = tag.end()
        while (attribute := _attribute(head, position)) is not None:
            position = attribute[2]
        return position
    if head[position + 1 : position + 2] in (b"!", b"/", b"?"):
        end = head.find(b">", position)
        return end + 1 if end >= 0 else len(head)
    return position + 1


def _prescan_meta(head: bytes, position: int) -> tuple[str, int]:
    attributes: dict[bytes, bytes] = {}
    while (attribute := _attribute(head, position)) is not None:
        name, value, position = attribute
        attributes.setdefault(name, value)
    if b"charset" in attributes:
        return _declared(attributes[b"charset"].decode("latin-1")), position
    if attributes.get(b"http-equiv") == b"content-type":
        return _declared(meta_content_charset(attributes.get(b"content", b"").decode("latin-1"))), position
    return "", position


def meta_content_charset(content: str) -> str:
    """HTML Standard, "extracting a character encoding from a meta element": "" when there is none."""
    for found in re.finditer("charset", content, re.IGNORECASE):
        rest = content[found.end() :].lstrip("\t\n\f\r ")
        if not rest.startswith("="):
            continue
        rest = rest[1:].lstrip("\t\n\f\r ")
        if rest[:1] in ("'", '"'):
            value, closed, _ = rest[1:].partition(rest[0])
            return value if closed else ""
        return re.split(r"[\t\n\f\r ;]", rest, maxsplit=1)[0]
    return ""


def _attribute(head: bytes, position: int) -> tuple[bytes, bytes, int] | None:
    """Give the next attribute of a tag as name and value in lower case and the place after it; None at the end."""
    position = _end(_BLANKS, head, position)
    if position >= len(head) or head[position : position + 1] == b">":
        return None
    end = _end(_NAME, head, position)
    name = head[position:end].lower()
    equals = _EQUALS.match(head, end)
    if equals is None:
        return name, b"", max(end, position + 1)
    position = equals.end()
    quote = head[position : position + 1]
    if quote in (b'"', b"'"):
        close = head.find(quote, position + 1)
        if close < 0:
            return None
        return name, head[position + 1 : close].lower(), close + 1
    bare = _BARE.match(head, position)
    return (name, bare[0].lower(), bare.end()) if bare is not None else (name, b"", position)


def _end(pattern: re.Pattern[bytes], head: bytes, position: int) -> int:
    found = pattern.match(head, position)
    return found.end() if found is not None else position


def _declared(label: str) -> str:
    """A label in the document itself: one that could not have been read in that encoding means another."""
    name = _lookup(label)
    if name.startswith("utf-16"):
        return "utf-8"
    return "windows-1252" if name == "x-user-defined" else name


def _lookup(label: str) -> str:
    encoding = webencodings.lookup(label) if label else None
    return str(encoding.name) if encoding is not None else ""


def _guess(body: bytes, is_html: bool) -> DecodedText:
    sound = _decode_utf8(body)
    if sound is not None:
        return sound
    # HTML Standard, "changing the encoding while parsing": a late meta element still counts in browsers.
    late = _prescan_markup(body[:DETECT_BYTES]) if is_html else ""
    if late:
        return _decode(body, late)
    found: Any = cchardet.detect(body[:DETECT_BYTES]) or {}
    name = _lookup(found.get("encoding") or "")
    # A detector that takes broken UTF-8 or pure noise for UTF-16 would turn the page into nothing.
    if not name or name.startswith("utf-16"):
        name = "windows-1252"
    return _decode(body, name)


def _decode(body: bytes, name: str) -> DecodedText:
    if name == "replacement":  # Encoding Standard section 14.1: encodings that attacks hide in are not decoded
        return _decoded("\ufffd" if body else "", name, "utf-8")
    sound = _decode_utf8(body) if name == "utf-8" else None
    if sound is not None:
        return sound
    info = _codec(name)
    # The Encoding Standard fills the holes that Python leaves in these tables with the C1 control of the same number.
    errors = "jird-c1" if name.startswith("windows-125") else "replace"
    return _decoded(info.decode(body, errors)[0], name, info.name)


def _decode_utf8(body: bytes) -> DecodedText | None:
    """Decode UTF-8 without a fault, the ordinary case, in which the body is its own encoding; None for any other."""
    try:
        return DecodedText(body.decode(), "utf-8", "utf-8", body)
    except UnicodeDecodeError:
        return None


def _decoded(text: str, name: str, codec: str) -> DecodedText:
    return DecodedText(text, name, codec, text.encode("utf-8", "ignore"))


@lru_cache
def _codec(name: str) -> codecs.CodecInfo:
    if name in _PYTHON_CODECS:
        return codecs.lookup(_PYTHON_CODECS[name])
    encoding = webencodings.lookup(name)
    assert encoding is not None  # names come from _lookup
    return encoding.codec_info


def _to_c1(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "".join(map(chr, error.object[error.start : error.end])), error.end


codecs.register_error("jird-c1", _to_c1)


def load_codecs() -> None:
    """Load every codec that a page can ask for: a confined worker can open no file any more."""
    for name in set(LABELS.values()):
        _decode(b"a", _lookup(name))
    cchardet.detect("Größe".encode("latin-1"))
