"""The frontier's side of one write transaction: rows found, finished, put off, set aside.

One batch belongs to one transaction and to the writer thread. It keeps what it changes of runs and origins in memory
and puts it once, in `flush`; a batch whose transaction fails is thrown away with it, so nothing in memory can drift
from what was committed. What the crawl loop must know afterwards is in BatchEffects.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from msgspec.structs import asdict, replace

from jird_daemon.frontier.runs import begin_round, end_run, get_run, is_scheduled, next_round_ms, stop_schedule
from jird_daemon.store.tables import (
    ORIGIN_STATES,
    QUEUE,
    RECRAWLS,
    ROWS,
    RUN_ORIGINS,
    RUNS,
    WAITING,
    OriginState,
    Row,
    RowKind,
    RowState,
    Run,
    RunOrigin,
    RunReason,
    RunState,
)
from jird_daemon.store.txn import Txn
from jird_daemon.store.urls import URL_COUNT, intern_origin, intern_url, intern_urls
from jird_daemon.url.canonical import origin_of

# Rows that one transaction moves from waiting to queue, or sets aside: a few milliseconds of work.
ROWS_PER_STEP = 256


class Lane(IntEnum):
    """Order among an origin's rows; a lower lane goes first."""

    URGENT = 0  # redirect targets, retries: asked next
    ORDINARY = 1


def sequence_of(depth: int, url_id: int) -> int:
    """Place within a lane: nearer to the seed first, then in order of discovery. Unique within a run."""
    return depth << 56 | url_id


def _key_of(item: tuple[tuple[int, int], Row]) -> tuple[int, int]:
    return item[0]


class SeenRows:
    """Rows that are known to exist, so that the links every page repeats cost no look-up; committed ones only.

    Two generations, as store's RecentUrls: what was not asked for during one filling is forgotten.
    """

    # Of each generation; about 100 bytes an entry.
    SIZE = 65_536

    def __init__(self) -> None:
        self._young: set[tuple[int, int]] = set()
        self._old: set[tuple[int, int]] = set()

    def __contains__(self, key: tuple[int, int]) -> bool:
        if key in self._young:
            return True
        if key in self._old:
            self.add(key)
            return True
        return False

    def add(self, key: tuple[int, int]) -> None:
        """Remember the row (run_id, url_id)."""
        if len(self._young) >= self.SIZE:
            self._old, self._young = self._young, set()
        self._young.add(key)


@dataclass(slots=True)
class _RunDelta:
    run: Run
    counts: dict[str, int] = field(default_factory=dict)
    exit_codes: dict[int, int] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    active_s: float = 0.0
    end: tuple[RunState, RunReason] | None = None

    def add(self, name: str, delta: int) -> None:
        self.counts[name] = self.counts.get(name, 0) + delta

    def value(self, name: str) -> int:
        return int(getattr(self.run.counts, name)) + self.counts.get(name, 0)


@dataclass(slots=True)
class _OriginDelta:
    state: RunOrigin
    queued: int = 0
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class BatchEffects:
    """What a committed batch changed, for the crawl loop.

    Attributes:
        runs: Runs that were touched, as they are now.
        fed: (run, origin) that have new rows in their queue; True when some are urgent.
        set_aside: (run, origin) without patience that still have rows in their queue.
        next_due_ms: For each touched run the earliest deadline among its waiting rows.
        next_round_ms: For each touched run when it is to be set going again; None: never, or it runs.
    """

    runs: dict[int, Run]
    fed: dict[tuple[int, int], bool]
    set_aside: set[tuple[int, int]]
    next_due_ms: dict[int, int | None]
    next_round_ms: dict[int, int | None]


class FrontierBatch:
    """See the module. Arguments named run_id and origin_id are numbers of existing runs and origins."""

    def __init__(self, txn: Txn, seen: SeenRows, now_s: float) -> None:
        self.txn = txn
        self.now_s = now_s
        self._seen = seen
        self._new_rows: set[tuple[int, int]] = set()
        # From this number on URLs are younger than the batch: only the batch itself can have given them rows.
        self._fresh_from = txn.number(URL_COUNT) + 1
        self._runs: dict[int, _RunDelta] = {}
        self._origins: dict[tuple[int, int], _OriginDelta] = {}
        self._origin_ids: dict[str, int] = {}
        self._origin_states: dict[int, OriginState] = {}
        self._fed: dict[tuple[int, int], bool] = {}

    def run(self, run_id: int) -> Run:
        """A run as it was when the batch first touched it, without the counts of this batch."""
        return self._run(run_id).run

    def touched_runs(self) -> tuple[int, ...]:
        """Runs that the batch changes or has looked at."""
        return tuple(self._runs)

    def value(self, run_id: int, name: str) -> int:
        """A count of a run, this batch included."""
        return self._run(run_id).value(name)

    def count(self, run_id: int, name: str, delta: int = 1) -> None:
        """Add to a count of a run, by its name in RunCounts."""
        self._run(run_id).add(name, delta)

    def count_exit(self, run_id: int, exit_code: int) -> None:
        """Count how an action of a run ended."""
        codes = self._run(run_id).exit_codes
        codes[exit_code] = codes.get(exit_code, 0) + 1

    def count_refused(self, run_id: int, refused: Mapping[str, int]) -> None:
        """Count links that rules kept out of the frontier, by the rule's name."""
        counts = self._run(run_id).refused
        for name, count in refused.items():
            counts[name] = counts.get(name, 0) + count

    def refused_so_far(self, run_id: int) -> frozenset[str]:
        """Names of the rules that have kept links of a run out of the frontier, this batch included."""
        delta = self._run(run_id)
        return frozenset(delta.run.counts.refused) | frozenset(delta.refused)

    def add_active(self, run_id: int, seconds: float) -> None:
        """Add to the time that a run was running."""
        self._run(run_id).active_s += seconds

    def end(self, run_id: int, state: RunState, reason: RunReason) -> None:
        """Pause or complete a run when the batch is flushed; the first reason given wins."""
        delta = self._run(run_id)
        delta.end = delta.end or (state, reason)

    def discover(
        self,
        run_id: int,
        urls: Iterable[str],
        depth: int,
        *,
        lane: Lane = Lane.ORDINARY,
        redirects: int = 0,
        kind: RowKind = RowKind.PAGE,
        admit: Callable[[str], bool] | None = None,
    ) -> int:
        """Queue URLs that the run has not seen yet, up to its ceiling; what is above is counted as dropped (J128-J131).

        Args:
            run_id: The run.
            urls: Canonical URLs that passed every check; repetitions are free.
            depth: Links from a seed.
            lane: Which lane they wait in.
            redirects: Hops in a row that led here.
            kind: What they are asked for as.
            admit: Asked about each that is new and has room; None lets all in.

        Returns:
            How many are new.
        """
        delta = self._run(run_id)
        room = delta.run.max_frontier - delta.value("discovered")
        dropped = 0
        rows: dict[tuple[int, int], Row] = {}
        for url, url_id in intern_urls(self.txn, urls).items():
            key = (run_id, url_id)
            if self._is_seen(key):
                continue
            if len(rows) >= room:
                dropped += 1
                continue
            if admit is not None and not admit(url):
                continue
            place = sequence_of(depth, url_id)
            rows[key] = Row(
                RowState.QUEUED, depth, self._origin_id(url), lane, place, redirects=redirects, kind=kind
            )  # fmt: skip
        self._add_rows(run_id, rows)
        added = len(rows)
        delta.add("discovered", added)
        delta.add("queued", added)
        delta.add("dropped", dropped)
        return added

    def has_row(self, run_id: int, url: str) -> bool:
        """Whether the run has ever admitted the URL."""
        return self._is_seen((run_id, intern_url(self.txn, url)))

    def get_row(self, run_id: int, url_id: int) -> Row | None:
        """The row of a URL in a run."""
        return self.txn.get(ROWS, (run_id, url_id))

    def finish(
        self,
        run_id: int,
        url_id: int,
        state: RowState,
        exit_code: int,
        attempts: int,
        *,
        crawled_s: float | None = None,
    ) -> None:
        """Take a row out of its queue: DONE, FAILED or SKIPPED; in a run with an interval until it is due again.

        Args:
            run_id: The run.
            url_id: The row's URL.
            state: How it ended.
            exit_code: Of its last action.
            attempts: Of this round.
            crawled_s: From when the interval counts; None: from now.
        """
        row = self._leave_queue(run_id, url_id)
        if row is not None:
            row = replace(row, state=state, exit_code=exit_code, attempts=attempts, not_before_ms=0)
            self.txn.put(ROWS, (run_id, url_id), row)
            interval_s = self._run(run_id).run.recrawl_interval_s
            if interval_s:
                due_s = (self.now_s if crawled_s is None else crawled_s) + interval_s
                self.txn.put(RECRAWLS, (run_id, round(due_s * 1_000), url_id), None)

    def put_off(self, run_id: int, url_id: int, not_before_ms: int, exit_code: int, attempts: int) -> None:
        """Let a row wait for a durable deadline (J149)."""
        row = self._leave_queue(run_id, url_id)
        if row is None:
            return
        row = replace(row, state=RowState.WAITING, exit_code=exit_code, attempts=attempts, not_before_ms=not_before_ms)
        self.txn.put(ROWS, (run_id, url_id), row)
        self.txn.put(WAITING, (run_id, not_before_ms, url_id), None)
        self._origin(run_id, row.origin_id).waiting += 1
        self._run(run_id).add("queued", 1)
        self._run(run_id).add("waiting", 1)

    def wake_due(self, run_id: int, now_ms: int) -> int:
        """Queue waiting rows whose deadline has passed, at most ROWS_PER_STEP; returns how many were due."""
        self._run(run_id)  # so that the effects say what is due next
        due = []
        for key, _ in self.txn.scan(WAITING, (run_id, 0, 0), (run_id, now_ms + 1, 0)):
            due.append(key)
            if len(due) == ROWS_PER_STEP:
                break
        for key in due:
            self._wake(key)
        return len(due)

    def begin_round(self, run_id: int, now_ms: int) -> None:
        """Set a scheduled run going again; `requeue_due` then brings its rows, a few at a time."""
        run = self._run(run_id).run
        if is_scheduled(run):
            self._runs[run_id].run = begin_round(self.txn, run_id, run, self.now_s)
            self.requeue_due(run_id, now_ms)

    def stop_schedule(self, run_id: int) -> bool:
        """Keep a run that waits for its next round from going on; False when it does not wait."""
        delta = self._run(run_id)
        if not is_scheduled(delta.run):
            return False
        delta.run = stop_schedule(self.txn, run_id, delta.run)
        return True

    def requeue_due(self, run_id: int, now_ms: int) -> int:
        """Queue rows that fell due before the run's round began, at most ROWS_PER_STEP; returns how many."""
        run = self._run(run_id).run
        # What falls due while a round runs waits for the next, or a small interval would keep it going (U142).
        last_ms = min(now_ms, round(run.round_time_s * 1_000))
        due = []
        for key, _ in self.txn.scan(RECRAWLS, (run_id, 0, 0), (run_id, last_ms + 1, 0)):
            due.append(key)
            if len(due) == ROWS_PER_STEP:
                break
        for key in due:
            self.txn.delete(RECRAWLS, key)
            row = self.txn.get(ROWS, (run_id, key[2]))
            if row is not None and row.state in (RowState.DONE, RowState.FAILED, RowState.SKIPPED):
                row = replace(row, state=RowState.QUEUED, lane=Lane.ORDINARY, attempts=0, redirects=0, not_before_ms=0)
                self.txn.put(ROWS, (run_id, key[2]), row)
                self._run(run_id).add("queued", 1)
                self._forgive(run_id, row.origin_id)
                self._enter_queue(run_id, key[2], row)
        return len(due)

    def _forgive(self, run_id: int, origin_id: int) -> None:
        """An origin that an earlier round gave up, and of which nothing is left, is asked again (U145)."""
        origin = self._origin(run_id, origin_id)
        if origin.state.patience == 0 and origin.state.queued + origin.queued == 0:
            fresh = RunOrigin()
            origin.state = replace(
                origin.state, patience=fresh.patience, rate_limit_steps=fresh.rate_limit_steps, is_slowing=False
            )

    def set_pace(self, run_id: int, origin_id: int, pace: RunOrigin, state: OriginState) -> None:
        """Keep what politeness decided: the run's patience and p, and the origin's deadline."""
        origin = self._origin(run_id, origin_id)
        origin.state = replace(
            origin.state, patience=pace.patience, rate_limit_steps=pace.rate_limit_steps, is_slowing=pace.is_slowing
        )
        self._origin_states[origin_id] = state

    def note_sitemaps(self, run_id: int, origin_id: int) -> None:
        """Remember that the sitemaps that an origin announces are in the run's frontier."""
        origin = self._origin(run_id, origin_id)
        origin.state = replace(origin.state, has_known_sitemaps=True)

    def sweep(self, run_id: int, origin_id: int, exit_code: int) -> int:
        """Fail queued rows of an origin that was set aside, at most ROWS_PER_STEP; returns how many (U145)."""
        start = (run_id, origin_id, 0, 0)
        url_ids = []
        for _, url_id in self.txn.scan(QUEUE, start, (run_id, origin_id + 1, 0, 0)):
            url_ids.append(url_id)
            if len(url_ids) == ROWS_PER_STEP:
                break
        for url_id in url_ids:
            row = self.txn.get(ROWS, (run_id, url_id))
            self.finish(run_id, url_id, RowState.FAILED, exit_code, row.attempts if row else 0)
            self.count(run_id, "failed")
        return len(url_ids)

    def flush(self) -> BatchEffects:
        """Put runs and origins. The last call on the batch before its transaction commits."""
        set_aside = set()
        for key, origin in self._origins.items():
            state = origin.state
            state = replace(state, queued=state.queued + origin.queued, waiting=state.waiting + origin.waiting)
            self.txn.put(RUN_ORIGINS, key, state)
            if state.patience == 0 and state.queued > 0:
                set_aside.add(key)
        for origin_id, origin_state in self._origin_states.items():
            self.txn.put(ORIGIN_STATES, origin_id, origin_state)
        runs = {run_id: self._flush_run(run_id, delta) for run_id, delta in self._runs.items()}
        next_due_ms = {run_id: self._next_due_ms(run_id) for run_id in runs}
        rounds = {
            run_id: next_round_ms(self.txn, run_id, run) if is_scheduled(run) else None for run_id, run in runs.items()
        }
        return BatchEffects(runs, self._fed, set_aside, next_due_ms, rounds)

    def committed(self) -> None:
        """Remember what is now on disk."""
        for key in self._new_rows:
            self._seen.add(key)

    def _flush_run(self, run_id: int, delta: _RunDelta) -> Run:
        counts = delta.run.counts
        values = asdict(counts)
        for name, change in delta.counts.items():
            values[name] += change
        codes = dict(counts.exit_codes)
        for code, change in delta.exit_codes.items():
            codes[code] = codes.get(code, 0) + change
        values["exit_codes"] = codes
        refused = dict(counts.refused)
        for name, change in delta.refused.items():
            refused[name] = refused.get(name, 0) + change
        values["refused"] = refused
        run = replace(delta.run, counts=type(counts)(**values), active_s=delta.run.active_s + delta.active_s)
        self.txn.put(RUNS, run_id, run)
        if run.counts.queued == 0 and not self._has_due(run_id, run):
            return end_run(self.txn, run_id, run, RunState.COMPLETED, RunReason.DRAINED, self.now_s)
        if delta.end is not None:
            return end_run(self.txn, run_id, run, *delta.end, self.now_s)
        return run

    def _has_due(self, run_id: int, run: Run) -> bool:
        """Whether rows that fell due before the round began have not been queued yet."""
        if run.state != RunState.RUNNING or run.rounds < 2:
            return False
        stop = (run_id, round(run.round_time_s * 1_000) + 1, 0)
        return any(True for _ in self.txn.scan(RECRAWLS, (run_id, 0, 0), stop))

    def _next_due_ms(self, run_id: int) -> int | None:
        if self._has_due(run_id, self._run(run_id).run):
            return 0
        for (_, not_before_ms, _), _ in self.txn.scan(WAITING, (run_id, 0, 0), (run_id + 1, 0, 0)):
            return not_before_ms
        return None

    def _run(self, run_id: int) -> _RunDelta:
        delta = self._runs.get(run_id)
        if delta is None:
            delta = self._runs[run_id] = _RunDelta(get_run(self.txn, run_id))
        return delta

    def _origin(self, run_id: int, origin_id: int) -> _OriginDelta:
        key = (run_id, origin_id)
        origin = self._origins.get(key)
        if origin is None:
            origin = self._origins[key] = _OriginDelta(self.txn.get(RUN_ORIGINS, key) or RunOrigin())
        return origin

    def _origin_id(self, url: str) -> int:
        origin = origin_of(url)
        origin_id = self._origin_ids.get(origin)
        if origin_id is None:
            origin_id = self._origin_ids[origin] = intern_origin(self.txn, origin)
        return origin_id

    def _is_seen(self, key: tuple[int, int]) -> bool:
        if key in self._seen or key in self._new_rows:
            return True
        if key[1] >= self._fresh_from or not self.txn.has(ROWS, key):
            return False
        self._new_rows.add(key)
        return True

    def _add_rows(self, run_id: int, rows: Mapping[tuple[int, int], Row]) -> None:
        """Put rows and their places in the queue, each in the order of keys."""
        self.txn.put_many(ROWS, sorted(rows.items(), key=_key_of))
        places = [((run_id, row.origin_id, row.lane, row.sequence), key[1]) for key, row in rows.items()]
        self.txn.put_many(QUEUE, sorted(places))
        self._new_rows.update(rows)
        for row in rows.values():
            self._feed(run_id, row)

    def _enter_queue(self, run_id: int, url_id: int, row: Row) -> None:
        self.txn.put(QUEUE, (run_id, row.origin_id, row.lane, row.sequence), url_id)
        self._feed(run_id, row)

    def _feed(self, run_id: int, row: Row) -> None:
        """Count a row among those that its origin has queued."""
        self._origin(run_id, row.origin_id).queued += 1
        fed = (run_id, row.origin_id)
        self._fed[fed] = self._fed.get(fed, False) or row.lane == Lane.URGENT

    def _leave_queue(self, run_id: int, url_id: int) -> Row | None:
        """Take a queued row out; None when it is not queued any more (its origin was set aside meanwhile)."""
        row = self.txn.get(ROWS, (run_id, url_id))
        if row is None or row.state != RowState.QUEUED:
            return None
        self.txn.delete(QUEUE, (run_id, row.origin_id, row.lane, row.sequence))
        self._origin(run_id, row.origin_id).queued -= 1
        self._run(run_id).add("queued", -1)
        return row

    def _wake(self, key: tuple[int, int, int]) -> None:
        run_id, _, url_id = key
        self.txn.delete(WAITING, key)
        row = self.txn.get(ROWS, (run_id, url_id))
        assert row is not None
        assert row.state == RowState.WAITING
        origin = self._origin(run_id, row.origin_id)
        origin.waiting -= 1
        self._run(run_id).add("waiting", -1)
        row = replace(row, state=RowState.QUEUED, lane=Lane.URGENT, not_before_ms=0)
        self.txn.put(ROWS, (run_id, url_id), row)
        self._enter_queue(run_id, url_id, row)
