"""Real documentation as three sites over TLS, and what a person expects to find in it.

    with DocumentationSites(tmp_path) as sites:
        daemon = Daemon(tmp_path, sites.settings(), FAST)
        daemon.crawl(*sites.seeds(), max_depth=sites.depth)

The pages come from Debian packages; scripts/fetch_docs.py fetches them into build/docs once.
"""

import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from testkit import toml
from testkit.authority import TestAuthority
from testkit.nginx import Nginx, VirtualHost
from testkit.web_server import bind_all

ROOT = Path(__file__).resolve().parents[2]
QUERIES_FILE = ROOT / "tests" / "e2e" / "relevance_queries.toml"
FETCH_TIMEOUT_S = 600.0
ADDRESSES = ("127.0.2.1", "127.0.2.2", "127.0.2.3")
"""One for each site, so that none waits for another's connections."""


@dataclass(frozen=True, slots=True)
class RelevanceQuery:
    """A query as a person writes it, and the pages (host and path) of which one must come first or second."""

    language: str
    text: str
    pages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentRoot:
    """One site's files."""

    host: str
    folder: Path
    page_count: int


@dataclass(frozen=True, slots=True)
class PageWords:
    """A page's text, apart from the engine: as a browser would show title, headlines and body."""

    title: str
    headings: tuple[str, ...]
    body: str


def load_queries() -> list[RelevanceQuery]:
    """The queries of tests/e2e/relevance_queries.toml."""
    rows = tomllib.loads(QUERIES_FILE.read_text())["query"]
    return [RelevanceQuery(row["language"], row["text"], tuple(row["pages"])) for row in rows]


def fetch_documentation() -> list[DocumentRoot]:
    """The document roots, fetched if they are not there.

    Raises:
        RuntimeError: They cannot be fetched; the message says what to run.
    """
    command = [sys.executable, str(ROOT / "scripts" / "fetch_docs.py")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S, check=False)
    if result.returncode:
        raise RuntimeError(result.stderr)
    rows = (line.split() for line in result.stdout.splitlines())
    return [DocumentRoot(host, Path(folder), int(count)) for host, folder, count in rows]


def read_page(path: Path) -> PageWords:
    """Read one of the pages."""
    tree = LexborHTMLParser(path.read_bytes())
    for node in tree.css("script, style"):
        node.decompose()
    title = tree.css_first("title")
    headings = tuple(_one_line(node.text()) for node in tree.css("h1, h2, h3, h4, h5, h6"))
    body = tree.body.text(separator=" ") if tree.body else ""
    return PageWords(_one_line(title.text()) if title else "", headings, _one_line(body))


def _one_line(text: str) -> str:
    return " ".join(text.split())


class DocumentationSites:
    """Serves the documentation with nginx. A context manager.

    Attributes:
        roots: What it serves.
        port: The port of all sites, once started.
        depth: More than the links from a front page to the farthest page, which are 3.
    """

    depth = 6

    def __init__(self, directory: Path) -> None:
        """Prepare; `directory` takes keys, configuration and logs."""
        self.directory = directory
        self.roots = fetch_documentation()
        self.port = 0
        self._authority = TestAuthority(directory / "authority")
        self._nginx: Nginx | None = None

    @property
    def page_count(self) -> int:
        """Pages of all sites, without their front pages."""
        return sum(root.page_count for root in self.roots)

    def seeds(self) -> list[str]:
        """The front page of each site."""
        return [self.url(root.host) for root in self.roots]

    def url(self, host: str, path: str = "/") -> str:
        """The absolute URL of a path."""
        return f"https://{host}:{self.port}{path}"

    def page_url(self, page: str) -> str:
        """The absolute URL of a page as the queries name it."""
        host, _, path = page.partition("/")
        return self.url(host, f"/{path}")

    def settings(self) -> toml.Tables:
        """What jird.toml needs so that these sites can be crawled, as fast as an owner lets his own crawler."""
        hosts = [root.host for root in self.roots]
        return {
            "network": {
                "allow_private": [f"{address}/32" for address in ADDRESSES],
                "resolve": dict(zip(hosts, ADDRESSES, strict=True)),
                "ports": [self.port],
                "ca_file": str(self._authority.ca_file),
            },
            "crawl": {"delay_ms": 0, "workers": 2},
            "hosts": [{"match": "docs-*.test", "delay_ms": 0, "adaptive": False, "connections": 8}],
        }

    def __enter__(self) -> "DocumentationSites":
        listeners = bind_all(list(ADDRESSES), 0)
        self.port = listeners[0].getsockname()[1]
        for listener in listeners:
            listener.close()
        pem = self._authority.issue("docs", [root.host for root in self.roots])
        hosts = [
            VirtualHost(root.host, address, self.port, document_root=root.folder)
            for root, address in zip(self.roots, ADDRESSES, strict=True)
        ]
        self._nginx = Nginx(self.directory / "nginx", hosts, pem)
        self._nginx.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._nginx is not None:
            self._nginx.stop()
