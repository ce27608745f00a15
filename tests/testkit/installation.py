"""jird installed from its package on a machine of testkit.machine, with sites to crawl and nginx in front."""

from dataclasses import dataclass
from pathlib import Path

from testkit import toml
from testkit.authority import TestAuthority
from testkit.machine import Machine
from testkit.nginx import VirtualHost, server_block
from testkit.sites import SITES

ROOT = Path(__file__).resolve().parents[2]
SITE_PORT = 8443
SEARCH_HOST = "search.example.org"
CONFIG = "/etc/jird/jird.toml"
SETTINGS: toml.Tables = {
    "web": {"trusted_proxies": ["127.0.0.1/32"]},
    "network": {
        "allow_private": ["127.0.1.0/24"],
        "resolve": {site.host: site.address for site in SITES},
        "ports": [SITE_PORT],
        "ca_file": "/srv/keys/ca.pem",
    },
    "crawl": {"workers": 2},
    "hosts": [{"match": "*.test", "delay_ms": 0, "adaptive": False}],
}


@dataclass(frozen=True, slots=True)
class Installation:
    """jird on the machine, and what is there to be crawled."""

    machine: Machine

    @property
    def origin(self) -> str:
        """The origin of the English handbook."""
        return f"https://garden.test:{SITE_PORT}"

    def write_config(self, *more: toml.Tables) -> None:
        """Write /etc/jird/jird.toml: the test sites, and `more`."""
        self.machine.write(CONFIG, toml.dump(toml.merge(SETTINGS, *more)))

    def search(self, query: str) -> str:
        """The JSON answer to a query, asked over HTTPS through nginx."""
        url = f"https://{SEARCH_HOST}/api/search"
        options = ["--silent", "--show-error", "--fail", "--cacert", "/srv/keys/ca.pem", "--get"]
        address = ["--resolve", f"{SEARCH_HOST}:443:127.0.0.1", "--data-urlencode", f"q={query}"]
        return self.machine.run("curl", *options, *address, url).stdout


def install(machine: Machine, package: Path) -> Installation:
    """Install the package as dpkg does, after the sites and the reverse proxy have been set up."""
    authority = TestAuthority(machine.root / "srv" / "keys")
    (machine.root / "srv" / "jird.deb").write_bytes(package.read_bytes())
    _serve_sites(machine, authority)
    machine.run("systemctl", "restart", "nginx")
    machine.run("dpkg", "--install", "/srv/jird.deb")
    installed = Installation(machine)
    installed.write_config()
    machine.run("systemctl", "restart", "jird")  # installing has started it, with the default configuration
    return installed


def _serve_sites(machine: Machine, authority: TestAuthority) -> None:
    """Let the machine's nginx serve the test sites, and jird as docs/nginx.conf shows it."""
    srv = machine.root / "srv"
    certificate = authority.issue("sites", [*(site.host for site in SITES), SEARCH_HOST]).name
    inside = Path("/srv/keys") / certificate
    blocks = []
    for site in SITES:
        resources = site.build(f"https://{site.host}:{SITE_PORT}")
        host = VirtualHost(site.host, site.address, SITE_PORT, resources)
        blocks.append(server_block(host, srv / "sites", inside, inside, seen_as=Path("/srv/sites")))
    proxy = (ROOT / "docs" / "nginx.conf").read_text()
    proxy = proxy.replace("/etc/ssl/search.example.org.pem", str(inside))
    proxy = proxy.replace("/etc/ssl/private/search.example.org.key", str(inside))
    machine.write("/etc/nginx/conf.d/sites.conf", "\n".join(blocks))
    machine.write("/etc/nginx/conf.d/jird.conf", proxy)
