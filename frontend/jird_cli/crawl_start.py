"""What `jirdctl crawl start` asks the daemon for: a crawl file, with the options of the command on top."""

import os
from dataclasses import dataclass
from pathlib import Path

import click
from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value

from jird.v1.crawl_service_pb2 import (
    CRAWL_QUERY_URLS_ALLOW,
    CRAWL_QUERY_URLS_POLICY,
    CrawlRules,
    CrawlScope,
    DoNotCrawlPolicy,
    QueryParametersPolicy,
    StartCrawlRequest,
)
from jird_cli.failure import EXIT_USAGE, FailureError
from jird_settings import SettingsError
from jird_settings.crawl_file import CrawlFile, read_crawl_file, read_policy_files
from jird_settings.tables import RECRAWL_INTERVAL

SCOPES = {
    "same-origin": CrawlScope.CRAWL_SCOPE_SAME_ORIGIN,
    "seeds": CrawlScope.CRAWL_SCOPE_SEEDS,
    "open": CrawlScope.CRAWL_SCOPE_OPEN,
}


@dataclass(frozen=True, slots=True)
class StartOptions:
    """The options of the command; None and empty where they were not given."""

    seeds: tuple[str, ...]
    file: Path | None
    policy_files: tuple[Path, ...]
    max_depth: int | None
    max_pages: int | None
    scope: str | None
    delay_s: float | None
    name: str
    recrawl_interval: str | None
    force_recrawl: bool
    user_agent: str | None
    ignores_database_file: bool


def start_request(options: StartOptions) -> StartCrawlRequest:
    """Make the request.

    Raises:
        FailureError: A file cannot be used; the message says where and why.
        click.UsageError: There is nothing to begin with, or an option is none.
    """
    crawl = _read(options)
    seeds = options.seeds or crawl.seeds
    if not seeds:
        raise click.UsageError("name one URL or more, or a --file with seeds")
    request = StartCrawlRequest(
        seeds=seeds, name=options.name or crawl.name, force_recrawl=options.force_recrawl,
        state_path="" if options.ignores_database_file else crawl.database_file or "",
    )  # fmt: skip
    max_depth = _first(options.max_depth, crawl.max_depth)
    if max_depth is not None:
        request.max_depth = max_depth
    max_pages = _first(options.max_pages, crawl.max_commands_per_run)
    if max_pages is not None:
        request.max_pages = max_pages
    scope = options.scope or crawl.scope or ("seeds" if options.file else None)
    if scope:
        request.scope = SCOPES[scope]
    delay_ms = crawl.default_delay_ms if options.delay_s is None else round(options.delay_s * 1_000)
    if delay_ms is not None:
        request.delay.CopyFrom(Duration(seconds=delay_ms // 1_000, nanos=delay_ms % 1_000 * 1_000_000))
    interval_s = _interval_s(options.recrawl_interval, crawl)
    if interval_s is not None:
        request.recrawl_interval.CopyFrom(Duration(seconds=interval_s))
    if options.file or options.policy_files or options.user_agent:
        request.rules.CopyFrom(_rules(crawl, options))
    return request


def _read(options: StartOptions) -> CrawlFile:
    policy_files = tuple(Path(os.path.abspath(path)) for path in options.policy_files)
    try:
        if options.file is not None:
            return read_crawl_file(options.file, policy_files)
        return read_policy_files(policy_files) if policy_files else CrawlFile()
    except SettingsError as error:
        raise FailureError(str(error), "BAD_CRAWL_FILE", EXIT_USAGE) from None


def _interval_s(text: str | None, crawl: CrawlFile) -> int | None:
    if text is None:
        return crawl.recrawl_interval
    try:
        return RECRAWL_INTERVAL.read(text)
    except ValueError:
        message = f"--recrawl-interval is {text!r}; it must be {RECRAWL_INTERVAL.allowed}"
        raise click.UsageError(message) from None


def _rules(crawl: CrawlFile, options: StartOptions) -> CrawlRules:
    # U115: a crawl from a file leaves URLs with a query string out, unless it says otherwise.
    query_urls = crawl.query_urls or ("policy" if options.file or crawl.url_query_parameters else None)
    modes = {"allow": CRAWL_QUERY_URLS_ALLOW, "policy": CRAWL_QUERY_URLS_POLICY}
    return CrawlRules(
        do_not_crawl=[
            DoNotCrawlPolicy(reason=policy.reason, criterium=_value(policy.criterium)) for policy in crawl.do_not_crawl
        ],
        url_query_parameters=[
            QueryParametersPolicy(reason=policy.reason, criterium=_value(policy.criterium), allow=policy.allow)
            for policy in crawl.url_query_parameters
        ],
        query_urls=modes[query_urls] if query_urls else 0,  # type: ignore[arg-type]
        skip_url_patterns=crawl.skip_url_patterns,
        user_agent=options.user_agent or crawl.user_agent or "",
        description=crawl.description,
    )


def _value(criterium: object) -> Value:
    return ParseDict(criterium, Value())  # type: ignore[arg-type]  # a string is a Value too


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)
