"""The test internet: several real HTTPS sites on loopback addresses, certified by a test authority.

    with TestInternet(tmp_path) as internet:
        daemon = Daemon(tmp_path, internet.settings(), FAST)
        daemon.crawl(internet.url("garden.test"))

nginx serves it where it is installed (HTTP/2, compression, ETag, as real sites have), else the server of
web_server.py, which also keeps an access log.
"""

import shutil
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from testkit import site_pages, toml
from testkit.access_log import AccessLog
from testkit.authority import TestAuthority, server_context
from testkit.nginx import Nginx, VirtualHost
from testkit.site_cases import cases
from testkit.web_server import Exchange, Reply, WebServer, bind_all

NOT_FOUND = Reply.html("<!doctype html><title>Not found</title><p>There is no such page.", status=404)


@dataclass(frozen=True, slots=True)
class Site:
    """One site: where it is, and what stands on it."""

    host: str
    address: str
    build: Callable[[str], site_pages.Resources]
    """Resources by path, from the site's origin."""


SITES = (
    Site("garden.test", "127.0.1.1", lambda _: site_pages.garden()),
    Site("elements.test", "127.0.1.2", lambda _: site_pages.elements()),
    Site("fluesse.test", "127.0.1.3", lambda _: site_pages.rivers()),
    Site("todofuken.test", "127.0.1.4", lambda _: site_pages.prefectures()),
    Site("ozera.test", "127.0.1.4", lambda _: site_pages.lakes()),
    Site("cases.test", "127.0.1.5", cases),
)
"""Two sites share an address, as on any shared host."""


class TestInternet:
    """Serves SITES on one port of their addresses. A context manager.

    Attributes:
        authority: Its `ca_file` is what a client must trust.
        log: Requests; stays empty when nginx serves.
        port: The port, once started.
    """

    __test__ = False  # pytest: not a test class

    def __init__(
        self,
        directory: Path,
        *,
        sites: tuple[Site, ...] = SITES,
        port: int = 0,
        use_nginx: bool | None = None,
        authority: TestAuthority | None = None,
    ) -> None:
        """Prepare; `directory` takes keys and, for nginx, files. `use_nginx` None: if it is installed."""
        self.directory = directory
        self.sites = sites
        self.port = port
        self.log = AccessLog()
        self.authority = authority or TestAuthority(directory / "authority")
        self.use_nginx = shutil.which("nginx") is not None if use_nginx is None else use_nginx
        self._pem = self.authority.issue("sites", [site.host for site in sites])
        self._server: WebServer | Nginx | None = None
        self.resources: dict[str, site_pages.Resources] = {}

    @property
    def addresses(self) -> list[str]:
        """Addresses of the sites, each once."""
        return list(dict.fromkeys(site.address for site in self.sites))

    def url(self, host: str, path: str = "/") -> str:
        """The absolute URL of a path."""
        return f"https://{host}:{self.port}{path}"

    def seeds(self) -> list[str]:
        """The start page of every site."""
        return [self.url(site.host) for site in self.sites]

    def settings(self) -> toml.Tables:
        """What jird.toml needs so that these sites can be crawled."""
        return {
            "network": {
                "allow_private": [f"{address}/32" for address in self.addresses],
                "resolve": {site.host: site.address for site in self.sites},
                "ports": [self.port],
                "ca_file": str(self.authority.ca_file),
            }
        }

    def __enter__(self) -> "TestInternet":
        listeners = bind_all(self.addresses, self.port)
        self.port = listeners[0].getsockname()[1]
        self.resources = {site.host: site.build(self.url(site.host, "")) for site in self.sites}
        if self.use_nginx:
            self._start_nginx(listeners)
        else:
            self._start_own(listeners)
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.stop()

    def _start_nginx(self, listeners: list[socket.socket]) -> None:
        for listener in listeners:
            listener.close()  # nginx binds them again by itself; nobody else picks this port meanwhile in practice
        hosts = [VirtualHost(site.host, site.address, self.port, self.resources[site.host]) for site in self.sites]
        self._server = Nginx(self.directory / "nginx", hosts, self._pem)
        self._server.start()

    def _start_own(self, listeners: list[socket.socket]) -> None:
        contexts: dict[str, ssl.SSLContext] = {"": server_context(self._pem)}
        self._server = WebServer(self.addresses, self._answer, contexts, self.port, self.log)
        self._server.start(listeners)

    async def _answer(self, exchange: Exchange) -> None:
        resources = self.resources.get(exchange.access.host, {})
        await exchange.send(resources.get(exchange.path, NOT_FOUND))
