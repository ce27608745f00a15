"""Every setting, one class for each table of jird.toml. This is where a setting is added.

Values out of range are refused at start; where two settings bound each other, the sentence says which one gives way.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path

from jird_settings.declare import setting
from jird_settings.kinds import (
    HOST_NAME,
    Address,
    Choice,
    Decimal,
    FilePath,
    Flag,
    Integer,
    Interval,
    Named,
    Network,
    Several,
    Text,
)

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
MIB = 1024 * 1024

# U131: what a crawler calls itself until its operator gives it a name; `jird serve` warns of it.
UNCONFIGURED_USER_AGENT = "jird-crawler-unconfigured-ua"

USER_AGENT = Text(r"[!-~]([ -~]{0,198}[!-~])?", "1 to 200 printable ASCII characters without blanks at its ends")
# From a second, for tests and for a page that changes all the time, to ten years.
RECRAWL_INTERVAL = Interval(1, 3_650 * 86_400)
SKIP_PATTERNS = Several(Text(r"[!-~]{1,500}", "a pattern of 1 to 500 characters"), 0, 1_000)
_HEADER_NAME = Text(
    r"(?i:(?!(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade)$))[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}",
    "a header name of at most 100 characters that does not steer the connection",
)
_HEADER_VALUE = Text(r"[!-~]([ -~]{0,2046}[!-~])?", "1 to 2048 printable ASCII characters")


@dataclass(frozen=True, slots=True)
class Storage:
    """Where jird keeps its data and its sockets."""

    state_dir: Path = setting(
        FilePath(), Path("/var/lib/jird"), "Folder of everything that is kept: metadata, bodies, index.", ids="J49"
    )
    run_dir: Path = setting(FilePath(), Path("/run/jird"), "Folder of the two sockets, search.sock and admin.sock.")
    max_metadata_bytes: int | None = setting(
        Integer(16 * MIB, 4 * 1024 * 1024 * MIB),
        None,
        "Largest size of the metadata, bytes; unless set, as large as the process's addresses allow.",
    )
    min_free_bytes: int = setting(
        Integer(0, 1024 * 1024 * MIB),
        256 * MIB,
        "Free bytes of the file system below which crawls are paused.",
    )
    max_commit_ms: int = setting(
        Integer(0, 10 * MINUTE_MS),
        5_000,
        "Time that writing a batch of pages may take in the middle of five before crawls are paused, milliseconds; "
        "0 for any.",
        ids="Y22",
        env="JIRD_MAX_COMMIT_MS",
    )


@dataclass(frozen=True, slots=True)
class Web:
    """The frontend: its address, its limits, and who may administer through it."""

    bind: str = setting(
        Address(or_localhost=True),
        "127.0.0.1",
        'Address to listen on; another than loopback needs an admin token or `admin = "off"`.',
        ids="J42 J51 J53 J100",
    )
    port: int = setting(Integer(0, 65_535), 8890, "Port to listen on; 0 takes any free one.", ids="J42 J50")
    admin: str = setting(
        Choice.of("token", "local", "off"),
        "token",
        "Who may use the admin routes: who has the token, anyone on this machine, or nobody.",
        ids="J96 J100",
        env="JIRD_ADMIN",
    )
    path_prefix: str = setting(
        Text(
            r"(/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~-]{1,100}){0,8}",
            'empty, or a path such as "/search" without a slash at its end',
        ),
        "",
        "Path under which a reverse proxy shows the frontend.",
    )
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = setting(
        Several(Network(), 0, 100), (), "Addresses whose X-Forwarded headers are believed."
    )
    max_connections: int = setting(Integer(1, 4_096), 128, "HTTP connections open at a time.", ids="J66")
    max_connections_per_ip: int = setting(
        Integer(1, 4_096),
        16,
        "HTTP connections from one address; lowered to max_connections.",
        ids="J67",
    )
    accepts_per_second_per_ip: int = setting(
        Integer(1, 10_000), 32, "New HTTP connections from one address in a second.", ids="J68"
    )
    idle_timeout_ms: int = setting(
        Integer(1, 5 * MINUTE_MS), 5_000, "Time that an idle connection is kept, milliseconds.", ids="J69"
    )
    header_timeout_ms: int = setting(
        Integer(1, 5 * MINUTE_MS), 15_000, "Time to send the request's head, milliseconds.", ids="J69"
    )
    body_timeout_ms: int = setting(
        Integer(1, 5 * MINUTE_MS), 30_000, "Time to send the request's body, milliseconds.", ids="J69"
    )
    search_concurrency: int = setting(
        Integer(1, 1_024), 16, "Searches that the frontend has under way at a time; others wait their turn.", ids="U84"
    )
    search_queue: int = setting(Integer(0, 4_096), 64, "Searches that may wait their turn; more are told to come back.")
    public_url: str = setting(
        Text(r"(https?://[A-Za-z0-9.\[\]:-]{1,255})?", 'empty, or the outside address such as "https://example.org"'),
        "",
        "Address that browsers see, for opensearch.xml; empty takes it from the request.",
    )
    template_dir: Path | None = setting(
        FilePath(), None, "Folder with templates, static files and extra.toml that replace the built-in ones.",
        ids="U84 U85",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Net:
    """What the crawler may connect to."""

    allow_private: tuple[IPv4Network | IPv6Network, ...] = setting(
        Several(Network(), 0, 100), (), "Address ranges that may be crawled beside public ones.", ids="J44"
    )
    resolve: Mapping[str, str] = setting(
        Named(HOST_NAME, Address(), 10_000), {}, "Host names answered from here, before any look-up."
    )
    ports: tuple[int, ...] = setting(
        Several(Integer(1, 65_535), 1, 100), (80, 443), "Ports that may be connected to.", ids="J44"
    )
    ca_file: Path | None = setting(FilePath(), None, "File with further certificate authorities, PEM.")


@dataclass(frozen=True, slots=True)
class Crawl:
    """How the crawler behaves, and what a run gets unless it asks for something else."""

    schemes: tuple[str, ...] = setting(
        Several(Choice.of("https", "http"), 1, 2), ("https",), "Schemes that are crawled.", ids="J43"
    )
    user_agent: str = setting(
        USER_AGENT,
        UNCONFIGURED_USER_AGENT,
        'Name of the crawler, as in "example-crawler (for https://example.org)"; the part before the first blank is '
        "looked up in robots.txt.",
        ids="U111 U131",
    )
    delay_ms: int = setting(
        Integer(0, 10 * MINUTE_MS),
        500,
        "Least delay between two requests to an origin, milliseconds.",
        ids="J57 S52 U108",
    )
    max_robots_delay_ms: int = setting(
        Integer(0, 24 * HOUR_MS), 120_000, "Longest Crawl-delay of a robots.txt that is honoured, milliseconds."
    )
    max_depth: int = setting(Integer(0, 32), 3, "Links followed from a seed; 0 fetches only the seeds.", ids="J55")
    max_pages: int = setting(
        Integer(0, 10_000_000), 1_000, "Request attempts of a run; 0 fetches nothing.", ids="J56 U109"
    )
    same_origin_only: bool = setting(
        Flag(), True, "Whether a run stays on its seed's scheme, host and port.", ids="J59 U112"
    )
    query_urls: str = setting(
        Choice.of("allow", "policy"), "allow",
        "Whether URLs with a query string are crawled, or only as policies allow.", ids="U115",
    )  # fmt: skip
    recrawl_interval: int = setting(
        RECRAWL_INTERVAL, 0,
        "Age at which pages of a run are crawled again by themselves, unless the run says another.", ids="U110",
    )  # fmt: skip
    connections: int = setting(Integer(1, 1_024), 64, "Requests in flight in all.")
    workers: int = setting(Integer(1, 64), 4, "Parse processes.", ids="J54")
    address_connections: int = setting(Integer(1, 64), 4, "Requests in flight to all origins on one address together.")
    max_active_runs: int = setting(Integer(1, 1_000), 100, "Runs that may be running at a time.")
    frontier_cap: int = setting(
        Integer(1_000, 100_000_000), 1_000_000, "Most frontier rows of a run, whatever its page budget.", ids="J128"
    )
    max_attempts: int = setting(Integer(1, 16), 3, "Attempts for a URL in all, the first included.", ids="J63 S56")
    retry_base_ms: int = setting(
        Integer(0, 10 * MINUTE_MS), 1_000, "Delay before the first retry, milliseconds; it doubles.", ids="J64"
    )
    retry_max_ms: int = setting(
        Integer(0, HOUR_MS), 60_000, "Longest delay before a retry, milliseconds; raised to retry_base_ms.", ids="J65"
    )
    connect_timeout_ms: int = setting(
        Integer(100, 5 * MINUTE_MS), 10_000, "Time to connect, TLS included, milliseconds.", ids="J169"
    )
    request_timeout_ms: int = setting(
        Integer(100, 10 * MINUTE_MS), 20_000, "Time for a whole request, milliseconds.", ids="J169"
    )
    max_body_bytes: int = setting(
        Integer(1_024, 64 * MIB),
        4 * MIB,
        "Largest page body, bytes after decoding; a larger one is refused.",
        ids="J127",
    )
    max_memory_bytes: int | None = setting(
        Integer(0, 1024 * 1024 * MIB),
        None,
        "Memory of the crawl and its parse processes above which crawls are paused, bytes; unless set, half of the "
        "machine's or of the service's limit; 0 for any.",
        ids="Y20",
        env="JIRD_CRAWL_MAX_MEMORY_BYTES",
    )
    min_available_bytes: int | None = setting(
        Integer(0, 1024 * 1024 * MIB),
        None,
        "Memory that the machine, or the service's limit, must have left, bytes, or crawls are paused; unless set, an "
        "eighth of it, at most 512 MiB.",
        ids="Y20",
        env="JIRD_CRAWL_MIN_AVAILABLE_BYTES",
    )
    max_path_parts: int = setting(
        Integer(0, 4_096), 24, "Most parts of the path of a link that is followed; 0 for any number.", ids="F41",
    )  # fmt: skip
    max_path_repeats: int = setting(
        Integer(0, 1_000), 3,
        "How often a part of a path, or a group of parts, may come in a row in a link that is followed; "
        "likewise a parameter with its value; 0 for any number.", ids="F41",
    )  # fmt: skip
    max_parameter_sets: int = setting(
        Integer(0, 1_000_000), 100,
        "Most different sets of parameter names with which a run follows links to one path; 0 for any number.",
        ids="F43",
    )  # fmt: skip
    max_parameter_combinations: int = setting(
        Integer(0, 10_000_000), 500,
        "Most links to one path that only combine known values of the same parameters; a run follows ten for each new "
        "value, if that is more; 0 for any number.", ids="F43",
    )  # fmt: skip
    max_calendar_pages: int = setting(
        Integer(0, 10_000_000), 500,
        "Most links that a run follows which differ in a date alone, days and months apart; 0 for any number.",
    )  # fmt: skip
    max_domain_hosts: int = setting(
        Integer(0, 10_000_000), 1_000,
        "Most origins below one registered domain of which a run follows links; 0 for any number.",
    )  # fmt: skip
    skip_url_patterns: tuple[str, ...] = setting(
        SKIP_PATTERNS,
        (),
        "URLs that are done without a request; * stands for any characters, ? for one.",
        ids="S9 S61",
    )


@dataclass(frozen=True, slots=True)
class Content:
    """What is kept of a page."""

    keep_bytes: bool = setting(Flag(), True, "Whether the fetched bytes are kept beside the text.")
    keep_noindex: bool = setting(Flag(), True, "Whether the body of a page that asks not to be indexed is kept.")
    keep_generations: int = setting(
        Integer(0, 10_000),
        50,
        "Earlier versions of a page's text that are kept beside the latest.",
        env="JIRD_KEEP_GENERATIONS",
    )
    keep_generation_days: int | None = setting(
        Integer(0, 36_500), None, "Days that an earlier version is kept after its end; unless set, without bound."
    )
    keep_generation_bytes: int | None = setting(
        Integer(0, 1024 * 1024 * 1024 * MIB),
        None,
        "Bytes of all earlier versions together, as stored; the oldest go first; unless set, without bound.",
    )
    index_feeds: bool = setting(
        Flag(), False, "Whether feeds (RSS, Atom) that pages link to are results themselves; they are read for links."
    )
    index_max_chars: int = setting(
        Integer(1_000, 2_097_152), 200_000, "Characters of a page's text that are indexed.", ids="S5 S61"
    )
    images_per_page: int = setting(
        Integer(0, 1_000), 20, "Pictures of one page that a picture search shows.", ids="S31 S58",
        env="JIRD_IMAGES_PER_SOURCE_PAGE",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Index:
    """When the index is written and merged, and how it ranks."""

    checkpoint_every: int = setting(Integer(1, 1_000_000), 1_000, "Pages between two checkpoints.", ids="J60")
    max_overlay_documents: int = setting(
        Integer(1, 1_000_000), 1_000, "Changed documents since the base segment that schedule a merge.", ids="J61 J91"
    )
    merge_segments: int = setting(Integer(2, 1_000), 8, "Segments that schedule a merge.", ids="J91")
    builder_mib: int = setting(
        Integer(1, 2_048), 64, "Memory at which a new segment is written, MiB; a rebuild writes larger ones with more."
    )
    merge_mib_per_s: int = setting(
        Integer(0, 100_000), 64, "MiB that a merge in the background writes in a second on average; 0 is any number."
    )
    merge_cpu_percent: int = setting(
        Integer(1, 100), 75, "Part of one processor that a merge in the background takes on average, percent."
    )
    seal_interval_ms: int = setting(
        Integer(10, MINUTE_MS), 300, "Longest time until a stored page can be found, milliseconds."
    )
    k1: float = setting(Decimal(0, 10), 1.2, "BM25: how soon more of the same word stops counting.")
    b: float = setting(Decimal(0, 1), 0.75, "BM25: how much long pages are held back.")


@dataclass(frozen=True, slots=True)
class Search:
    """How many searches run at a time."""

    threads: int = setting(Integer(1, 64), 2, "Searches that are computed at a time.", env="JIRD_SEARCH_THREADS")
    max_concurrent: int = setting(
        Integer(1, 10_000), 64, "Searches computed or waiting; more are told to come back.",
        env="JIRD_SEARCH_MAX_CONCURRENT",
    )  # fmt: skip
    timeout_ms: int = setting(
        Integer(1, 5 * MINUTE_MS), 10_000, "Time for a search whose caller sets no deadline, milliseconds.",
        env="JIRD_SEARCH_TIMEOUT_MS",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Service:
    """How the processes are watched and stopped."""

    hang_timeout_ms: int = setting(
        Integer(1_000, 10 * MINUTE_MS), 10_000, "Silence after which the ingest process is replaced, milliseconds."
    )
    restart_base_ms: int = setting(
        Integer(1, MINUTE_MS), 200, "Delay before the ingest process is started again, milliseconds; it doubles."
    )
    restart_max_ms: int = setting(
        Integer(1, 10 * MINUTE_MS), 30_000, "Longest such delay, milliseconds; raised to restart_base_ms."
    )
    drain_ms: int = setting(
        Integer(0, 5 * MINUTE_MS), 5_000, "Time for running calls at a stop, milliseconds.", ids="J45"
    )
    stop_timeout_ms: int = setting(
        Integer(1_000, HOUR_MS), 60_000, "Time for the ingest process to finish at a stop, milliseconds.", ids="J45"
    )


@dataclass(frozen=True, slots=True)
class Log:
    """What is written to the journal."""

    level: str = setting(
        Choice.of("debug", "info", "warning", "error"),
        "info",
        "Least urgent lines that are written.",
        env="JIRD_LOG_LEVEL",
    )
    max_lines_per_s: int = setting(
        Integer(1, 100_000), 200, "Debug and info lines of a process in a second; what is left out is counted.",
        env="JIRD_LOG_MAX_LINES_PER_S",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class HostRule:
    """What differs for hosts that the operator owns; a key that is not set leaves things as they are."""

    match: str = setting(
        Text(r"[a-z0-9_.*?:\[\]-]{1,253}", 'a host name in lower case, * and ? allowed, such as "*.example.org"'),
        "*",
        "Host names that the rule is for; * stands for any characters, ? for one.",
        env="",
    )
    delay_ms: int | None = setting(
        Integer(0, 10 * MINUTE_MS),
        None,
        "Delay between two requests, milliseconds; robots.txt cannot lengthen it.",
        env="",
    )
    adaptive: bool | None = setting(
        Flag(), None, "Whether slow answers lengthen the delay; true unless a rule says otherwise.", env=""
    )
    connections: int | None = setting(Integer(1, 64), None, "Requests in flight to one origin; 1 unless set.", env="")
    resolve: str | None = setting(Address(), None, "Address to connect to instead of looking the name up.", env="")
    headers: Mapping[str, str] = setting(
        Named(_HEADER_NAME, _HEADER_VALUE, 50), {}, "Further request headers.", env="", is_secret=True
    )
    ca_file: Path | None = setting(FilePath(), None, "File with further certificate authorities, PEM.", env="")
