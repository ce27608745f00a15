"""Guards against parts of a site that have no end: spirals, permutations, calendars, sessions, hosts (F41, F43). Pure.

The guards of paths look at a URL alone. The others count how many URLs of one shape a run has let in, under keys that
are digests of the shape, so that nothing of it is in memory: the counts are rows of the run's (frontier/trail.py),
change in the transaction that lets the URL in, and are there after a restart. They are asked only about URLs that the
run does not know yet, a few for each page; the hundreds of links that every page repeats cost nothing.

What others do: Heritrix refuses a part that is repeated more than twice and more than 20 parts; Nutch ships an
expression for a part that comes three times; Norconex has both as options. They do not count, so their users write
expressions for the rest. A limit of 0 switches a guard off.
"""

import re
from dataclasses import dataclass
from hashlib import blake2b

from jird_daemon.frontier.trail import Trail
from jird_daemon.url.canonical import split
from jird_daemon.url.refusal import Refusal
from jird_daemon.url.site import registrable_domain
from jird_settings import Crawl

# Longest group of parts that is looked for again right behind itself: /a/b/c/a/b/c/...
CYCLE_PARTS_MAX = 6
# A part may come so many times as often anywhere in a path as it may in direct succession: /a/x/a/y/a/z/...
SCATTERED_FACTOR = 2
# Forums have several pages for each topic: so many combinations of known values are fine for each value that is new.
COMBINATIONS_FOR_A_VALUE = 10

# In front of the first part of a path there are three slashes: two of the scheme, its own.
_SLASHES_OF_ORIGIN = 2

# Parameters that name a visit. Those of one letter or two need a value that looks like a digest besides.
_SESSION_NAMES = frozenset(
    {
        "jsessionid", "phpsessid", "sessionid", "session_id", "sessid", "session-id", "oscsid", "zenid", "cftoken",
        "cfid", "xtcsid", "mscssid", "aspsessionid",
    }
)  # fmt: skip
_SHORT_SESSION_NAMES = frozenset({"s", "sid", "ssid"})
_DIGEST = re.compile(r"[0-9a-fA-F]{24,64}")
# RFC 3986 section 3.3: parameters of a path part begin with a semicolon; ASP.NET writes /(S(...))/.
_SESSION_IN_PATH = re.compile(
    r";(?:jsessionid|phpsessid|sid)=[^/?;]*|/\([SAFsaf]\([0-9a-zA-Z]{16,64}\)\)", re.IGNORECASE
)

_YEAR, _MONTH, _DAY = r"(?:19|20)\d\d", r"(?:0?[1-9]|1[0-2])", r"(?:0?[1-9]|[12]\d|3[01])"
_DATE = re.compile(
    rf"(?<!\d)(?:{_YEAR}([-/._]){_MONTH}(?:\1(?P<day>{_DAY}))?|{_YEAR}(?:0[1-9]|1[0-2])(?P<digits>[0-2]\d|3[01])?)(?!\d)"
)
# Months, weeks and days have two digits at most: ?d=4711 is the number of a topic.
_DATE_PARAMETER = re.compile(
    r"([?&](?:(?:y|yr|year|jahr)=(?=\d{1,4}(?:&|$))|(?:m|d|month|mon|week|day|monat|tag)=(?=\d\d?(?:&|$))))\d+",
    re.IGNORECASE,
)


def key_of(*words: str) -> bytes:
    """The key of a shape; words are URLs' parts, which hold no line end."""
    return blake2b("\n".join(words).encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class PathGuard:
    """Paths that go round in circles, or on and on."""

    repeats: int
    parts: int

    def concerns(self, url: str) -> bool:
        """Whether there is enough of the URL to be looked at; most links are shorter."""
        return url.count("/") > self.repeats + _SLASHES_OF_ORIGIN or url.count("&") >= self.repeats

    def repeated(self, url: str) -> Refusal | None:
        """Refuse what repeats a part, or a group of parts, or a parameter with its value."""
        if not self.repeats:
            return None
        location, _, query = url.partition("?")
        parts = location.split("/")[3:]
        if len(parts) - len(set(parts)) >= self.repeats and self._is_spiral(parts):
            return Refusal("URL_REPEATS", f"its path repeats a part more than {self.repeats} times (max_path_repeats)")
        pairs = query.split("&")
        if len(pairs) - len(set(pairs)) >= self.repeats and max(map(pairs.count, pairs)) > self.repeats:
            return Refusal("URL_REPEATS", f"it repeats a parameter more than {self.repeats} times (max_path_repeats)")
        return None

    def too_long(self, url: str) -> Refusal | None:
        """Refuse a path of too many parts."""
        count = url.partition("?")[0].count("/") - _SLASHES_OF_ORIGIN
        if self.parts and count > self.parts:
            return Refusal("URL_PATH_PARTS", f"its path has {count} parts; at most {self.parts} (max_path_parts)")
        return None

    def _is_spiral(self, parts: list[str]) -> bool:
        if any(part and parts.count(part) > SCATTERED_FACTOR * self.repeats for part in set(parts)):
            return True
        for size in range(1, CYCLE_PARTS_MAX + 1):
            same = 0  # parts in a row that are as the part one cycle before
            for part, before in zip(parts[size:], parts, strict=False):
                same = same + 1 if part == before else 0
                if same >= size * self.repeats:
                    return True
        return False


def may_have_session(url: str) -> bool:
    """A cheap look: False where `check_session` would find nothing."""
    return "?" in url or ";" in url or "(" in url


def may_have_date(url: str) -> bool:
    """A cheap look: False where the guard of calendars would find nothing."""
    return "20" in url or "19" in url or "?" in url


def check_session(url: str, trail: Trail) -> Refusal | None:
    """Let in one URL of all that differ in nothing but who visits."""
    bare = _without_session(url)
    if bare == url:
        return None
    key = key_of("session", bare)
    if trail.count(key):
        return Refusal("URL_SESSION", "it differs from a known URL in its session id alone")
    trail.add(key)
    return None


@dataclass(frozen=True, slots=True)
class ParameterGuard:
    """Query strings that can be combined without end, as those of filters and of several pagers on one page.

    Three ways to the same page under another URL: the same parameters in another order; further parameters; and known
    values combined anew. A URL with a value that was never there is likely a page of its own (topic 4711 of a forum),
    and never refused for its values.
    """

    sets: int
    combinations: int

    def check(self, url: str, trail: Trail) -> Refusal | None:
        """Look at one URL that is new to the run."""
        path, mark, query = url.partition("?")
        if not mark or not query:
            return None
        pairs = sorted(pair for pair in query.split("&") if pair)
        names = sorted({pair.partition("=")[0] for pair in pairs})
        if len(pairs) > 1:
            key = key_of("order", path, *pairs)
            if trail.count(key):
                return Refusal("URL_PARAMETERS", "the same parameters are known in another order")
            trail.add(key)
        return self._check_set(path, names, trail) or self._check_values(path, names, pairs, trail)

    def _check_set(self, path: str, names: list[str], trail: Trail) -> Refusal | None:
        key = key_of("set", path, *names)
        if not self.sets or trail.count(key):
            return None
        sets = key_of("sets", path)
        if trail.count(sets) >= self.sets:
            return Refusal(
                "URL_PARAMETERS", f"its path has come with {self.sets} sets of parameters (max_parameter_sets)"
            )
        trail.add(key)
        trail.add(sets)
        return None

    def _check_values(self, path: str, names: list[str], pairs: list[str], trail: Trail) -> Refusal | None:
        if not self.combinations or len(names) < 2:
            return None
        shape = key_of("values", path, *names).hex()
        values = [key for pair in pairs if not trail.count(key := key_of("value", shape, pair))]
        for key in values:
            trail.add(key)
        if values:
            trail.add(key_of("new", shape))
            return None
        key = key_of("combined", shape)
        if trail.count(key) >= max(self.combinations, COMBINATIONS_FOR_A_VALUE * trail.count(key_of("new", shape))):
            return Refusal(
                "URL_PARAMETERS", f"known values came in {trail.count(key)} combinations (max_parameter_combinations)"
            )
        trail.add(key)
        return None


@dataclass(frozen=True, slots=True)
class CalendarGuard:
    """Pages that differ in a date alone. Days and months are counted apart: a site has more days."""

    pages: int

    def check(self, url: str, trail: Trail) -> Refusal | None:
        """Look at one URL that is new to the run."""
        if not self.pages:
            return None
        shape = _DATE_PARAMETER.sub(r"\1D", _DATE.sub(_date_shape, url))
        if shape == url:
            return None
        key = key_of("calendar", shape)
        if trail.count(key) >= self.pages:
            return Refusal("URL_CALENDAR", f"{self.pages} URLs differ from it in the date alone (max_calendar_pages)")
        trail.add(key)
        return None


@dataclass(frozen=True, slots=True)
class HostGuard:
    """Hosts below one registered domain."""

    hosts: int

    def check(self, origin: str, trail: Trail) -> Refusal | None:
        """Look at the origin of a URL that is new to the run."""
        key = key_of("host", origin)
        if not self.hosts or trail.count(key):
            return None
        domain = registrable_domain(split(origin + "/").host)
        all_hosts = key_of("hosts", domain)
        if trail.count(all_hosts) >= self.hosts:
            return Refusal("URL_HOSTS", f"{self.hosts} hosts of {domain} are in this run (max_domain_hosts)")
        trail.add(key)
        trail.add(all_hosts)
        return None


@dataclass(frozen=True, slots=True)
class TrapGuards:
    """All guards, as configured."""

    path: PathGuard
    parameters: ParameterGuard
    calendar: CalendarGuard
    hosts: HostGuard

    @classmethod
    def of(cls, crawl: Crawl) -> "TrapGuards":
        """Those of the settings."""
        return cls(
            PathGuard(crawl.max_path_repeats, crawl.max_path_parts),
            ParameterGuard(crawl.max_parameter_sets, crawl.max_parameter_combinations),
            CalendarGuard(crawl.max_calendar_pages),
            HostGuard(crawl.max_domain_hosts),
        )


def _date_shape(found: re.Match[str]) -> str:
    return "/day/" if found["day"] or found["digits"] else "/month/"


def _without_session(url: str) -> str:
    head, mark, query = url.partition("?")
    if ";" in head or "(" in head:
        head = _SESSION_IN_PATH.sub("", head)
    if not mark:
        return head
    kept = [pair for pair in query.split("&") if not _is_session(pair)]
    return f"{head}?{'&'.join(kept)}" if kept else head


def _is_session(pair: str) -> bool:
    name, _, value = pair.partition("=")
    name = name.lower()
    if name in _SESSION_NAMES or name.startswith("aspsessionid"):
        return True
    return name in _SHORT_SESSION_NAMES and _DIGEST.fullmatch(value) is not None
