"""Generated sites as files: pages of 30 KB with 111 links each, served by nginx without encryption or compression.

Every page has the same 40 links in its head and foot, as sites do, and 71 to pages of its own, of which most are met
for the first time early in the crawl. All pages are reachable: each links to its successor.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from testkit import toml
from testkit.nginx import Nginx, VirtualHost
from testkit.web_server import bind_all

LINKS = 111
SHARED_LINKS = 40
PAGE_BYTES = 30_000
WORDS = 5_000
SEED = 11


def addresses(count: int) -> list[str]:
    """Loopback addresses, one for each site, so that no site waits for another's connections."""
    return [f"127.0.3.{number}" for number in range(1, count + 1)]


def page_path(number: int) -> str:
    """Path of a page; the first is the front page."""
    return "/" if number == 0 else f"/section-{number % 20}/page-{number}.html"


def write_site(folder: Path, name: str, count: int, seed: int) -> None:
    """Write a site's pages below `folder`."""
    chance = random.Random(seed)
    words = ["".join(chance.choices("aeiounrstlkmdbgp", k=chance.randint(2, 11))) for _ in range(WORDS)]
    weights = [1 / rank for rank in range(1, WORDS + 1)]
    for number in range(count):
        path = folder / (page_path(number).lstrip("/") or "index.html")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_page(chance, name, number, count, words, weights))


def _page(chance: random.Random, name: str, number: int, count: int, words: list[str], weights: list[float]) -> str:
    shared = [_link(other % count, f"Part {other}") for other in range(SHARED_LINKS)]
    others = [(number + 1) % count, *(chance.randrange(count) for _ in range(LINKS - SHARED_LINKS - 1))]
    own = [_link(other, " ".join(chance.choices(words, weights, k=3))) for other in others]
    title = " ".join(chance.choices(words, weights, k=5))
    head = (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title} {number} - {name}</title></head>'
        f"<body><nav><ul>{''.join(f'<li>{link}</li>' for link in shared[:30])}</ul></nav><main><h1>{title}</h1>"
    )
    foot = f"</main><footer>{' '.join(shared[30:])}</footer></body></html>"
    room = PAGE_BYTES - len(head) - len(foot) - sum(map(len, own))
    text = chance.choices(words, weights, k=room // 10)
    paragraphs = []
    for link in own:
        paragraph, text = text[:30], text[30:]
        paragraphs.append(f"<p>{' '.join(paragraph)} {link}.</p>")
    body = "\n".join(paragraphs)
    while len(head) + len(body) + len(foot) < PAGE_BYTES:
        body += f"\n<p>{' '.join(chance.choices(words, weights, k=60))}</p>"
    return head + body + foot


def _link(number: int, text: str) -> str:
    return f'<a href="{page_path(number)}">{text}</a>'


class StaticSites:
    """Sites that are served.

    Attributes:
        port: Of all of them.
        hosts: Their addresses, which are their names.
        urls: Every page.
    """

    def __init__(self, hosts: list[str], pages_each: int, port: int) -> None:
        self.port = port
        self.hosts = hosts
        self.seeds = [f"http://{host}:{port}/" for host in hosts]
        self.urls = [f"http://{host}:{port}{page_path(number)}" for number in range(pages_each) for host in hosts]

    def settings(self, connections: int) -> toml.Tables:
        """What jird.toml needs to crawl them as fast as an owner lets his own crawler."""
        return {
            "network": {"allow_private": [f"{host}/32" for host in self.hosts], "ports": [self.port]},
            "crawl": {
                "delay_ms": 0,
                "connections": connections,
                "address_connections": connections,
                "schemes": ["http", "https"],
            },
            "hosts": [{"match": "*", "delay_ms": 0, "adaptive": False, "connections": connections // len(self.hosts)}],
        }


@contextmanager
def static_sites(folder: Path, sites: int, pages_each: int) -> Iterator[StaticSites]:
    """Write the sites below `folder` and serve them until the block ends."""
    hosts = addresses(sites)
    listeners = bind_all(hosts, 0)
    port = listeners[0].getsockname()[1]
    for listener in listeners:
        listener.close()
    for number, host in enumerate(hosts):
        write_site(folder / host, f"Site {number}", pages_each, SEED + number)
    served = [VirtualHost(host, host, port, document_root=folder / host, is_compressed=False) for host in hosts]
    nginx = Nginx(folder / "nginx", served, None)
    nginx.start()
    try:
        yield StaticSites(hosts, pages_each, port)
    finally:
        nginx.stop()
