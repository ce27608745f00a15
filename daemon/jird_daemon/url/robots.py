"""What robots.txt allows: parser and matcher of RFC 9309.

Source: RFC 9309; section 2.2.3's table of escapes and 2.2.2's order of rules are tests. Beyond it jird reads
Crawl-delay and Sitemap lines, the misspellings that site owners make most, and a missing colon, because what the owner
meant is plain. It does not read a path of `/index.html` as its folder: no standard says so.

The work is bounded by J116 and J118.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from jird_daemon.url.robots_rule import Matcher, Rule, normalize_pattern, normalize_target

# J116: RFC 9309 section 2.5 asks for 500 KiB at least.
BODY_BYTES_MAX = 524_288
# J118.
RULES_MAX = 10_000
GROUP_AGENTS_MAX = 256
LINE_CHARS_MAX = 8_192
# A site with more sitemaps has an index of them; the lines are bounded by J146 as well.
SITEMAPS_MAX = 1_000
SITEMAP_CHARS_MAX = 4_096

_BOM = b"\xef\xbb\xbf"
# RFC 9309 section 2.2: EOL is CR, LF or CRLF, and nothing else (F11).
_LINE_END = re.compile(rb"\r\n|\r|\n")
_KEYS = {
    b"user-agent": "agent", b"useragent": "agent", b"user agent": "agent",
    b"allow": "allow",
    b"disallow": "disallow", b"dissallow": "disallow", b"dissalow": "disallow", b"disalow": "disallow",
    b"diasllow": "disallow", b"disallaw": "disallow",
    b"crawl-delay": "delay", b"crawldelay": "delay", b"crawl delay": "delay",
    b"sitemap": "sitemap", b"site-map": "sitemap",
}  # fmt: skip
_DELAY = re.compile(rb"\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}")
_TOKEN_END = re.compile(r"[\s/]")


@dataclass(slots=True)
class _Group:
    rules: list[Rule] = field(default_factory=list)
    delay_s: float | None = None


class RobotsPolicy:
    """A parsed robots.txt. Immutable; threads may share it."""

    __slots__ = ("_delays", "_matchers", "agent_count", "is_truncated", "rule_count", "sitemaps")

    def __init__(
        self, groups: dict[str, _Group], sitemaps: tuple[str, ...], rule_count: int, is_truncated: bool
    ) -> None:
        self._matchers = {agent: Matcher(group.rules) for agent, group in groups.items()}
        self._delays = {agent: group.delay_s for agent, group in groups.items()}
        self.sitemaps = sitemaps  # as written, in order; for canonicalize() to judge
        self.rule_count = rule_count
        self.agent_count = len(groups)
        self.is_truncated = is_truncated  # a limit of this module was met

    @classmethod
    def parse(cls, body: bytes) -> "RobotsPolicy":
        """Read a successful answer for /robots.txt; any bytes are accepted, what is no rule is skipped (F5)."""
        return _Parser().parse(body)

    def is_allowed(self, agent: str, path_query: str) -> bool:
        """Tell whether an agent may fetch a path with its query, e.g. `/a?b=c`.

        Args:
            agent: Product token, e.g. "jird"; a version after a slash is ignored.
            path_query: As in the canonical URL; the empty path is "/".
        """
        rule = self.find_rule(agent, path_query)
        return rule is None or rule.is_allow

    def find_rule(self, agent: str, path_query: str) -> Rule | None:
        """Give the rule that decides; None means that nothing forbids it."""
        # RFC 9309 section 2.2.2: /robots.txt itself is always allowed.
        if path_query == "/robots.txt":
            return None
        group = self._group_of(agent)
        if group is None:
            return None
        return self._matchers[group].find(normalize_target(path_query or "/"))

    def crawl_delay(self, agent: str) -> float | None:
        """Seconds between two requests that the agent's own group asks for; None when it names none (F9, F15)."""
        group = self._group_of(agent)
        return None if group is None else self._delays[group]

    def _group_of(self, agent: str) -> str | None:
        # RFC 9309 section 2.2.1: the groups of the exact token, else those of `*`, else none.
        token = _product_token(agent)
        if token in self._matchers:
            return token
        return "*" if "*" in self._matchers else None


class _Parser:
    """State while reading one file; its methods take one line each."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}
        self._agents: list[str] = []  # of the group that is being read
        self._is_in_rules = False
        self._rule_count = 0
        self._sitemaps: list[str] = []
        self._is_truncated = False

    def parse(self, body: bytes) -> RobotsPolicy:
        for number, line in enumerate(self._lines(body), start=1):
            pair = _split_line(line)
            if pair is not None:
                self._take(number, *pair)
        return RobotsPolicy(self._groups, tuple(self._sitemaps), self._rule_count, self._is_truncated)

    def _lines(self, body: bytes) -> Iterator[bytes]:
        lines = _LINE_END.split(_without_bom(body[:BODY_BYTES_MAX]))
        if len(body) > BODY_BYTES_MAX:
            self._is_truncated = True
            lines.pop()  # cut in the middle: half a path would forbid more than its owner wrote
        for line in lines:
            line = line.partition(b"#")[0].strip()
            if len(line) > LINE_CHARS_MAX:
                # No admissible URL is long enough for such a rule to match.
                self._is_truncated = True
                line = b""
            yield line

    def _take(self, number: int, kind: str, value: bytes) -> None:
        if kind == "agent":
            self._take_agent(value)
        elif kind == "sitemap":
            self._take_sitemap(value)
        elif kind == "delay":
            self._take_delay(value)
        else:
            self._take_rule(number, kind == "allow", value)

    def _take_agent(self, value: bytes) -> None:
        # RFC 9309 section 2.2.1: agent lines in a row share the rules after them; blank and other lines in between
        # change nothing (2.2.4).
        if self._is_in_rules:
            self._agents, self._is_in_rules = [], False
        token = _product_token(value.decode("utf-8", "replace"))
        if not token:
            return
        if len(self._agents) >= GROUP_AGENTS_MAX:
            self._is_truncated = True
            return
        self._agents.append(token)
        self._groups.setdefault(token, _Group())

    def _take_rule(self, number: int, is_allow: bool, value: bytes) -> None:
        self._is_in_rules = True
        if not value:  # an empty path is no rule (F3)
            return
        if self._rule_count >= RULES_MAX:
            self._is_truncated = True
            return
        if self._agents:
            self._rule_count += 1
            rule = Rule(is_allow, normalize_pattern(value), number)
            for agent in dict.fromkeys(self._agents):
                self._groups[agent].rules.append(rule)

    def _take_delay(self, value: bytes) -> None:
        if _DELAY.fullmatch(value) is None:
            return
        # No rule in the sense of the RFC: it holds for the agents named so far, and does not close their list.
        for agent in self._agents:
            group = self._groups[agent]
            group.delay_s = max(group.delay_s or 0.0, float(value))

    def _take_sitemap(self, value: bytes) -> None:
        text = value.decode("utf-8", "replace")
        if not text or len(text) > SITEMAP_CHARS_MAX or len(self._sitemaps) >= SITEMAPS_MAX:
            self._is_truncated = self._is_truncated or bool(text)
            return
        self._sitemaps.append(text)


def _without_bom(body: bytes) -> bytes:
    # A mark that lost its last byte on the way is skipped as well.
    for size in (3, 2, 1):
        if body.startswith(_BOM[:size]):
            return body[size:]
    return body


def _split_line(line: bytes) -> tuple[str, bytes] | None:
    key, _, value = line.partition(b":")
    kind = _KEYS.get(key.strip().lower())
    if kind is None:  # also a path with a colon in a line without one
        key, _, value = line.replace(b"\t", b" ").partition(b" ")
        kind = _KEYS.get(key.lower())
        if kind is None or value.strip().startswith(b":"):
            return None
    return kind, value.strip()


def _product_token(agent: str) -> str:
    return _TOKEN_END.split(agent.strip(), maxsplit=1)[0].lower()
