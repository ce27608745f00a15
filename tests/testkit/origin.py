"""The misbehaving server: one route per fault (faults.py), one host per state of robots.txt and of the certificate.

    with Origin(tmp_path) as origin:
        origin.add("/", Reply.html("<a href='/drop'>a link</a>"))
        crawl(origin.url("/"), settings=origin.settings())
        origin.log.wait_for_path("/drop")

Hosts (all on `address`, all with the same routes):

    fault.test                  robots.txt as set by set_robots(), at first "allow all"
    robots-503.test ...         robots.txt in the state of that name, see ROBOTS
    expired.test                certificate ended yesterday
    wrong-name.test             certificate for another name
    self-signed.test            certificate that no authority signed
    anything.fault.test         further good hosts, as many as a test needs
"""

import ssl
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from testkit.access_log import AccessLog
from testkit.authority import TestAuthority, server_context
from testkit.faults import ENDLESS_CHUNK, ROUTES, Fault, endless, page, slow_header
from testkit.web_server import Exchange, Reply, WebServer

HOST = "fault.test"
DEFAULT_ADDRESS = "127.0.1.9"

ROBOTS: Mapping[str, Reply | Fault] = MappingProxyType(
    {
        "allow": Reply.text("User-agent: *\nDisallow:\n"),
        "disallow": Reply.text("User-agent: *\nDisallow: /\n"),
        "partial": Reply.text("User-agent: *\nDisallow: /private\nAllow: /private/open\n"),
        "delay": Reply.text("User-agent: *\nCrawl-delay: 0.3\n"),
        "empty": Reply.text(""),
        "200-html": Reply.html(page("Not a robots.txt", "User-agent: * Disallow: /")),
        "404": Reply.html(page("Not found"), status=404),
        "401": Reply.html(page("Who are you?"), status=401),
        "403": Reply.html(page("Forbidden"), status=403),
        "429": Reply.html(page("Too many"), ("Retry-After", "1"), status=429),
        "500": Reply.html(page("Broken", "User-agent: * Allow: /"), status=500),
        "503": Reply.html(page("Away", "User-agent: * Allow: /"), status=503),
        "redirect": Reply.redirect("/real-robots.txt"),
        "endless-redirect": Reply.redirect("/robots.txt"),
        "huge": Reply.text("User-agent: *\n" + "# padding\n" * 200_000 + "Disallow: /\n"),
        "endless": endless,
        "slow": slow_header,
    }
)
"""States of robots.txt by name; host robots-NAME.test is in that state."""

_CERTIFICATE_FAULTS = ("expired.test", "wrong-name.test", "self-signed.test")

__all__ = ["DEFAULT_ADDRESS", "ENDLESS_CHUNK", "HOST", "ROBOTS", "Exchange", "Origin", "Reply"]

Route = Reply | Callable[[Exchange], Awaitable[None]]


class Origin:
    """The server; a context manager. Routes may be added and changed while it runs, from any thread.

    Attributes:
        log: What was asked, with times (access_log.py).
        authority: Signs the certificates; its `ca_file` is what a client must trust.
    """

    def __init__(
        self,
        directory: Path,
        *,
        address: str = DEFAULT_ADDRESS,
        port: int = 0,
        tls: bool = True,
        authority: TestAuthority | None = None,
    ) -> None:
        """Prepare a server.

        Args:
            directory: Where keys and certificates go.
            address: Loopback address to listen on.
            port: Port, or 0 for a free one.
            tls: False serves plain HTTP.
            authority: An authority to share with other servers.
        """
        self.address = address
        self.authority = authority or TestAuthority(directory / "authority")
        self.hosts: list[str] = [HOST, *(f"robots-{name}.test" for name in ROBOTS), *_CERTIFICATE_FAULTS]
        self._scheme = "https" if tls else "http"
        self._routes: dict[tuple[str, str], Route] = {}
        self._robots: dict[str, Route] = {f"robots-{name}.test": route for name, route in ROBOTS.items()}
        self._gone: dict[str, int] = {}
        self._server = WebServer([address], self._answer, self._contexts() if tls else None, port)

    def __enter__(self) -> "Origin":
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    @property
    def port(self) -> int:
        """The port, once started."""
        return self._server.port

    @property
    def log(self) -> AccessLog:
        """What was asked."""
        return self._server.log

    def url(self, path: str = "/", *, host: str = HOST) -> str:
        """The absolute URL of a path."""
        return f"{self._scheme}://{host}:{self.port}{path}"

    def origin(self, host: str = HOST) -> str:
        """Scheme, host and port, as the daemon names an origin."""
        return self.url("", host=host)

    def add_host(self, host: str) -> str:
        """Serve a further host, NAME.fault.test; returns its name."""
        assert host.endswith(f".{HOST}"), f"{host} is outside the certificate for *.{HOST}"
        if host not in self.hosts:
            self.hosts.append(host)
        return host

    def add(self, path: str, route: Route, *, host: str = "*") -> None:
        """Answer `path` (without a query; on `host`, or on all) with a reply or a coroutine function."""
        self._routes[host, path] = route

    def remove(self, path: str, *, host: str = "*") -> None:
        """Forget a route that was added."""
        self._routes.pop((host, path), None)

    def set_gone(self, path: str, status: int | None = 404) -> None:
        """Answer `path` with 404 or 410 from now on; None brings it back."""
        if status is None:
            self._gone.pop(path, None)
        else:
            self._gone[path] = status

    def set_robots(self, state: str | Route, *, host: str = HOST) -> None:
        """Set robots.txt of a host: a name in ROBOTS, a reply, or a coroutine function."""
        self._robots[host] = ROBOTS[state] if isinstance(state, str) else state

    def settings(self) -> dict[str, dict[str, object]]:
        """What jird.toml needs so that this server can be crawled, as tables: pass it to testkit.daemon."""
        return {
            "network": {
                "allow_private": [f"{self.address}/32"],
                "resolve": dict.fromkeys(self.hosts, self.address),
                "ports": [self.port],
                "ca_file": str(self.authority.ca_file),
            }
        }

    async def _answer(self, exchange: Exchange) -> None:
        route = self._route(exchange)
        if isinstance(route, Reply):
            await exchange.send(route)
        else:
            await route(exchange)

    def _route(self, exchange: Exchange) -> Route:
        host, path = exchange.access.host, exchange.path
        if path in self._gone:
            return Reply.html(page("Gone"), status=self._gone[path])
        if path == "/robots.txt":
            return self._robots.get(host, ROBOTS["allow"])
        if path == "/real-robots.txt":
            return ROBOTS["partial"]
        for key in ((host, path), ("*", path)):
            if key in self._routes:
                return self._routes[key]
        return ROUTES.get(path) or Reply.html(page("Not found", "There is no such route."), status=404)

    def _contexts(self) -> dict[str, ssl.SSLContext]:
        good = [HOST, f"*.{HOST}", *(f"robots-{name}.test" for name in ROBOTS), self.address]
        issue = self.authority
        return {
            "": server_context(issue.issue("fault", good)),
            "expired.test": server_context(issue.issue_expired("expired", ["expired.test"])),
            "wrong-name.test": server_context(issue.issue("wrong-name", ["another.test"])),
            "self-signed.test": server_context(issue.issue_self_signed("self-signed", ["self-signed.test"])),
        }
