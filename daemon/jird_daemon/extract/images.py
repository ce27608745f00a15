"""The pictures that a page shows: addresses and words, never the pictures themselves (S24-S28)."""

import re
from collections.abc import Iterator

from jird_daemon.extract.limits import IMAGE_ALT_CHARS_MAX, IMAGES_MAX
from jird_daemon.extract.tree import Attributes, PageTree
from jird_daemon.store.tables import Image
from jird_daemon.url.canonical import host_of
from jird_daemon.url.policy import UrlPolicy
from jird_daemon.url.references import LinkResolver

# S25: sources of one img element, as lazy loaders name them too.
_SOURCE_ATTRIBUTES = ("src", "data-src", "data-lazy-src", "data-original")
_SET_ATTRIBUTES = ("srcset", "data-srcset")
_META_NAMES = frozenset({"og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src"})
# HTML Standard, "parse a srcset attribute": a URL runs to white space; commas at its end belong to the list.
_CANDIDATE = re.compile(r"[\s,]*([^\s,]\S*)")
_SRCSET_CHARS_MAX = 65_536
_CANDIDATES_MAX = 32

_HOSTS = UrlPolicy((), ())


def read_images(tree: PageTree, resolver: LinkResolver, url: str) -> tuple[Image, ...]:
    """Give the unique pictures of a page, at most IMAGES_MAX: those it names for sharing, then in tree order.

    Args:
        tree: The page.
        resolver: Of its links.
        url: Its own URL; its host may show pictures even when it is no public one.
    """
    found: dict[str, str] = {}
    host = host_of(url)
    for source, alt in _sources(tree):
        if len(found) >= IMAGES_MAX:
            tree.truncated.add("document_images")
            break
        address = _resolve(source, resolver, host)
        if address and not found.get(address):
            found[address] = alt
    return tuple(Image(address, alt) for address, alt in found.items())


def _sources(tree: PageTree) -> Iterator[tuple[str, str]]:
    """Every address as written, with its words."""
    for attributes in tree.metas:
        name = (attributes.get("property") or attributes.get("name") or "").strip().lower()
        content = attributes.get("content")
        if content and name in _META_NAMES:
            yield content, ""
    for attributes in tree.head_links:
        href = attributes.get("href")
        if href and "image_src" in (attributes.get("rel") or "").lower().split():
            yield href, ""
    for attributes in tree.images:
        alt = _words(attributes)
        for name in _SOURCE_ATTRIBUTES:
            value = attributes.get(name)
            if value:
                yield value, alt
        for name in _SET_ATTRIBUTES:
            value = attributes.get(name)
            if value:
                for candidate in srcset_urls(value):
                    yield candidate, alt


def srcset_urls(value: str) -> list[str]:
    """Give the addresses of a srcset attribute, in order."""
    urls: list[str] = []
    value = value[:_SRCSET_CHARS_MAX]
    position = 0
    while len(urls) < _CANDIDATES_MAX and (found := _CANDIDATE.match(value, position)) is not None:
        url = found[1]
        position = found.end()
        if url.endswith(","):
            url = url.rstrip(",")
        else:
            comma = value.find(",", position)
            position = comma + 1 if comma >= 0 else len(value)
        urls.append(url)
    return urls


def _words(attributes: Attributes) -> str:
    text = attributes.get("alt") or attributes.get("title") or ""
    return " ".join(text[: 4 * IMAGE_ALT_CHARS_MAX].split())[:IMAGE_ALT_CHARS_MAX] if text else ""


def _resolve(source: str, resolver: LinkResolver, page_host: str) -> str:
    # S27; inline pictures are the most frequent and may be long.
    if source.startswith("data:"):
        return ""
    address = resolver.resolve(source)
    if not address:
        return ""
    host = host_of(address)
    return address if host == page_host or _HOSTS.check_host(host) is None else ""
