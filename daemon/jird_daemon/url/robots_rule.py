"""Rules of robots.txt: their one form, and which of them decides.

Source: RFC 9309 section 2.2.2 (order, escapes) and 2.2.3 (special characters). Matching is linear in the length of
pattern and URL (J113): a pattern is split at its wildcards, and each piece is searched for after the one before it.
"""

import re
from dataclasses import dataclass

_UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
# Everything of RFC 3986's reserved and unreserved sets but `*` and `$` stands for itself on both sides.
_PLAIN_TARGET = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!&'()+,;=]*")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})|([^A-Za-z0-9\-._~:/?#\[\]@!&'()+,;=])")


@dataclass(frozen=True, slots=True)
class Rule:
    """One Allow or Disallow line, normalised."""

    is_allow: bool
    pattern: str  # ASCII; `*` and a final `$` are the only metacharacters
    line: int  # in the file, from 1; for a person who asks why

    @property
    def has_metacharacters(self) -> bool:
        """Whether the pattern is more than a prefix."""
        return "*" in self.pattern or self.pattern.endswith("$")


class Matcher:
    """The rules of one agent: prefixes by look-up, wildcards in order of precedence."""

    __slots__ = ("_lengths", "_prefixes", "_wildcards")

    def __init__(self, rules: list[Rule]) -> None:
        self._prefixes: dict[str, Rule] = {}
        wildcards: list[Rule] = []
        for rule in rules:
            if rule.has_metacharacters:
                wildcards.append(rule)
            elif rule.is_allow or rule.pattern not in self._prefixes:
                self._prefixes[rule.pattern] = rule
        self._lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)
        wildcards.sort(key=lambda rule: (-len(rule.pattern), not rule.is_allow))
        self._wildcards = [(rule, tuple(rule.pattern.removesuffix("$").split("*"))) for rule in wildcards]

    def find(self, target: str) -> Rule | None:
        """Give the rule that decides on a normalised path and query, None when no rule matches."""
        # RFC 9309 section 2.2.2: the match with the most octets wins; allow wins a tie.
        best = self._find_prefix(target)
        for rule, pieces in self._wildcards:
            if best is not None and not _beats(rule, best):
                if len(rule.pattern) < len(best.pattern):
                    break
                continue
            if _matches(pieces, target, rule.pattern.endswith("$")):
                return rule
        return best

    def _find_prefix(self, target: str) -> Rule | None:
        for length in self._lengths:
            rule = self._prefixes.get(target[:length])
            if rule is not None:
                return rule
        return None


def _escape(found: re.Match[bytes]) -> bytes:
    triplet, raw = found.groups()
    if triplet is None:
        return b"%%%02X" % raw[0]
    code = int(triplet, 16)
    return bytes([code]) if code in _UNRESERVED else b"%" + triplet.upper()


def _normalize(text: bytes) -> str:
    """J114: decode escaped unreserved ASCII, upper-case the other escapes, escape everything that is not URL ASCII."""
    return _ESCAPE.sub(_escape, text).decode("ascii")


def normalize_target(target: str) -> str:
    """Give the form of a path and query that Matcher.find compares."""
    # J115: a raw `*` or `$` in a URL is data, and equal to its escape in a rule.
    if _PLAIN_TARGET.fullmatch(target):
        return target
    return _normalize(target.encode("utf-8", "replace"))


def normalize_pattern(value: bytes) -> str:
    """Give the form of a rule's path; `*` and a final `$` stay what they are."""
    # `$` means the end only at the end; `*` in a row means one.
    anchor = "$" if value.endswith(b"$") else ""
    pieces = value.removesuffix(b"$").split(b"*") if anchor else value.split(b"*")
    kept = [_normalize(piece) for piece in pieces]
    inner = [piece for piece in kept[1:-1] if piece]
    if len(kept) > 1:
        kept = [kept[0], *inner, kept[-1]]
    return "*".join(kept) + anchor


def _beats(rule: Rule, other: Rule) -> bool:
    if len(rule.pattern) != len(other.pattern):
        return len(rule.pattern) > len(other.pattern)
    return rule.is_allow and not other.is_allow


def _matches(pieces: tuple[str, ...], target: str, is_anchored: bool) -> bool:
    """Match a pattern that was split at its wildcards; each piece at its first place leaves most to the others."""
    first, *rest = pieces
    if not target.startswith(first):
        return False
    if not rest:
        return not is_anchored or len(target) == len(first)
    position = len(first)
    last = rest.pop()
    for piece in rest:
        found = target.find(piece, position)
        if found < 0:
            return False
        position = found + len(piece)
    if is_anchored:
        return len(target) - len(last) >= position and target.endswith(last)
    return target.find(last, position) >= 0
