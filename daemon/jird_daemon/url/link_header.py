"""The Link field (RFC 8288): links that an answer carries outside of its body."""

import re
from dataclasses import dataclass

# A field line is read up to here, and this many links of it; servers write a handful.
VALUE_CHARS_MAX = 8_192
LINKS_MAX = 64

_TARGET = re.compile(r"\s*<([^>]*)>")
_PARAMETER = re.compile(r"""\s*;\s*([A-Za-z0-9!#$&+.^_`|~*-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?""")
_NEXT = re.compile(r"[^,]*(?:,|$)")


@dataclass(frozen=True, slots=True)
class HeaderLink:
    """One link of a field."""

    target: str  # as written
    rels: frozenset[str]  # lower case
    is_foreign: bool  # has an anchor parameter: it speaks of another resource


def parse_link_header(value: str) -> tuple[HeaderLink, ...]:
    """Read one field line; a damaged part costs itself and nothing after its comma.

    Args:
        value: As sent; only its first VALUE_CHARS_MAX characters are read when it is longer, and then nothing of the
            part that was cut.
    """
    if len(value) > VALUE_CHARS_MAX:
        value = value[:VALUE_CHARS_MAX].rpartition(",")[0]
    links: list[HeaderLink] = []
    position = 0
    while position < len(value) and len(links) < LINKS_MAX:
        found = _TARGET.match(value, position)
        if found is not None:
            parameters, position = _parameters(value, found.end())
            # RFC 8288 section 3.3: the first rel parameter counts.
            rels = frozenset(parameters.get("rel", "").lower().split())
            links.append(HeaderLink(found[1].strip(), rels, "anchor" in parameters))
        end = _NEXT.match(value, position)
        position = end.end() if end is not None else len(value)
    return tuple(links)


def _parameters(value: str, position: int) -> tuple[dict[str, str], int]:
    parameters: dict[str, str] = {}
    while (found := _PARAMETER.match(value, position)) is not None:
        name, quoted, bare = found.groups()
        text = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else bare or ""
        parameters.setdefault(name.lower(), text)
        position = found.end()
    return parameters, position
