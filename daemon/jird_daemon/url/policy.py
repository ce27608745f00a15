"""Which URLs may be asked for at all: scheme, port and host, before anything is resolved or queued.

These are the checks that need no network (J43, J44, S33-S37); the address of every connection is checked again when it
is made (address.py).
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from ipaddress import ip_address

from jird_daemon.url.address import AddressPolicy, Network
from jird_daemon.url.canonical import UrlParts, split
from jird_daemon.url.refusal import Refusal

# Names that are never of the public internet: S33, RFC 6761 and 6762, RFC 8375, RFC 7686, and what resolvers append.
_LOCAL_SUFFIXES = ("localhost", "local", "internal", "localdomain", "home.arpa", "invalid", "onion")


class UrlPolicy:
    """Decides for one URL. Immutable; threads may share it."""

    def __init__(
        self,
        schemes: Iterable[str],
        ports: tuple[int, ...],
        allow_private: tuple[Network, ...] = (),
        named_hosts: Iterable[str] = (),
    ) -> None:
        """Take the operator's settings.

        Args:
            schemes: Schemes that may be fetched.
            ports: Ports that may be connected to.
            allow_private: Ranges that are allowed beside the public ones; an IP literal must lie in one.
            named_hosts: Names, or globs of names, for which the operator has configured an address.
        """
        self._schemes = frozenset(schemes)
        self._ports = frozenset(ports)
        self._allow_private = allow_private
        self._addresses = AddressPolicy(allow_private, ports)
        names = [name.lower() for name in named_hosts]
        self._names = frozenset(name for name in names if "*" not in name)
        self._globs = tuple(name for name in names if "*" in name)

    def check(self, url: str | UrlParts) -> Refusal | None:
        """Say why a canonical URL may not be asked for; None when it may."""
        parts = split(url) if isinstance(url, str) else url
        if parts.scheme not in self._schemes:
            allowed = ", ".join(sorted(self._schemes))
            return Refusal("URL_SCHEME", f"scheme {parts.scheme} is not allowed; allowed: {allowed} (crawl.schemes)")
        if parts.port not in self._ports:
            allowed = ", ".join(map(str, sorted(self._ports)))
            return Refusal("URL_PORT", f"port {parts.port} is not allowed; allowed: {allowed} (network.ports)")
        return self.check_host(parts.host)

    def check_host(self, host: str) -> Refusal | None:
        """Say why a host of a canonical URL may not be asked; None when it may."""
        if host in self._names or any(fnmatchcase(host, glob) for glob in self._globs):
            return None
        literal = _ip_literal(host)
        if literal is not None:
            return self._check_literal(literal)
        if any(host == suffix or host.endswith("." + suffix) for suffix in _LOCAL_SUFFIXES):
            return Refusal("URL_LOCAL_NAME", f"host {host} is a local name; network.resolve can give it an address")
        if "." not in host:
            return Refusal("URL_LOCAL_NAME", f"host {host} has no dot; network.resolve can give it an address")
        return None

    def _check_literal(self, literal: str) -> Refusal | None:
        refusal = self._addresses.check_address(literal)
        if refusal is not None:
            return refusal
        address = ip_address(literal)
        if any(address.version == network.version and address in network for network in self._allow_private):
            return None
        return Refusal("URL_IP_LITERAL", f"host {literal} is an address; only names are crawled")


def _ip_literal(host: str) -> str | None:
    # The URL Standard has already turned every spelling of an IPv4 address (0x7f.1, 017700000001) into dotted decimal.
    if host.startswith("["):
        return host[1:-1]
    last = host.rpartition(".")[2]
    return host if last.isdigit() else None
