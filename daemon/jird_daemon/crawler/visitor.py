"""The network side of a visit: where a host is, its robots.txt, the page itself, and what the parser makes of it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from jird_daemon.clock import Clock
from jird_daemon.crawler.admission import Admission
from jird_daemon.crawler.crawl_log import validator
from jird_daemon.crawler.fetcher import AuthorityBundle, Fetcher
from jird_daemon.crawler.resolver import Resolved, Resolver
from jird_daemon.crawler.response import Response
from jird_daemon.crawler.transfer import FetchRequest, extra_lines, header_line
from jird_daemon.errors import InvalidUrlError, ParserFailedError
from jird_daemon.extract.document import ParsedDocument, ParseJob, ParseKind
from jird_daemon.extract.limits import SITEMAP_BYTES_MAX
from jird_daemon.extract.media_type import READ_TYPES
from jird_daemon.extract.sniff import sniff
from jird_daemon.frontier.lease import Lease
from jird_daemon.frontier.rules import OriginRules
from jird_daemon.outcome import ExitCode
from jird_daemon.store.tables import RowKind
from jird_daemon.url.address import AddressPolicy
from jird_daemon.url.canonical import canonicalize, split
from jird_daemon.url.robots import BODY_BYTES_MAX
from jird_settings import Settings

# RFC 9309 section 2.3.1.2: at least five redirects are followed for robots.txt, also to other hosts.
ROBOTS_REDIRECTS_MAX = 5
# Reason of a parser that fails for want of a worker (extract/pool.py).
NO_WORKER = "NO_WORKER"


class Parser(Protocol):
    """What the crawl needs of extract.pool.ParsePool."""

    async def parse(self, job: ParseJob) -> ParsedDocument:
        """Parse one page. Raises ParserFailedError."""
        ...


@dataclass(frozen=True, slots=True)
class Agent:
    """What we call ourselves to a site (U111, U131)."""

    user_agent: str

    @property
    def token(self) -> str:
        """The name by which robots.txt may address us."""
        return self.user_agent.split(" ", 1)[0]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the parser made of a page.

    Attributes:
        document: None when it has none.
        failure: Why there is none.
        is_transient: Nothing is wrong with the page: there was no worker to read it.
    """

    document: ParsedDocument | None
    failure: str = ""
    is_transient: bool = False


class Visitor:
    """Sends requests for leases. Belongs to one event loop; keeps no state of the crawl."""

    def __init__(
        self, settings: Settings, rules: OriginRules, admission: Admission, parser: Parser, clock: Clock
    ) -> None:
        """Prepare; makes no connection.

        Raises:
            OSError: A configured file of authorities cannot be read.
        """
        crawl, network = settings.crawl, settings.network
        self._crawl = crawl
        self._rules = rules
        self._admission = admission
        self._parser = parser
        self._clock = clock
        addresses = AddressPolicy(network.allow_private, network.ports)
        self._resolver = Resolver(network, rules, addresses, clock)
        self._fetcher = Fetcher(
            make_checker(addresses),
            crawl.user_agent,
            clock=clock,
            connect_timeout_ms=crawl.connect_timeout_ms,
            request_timeout_ms=crawl.request_timeout_ms,
        )
        self._network_ca = (network.ca_file,) if network.ca_file else ()
        self._bundles: dict[Path | None, AuthorityBundle] = {}
        for path in {None, *(rule.ca_file for rule in settings.hosts)}:
            self._bundles[path] = AuthorityBundle((*self._network_ca, path) if path else self._network_ca)

    def agent_of(self, lease: Lease) -> Agent:
        """What we are for a lease: its run's name, or the configured one."""
        return Agent(lease.run.user_agent or self._crawl.user_agent)

    async def resolve(self, host: str, port: int) -> Resolved:
        """Where a host is, all its addresses checked."""
        return await self._resolver.resolve(host, port)

    async def fetch_page(self, lease: Lease, resolved: Resolved) -> Response:
        """Ask for a leased URL, with what its last answer said for comparison (J170)."""
        conditions = []
        if etag := validator(lease.etag):
            conditions.append(header_line("If-None-Match", etag))
        if modified := validator(lease.last_modified):
            conditions.append(header_line("If-Modified-Since", modified))
        origin = lease.source.origin
        if lease.row.kind == RowKind.SITEMAP:  # of whatever type it calls itself, and cut where a page is refused (F35)
            return await self._send(
                lease.url,
                origin.host,
                origin.port,
                resolved,
                max_bytes=SITEMAP_BYTES_MAX,
                is_cut=True,
                user_agent=lease.run.user_agent,
            )
        return await self._send(
            lease.url, origin.host, origin.port, resolved, max_bytes=self._crawl.max_body_bytes,
            headers=tuple(conditions), accept=READ_TYPES, user_agent=lease.run.user_agent,
        )  # fmt: skip

    async def fetch_robots(self, lease: Lease) -> list[Response]:
        """Ask for robots.txt of a lease's origin, following redirects; every answer, the one that counts last.

        A redirect that leads nowhere, or where we may not go, counts as no answer (J112).
        """
        url, user_agent = f"{lease.source.origin.name}/robots.txt", self.agent_of(lease).user_agent
        answers: list[Response] = []
        while True:
            answer = await self._fetch_robots_url(url, user_agent)
            answers.append(answer)
            next_url = _location(answer)
            if next_url is None or len(answers) > ROBOTS_REDIRECTS_MAX:
                return answers
            refusal = self._admission.refusal(next_url)
            if refusal is not None:
                answers.append(self._no_answer(next_url, ExitCode.BLOCKED_URL_BY_LOCAL_POLICY, refusal.message))
                return answers
            url = next_url

    async def parse(self, lease: Lease, response: Response) -> Reading:
        """What a page's content is."""
        content_type = response.header("content-type")
        is_sitemap = lease.row.kind == RowKind.SITEMAP
        if response.is_unwanted and not is_sitemap:
            sniffed = sniff(content_type, response.head)
            message = sniffed.conflict or f"media type {sniffed.actual} is not indexed"
            return Reading(ParsedDocument(ParseKind.UNKNOWN_TYPE, media_type=sniffed.actual, message=message))
        job = ParseJob(
            response.url, response.body, content_type, response.all("x-robots-tag"), response.all("link"),
            self.agent_of(lease).token, is_sitemap, validator(response.header("last-modified")),
        )  # fmt: skip
        try:
            return Reading(await self._parser.parse(job))
        except ParserFailedError as error:
            failure = f"the parser had to be given up: {error.reason}: {error.message}"
            return Reading(None, failure, is_transient=error.reason == NO_WORKER)

    async def close(self) -> None:
        """Break off what runs."""
        await self._fetcher.close()
        await self._resolver.close()
        for bundle in self._bundles.values():
            bundle.close()

    async def _fetch_robots_url(self, url: str, user_agent: str) -> Response:
        parts = split(url)
        resolved = await self.resolve(parts.host, parts.port)
        return await self._send(
            url, parts.host, parts.port, resolved, max_bytes=BODY_BYTES_MAX, is_cut=True, user_agent=user_agent
        )

    async def _send(
        self,
        url: str,
        host: str,
        port: int,
        resolved: Resolved,
        *,
        max_bytes: int,
        headers: tuple[str, ...] = (),
        accept: frozenset[str] = frozenset(),
        is_cut: bool = False,
        user_agent: str = "",
    ) -> Response:
        if resolved.failure is not None:
            return self._no_answer(url, resolved.failure, resolved.message)
        rule = self._rules.of(host).host
        request = FetchRequest(
            url, host, port, resolved.addresses, (*headers, *extra_lines(rule.headers)), accept, max_bytes, is_cut,
            self._bundles[rule.ca_file].path, user_agent,
        )  # fmt: skip
        return await self._fetcher.fetch(request)

    def _no_answer(self, url: str, failure: ExitCode, message: str) -> Response:
        return Response(url, self._clock.now_s(), 0.0, failure=failure, message=message, was_sent=False)


def _location(answer: Response) -> str | None:
    if answer.status not in (301, 302, 303, 307, 308) or not answer.header("location"):
        return None
    try:
        return canonicalize(answer.header("location"), answer.url)
    except InvalidUrlError:
        return None


def make_checker(addresses: AddressPolicy) -> Callable[[str, int], str | None]:
    """The address policy as a fetcher asks it: the reason why an address and port may not be connected to."""

    def check(address: str, port: int) -> str | None:
        refusal = addresses.check(address, port)
        return None if refusal is None else refusal.reason

    return check
