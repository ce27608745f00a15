"""Which address a string names: the URL Standard's parser, then jird's own rules of identity on top.

The parser is the one that browsers use (https://url.spec.whatwg.org/, through ada), because links are written for
browsers. It keeps several spellings of one address apart, and accepts input that cannot be an address that anyone
meant, so jird adds (J141-J146):

* raw white space, control characters and backslashes are refused, also where the standard would trim or repair them;
* a percent sign that starts no triplet is refused; triplets of unreserved ASCII (RFC 3986 section 2.3) are decoded,
  the others kept, with upper-case digits; so `%2F` stays data and never becomes a path separator;
* dot segments are removed, also when they were written as `%2e`; repeated and trailing slashes are kept;
* the fragment is dropped, user names and passwords are refused, and 4,096 characters are the most.

Two spellings are the same page for jird exactly when their canonical strings are equal.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from ada_url import join_url, normalize_url

from jird_daemon.errors import InvalidUrlError

# J146: the longest identity, in characters; longer ones are not addresses that people link to, but traps.
URL_CHARS_MAX = 4_096
# RFC 1035 section 2.3.4: a name that DNS cannot carry names no host.
HOST_CHARS_MAX = 253
LABEL_CHARS_MAX = 63

DEFAULT_PORTS = {"http": 80, "https": 443}

_FORBIDDEN_RAW = re.compile(r"[\x00-\x20\x7f-\x9f\\\s]")
_FORBIDDEN_UNICODE = re.compile(r"[\x80-\x9f]|(?![\x00-\x7f])\s")
_BROKEN_TRIPLET = re.compile(r"%(?![0-9A-Fa-f]{2})")
_TRIPLET = re.compile(r"%[0-9A-Fa-f]{2}")
# What the standard takes off both ends of a link in a document (C0 control or space), before it parses it.
_HTML_TRIM = "".join(map(chr, range(0x21)))
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def _decoded_triplet(code: int) -> str:
    return chr(code) if chr(code) in _UNRESERVED else f"%{code:02X}"


# Every spelling of a triplet ("%7e", "%7E") to what stands for it in an identity.
_TRIPLETS = {
    f"%{high}{low}": _decoded_triplet(int(high + low, 16))
    for high in "0123456789ABCDEFabcdef"
    for low in "0123456789ABCDEFabcdef"
}


@dataclass(frozen=True, slots=True)
class UrlParts:
    """The parts of a canonical http or https URL."""

    scheme: str
    host: str  # ASCII, lower case; an IPv6 address keeps its brackets
    port: int  # the scheme's own where none is written (U164)
    path: str  # starts with "/"
    query: str  # without "?"; "" also when there is none
    path_query: str  # as the request line and a robots rule see it; keeps a final "?"

    @property
    def origin(self) -> str:
        """Scheme, host, and the port where it is not the scheme's own: the key of robots.txt and politeness (F13)."""
        if self.port == DEFAULT_PORTS[self.scheme]:
            return f"{self.scheme}://{self.host}"
        return f"{self.scheme}://{self.host}:{self.port}"


def canonicalize(text: str, base: str | None = None) -> str:
    """Give the identity of a URL from a seed, a redirect, a sitemap, a header or a caller; nothing is trimmed.

    Args:
        text: Absolute URL, or a reference to be resolved when a base is given.
        base: Canonical URL to resolve against.

    Returns:
        Canonical http or https URL without fragment, at most URL_CHARS_MAX ASCII characters. Whether its host and port
        may be asked is not decided here (policy.py does).

    Raises:
        InvalidUrlError: With reason URL_CHARACTER, URL_TRIPLET, URL_SCHEME, URL_USERINFO, URL_HOST, URL_TOO_LONG or
            URL_MALFORMED.
    """
    text = _without_fragment(text)
    # J145: before anything is trimmed or resolved.
    found = _FORBIDDEN_RAW.search(text)
    if found is not None:
        raise InvalidUrlError(
            f"URL has the character U+{ord(found.group()):04X} at {found.start()}; "
            "white space, control characters and backslashes are not allowed",
            "URL_CHARACTER",
        )
    return _identity(text, base)


def html_link(text: str, base: str, encoding: str = "utf-8") -> str:
    """Give the identity of a link in a document: trimmed and encoded as browsers do, then held to jird's rules.

    A blank inside is encoded, a tab or line end inside is refused like every control character (J145).

    Args:
        text: Value of href, src or the like.
        base: Effective base of the document, canonical.
        encoding: Python codec in which browsers encode the query, that is the document's own; UTF-16 counts as UTF-8.

    Raises:
        InvalidUrlError: As canonicalize does.
    """
    text = _without_fragment(text.strip(_HTML_TRIM))
    if not text.isascii():
        text = _encode_link(text, encoding)
    if " " in text:
        text = text.replace(" ", "%20")
    return canonicalize(text, base)


def parse_href(text: str, base: str | None = None) -> str:
    """Parse as the URL Standard does and nothing else; any scheme.

    Raises:
        InvalidUrlError: The standard calls it a failure.
    """
    try:
        return normalize_url(text) if base is None else join_url(base, text)
    except ValueError:
        raise InvalidUrlError(f"not a URL: {text[:200]!r}", "URL_MALFORMED") from None


def split(url: str) -> UrlParts:
    """Take a canonical URL apart; for other strings the parts mean nothing."""
    scheme, _, rest = url.partition("://")
    cut = rest.find("/")
    authority, target = rest[:cut], rest[cut:]
    path, _, query = target.partition("?")
    host, port = _split_authority(authority)
    return UrlParts(scheme, host, int(port) if port else DEFAULT_PORTS[scheme], path, query, target)


def host_of(url: str) -> str:
    """Host of a canonical URL, as in its parts."""
    start = url.index("://") + 3
    return _split_authority(url[start : url.index("/", start)])[0]


def origin_of(url: str) -> str:
    """Origin of a canonical URL; two URLs are of one origin when these are equal (U164)."""
    return url[: url.index("/", url.index("://") + 3)]


def _without_fragment(text: str) -> str:
    """Drop the fragment; refuse what is too long before any work is spent on it (F51)."""
    text = text.partition("#")[0]
    if len(text) > URL_CHARS_MAX:
        raise InvalidUrlError(f"URL has {len(text)} characters; at most {URL_CHARS_MAX}", "URL_TOO_LONG")
    return text


def _identity(text: str, base: str | None) -> str:
    href = parse_href(text, base).partition("#")[0]
    # J143: any other scheme, also one that only the parser's repair made visible.
    scheme, separator, rest = href.partition("://")
    if not separator or scheme not in DEFAULT_PORTS:
        raise InvalidUrlError(f"URL scheme is {href.partition(':')[0]!r}; it must be https or http", "URL_SCHEME")
    authority = rest[: rest.index("/")]
    fault = _authority_fault(authority)
    if fault is not None:
        raise InvalidUrlError(*fault)
    if "%" in href:
        href = _normalize_triplets(href)
    if len(href) > URL_CHARS_MAX:
        raise InvalidUrlError(f"URL has {len(href)} characters; at most {URL_CHARS_MAX}", "URL_TOO_LONG")
    return href


def _normalize_triplets(href: str) -> str:
    # J144. Decoding after parsing cannot bring dot segments back: the parser removes those written as %2e as well.
    broken = _BROKEN_TRIPLET.search(href)
    if broken is not None:
        raise InvalidUrlError(
            f"URL has {href[broken.start() : broken.start() + 3]!r}, which is no percent-encoded byte", "URL_TRIPLET"
        )
    return _TRIPLET.sub(lambda found: _TRIPLETS[found.group()], href)


def _split_authority(authority: str) -> tuple[str, str]:
    host, colon, port = authority.rpartition(":")
    if not colon or port.endswith("]"):
        return authority, ""
    return host, port


@lru_cache(maxsize=4_096)  # the links of a page name few hosts
def _authority_fault(authority: str) -> tuple[str, str] | None:
    """Say what is wrong with a parsed authority, as message and reason; None when nothing is."""
    if "@" in authority:
        return "URL holds a user name or password; these are not crawled", "URL_USERINFO"
    host = _split_authority(authority)[0]
    if host.startswith("["):
        return None
    # F47: what DNS cannot carry; a final dot would be a second identity of the same host.
    if len(host) > HOST_CHARS_MAX:
        return f"host has {len(host)} characters; at most {HOST_CHARS_MAX}", "URL_HOST"
    for label in host.split("."):
        if len(label) > LABEL_CHARS_MAX or _LABEL.fullmatch(label) is None:
            return f"host {host!r} has the label {label!r}, which is no DNS name", "URL_HOST"
    return None


def _encode_link(text: str, encoding: str) -> str:
    """Percent-encode what is not ASCII: in the query with the document's encoding, elsewhere with UTF-8."""
    # URL Standard, "percent-encode after encoding"; the host is left to the parser, which turns it into Punycode.
    head, mark, query = text.partition("?")
    if mark and not query.isascii() and not encoding.startswith("utf"):
        encoded = "".join(char if char.isascii() else _encode_query_char(char, encoding) for char in query)
        return f"{head}?{encoded}"
    # White space beyond ASCII is data in a document, though canonicalize() refuses it raw.
    return _FORBIDDEN_UNICODE.sub(lambda found: _percent(found.group().encode()), text)


def _encode_query_char(char: str, encoding: str) -> str:
    try:
        return _percent(char.encode(encoding))
    except UnicodeEncodeError:
        return f"%26%23{ord(char)}%3B"


def _percent(data: bytes) -> str:
    return "".join(f"%{byte:02X}" for byte in data)
