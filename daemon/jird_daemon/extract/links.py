"""The links of a page: where they lead, what they are called, where they stand, and which may be followed.

One link that cannot be read costs itself alone (F39). Everything else about a link is known without asking anyone.
"""

import re
from collections.abc import Iterable

from jird_daemon.errors import InvalidUrlError
from jird_daemon.extract.destinations import COMMUNICATION, communication_target, destination_type
from jird_daemon.extract.elements import LocationFlag
from jird_daemon.extract.limits import ANCHOR_CHARS_MAX, DIRECTIVE_CHARS_MAX, DOCUMENT_LINKS_MAX
from jird_daemon.extract.tree import Attributes, PageTree, RawLink
from jird_daemon.store.tables import Link
from jird_daemon.url.canonical import html_link, origin_of, split
from jird_daemon.url.link_header import parse_link_header
from jird_daemon.url.references import LinkResolver

# U47.
SELF_LINK, IN_LINK, OUT_LINK = 0, 1, 2
REL_NOFOLLOW, REL_ME, REL_TAG = 1, 2, 4
LOCALITY_NAMES = {SELF_LINK: "self", IN_LINK: "in", OUT_LINK: "out"}
REL_NAMES = {REL_NOFOLLOW: "nofollow", REL_ME: "me", REL_TAG: "tag"}

_FRAME = int(LocationFlag.IN_NAV | LocationFlag.IN_ASIDE | LocationFlag.IN_HEADER | LocationFlag.IN_FOOTER)
_IN_HEADLINE = int(LocationFlag.IN_HEADLINE)

_REFRESH = re.compile(r"""\s*\d*(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?["']?([^"']+)""", re.IGNORECASE)
_DOCUMENT_RELS = frozenset({"next", "prev", "alternate", "canonical"})


def effective_base(bases: Iterable[Attributes], url: str, encoding: str) -> str:
    """Give what relative links are resolved against.

    Args:
        bases: The page's base elements in tree order.
        url: Canonical URL that answered (F53).
        encoding: Python codec of the page.
    """
    # J140: the first with href decides, also when it is invalid.
    for attributes in bases:
        href = attributes.get("href")
        if href is not None:
            try:
                return html_link(href, url, encoding)
            except InvalidUrlError:
                return url
    return url


class LinkReader:
    """Turns what the walk found into links."""

    def __init__(self, tree: PageTree, text: str, url: str, encoding: str) -> None:
        self._tree = tree
        self._text = text
        self._url = url
        host = split(url).host
        self._own = f"{origin_of(url)}/"
        self._prefixes = (f"https://{host}", f"http://{host}")
        self.resolver = LinkResolver(effective_base(tree.bases, url, encoding), encoding)
        self.is_truncated = False

    def canonical(self, header: Iterable[str]) -> str:
        """Find the address that the page calls its own: valid, of the same origin, not the page itself; else "".

        Args:
            header: Link fields of the answer; they count when the page has no canonical link.
        """
        # J147: the first in tree order. J148, J163: what is not usable names nothing, and a later one is not asked.
        for attributes in self._tree.head_links:
            rels = rel_words(attributes.get("rel"))
            if rels is not None and "canonical" in rels and attributes.get("href"):
                return "" if "nofollow" in rels else self._usable_canonical(attributes["href"] or "")
        for value in header:
            for link in parse_link_header(value):
                if "canonical" in link.rels and not link.is_foreign:
                    return "" if "nofollow" in link.rels else self._usable_canonical(link.target)
        return ""

    def _usable_canonical(self, href: str) -> str:
        target = self.resolver.resolve(href)
        return target if target and target != self._url and origin_of(target) == origin_of(self._url) else ""

    def links(self, canonical_url: str, is_nofollow: bool) -> tuple[Link, ...]:
        """Give the unique links in tree order, at most DOCUMENT_LINKS_MAX.

        Args:
            canonical_url: From `canonical`; its place is reserved first (J161).
            is_nofollow: Whether the page forbids to follow any of its links (J138).
        """
        found: dict[str, Link] = {}
        if canonical_url:
            found[canonical_url] = self._make(canonical_url, "", 0, False, {}, 0, is_nofollow)
        for attributes in self._tree.head_links:
            self._add_head_link(found, attributes, is_nofollow)
        for attributes in self._tree.metas:
            if (attributes.get("http-equiv") or "").strip().lower() == "refresh":
                self._add_refresh(found, attributes.get("content") or "", is_nofollow)
        self._add_all(found, is_nofollow)
        return tuple(found.values())

    def _resolve(self, href: str | None) -> str:
        """Give the target of a link, "" for one that has none."""
        return self.resolver.resolve(href) if href is not None else ""

    def _add_head_link(self, found: dict[str, Link], attributes: Attributes, is_nofollow: bool) -> None:
        rels = rel_words(attributes.get("rel"))
        if rels is None or not rels & _DOCUMENT_RELS or "stylesheet" in rels:
            return
        target = self._resolve(attributes.get("href"))
        if target and target not in found and self._has_room(found):
            title = " ".join((attributes.get("title") or "")[:ANCHOR_CHARS_MAX].split())
            rel = _rel_flags(rels)
            found[target] = self._make(target, title, 0, False, attributes, rel, is_nofollow)

    def _add_refresh(self, found: dict[str, Link], content: str, is_nofollow: bool) -> None:
        refresh = _REFRESH.match(content[:DIRECTIVE_CHARS_MAX])
        target = self._resolve(refresh[1]) if refresh is not None else ""
        if target and target not in found and self._has_room(found):
            found[target] = self._make(target, "", 0, False, {}, 0, is_nofollow)

    def _add_all(self, found: dict[str, Link], is_nofollow: bool) -> None:
        """Add the links of the body. Most are seen twice; a second one in the same place says nothing new."""
        targets, resolve = self.resolver.targets, self.resolver.resolve
        for raw in self._tree.links:
            target = targets.get(raw.target)
            if target is None:
                target = resolve(raw.target)
            if not target and (target := communication_target(raw.target)):
                targets[raw.target] = target
            known = found.get(target)
            if known is None:
                if target and self._has_room(found):
                    found[target] = self._make_raw(target, raw, is_nofollow)
            elif (
                not known.text
                or known.is_nofollow
                or raw.flags != known.location_flags
                or raw.has_headline != known.has_headline
            ):
                found[target] = _merge(known, self._make_raw(target, raw, is_nofollow))

    def _make_raw(self, target: str, raw: RawLink, is_nofollow: bool) -> Link:
        attributes = raw.attributes
        rel = attributes.get("rel")
        rel_flags = _rel_flags(rel_words(rel)) if rel else 0
        text = self._text_of(raw)
        return self._make(target, text, raw.flags, raw.has_headline != 0, attributes, rel_flags, is_nofollow)

    def _has_room(self, found: dict[str, Link]) -> bool:
        if len(found) < DOCUMENT_LINKS_MAX:
            return True
        self.is_truncated = True
        return False

    def _text_of(self, raw: RawLink) -> str:
        if raw.start >= 0:
            text = self._text[raw.start : raw.end]
            if "\n" in text:
                text = " ".join(text.split())
        else:
            text = _words(raw.text)
        if not text:
            attributes = raw.attributes
            text = _words(raw.alt) or _words(
                attributes.get("title") or attributes.get("aria-label") or attributes.get("alt") or ""
            )
        return text[:ANCHOR_CHARS_MAX]

    def _make(
        self, target: str, text: str, flags: int, has_headline: bool, attributes: Attributes, rel_flags: int,
        is_page_nofollow: bool,
    ) -> Link:  # fmt: skip
        is_nofollow = is_page_nofollow or bool(rel_flags & REL_NOFOLLOW)
        destination = destination_type(target, attributes.get("type"))
        locality = self._locality(target)
        is_crawlable = not is_nofollow and locality != SELF_LINK and destination != COMMUNICATION
        return Link(target, text, is_nofollow, is_crawlable, flags, destination, locality, rel_flags, has_headline)

    def _locality(self, target: str) -> int:
        # U161.
        if target.startswith(self._own):
            return SELF_LINK if target == self._url else IN_LINK
        for prefix in self._prefixes:
            if target.startswith(prefix) and target[len(prefix)] in "/:":
                return IN_LINK
        return OUT_LINK


def _words(text: str) -> str:
    return " ".join(text[: 4 * ANCHOR_CHARS_MAX].split()) if text else ""


def rel_words(value: str | None) -> frozenset[str] | None:
    """Give the words of a rel attribute in lower case; None when it is too long to be read (J163)."""
    if not value:
        return frozenset()
    if len(value) > DIRECTIVE_CHARS_MAX:
        return None
    return frozenset(value.lower().split())


def _rel_flags(rels: frozenset[str] | None) -> int:
    if rels is None:
        return REL_NOFOLLOW
    return REL_NOFOLLOW * ("nofollow" in rels) | REL_ME * ("me" in rels) | REL_TAG * ("tag" in rels)


def _merge(known: Link, other: Link) -> Link:
    """Make one of two links to one target: the better place stands, and one that may be followed makes both so."""
    is_better = _rank(other.location_flags, other.has_headline) > _rank(known.location_flags, known.has_headline)
    best, rest = (other, known) if is_better else (known, other)
    if best.is_nofollow == (known.is_nofollow and other.is_nofollow) and (best.text or not rest.text):
        return best
    return Link(
        best.to_url,
        best.text or rest.text,
        known.is_nofollow and other.is_nofollow,
        known.is_crawlable or other.is_crawlable,
        best.location_flags,
        best.destination_type,
        best.locality,
        known.rel_flags | other.rel_flags if known.is_nofollow and other.is_nofollow
        else (known.rel_flags | other.rel_flags) & ~REL_NOFOLLOW,
        best.has_headline,
    )  # fmt: skip


def _rank(location_flags: int, has_headline: bool) -> int:
    # U157: headlines beat lists, and the page's own text beats its frame.
    return 2 * (not location_flags & _FRAME) + (has_headline or bool(location_flags & _IN_HEADLINE))
