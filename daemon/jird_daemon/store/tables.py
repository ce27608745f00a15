"""Every table of the metadata store: its key, its value, and who relies on the order of its keys.

LMDB compares keys as bytes, so numbers in keys are big-endian and fixed-width, and a composite key is scanned by its
prefix. Values are MessagePack arrays of the structs below: a field may be appended with a default, never removed,
reordered or given another meaning without raising SCHEMA_VERSION. Times: `*_s` are seconds since 1970 UTC (float),
`*_ms` milliseconds (int). Digests are raw bytes. None means unknown, 0 and "" mean what they say.

| table | key | value | scanned for |
|---|---|---|---|
| meta | name (ASCII) | MessagePack | - |
| origins | origin_id u32 | Origin | all origins |
| origin_ids | origin string (at most 300 bytes of UTF-8) | origin_id | - |
| urls | url_id u64 | Url | - |
| url_ids | BLAKE2b-16 of the URL | url_id | - |
| pages | url_id u64 | Page | all pages, for a rebuild |
| generations | url_id u64, sequence u32 | Generation | one page's history |
| past_generations | end ms u64, url_id u64, sequence u32 | bytes of its text | what to forget first |
| same_text | BLAKE2b-16 of site and text, rank u16, url_id u64 | nothing | which of several pages stands (U151) |
| simhashes | block u8, SimHash turned by 16 block bits u64, url_id u64 | nothing | near duplicates |
| links | url_id u64 | LinkSet | - |
| inlinks | to url_id u64, from url_id u64 | Inlink | who links here |
| index_changes | generation u64, url_id u64 | nothing | what to index since a generation |
| runs | run_id u64 | Run | newest first |
| rows | run_id u64, url_id u64 | Row | - |
| queue | run_id u64, origin_id u32, lane u8, sequence u64 | url_id | next of an origin |
| waiting | run_id u64, not before ms u64, url_id u64 | nothing | due retries |
| run_rules | run_id u64 | CrawlRules (control.py) | - |
| recrawls | run_id u64, due ms u64, url_id u64 | nothing | rows of a run that are to be crawled again |
| trails | run_id u64, BLAKE2b-16 of a shape of URLs (crawler/traps.py) | how many it let in | - |
| run_origins | run_id u64, origin_id u32 | RunOrigin | origins with work |
| origin_states | origin_id u32 | OriginState | - |
| robots | origin_id u32 | Robots | - |
| crawl_log | UUIDv7 16 bytes (ordered by time) | LogEntry | newest first |
| crawl_log_by_url | url_id u64, UUIDv7 | exit code | last exit codes of a URL (U29) |
| crawl_log_by_origin | origin_id u32, UUIDv7 | exit code | by host |
| blobs | BLAKE2b-32 | Blob | records to move, to remove |
| volumes | volume u32 | Volume | volumes to rewrite |
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Generic, TypeVar

import msgspec

from jird_daemon.control import CrawlRules

# 1: first layout. Checked at open: an older or newer store is refused (U79).
SCHEMA_VERSION = 1

K = TypeVar("K")
V = TypeVar("V")


class Origin(msgspec.Struct, frozen=True, array_like=True):
    """Scheme, host and port, with the default port filled in (U164)."""

    name: str  # "https://example.org" or "https://example.org:8443"
    scheme: str
    host: str
    port: int


class Url(msgspec.Struct, frozen=True, array_like=True):
    """One canonical URL without its fragment (U82)."""

    url: str
    origin_id: int


class Image(msgspec.Struct, frozen=True, array_like=True):
    """A picture that a page shows; only the address is kept (S28)."""

    url: str
    alt: str = ""


class Given(msgspec.Struct, frozen=True, array_like=True):
    """What an import said of a document beside its bytes; it stands before what the bytes say."""

    title: str = ""
    language: str = ""  # IANA primary subtag, lower case
    published_s: float | None = None


NOTHING_GIVEN = Given()


class Page(msgspec.Struct, frozen=True, array_like=True):
    """What the last answers said of a URL. A row exists from the first answered request on."""

    http_status: int
    exit_code: int  # of the last action, U48
    fetch_time_s: float  # last answered request
    is_indexable: bool = False  # is in the index, or will be; the one place that decides it
    not_indexable_reason: str = ""  # for a person: noindex, gone, not canonical, media type, ...
    title: str = ""  # at most 1,024 characters (J162)
    description: str = ""
    language: str = ""  # IANA primary subtag, lower case; stated, or what the text shows
    media_type: str = ""  # without parameters
    charset: str = ""  # as decided
    content_digest: bytes = b""  # fetched bytes, key in blobs; empty when not kept
    text_digest: bytes = b""  # serialised TextPile, key in blobs; empty when there is no text
    pile_digest: bytes = b""  # BLAKE2b-512 of the pile (U21)
    content_bytes: int = 0
    etag: str = ""  # sent back next time; empty when absent or not allowed (J170)
    last_modified: str = ""
    canonical_url: str = ""  # as the page names it, resolved; empty when none or itself
    last_contentful_s: float = 0.0
    images: tuple[Image, ...] = ()
    final_url: str = ""  # where it differs from the URL of the row (redirect target); else empty
    published_s: float | None = None
    headings: tuple[str, ...] = ()  # text of its headlines, in order, bounded; title excluded
    anchors: tuple[str, ...] = ()  # what links to it said when the page was last indexed (see pages.py)

    has_text: bool = False  # its text is not empty
    is_duplicate: bool = False  # another page of its site has the same text and stands for it
    simhash: int = 0  # of its main text; 0 when that is too short
    content_type: str = ""  # header as sent, with the two below what parsing needs beside the bytes
    robots_headers: tuple[str, ...] = ()
    link_headers: tuple[str, ...] = ()
    indexiness: int = 0  # below 0 a leaf, above it a list of other pages (U156)
    near_duplicate_of: int = 0  # number of the page whose text is nearly the same; 0: it is the first of its kind
    given: Given = NOTHING_GIVEN
    modified_s: float | None = None  # when it says that it was changed; never before published_s


class Generation(msgspec.Struct, frozen=True, array_like=True):
    """A stretch of time in which the content of a URL was the same; open while confirmed_end_s is None (U71)."""

    uuid: bytes  # 16 bytes, version 7
    first_seen_s: float
    last_seen_s: float  # >= first_seen_s (U57)
    confirmed_end_s: float | None
    pile_digest: bytes
    text_digest: bytes
    content_digest: bytes
    has_text: bool = False  # it refers to its text by itself, because a later generation has taken its place


class Link(msgspec.Struct, frozen=True, array_like=True):
    """One outgoing link, destination without fragment."""

    to_url: str
    text: str = ""
    is_nofollow: bool = False  # on the link or for the whole page
    is_crawlable: bool = False  # was approved for discovery when the page was stored (J172)
    location_flags: int = 0  # bit set of U162, in its order
    destination_type: int = 0  # U45
    locality: int = 0  # U47
    rel_flags: int = 0  # 1 nofollow, 2 me, 4 tag
    has_headline: bool = False


class LinkSet(msgspec.Struct, frozen=True, array_like=True):
    """All outgoing links of one page, in tree order."""

    links: tuple[Link, ...] = ()


class Inlink(msgspec.Struct, frozen=True, array_like=True):
    """Anchor text under which one page links to another; the first that is not empty, should there be several links."""

    text: str = ""
    is_nofollow: bool = False


class RunState(IntEnum):
    """As CrawlRunState in the contract."""

    RUNNING = 1
    PAUSED = 2
    COMPLETED = 3


class RunReason(IntEnum):
    """As CrawlRunReason in the contract."""

    NONE = 0
    DRAINED = 1
    STOPPED = 2
    BUDGET = 3
    RESTART = 4
    GUARD = 5


class Scope(IntEnum):
    """As CrawlScope in the contract."""

    SAME_ORIGIN = 1
    SEEDS = 2
    OPEN = 3


class RunCounts(msgspec.Struct, frozen=True, array_like=True):
    """A run's events so far; committed with the rows they count, so that a crash cannot make them drift."""

    requests: int = 0
    ingested: int = 0
    unchanged: int = 0
    redirects: int = 0
    retired: int = 0
    failed: int = 0
    skipped: int = 0
    queued: int = 0  # rows in queue and in waiting
    waiting: int = 0  # rows in waiting
    dropped: int = 0
    beyond_depth: int = 0
    received_bytes: int = 0
    discovered: int = 0
    exit_codes: dict[int, int] = {}
    sitemaps: int = 0  # read successfully (J84)
    foreign_locations: int = 0  # named by sitemaps, on other origins, left out (J124)
    held: int = 0  # not found, and kept, since much of the site answers so (F71)
    not_due: int = 0  # crawled within the run's interval, so not asked for; their links were followed (U138)
    refused: dict[str, int] = {}  # links that rules kept out of the frontier, by the rule's name


class Run(msgspec.Struct, frozen=True, array_like=True):
    """One numbered, durable crawl (J164)."""

    seeds: tuple[str, ...]  # canonical, in order
    state: RunState
    reason: RunReason
    max_depth: int
    max_pages: int
    scope: Scope
    max_frontier: int
    create_time_s: float
    end_time_s: float | None = None
    name: str = ""
    delay_ms: int | None = None  # None: the configured default
    counts: RunCounts = RunCounts()
    active_s: float = 0.0  # summed at every commit while running
    recrawl_interval_s: int = 0  # age at which its pages are crawled again; 0: never (U110)
    is_forced: bool = False  # the round that runs asks for pages that are not due too
    rounds: int = 1  # how often it went through what was due
    round_time_s: float = 0.0  # when the last of them began
    round_requests: int = 0  # counts.requests when it began: the budget is for each round


class RowState(IntEnum):
    """Where a URL stands in a run. A claim is held in memory only: a killed crawler leaves its rows QUEUED."""

    QUEUED = 1
    WAITING = 2
    DONE = 3
    FAILED = 4
    SKIPPED = 5


class RowKind(IntEnum):
    """What a URL is asked for as."""

    PAGE = 0
    SITEMAP = 1  # `depth` counts the indexes that led to it


class Row(msgspec.Struct, frozen=True, array_like=True):
    """One URL in one run; also the run's memory of what it has seen."""

    state: RowState
    depth: int
    origin_id: int
    lane: int = 0
    sequence: int = 0  # key in queue while QUEUED
    not_before_ms: int = 0  # key in waiting while WAITING
    attempts: int = 0
    redirects: int = 0  # hops that led here in a row
    kind: RowKind = RowKind.PAGE
    exit_code: int = 0  # of the last action in this run


class RunOrigin(msgspec.Struct, frozen=True, array_like=True):
    """One origin's part of a run."""

    queued: int = 0  # rows in queue
    waiting: int = 0
    patience: int = 5  # U140; 0: set aside for the run
    rate_limit_steps: int = 2  # p of the politeness delay, U96
    is_slowing: bool = False  # a 429 was met: p no longer falls (U98)
    has_known_sitemaps: bool = False  # those that its robots.txt names are in the frontier (J120)


class OriginState(msgspec.Struct, frozen=True, array_like=True):
    """What must survive a restart for politeness's sake."""

    next_time_s: float = 0.0  # not to be asked before
    backoff_step: int = 0  # consecutive failures
    backoff_kind: str = ""  # why it waits: "", "rate_limited", "blamed", "challenged", "failing", "robots"
    last_response_ms: int = 0


class OriginHealth(msgspec.Struct, frozen=True, array_like=True):
    """How many of an origin's pages have gone of late, to tell an outage (crawler/outage.py)."""

    window_s: float  # since when it is counted
    lost: int = 0  # could be found, are gone or lead to one page, and were retired
    outage_since_s: float | None = None
    alive: int = 0  # answered with content since the outage began
    target: str = ""  # where the last page that was lost to a redirect leads to, without its query


class Robots(msgspec.Struct, frozen=True, array_like=True):
    """Last answer for /robots.txt of an origin."""

    fetch_time_s: float
    http_status: int  # 0: no answer
    is_available: bool  # False: treat as disallowed for now, ask again (F1)
    body: bytes = b""  # at most 524,288 bytes (J116)


class LogEntry(msgspec.Struct, frozen=True, array_like=True):
    """One action of the crawler, written when it has finished (U28, U31)."""

    url_id: int
    crawl_type: int  # U46
    exit_code: int  # U48
    start_time_s: float
    duration_ms: int
    http_status: int = 0
    message: str = ""  # at most 4,096 characters (J153)
    run_id: int = 0
    attempt: int = 0
    body_bytes: int = 0
    etag: str = ""
    last_modified: str = ""
    remote_address: str = ""
    agent_uuid: bytes = b""
    redirect_url: str = ""
    origin_id: int = 0  # that it counts for; 0: the URL's own


class Blob(msgspec.Struct, frozen=True, array_like=True):
    """Where a blob lies, and how many page versions refer to it."""

    volume: int
    offset: int
    stored_bytes: int  # of the whole record in the volume
    raw_bytes: int
    references: int


class Volume(msgspec.Struct, frozen=True, array_like=True):
    """One file of blobs. What lies beyond `stored_bytes` was never committed; a file without a row is abandoned."""

    stored_bytes: int
    live_bytes: int = 0  # of records that a page version refers to


def _ints(layout: str) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
    """Codec of a key of fixed-width numbers; a single number is bare, several are a tuple."""
    packer = struct.Struct(">" + layout)
    if len(layout) == 1:
        return (lambda key: packer.pack(key)), (lambda data: packer.unpack(data)[0])
    return (lambda key: packer.pack(*key)), packer.unpack


def _number_and_bytes(layout: str, size: int) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
    """Codec of a key of one number and `size` raw bytes."""
    packer = struct.Struct(f">{layout}{size}s")
    return (lambda key: packer.pack(*key)), packer.unpack


def _bytes_and_numbers(size: int, layout: str) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
    """Codec of a key of `size` raw bytes and some numbers."""
    packer = struct.Struct(f">{size}s{layout}")
    return (lambda key: packer.pack(*key)), packer.unpack


def _raw() -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
    return (lambda key: key), (lambda data: data)


def _text() -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
    return (lambda key: key.encode()), (lambda data: data.decode())


@dataclass(frozen=True, slots=True)
class Table(Generic[K, V]):
    """One named database of the environment."""

    name: str
    encode_key: Callable[[K], bytes]
    decode_key: Callable[[bytes], K]
    encode: Callable[[V], bytes]
    decode: Callable[[bytes], V]


_encoder = msgspec.msgpack.Encoder()


def _table(name: str, key: tuple[Callable[[Any], bytes], Callable[[bytes], Any]], value: Any) -> Table[Any, Any]:
    return Table(name, key[0], key[1], _encoder.encode, msgspec.msgpack.Decoder(value).decode)


META: Table[str, Any] = _table("meta", _text(), Any)
ORIGINS: Table[int, Origin] = _table("origins", _ints("I"), Origin)
ORIGIN_IDS: Table[str, int] = _table("origin_ids", _text(), int)
URLS: Table[int, Url] = _table("urls", _ints("Q"), Url)
URL_IDS: Table[bytes, int] = _table("url_ids", _raw(), int)
PAGES: Table[int, Page] = _table("pages", _ints("Q"), Page)
GENERATIONS: Table[tuple[int, int], Generation] = _table("generations", _ints("QI"), Generation)
PAST_GENERATIONS: Table[tuple[int, int, int], int] = _table("past_generations", _ints("QQI"), int)
SAME_TEXT: Table[tuple[bytes, int, int], None] = _table("same_text", _bytes_and_numbers(16, "HQ"), None)
SIMHASHES: Table[tuple[int, int, int], None] = _table("simhashes", _ints("BQQ"), None)
LINKS: Table[int, LinkSet] = _table("links", _ints("Q"), LinkSet)
INLINKS: Table[tuple[int, int], Inlink] = _table("inlinks", _ints("QQ"), Inlink)
INDEX_CHANGES: Table[tuple[int, int], None] = _table("index_changes", _ints("QQ"), None)
RUNS: Table[int, Run] = _table("runs", _ints("Q"), Run)
ROWS: Table[tuple[int, int], Row] = _table("rows", _ints("QQ"), Row)
QUEUE: Table[tuple[int, int, int, int], int] = _table("queue", _ints("QIBQ"), int)
WAITING: Table[tuple[int, int, int], None] = _table("waiting", _ints("QQQ"), None)
RUN_RULES: Table[int, CrawlRules] = _table("run_rules", _ints("Q"), CrawlRules)
RECRAWLS: Table[tuple[int, int, int], None] = _table("recrawls", _ints("QQQ"), None)
TRAILS: Table[tuple[int, bytes], int] = _table("trails", _number_and_bytes("Q", 16), int)
RUN_ORIGINS: Table[tuple[int, int], RunOrigin] = _table("run_origins", _ints("QI"), RunOrigin)
ORIGIN_STATES: Table[int, OriginState] = _table("origin_states", _ints("I"), OriginState)
ORIGIN_DOCUMENTS: Table[int, int] = _table("origin_documents", _ints("I"), int)
ORIGIN_HEALTH: Table[int, OriginHealth] = _table("origin_health", _ints("I"), OriginHealth)
ROBOTS: Table[int, Robots] = _table("robots", _ints("I"), Robots)
CRAWL_LOG: Table[bytes, LogEntry] = _table("crawl_log", _raw(), LogEntry)
CRAWL_LOG_BY_URL: Table[tuple[int, bytes], int] = _table("crawl_log_by_url", _number_and_bytes("Q", 16), int)
CRAWL_LOG_BY_ORIGIN: Table[tuple[int, bytes], int] = _table("crawl_log_by_origin", _number_and_bytes("I", 16), int)
BLOBS: Table[bytes, Blob] = _table("blobs", _raw(), Blob)
VOLUMES: Table[int, Volume] = _table("volumes", _ints("I"), Volume)

ALL_TABLES: tuple[Table[Any, Any], ...] = (
    META, ORIGINS, ORIGIN_IDS, URLS, URL_IDS, PAGES, GENERATIONS, PAST_GENERATIONS, SAME_TEXT, SIMHASHES, LINKS,
    INLINKS, INDEX_CHANGES, RUNS, ROWS, QUEUE, WAITING, RUN_RULES, RECRAWLS, RUN_ORIGINS, ORIGIN_STATES,
    ORIGIN_DOCUMENTS, ORIGIN_HEALTH, TRAILS, ROBOTS, CRAWL_LOG, CRAWL_LOG_BY_URL, CRAWL_LOG_BY_ORIGIN, BLOBS, VOLUMES,
)  # fmt: skip
