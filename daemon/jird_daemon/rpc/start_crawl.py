"""From a StartCrawlRequest to ingest's command: ranges are checked here; seeds are ingest's to judge."""

from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Value

from jird.v1 import crawl_service_pb2 as crawl_pb
from jird_daemon.control import CrawlPolicy, CrawlRules, StartCrawl
from jird_daemon.errors import InvalidArgumentError
from jird_settings import CriteriumError, compile_criterium
from jird_settings.crawl_file import PARAMETERS_MAX, POLICIES_MAX, REASON_CHARS_MAX
from jird_settings.tables import SKIP_PATTERNS, USER_AGENT

SEEDS_MAX = 1_000
SEED_CHARS_MAX = 4_096  # J104
MAX_DEPTH_MAX = 32  # J55
MAX_PAGES_MAX = 10_000_000  # J56
DELAY_MS_MAX = 600_000  # J57
INTERVAL_S_MAX = 3_650 * 86_400
NAME_CHARS_MAX = 200
DESCRIPTION_CHARS_MAX = 10_000
PATH_CHARS_MAX = 4_096

_QUERY_URLS = {
    crawl_pb.CRAWL_QUERY_URLS_UNSPECIFIED: "",
    crawl_pb.CRAWL_QUERY_URLS_ALLOW: "allow",
    crawl_pb.CRAWL_QUERY_URLS_POLICY: "policy",
}


def start_command(request: crawl_pb.StartCrawlRequest) -> StartCrawl:
    """Check a request.

    Raises:
        InvalidArgumentError: Something is out of range; the message says what, and what is allowed.
    """
    seeds = tuple(request.seeds)
    if not 1 <= len(seeds) <= SEEDS_MAX:
        raise InvalidArgumentError(f"{len(seeds)} seeds; there must be 1 to {SEEDS_MAX}", "SEED_COUNT")
    for seed in seeds:
        if len(seed) > SEED_CHARS_MAX:
            raise InvalidArgumentError(
                f"a seed has {len(seed)} characters; at most {SEED_CHARS_MAX} are allowed: {seed[:80]}...",
                "URL_TOO_LONG",
            )
    max_depth = request.max_depth if request.HasField("max_depth") else None
    max_pages = request.max_pages if request.HasField("max_pages") else None
    delay_ms = request.delay.ToMilliseconds() if request.HasField("delay") else None
    interval_s = request.recrawl_interval.ToSeconds() if request.HasField("recrawl_interval") else None
    _check_range("max_depth", max_depth, MAX_DEPTH_MAX)
    _check_range("max_pages", max_pages, MAX_PAGES_MAX)
    _check_range("delay", delay_ms, DELAY_MS_MAX, " ms")
    _check_range("recrawl_interval", interval_s, INTERVAL_S_MAX, " s")
    if request.scope not in crawl_pb.CrawlScope.values():
        raise InvalidArgumentError(f"scope is {request.scope}, which is none of CrawlScope", "SCOPE")
    if len(request.name) > NAME_CHARS_MAX or not request.name.isprintable():
        raise InvalidArgumentError(f"name must be at most {NAME_CHARS_MAX} printable characters", "NAME")
    if len(request.state_path) > PATH_CHARS_MAX:
        raise InvalidArgumentError(f"state_path must have at most {PATH_CHARS_MAX} characters", "STATE_PATH")
    return StartCrawl(
        seeds, max_depth=max_depth, max_pages=max_pages, scope=request.scope, delay_ms=delay_ms, name=request.name,
        rules=_rules(request.rules) if request.HasField("rules") else None, recrawl_interval_s=interval_s,
        force_recrawl=request.force_recrawl, state_path=request.state_path,
    )  # fmt: skip


def _rules(rules: crawl_pb.CrawlRules) -> CrawlRules:
    for name, count in (
        ("do_not_crawl", len(rules.do_not_crawl)), ("url_query_parameters", len(rules.url_query_parameters)),
    ):  # fmt: skip
        _check_range(f"number of {name} policies", count, POLICIES_MAX)
    if rules.query_urls not in _QUERY_URLS:
        raise InvalidArgumentError(f"query_urls is {rules.query_urls}, which is none of CrawlQueryUrls", "QUERY_URLS")
    if len(rules.description) > DESCRIPTION_CHARS_MAX:
        raise InvalidArgumentError(f"description must have at most {DESCRIPTION_CHARS_MAX} characters", "DESCRIPTION")
    try:
        patterns = SKIP_PATTERNS.read(list(rules.skip_url_patterns))
    except ValueError:
        raise InvalidArgumentError(f"skip_url_patterns must be {SKIP_PATTERNS.allowed}", "SKIP_URL_PATTERNS") from None
    try:
        user_agent = USER_AGENT.read(rules.user_agent) if rules.user_agent else ""
    except ValueError:
        raise InvalidArgumentError(f"user_agent must be {USER_AGENT.allowed}", "USER_AGENT") from None
    return CrawlRules(
        _QUERY_URLS[rules.query_urls],
        tuple(
            _policy("do_not_crawl", number, policy.reason, policy.criterium)
            for number, policy in enumerate(rules.do_not_crawl, start=1)
        ),
        tuple(
            _policy("url_query_parameters", number, policy.reason, policy.criterium, tuple(policy.allow))
            for number, policy in enumerate(rules.url_query_parameters, start=1)
        ),
        patterns,
        user_agent,
        rules.description,
    )


def _policy(name: str, number: int, reason: str, criterium: Value, allow: tuple[str, ...] = ()) -> CrawlPolicy:
    if len(reason) > REASON_CHARS_MAX or len(allow) > PARAMETERS_MAX:
        raise InvalidArgumentError(
            f"{name}[{number}] must have a reason of at most {REASON_CHARS_MAX} characters and at most "
            f"{PARAMETERS_MAX} parameters",
            "POLICY",
        )
    raw: Any = MessageToDict(criterium) if criterium.WhichOneof("kind") else None
    try:
        compile_criterium(raw)
    except CriteriumError as error:
        raise InvalidArgumentError(f"{name}[{number}].{error}", "POLICY") from None
    return CrawlPolicy(reason, raw, allow)


def _check_range(name: str, value: int | None, most: int, unit: str = "") -> None:
    if value is not None and not 0 <= value <= most:
        raise InvalidArgumentError(f"{name} is {value}{unit}; it must be 0 to {most}{unit}", name.upper())
