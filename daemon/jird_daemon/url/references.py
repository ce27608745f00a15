"""Resolving the links of one page: most are plain, and need no parser.

A plain reference has nothing in it that the URL Standard would encode, decode, remove or take for a scheme, so what it
resolves to is a matter of joining strings (a parse costs ten times as much). Everything else goes to `html_link`; both
ways give the same, which a test compares.
"""

import re
from functools import lru_cache

from jird_daemon.errors import InvalidUrlError
from jird_daemon.url.canonical import URL_CHARS_MAX, canonicalize, html_link

# A segment that is no dot segment, of characters that the standard leaves alone in a path. `:` is not among them,
# because it could end a scheme.
_SEGMENT = r"[A-Za-z0-9_~!$()*+,;=@-][A-Za-z0-9_~!$()*+,;=@.-]*"
_TARGET = rf"(?:{_SEGMENT}(?:/{_SEGMENT})*/?)?(?:\?[A-Za-z0-9_~!$()*+,;=@.:/?&-]+)?"
_PLAIN = re.compile(rf"(?:(https?://[a-z0-9.-]+/)|(/)|((?:\.\./)+)|(?=[^?])){_TARGET}")


class LinkResolver:
    """Resolves links against the effective base of one document."""

    def __init__(self, base: str, encoding: str) -> None:
        """Take the base.

        Args:
            base: Canonical URL.
            encoding: Python codec of the document, as for html_link.
        """
        self.base = base
        self._encoding = encoding
        path_start = base.index("/", base.index("://") + 3)
        self._root = base[: path_start + 1]
        path = base.partition("?")[0]
        self._folders = [path[: path.rindex("/") + 1]]
        self.targets: dict[str, str] = {}  # what was resolved already

    def resolve(self, href: str) -> str:
        """Give the identity of a link as html_link does; "" for one that has none (F39, J143)."""
        target = self.targets.get(href)
        if target is None:
            target = self.targets[href] = self._join(href) or self._parse(href)
        return target

    def _parse(self, href: str) -> str:
        try:
            return html_link(href, self.base, self._encoding)
        except InvalidUrlError:
            return ""

    def _join(self, href: str) -> str:
        """Join a plain reference; "" for any other."""
        plain = _PLAIN.fullmatch(href)
        if plain is None or len(href) + len(self.base) > URL_CHARS_MAX:
            return ""
        origin, root, parents = plain.groups()
        if origin is not None:
            return href if _is_canonical(origin) else ""
        if root is not None:
            return self._root + href[1:]
        if parents is not None:
            return self._folder(len(parents) // 3) + href[len(parents) :]
        return self._folders[0] + href

    def _folder(self, levels: int) -> str:
        """Give the folder so many levels above the base's own; there is none above the root."""
        while len(self._folders) <= levels:
            folder = self._folders[-1]
            if folder == self._root:
                return folder
            self._folders.append(folder[: folder.rindex("/", 0, -1) + 1])
        return self._folders[levels]


@lru_cache(maxsize=4_096)  # the links of a page name few hosts
def _is_canonical(origin: str) -> bool:
    try:
        return canonicalize(origin) == origin
    except InvalidUrlError:
        return False
