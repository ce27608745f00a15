"""Which URLs may enter a run's frontier, and which of those in it may be asked for now. Pure.

One ordered list of named rules decides, and the same list explains (`jirdctl debug url`). A rule is applied when a URL
is found, where that keeps what nobody wants out of the frontier, or when it is its turn, where the refusal is to stand
in the crawl log (U143); every rule is applied again at its turn, because configuration, policies and robots.txt may
have changed in between (S36).

Guards against traps (traps.py) are rules like others, but at discovery they are asked only about URLs that are about to
enter the frontier (`RunAdmission.newcomers`): the hundreds of links that every page repeats cost nothing.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import unquote_plus

from jird_daemon.control import CrawlPolicy, CrawlRules
from jird_daemon.crawler.traps import TrapGuards, check_session, may_have_date, may_have_session
from jird_daemon.errors import InvalidArgumentError, InvalidUrlError
from jird_daemon.frontier.runs import RunScope
from jird_daemon.frontier.trail import Trail, Trails
from jird_daemon.outcome import ExitCode
from jird_daemon.store.tables import Row, RowKind, Run
from jird_daemon.url.canonical import URL_CHARS_MAX, UrlParts, canonicalize, origin_of, split
from jird_daemon.url.policy import UrlPolicy
from jird_daemon.url.refusal import Refusal
from jird_daemon.url.robots import RobotsPolicy
from jird_settings import Crawl, CriteriumError, Settings, UrlView, compile_criterium, glob_expression

# Verdicts on origins that are remembered; the links of a site name few.
ORIGINS_REMEMBERED = 8_192
NOT_DUE = "URL_NOT_DUE"
NO_RULES = CrawlRules()


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of an origin's robots.txt that hold, and the name by which they may address us."""

    policy: RobotsPolicy
    token: str


@dataclass(frozen=True, slots=True)
class Question:
    """One URL, and what is known of it and of the moment.

    Attributes:
        url: Canonical.
        origin: Its origin.
        from_origin: Origin of the page that names it; its own where that does not matter any more.
        depth: Links from a seed; None for a sitemap, whose place counts indexes.
        is_named: A person or robots.txt named it; it was not found as a link.
        robots: None while robots.txt is not known.
        due_s: When it is to be crawled again; None: at any time.
        now_s: The time.
        trail: What the run let in before; None where the URL is in the run, or a redirect or a canonical link names it.
    """

    url: str
    origin: str
    from_origin: str
    depth: int | None
    is_named: bool = False
    robots: Robots | None = None
    due_s: float | None = None
    now_s: float = 0.0
    trail: Trail | None = None


def _always(_: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Rule:
    """One named rule.

    Attributes:
        name: As people and logs see it.
        check: Why a URL may not be asked for; None when this rule has nothing against it.
        of_origin: Depends on the origin and the place where it is named alone.
        at_discovery: What it refuses does not enter the frontier.
        exit_code: Of what is refused in its turn.
        concerns: A cheap look at a URL: where it finds nothing, the rule has nothing against it. A page has hundreds of
            links, and few need a closer look.
        of_newcomers: Asked at discovery only about URLs that the run does not know yet, with the run's trail.
    """

    name: str
    check: Callable[[Question], Refusal | None]
    of_origin: bool = False
    at_discovery: bool = False
    exit_code: ExitCode = ExitCode.BLOCKED_URL_BY_LOCAL_POLICY
    concerns: Callable[[str], object] = _always
    of_newcomers: bool = False


@dataclass(slots=True)
class Selection:
    """What a page's links come to: URLs for the frontier, and how many each rule kept out of it."""

    urls: list[str] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)  # by the rule's name


class Admission:
    """The rules of configuration, and those of each run that is worked on. Threads may share it."""

    def __init__(self, policy: UrlPolicy, crawl: Crawl) -> None:
        """Take the safety rules and the operator's wishes."""
        self._crawl = crawl
        self._skip = _any_of(crawl.skip_url_patterns)
        self._traps = TrapGuards.of(crawl)
        self._origin_refusal = lru_cache(maxsize=ORIGINS_REMEMBERED)(lambda origin: policy.check(origin + "/"))
        self._runs: dict[int, RunAdmission] = {}
        self._named = self.make(RunScope.open(), NO_RULES, None)

    def make(self, scope: RunScope, rules: CrawlRules, max_depth: int | None) -> "RunAdmission":
        """The rules of a run.

        Raises:
            InvalidArgumentError: A policy is not in the language.
        """
        return RunAdmission(
            (
                Rule("length", _check_length, at_discovery=True, concerns=_is_long),
                Rule("address", lambda asked: self._origin_refusal(asked.origin), of_origin=True, at_discovery=True),
                Rule("scope", lambda asked: _check_scope(scope, asked), of_origin=True, at_discovery=True),
                Rule("depth", lambda asked: _check_depth(max_depth, asked)),
                Rule("do_not_crawl", _DoNotCrawl(rules.do_not_crawl)),
                Rule(
                    "query",
                    _QueryRule(rules, rules.query_urls or self._crawl.query_urls),
                    at_discovery=True,
                    concerns=_has_query,
                ),
                *_trap_rules(self._traps),
                Rule("skip_url_patterns", _skip_rule(self._skip, "crawl.skip_url_patterns")),
                Rule(
                    "run_skip_patterns", _skip_rule(_any_of(rules.skip_url_patterns), "the crawl's skip_url_patterns")
                ),
                Rule("robots", _check_robots, exit_code=ExitCode.BLOCKED_BY_ROBOTS_TXT),
                Rule("due", _check_due),
            )
        )

    def add_run(self, run_id: int, scope: RunScope, rules: CrawlRules, max_depth: int) -> None:
        """Have the rules of a run at hand."""
        self._runs[run_id] = self.make(scope, rules, max_depth)

    def of(self, run_id: int) -> "RunAdmission":
        """The rules of a run that was added."""
        return self._runs[run_id]

    def forget(self, run_id: int) -> None:
        """Drop the rules of a run that is no longer worked on."""
        self._runs.pop(run_id, None)

    def refusal(self, url: str) -> Refusal | None:
        """Why a URL that a person or robots.txt names may not be asked for, in whatever run; None when it may."""
        origin = origin_of(url)
        found = self._named.refuse(Question(url, origin, origin, 0, is_named=True))
        return None if found is None else found[1]


def excluded_from_imports(crawl: Crawl) -> Callable[[str], Refusal | None]:
    """Which URLs the configuration keeps out of an import, and why.

    Patterns say what is not wanted, wherever it comes from. What may be connected to does not matter: nobody is asked.
    A crawl's own rules are that crawl's.
    """
    check = _skip_rule(_any_of(crawl.skip_url_patterns), "crawl.skip_url_patterns")
    return lambda url: check(Question(url, "", "", 0))


class RunAdmission:
    """The ordered rules of one run. Immutable."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        """Take the rules, the first that decides first."""
        self.rules = rules
        self._origin_rules = [rule for rule in rules if rule.of_origin and rule.at_discovery and not rule.of_newcomers]
        at_discovery = [rule for rule in rules if rule.at_discovery and not rule.of_origin and not rule.of_newcomers]
        self._url_rules = [(rule, rule.concerns) for rule in at_discovery]
        self._newcomer_rules = [rule for rule in rules if rule.of_newcomers]

    def refuse(self, asked: Question) -> tuple[Rule, Refusal] | None:
        """The first rule that refuses a URL, and why; None when it may be asked for."""
        for rule in self.rules:
            refusal = rule.check(asked)
            if refusal is not None:
                return rule, refusal
        return None

    def explain(self, asked: Question) -> list[tuple[Rule, Refusal | None]]:
        """What each rule says, in order."""
        return [(rule, rule.check(asked)) for rule in self.rules]

    def select(self, from_origin: str, urls: Iterable[str], depth: int) -> Selection:
        """Keep the URLs that a run may discover on a page.

        Args:
            from_origin: Origin of the page.
            urls: Canonical http or https URLs.
            depth: What they would have.
        """
        verdicts: dict[str, Rule | None] = {}
        found = Selection()
        for url in urls:
            origin = origin_of(url)
            if origin not in verdicts:
                verdicts[origin] = _first(self._origin_rules, Question(url, origin, from_origin, depth))
            refusing = verdicts[origin]
            if refusing is None:
                for rule, concerns in self._url_rules:
                    if concerns(url) and rule.check(Question(url, origin, from_origin, depth)) is not None:
                        refusing = rule
                        break
            if refusing is None:
                found.urls.append(url)
            else:
                found.refused[refusing.name] = found.refused.get(refusing.name, 0) + 1
        return found

    def newcomers(self, trails: Trails, from_origin: str, depth: int) -> "Newcomers":
        """What decides on each URL of a page that the run does not know yet; belongs to one transaction."""
        return Newcomers(self._newcomer_rules, trails, from_origin, depth)


class Newcomers:
    """Lets URLs in, one after the other, as FrontierBatch.discover asks.

    Attributes:
        refused: How many each rule kept out, by its name.
        examples: The first URL that each rule kept out, by its name.
    """

    def __init__(self, rules: list[Rule], trails: Trails, from_origin: str, depth: int) -> None:
        self._url_rules = [(rule, rule.concerns) for rule in rules if not rule.of_origin]
        self._origin_rules = [rule for rule in rules if rule.of_origin]
        self._trails = trails
        self._from_origin = from_origin
        self._depth = depth
        self._origins: dict[str, Rule | None] = {}  # met on this page, and what is against them
        self.refused: dict[str, int] = {}
        self.examples: dict[str, str] = {}

    def admit(self, url: str) -> bool:
        """Whether a URL may enter; it is counted if so."""
        origin = origin_of(url)
        rules = [rule for rule, concerns in self._url_rules if concerns(url)]
        refusing = self._decide(url, origin, rules) if rules else None
        if refusing is None:
            if origin not in self._origins:
                self._origins[origin] = self._decide(url, origin, self._origin_rules)
            refusing = self._origins[origin]
            if refusing is None:
                return True
        self.refused[refusing.name] = self.refused.get(refusing.name, 0) + 1
        self.examples.setdefault(refusing.name, url)
        return False

    def _decide(self, url: str, origin: str, rules: list[Rule]) -> Rule | None:
        trail = self._trails.trail()
        refusing = _first(rules, Question(url, origin, self._from_origin, self._depth, trail=trail))
        if refusing is None:
            self._trails.keep(trail)
        return refusing


def _first(rules: list[Rule], asked: Question) -> Rule | None:
    for rule in rules:
        if rule.check(asked) is not None:
            return rule
    return None


def make_url_policy(settings: Settings) -> UrlPolicy:
    """The rules of `[crawl]`, `[network]` and `[[hosts]]` for URLs."""
    named = [*settings.network.resolve, *(rule.match for rule in settings.hosts if rule.resolve)]
    return UrlPolicy(settings.crawl.schemes, settings.network.ports, settings.network.allow_private, named)


def question_of_row(
    url: str, origin: str, row: Row, robots: Robots | None, due_s: float | None, now_s: float
) -> Question:
    """What is asked of the rules when it is a row's turn."""
    is_sitemap = row.kind == RowKind.SITEMAP
    is_named = not row.depth or is_sitemap
    return Question(url, origin, origin, None if is_sitemap else row.depth, is_named, robots, due_s, now_s)


def due_s(run: Run, fetch_time_s: float | None) -> float | None:
    """When a page is due in a run; None: at any time."""
    if not run.recrawl_interval_s or run.is_forced or fetch_time_s is None:
        return None
    return fetch_time_s + run.recrawl_interval_s


# -- the rules ----------------------------------------------------------------------------------------------------


def _trap_rules(guards: TrapGuards) -> tuple[Rule, ...]:
    def stateless(name: str, check: Callable[[str], Refusal | None], concerns: Callable[[str], object]) -> Rule:
        # What a person names is asked for anyway.
        def ask(asked: Question) -> Refusal | None:
            return None if asked.is_named else check(asked.url)

        return Rule(name, ask, at_discovery=True, concerns=concerns, of_newcomers=True)

    def counted(name: str, check: Callable[[str, Trail], Refusal | None], concerns: Callable[[str], object]) -> Rule:
        def ask(asked: Question) -> Refusal | None:
            return None if asked.trail is None else check(asked.url, asked.trail)

        return Rule(name, ask, at_discovery=True, concerns=concerns, of_newcomers=True)

    def ask_hosts(asked: Question) -> Refusal | None:
        return None if asked.trail is None else guards.hosts.check(asked.origin, asked.trail)

    return (
        stateless("repeated_parts", guards.path.repeated, guards.path.concerns),
        stateless("path_parts", guards.path.too_long, guards.path.concerns),
        counted("session_ids", check_session, may_have_session),
        counted("parameters", guards.parameters.check, _has_query),
        counted("calendar", guards.calendar.check, may_have_date),
        Rule("domain_hosts", ask_hosts, of_origin=True, at_discovery=True, of_newcomers=True),
    )


def _is_long(url: str) -> bool:
    return len(url) > URL_CHARS_MAX


def _has_query(url: str) -> bool:
    return "?" in url


def _check_length(asked: Question) -> Refusal | None:
    size = len(asked.url)
    if size > URL_CHARS_MAX:
        return Refusal("URL_TOO_LONG", f"URL has {size} characters; at most {URL_CHARS_MAX}")
    return None


def _check_scope(scope: RunScope, asked: Question) -> Refusal | None:
    if scope.includes(asked.origin, asked.from_origin):
        return None
    return Refusal("URL_SCOPE", f"{asked.origin} does not belong to this run")


def _check_depth(max_depth: int | None, asked: Question) -> Refusal | None:
    if max_depth is None or asked.depth is None or asked.depth <= max_depth:
        return None
    return Refusal("URL_DEPTH", f"it is {asked.depth} links from a seed; this run follows {max_depth}")


def _check_robots(asked: Question) -> Refusal | None:
    if asked.robots is None:
        return None
    parts = split(asked.url)
    rule = asked.robots.policy.find_rule(asked.robots.token, parts.path_query)
    if rule is None or rule.is_allow:
        return None
    return Refusal("URL_ROBOTS", f"robots.txt does not allow it (line {rule.line}: Disallow: {rule.pattern[:200]})")


def _check_due(asked: Question) -> Refusal | None:
    if asked.due_s is None or asked.due_s <= asked.now_s:
        return None
    return Refusal(NOT_DUE, "it was crawled within the run's recrawl_interval")


class _DoNotCrawl:
    """U113, U117."""

    def __init__(self, policies: tuple[CrawlPolicy, ...]) -> None:
        self._policies = _compiled(policies, "do_not_crawl")

    def __call__(self, asked: Question) -> Refusal | None:
        if not self._policies:
            return None
        view = _View(asked.url)
        for policy, matches in self._policies:
            if matches(view):
                return Refusal("URL_DO_NOT_CRAWL", f"do_not_crawl: {policy.reason or 'no reason given'}")
        return None


class _QueryRule:
    """U114-U116: one policy must allow every parameter that the URL has; what a person names is asked for anyway."""

    def __init__(self, rules: CrawlRules, mode: str) -> None:
        self._is_open = mode == "allow"
        compiled = _compiled(rules.url_query_parameters, "url_query_parameters")
        self._policies = [(policy, matches, frozenset(policy.allow)) for policy, matches in compiled]

    def __call__(self, asked: Question) -> Refusal | None:
        if self._is_open or asked.is_named or "?" not in asked.url:
            return None
        view = _View(asked.url)
        names = _parameter_names(view.query or "")
        if any(names <= allow and matches(view) for _, matches, allow in self._policies):
            return None
        if not self._policies:
            return Refusal("URL_QUERY", "URLs with a query string are not crawled (query_urls)")
        return Refusal("URL_QUERY", f"no policy allows the parameters {', '.join(sorted(names))[:200] or '(none)'}")


class _View:
    """A URL as criteria see it (jird_settings.criterium.UrlView)."""

    __slots__ = ("_parts", "url")

    def __init__(self, url: str) -> None:
        self.url = url
        self._parts: UrlParts = split(url)

    @property
    def scheme(self) -> str:
        return self._parts.scheme

    @property
    def host(self) -> str:
        return self._parts.host

    @property
    def port(self) -> int:
        return self._parts.port

    @property
    def path(self) -> str:
        return self._parts.path

    @property
    def query(self) -> str | None:
        return self._parts.query if "?" in self._parts.path_query else None


def _compiled(policies: tuple[CrawlPolicy, ...], name: str) -> list[tuple[CrawlPolicy, Callable[[UrlView], bool]]]:
    compiled: list[tuple[CrawlPolicy, Callable[[UrlView], bool]]] = []
    for number, policy in enumerate(policies, start=1):
        try:
            compiled.append((policy, compile_criterium(policy.criterium, _canonical)))
        except CriteriumError as error:
            raise InvalidArgumentError(f"{name}[{number}].{error}", "POLICY") from None
    return compiled


def _canonical(text: str) -> str:
    try:
        return canonicalize(text)
    except InvalidUrlError as error:
        raise ValueError(error.message) from None


def _parameter_names(query: str) -> frozenset[str]:
    return frozenset(unquote_plus(pair.partition("=")[0]) for pair in query.split("&") if pair)


def _skip_rule(pattern: re.Pattern[str] | None, source: str) -> Callable[[Question], Refusal | None]:
    def check(asked: Question) -> Refusal | None:
        if pattern is None or not pattern.fullmatch(asked.url):
            return None
        return Refusal("URL_SKIPPED", f"the URL matches {source}")

    return check


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str] | None:
    """One expression for all globs; * and ? as in the settings."""
    if not patterns:
        return None
    return re.compile("|".join(f"(?:{glob_expression(glob)})" for glob in patterns), re.DOTALL)
