"""What the crawl loop found out about one URL, handed to the writer."""

from dataclasses import dataclass

from jird_daemon.crawler.response import Response
from jird_daemon.crawler.verdict import Verdict
from jird_daemon.extract.document import ParsedDocument
from jird_daemon.frontier.lease import Lease
from jird_daemon.store.tables import OriginState, Row, RunOrigin


@dataclass(frozen=True, slots=True)
class Target:
    """The row that was worked on."""

    run_id: int
    url_id: int
    url: str
    origin_id: int
    origin: str  # scheme, host and port
    row: Row
    max_depth: int
    was_indexable: bool  # before this visit


def target_of(lease: Lease) -> Target:
    """The row that a lease is for, as the writer needs it."""
    source, run = lease.source, lease.run
    return Target(
        run.run_id, lease.url_id, lease.url, source.origin_id, source.origin.name, lease.row,
        run.run.max_depth, lease.was_indexable,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Visit:
    """One URL asked for, once or, after a fluke, twice.

    Attributes:
        target: The row.
        tries: Every request, in order; at least one.
        verdict: Of the last one.
        pace: The run's patience and p afterwards.
        origin_state: The origin's deadline afterwards.
        not_before_ms: When to try again; None: this was the last attempt.
        document: What the parser made of an answer with content; None when there was nothing to parse, or it failed.
        failure: Why there is no document although there was content, or whose challenge it was, for a person.
        canonical_is_allowed: Whether robots.txt lets us fetch the page that the document names as canonical.
    """

    target: Target
    tries: tuple[Response, ...]
    verdict: Verdict
    pace: RunOrigin
    origin_state: OriginState
    not_before_ms: int | None = None
    document: ParsedDocument | None = None
    failure: str = ""
    canonical_is_allowed: bool = True

    @property
    def response(self) -> Response:
        """The last answer."""
        return self.tries[-1]

    @property
    def attempts(self) -> int:
        """Attempts for the URL in its run, these included."""
        return self.target.row.attempts + len(self.tries)
