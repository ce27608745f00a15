"""The crawl loop's records of the frontier: runs, their rows of an origin, rows read ahead, and rows that are out."""

from collections import deque
from dataclasses import dataclass, field

from jird_daemon.frontier.host_queue import Gate
from jird_daemon.frontier.runs import RunScope, budget_left
from jird_daemon.store.tables import Origin, Row, Run, RunOrigin

# How long ago the first scan counts as, so that it is due at once.
_NEVER_S = -1e9


@dataclass(slots=True, eq=False)
class ActiveRun:
    """A run that is worked on.

    Attributes:
        run_id: Its number.
        run: As last committed.
        scope: What belongs to it.
        uncommitted_requests: Attempts begun that `run.counts.requests` does not hold yet.
        leases: Rows that are out.
        next_due_ms: Earliest deadline among its waiting rows; None: no row waits.
    """

    run_id: int
    run: Run
    scope: RunScope
    uncommitted_requests: int = 0
    leases: int = 0
    next_due_ms: int | None = None
    user_agent: str = ""  # of this run; empty: as configured
    is_draining: bool = False  # nothing new is leased
    cursor: int = 0  # first origin that the scan has not seen
    is_scan_due: bool = True
    scanned_s: float = _NEVER_S

    @property
    def budget_left(self) -> int:
        """Request attempts that may still be begun (J151)."""
        return budget_left(self.run) - self.uncommitted_requests


@dataclass(slots=True, eq=False)
class Source:
    """One run's rows of one origin, as they stand behind a gate."""

    run: ActiveRun
    origin_id: int
    origin: Origin
    gate: "Gate[Source]"
    pace: RunOrigin
    ahead: deque["Candidate"] = field(default_factory=deque)
    leases: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that was read ahead."""

    url_id: int
    url: str
    row: Row


@dataclass(slots=True, eq=False)
class Lease:
    """A URL that is being worked on.

    Attributes:
        source: Whose row it is.
        url_id: Number of the URL.
        url: The URL.
        row: Its row.
        etag: Validator of the last answer; empty for none.
        last_modified: Likewise.
        was_indexable: Whether the URL's page can be found now.
        fetch_time_s: When the URL last answered; None while that is not known, or never happened.
        address: Address that is counted for it; empty when none is.
        attempts: Request attempts that are set aside for it in the run's budget.
        has_token: Whether its origin's next request waits for this one's end.
        can_break_off: Whether nothing is lost when its task is cancelled.
    """

    source: Source
    url_id: int
    url: str
    row: Row
    etag: str = ""
    last_modified: str = ""
    was_indexable: bool = False
    fetch_time_s: float | None = None
    address: str = ""
    attempts: int = 0
    has_token: bool = True
    can_break_off: bool = True

    @property
    def run(self) -> ActiveRun:
        """The run it belongs to."""
        return self.source.run
