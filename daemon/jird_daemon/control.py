"""The private channel between serve and ingest: what is said over it.

One Unix socket pair, made by serve and inherited by ingest. Frames are a length (u32, big-endian, at most
FRAME_BYTES_MAX) and a MessagePack map tagged with its type. serve sends requests with an id and gets, for each, any
number of Progress messages and one Reply; ingest sends events of its own accord. Search never waits for this channel.
"""

from enum import IntEnum
from typing import Any

import msgspec

# A view of 10,000 segments, a start with 1,000 seeds of 4,096 characters, or a batch of an import with one document of
# 16 MiB fits with room to spare.
FRAME_BYTES_MAX = 24 * 1024 * 1024


class SegmentRef(msgspec.Struct, frozen=True):
    """A segment of a view: file names below the index folder."""

    name: str
    tombstones: str = ""  # file of the deletion bitmap; empty when nothing is deleted
    is_volatile: bool = False  # not covered by a checkpoint yet


class View(msgspec.Struct, frozen=True):
    """A set of segments that is searched together."""

    sequence: int  # rises with every view, over restarts of ingest too
    generation: int  # index generation that it covers
    checkpoint_generation: int
    segments: tuple[SegmentRef, ...] = ()
    changed_documents: int = 0  # since the base segment
    is_merging: bool = False
    merge_failed: bool = False
    is_rebuilding: bool = False


class CrawlPolicy(msgspec.Struct, frozen=True, array_like=True):
    """One rule of a crawl: why, and for which URLs."""

    reason: str
    criterium: Any  # tables, lists, strings, numbers, booleans; jird_settings.criterium reads it
    allow: tuple[str, ...] = ()  # parameters, of a rule for query strings


class CrawlRules(msgspec.Struct, frozen=True, array_like=True):
    """What a crawl file asks for beside the numbers of a run; kept with the run."""

    query_urls: str = ""  # "allow" or "policy"; "": as configured
    do_not_crawl: tuple[CrawlPolicy, ...] = ()
    url_query_parameters: tuple[CrawlPolicy, ...] = ()
    skip_url_patterns: tuple[str, ...] = ()
    user_agent: str = ""  # "": as configured
    description: str = ""


class StartCrawl(msgspec.Struct, frozen=True, tag=True):
    """Make or resume a run. None means the configured default. Answer: run_id."""

    seeds: tuple[str, ...]
    max_depth: int | None = None
    max_pages: int | None = None
    scope: int = 0  # as CrawlScope; 0: by the number of seeds
    delay_ms: int | None = None
    name: str = ""
    rules: CrawlRules | None = None  # None: those that the run has, or none
    recrawl_interval_s: int | None = None  # 0: never
    force_recrawl: bool = False
    state_path: str = ""  # last parts of storage.state_dir; another is refused (U107)


class StopCrawl(msgspec.Struct, frozen=True, tag=True):
    """Pause a run, or all (0). Answered when nothing of theirs is in flight, with the ids of the runs paused."""

    run_id: int = 0


class Checkpoint(msgspec.Struct, frozen=True, tag=True):
    """Make the view durable. Answer: the view."""


class Compact(msgspec.Struct, frozen=True, tag=True):
    """Rewrite all segments into one, with progress. Answer: the view."""


class Verify(msgspec.Struct, frozen=True, tag=True):
    """Read every byte of every segment, with progress. Answer: the faults."""


class Rebuild(msgspec.Struct, frozen=True, tag=True):
    """Derive the index again, with progress. Answer: the view."""


class CollectGarbage(msgspec.Struct, frozen=True, tag=True):
    """Remove unreferenced blobs. Answer: GarbageReport."""


class PruneLog(msgspec.Struct, frozen=True, tag=True):
    """Forget all but the latest entries of each URL in the crawl log, with progress; unless `apply` only count. Answer:
    PruneReport."""

    keep_latest: int
    apply: bool = False


class StartReindex(msgspec.Struct, frozen=True, tag=True):
    """Parse the stored bytes again, in the background. Answer: nothing."""

    host: str = ""  # empty: of all hosts
    since_s: float = 0.0  # only content that came then or later


class StopReindex(msgspec.Struct, frozen=True, tag=True):
    """End that work. Answer: nothing."""


class ReindexState(msgspec.Struct, frozen=True):
    """Where the work stands; kept in the store."""

    host: str
    since_s: float
    total: int  # pages known when it began
    start_time_s: float
    after: int = 0  # pages up to this number are done
    looked_at: int = 0
    derived: int = 0
    changed: int = 0  # of them: what can be found is not what it was
    failed: int = 0  # the parser had to be given up
    skipped: int = 0  # without stored bytes, or not asked for
    end_time_s: float | None = None
    is_stopped: bool = False


class ImportedDocument(msgspec.Struct, frozen=True, array_like=True):
    """One document of an import; see ImportDocument in the contract."""

    url: str
    body: bytes = b""
    content_type: str = ""
    title: str = ""
    language: str = ""
    published_s: float | None = None
    time_s: float | None = None  # None: now
    robots_headers: tuple[str, ...] = ()
    link_headers: tuple[str, ...] = ()
    etag: str = ""
    last_modified: str = ""
    is_gone: bool = False
    same_as_url: str = ""


class ImportDocuments(msgspec.Struct, frozen=True, tag=True):
    """Parse and store a batch of documents. Answer: a result for each, and the index generation."""

    documents: tuple[ImportedDocument, ...]


class ImportOutcome(IntEnum):
    """As ImportOutcome in the contract."""

    STORED = 1
    UNCHANGED = 2
    OLDER = 3
    RETIRED = 4
    EXCLUDED = 5
    NOT_READ = 6
    REFUSED = 7
    FAILED = 8


class ImportResult(msgspec.Struct, frozen=True, array_like=True):
    """What became of a document, and why."""

    outcome: ImportOutcome
    message: str = ""


class ProbeParsers(msgspec.Struct, frozen=True, tag=True):
    """Run the built-in probes on a parse worker. Answer: the results."""


class AcknowledgeView(msgspec.Struct, frozen=True, tag=True):
    """serve uses this view and no older one: files of older views may go. Answer: nothing."""

    sequence: int


class ReportDamage(msgspec.Struct, frozen=True, tag=True):
    """A search met damage in a segment: take it out and derive its documents again. Answer: nothing."""

    segment: str
    reason: str


class Reload(msgspec.Struct, frozen=True, tag=True):
    """Take up other settings. Answer: nothing."""

    settings: bytes  # config.encode_settings


class Shutdown(msgspec.Struct, frozen=True, tag=True):
    """Stop the crawl, checkpoint, close. Answered when done; errors hold what failed, every stage having been tried."""


Request = (
    StartCrawl | StopCrawl | Checkpoint | Compact | Verify | Rebuild | CollectGarbage | PruneLog | StartReindex
    | StopReindex | ImportDocuments | ProbeParsers | AcknowledgeView | ReportDamage | Reload | Shutdown
)  # fmt: skip


class GarbageReport(msgspec.Struct, frozen=True):
    """What a garbage collection removed."""

    blobs: int
    freed_bytes: int


class PruneReport(msgspec.Struct, frozen=True):
    """What was looked at in the crawl log, and what was, or would be, forgotten."""

    entries: int
    forgotten: int
    urls: int  # with entries


class ProbeResult(msgspec.Struct, frozen=True):
    """What the kernel did with one forbidden action."""

    name: str
    is_refused: bool
    detail: str


class Fault(msgspec.Struct, frozen=True):
    """A refusal: the name of an exception of errors.py, its reason code and its message."""

    kind: str  # class name, e.g. "InvalidUrlError"
    message: str
    reason: str = ""  # UPPER_SNAKE, machine-readable


class Answer(msgspec.Struct, frozen=True):
    """What a request gives back; the fields that its type names are set."""

    run_ids: tuple[int, ...] = ()
    view: View | None = None
    faults: tuple[str, ...] = ()
    garbage: GarbageReport | None = None
    pruned: PruneReport | None = None
    probes: tuple[ProbeResult, ...] = ()
    imported: tuple[ImportResult, ...] = ()
    generation: int = 0  # of the index, as the metadata has it


class Call(msgspec.Struct, frozen=True, tag=True):
    """serve to ingest."""

    call_id: int
    request: Request


class Cancel(msgspec.Struct, frozen=True, tag=True):
    """serve to ingest: nobody waits for this call any more. Long work stops at its next progress; the rest goes on."""

    call_id: int


class Progress(msgspec.Struct, frozen=True, tag=True):
    """ingest to serve, any number of times before the reply."""

    call_id: int
    stage: str
    done: int
    total: int = 0


class Reply(msgspec.Struct, frozen=True, tag=True):
    """ingest to serve, once a call."""

    call_id: int
    answer: Answer | None = None
    fault: Fault | None = None


class ViewChanged(msgspec.Struct, frozen=True, tag=True):
    """ingest to serve: there is a newer view. The first one means that ingest is ready."""

    view: View


class GuardFacts(msgspec.Struct, frozen=True):
    """What the resource guards have seen and done since the process started."""

    pauses: int = 0
    paused_s: float = 0.0
    reliefs: int = 0  # times that memory was freed before a pause
    memory_bytes: int = 0  # of ingest and its parse workers
    available_bytes: int = 0  # of the machine, or of the service's limit
    commit_s: float = 0.0


class Heartbeat(msgspec.Struct, frozen=True, tag=True):
    """ingest to serve, every HEARTBEAT_INTERVAL_S, from the crawl loop itself, so that a hung loop shows."""

    active_run_ids: tuple[int, ...] = ()
    in_flight: int = 0
    in_flight_by_run: dict[int, int] = {}
    guard: str = ""
    robots_cached: int = 0
    origin_deadlines: int = 0
    parser_pids: tuple[int, ...] = ()
    parser_failures: int = 0
    parser_restarts: int = 0
    requests_per_second: float = 0.0
    waiting_reasons: dict[str, str] = {}  # origin to reason, at most 100
    guards: GuardFacts = GuardFacts()


Message = Call | Cancel
Event = Progress | Reply | ViewChanged | Heartbeat

# service.hang_timeout_ms (10 s) without one and ingest counts as hung; its longest uninterruptible step is a commit,
# which a slow disk can hold for seconds.
HEARTBEAT_INTERVAL_S = 1.0
