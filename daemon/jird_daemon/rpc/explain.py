"""Why a URL is, or is not, crawled: each rule in order and what it says, by the functions that decide in the crawl.

Everything comes from one snapshot of the store and the configuration in force; nothing is asked for over the network.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from jird_daemon.crawler.admission import (
    NO_RULES,
    NOT_DUE,
    Admission,
    Question,
    Robots,
    due_s,
    question_of_row,
)
from jird_daemon.crawler.robots_cache import holds
from jird_daemon.errors import InvalidUrlError, NotFoundError
from jird_daemon.frontier.runs import RunScope, is_scheduled, next_round_ms, running_runs
from jird_daemon.frontier.trail import Trails
from jird_daemon.outcome import ExitCode
from jird_daemon.store.tables import (
    ORIGIN_IDS,
    ORIGIN_STATES,
    PAGES,
    ROBOTS,
    ROWS,
    RUN_ORIGINS,
    RUN_RULES,
    RUNS,
    Page,
    RowState,
    Run,
    RunReason,
    RunState,
)
from jird_daemon.store.tables import Robots as StoredRobots
from jird_daemon.store.tables import Row as FrontierRow
from jird_daemon.store.txn import Txn
from jird_daemon.store.urls import find_url
from jird_daemon.url.canonical import canonicalize, origin_of
from jird_daemon.url.robots import RobotsPolicy
from jird_settings import Crawl

# Runs that are looked through, newest first, for one that knows the URL.
RUNS_SEARCHED = 200

ALLOWED, REFUSED, WAITING, UNKNOWN = "allowed", "refused", "waiting", "unknown"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one rule says: ALLOWED, REFUSED, WAITING (not now) or UNKNOWN (nothing to judge by yet)."""

    rule: str
    outcome: str = ALLOWED
    reason: str = ""  # UPPER_SNAKE
    message: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """All verdicts, the first that is not ALLOWED deciding.

    Attributes:
        url: Canonical; as it was given when it is none.
        run_id: Run that was asked; 0: none, so it was judged as a seed.
        verdicts: In the order in which they are applied.
        page: What is known of the URL.
        next_time_s: Before then it is not asked for; None: nothing holds it, or it will not be asked for.
    """

    url: str
    run_id: int
    verdicts: tuple[Verdict, ...]
    page: Page | None = None
    next_time_s: float | None = None

    @property
    def deciding(self) -> Verdict | None:
        """The verdict that decides; None when the URL is asked for as soon as it is its turn."""
        return next((verdict for verdict in self.verdicts if verdict.outcome in (REFUSED, WAITING)), None)


class Explainer:
    """Explains URLs by the configuration in force."""

    def __init__(self, admission: Admission, crawl: Crawl, guard: str, now_s: float) -> None:
        """Take the rules, the reason for which intake is paused (empty: it is not), and the time."""
        self._admission = admission
        self._crawl = crawl
        self._guard = guard
        self._now_s = now_s

    def explain(self, txn: Txn, text: str, run_id: int = 0) -> Explanation:
        """Explain one URL.

        Args:
            txn: A snapshot.
            text: The URL, as a person writes it.
            run_id: The run; 0 takes the newest running one that knows the URL, else the newest that does, else the
                newest that runs, else none.

        Raises:
            NotFoundError: There is no such run.
        """
        try:
            url = canonicalize(text)
        except InvalidUrlError as error:
            return Explanation(text, run_id, (Verdict("url", REFUSED, error.reason, error.message),))
        url_id = find_url(txn, url)
        run_id, run = _choose(txn, run_id, url_id)
        row = None if url_id is None else txn.get(ROWS, (run_id, url_id))
        page = None if url_id is None else txn.get(PAGES, url_id)
        verdicts = [Verdict("url"), *self._by_rules(txn, url, run_id, run, row, page)]
        times: list[float] = []
        if run is not None:
            verdicts += self._by_state(txn, url, run_id, run, row, times)
        found = Explanation(url, run_id, tuple(verdicts), page)
        is_refused = any(verdict.outcome == REFUSED for verdict in verdicts)
        later = max((time_s for time_s in times if time_s > self._now_s), default=None)
        return found if is_refused or later is None else Explanation(url, run_id, tuple(verdicts), page, later)

    def _by_rules(
        self, txn: Txn, url: str, run_id: int, run: Run | None, row: FrontierRow | None, page: Page | None
    ) -> Iterator[Verdict]:
        """What the rules of admission say, those that the crawl loop asks."""
        rules = txn.get(RUN_RULES, run_id) or NO_RULES
        scope, depth = (RunScope.open(), None) if run is None else (RunScope.of(run), run.max_depth)
        admission = self._admission.make(scope, rules, depth)
        origin = origin_of(url)
        user_agent = rules.user_agent or self._crawl.user_agent
        stored = self._robots_of(txn, origin)
        robots = None
        if stored is not None and stored.is_available:
            robots = Robots(RobotsPolicy.parse(stored.body), user_agent.split(" ", 1)[0])
        due = None if run is None or page is None else due_s(run, page.fetch_time_s)
        if row is not None:
            asked = question_of_row(url, origin, row, robots, due, self._now_s)
        else:
            is_named = run is None or url in run.seeds
            trail = None if is_named else Trails(txn, run_id).trail()
            asked = Question(url, origin, origin, 0 if is_named else None, is_named, robots, due, self._now_s, trail)
        for rule, refusal in admission.explain(asked):
            if rule.name == "robots":
                yield self._by_robots(stored, refusal.message if refusal else "")
            elif rule.name == "depth" and asked.depth is None and run is not None:
                yield Verdict(rule.name, UNKNOWN, message=f"no run has found it yet; this one follows {run.max_depth}")
            elif refusal is None:
                yield Verdict(rule.name)
            else:
                outcome = WAITING if refusal.reason == NOT_DUE else REFUSED
                yield Verdict(rule.name, outcome, refusal.reason, refusal.message)

    def _robots_of(self, txn: Txn, origin: str) -> StoredRobots | None:
        origin_id = txn.get(ORIGIN_IDS, origin)
        return None if origin_id is None else txn.get(ROBOTS, origin_id)

    def _by_robots(self, stored: StoredRobots | None, refusal: str) -> Verdict:
        if stored is None:
            return Verdict("robots", UNKNOWN, message="robots.txt was never asked for; it is asked for first")
        said = f"HTTP {stored.http_status}" if stored.http_status else "no answer"
        known = f"robots.txt as of {_moment(stored.fetch_time_s)} ({said})"
        if not stored.is_available:
            message = f"{known} cannot be had: nothing of the origin is asked for until it can"
            return Verdict("robots", WAITING, "ROBOTS_UNAVAILABLE", message)
        if not holds(stored.fetch_time_s, self._now_s):
            known += ", which is too old and is asked for again first"
        if refusal:
            return Verdict("robots", REFUSED, "URL_ROBOTS", f"{refusal}; {known}")
        return Verdict("robots", message=known)

    def _by_state(
        self, txn: Txn, url: str, run_id: int, run: Run, row: FrontierRow | None, times: list[float]
    ) -> Iterator[Verdict]:
        """What the run, the row and the origin say; times before which they do not let it go are put into the list."""
        if self._guard:
            yield Verdict("guard", WAITING, "INTAKE_PAUSED", f"intake is paused by the {self._guard} guard")
        else:
            yield Verdict("guard")
        yield self._by_run(txn, run_id, run, times)
        yield _by_row(run_id, run, row, times)
        origin_id = txn.get(ORIGIN_IDS, origin_of(url))
        if origin_id is None:
            yield Verdict("origin", UNKNOWN, message="nothing of this origin was ever met")
            return
        part, state = txn.get(RUN_ORIGINS, (run_id, origin_id)), txn.get(ORIGIN_STATES, origin_id)
        if part is not None and part.patience == 0:
            message = "the run's patience with it has ended; the next round, or another run, asks it again"
            yield Verdict("origin", REFUSED, "ORIGIN_SET_ASIDE", message)
        elif state is not None and state.next_time_s > self._now_s:
            times.append(state.next_time_s)
            kind = f"it backs off ({state.backoff_kind})" if state.backoff_kind else "its delay runs"
            yield Verdict("origin", WAITING, "ORIGIN_WAITS", f"{kind} until {_moment(state.next_time_s)}")
        else:
            yield Verdict("origin")

    def _by_run(self, txn: Txn, run_id: int, run: Run, times: list[float]) -> Verdict:
        used = run.counts.requests - run.round_requests
        if run.state == RunState.RUNNING:
            if used >= run.max_pages:
                return Verdict("run", REFUSED, "BUDGET", f"its budget of {run.max_pages:,} requests is spent")
            return Verdict("run", message=f"run {run_id} is running; {run.max_pages - used:,} requests are left")
        ended = f"run {run_id} is {RunState(run.state).name.lower()} ({RunReason(run.reason).name.lower()})"
        due_ms = next_round_ms(txn, run_id, run) if is_scheduled(run) else None
        if due_ms is None:
            return Verdict("run", REFUSED, "NOT_RUNNING", ended)
        times.append(max(due_ms / 1_000, self._now_s + 0.001))
        return Verdict("run", WAITING, "NEXT_ROUND", f"{ended}; its next round begins at {_moment(due_ms / 1_000)}")


def _choose(txn: Txn, run_id: int, url_id: int | None) -> tuple[int, Run | None]:
    if run_id:
        run = txn.get(RUNS, run_id)
        if run is None:
            raise NotFoundError(f"there is no run {run_id}", "RUN_UNKNOWN")
        return run_id, run
    running = sorted(running_runs(txn), key=lambda item: -item[0])
    newest = []
    for number, item in enumerate(txn.scan(RUNS, None, None, reverse=True)):
        if number == RUNS_SEARCHED:
            break
        newest.append(item)
    for number, run in (*running, *newest):
        if url_id is not None and txn.has(ROWS, (number, url_id)):
            return number, run
    return running[0] if running else (0, None)


def _by_row(run_id: int, run: Run, row: FrontierRow | None, times: list[float]) -> Verdict:
    if row is None:
        message = f"run {run_id} has not found it: no page that it has read links to it, or a rule kept it out"
        return Verdict("frontier", UNKNOWN, "NOT_FOUND_YET", message)
    ended = f", last ended as {ExitCode(row.exit_code).name.lower()}" if row.exit_code else ""
    place = f"{row.depth} links from a seed, attempt {row.attempts + 1}{ended}"
    if row.state == RowState.QUEUED:
        return Verdict("frontier", message=f"it is queued; {place}")
    if row.state == RowState.WAITING:
        times.append(row.not_before_ms / 1_000)
        return Verdict("frontier", WAITING, "RETRY", f"it waits until {_moment(row.not_before_ms / 1_000)}; {place}")
    message = f"the run is through with it: {RowState(row.state).name.lower()}{ended}"
    if run.recrawl_interval_s:
        message += "; it is crawled again when it is due"
    outcome = WAITING if run.recrawl_interval_s else REFUSED
    return Verdict("frontier", outcome, f"ROW_{RowState(row.state).name}", message)


def _moment(time_s: float) -> str:
    return datetime.fromtimestamp(time_s, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
