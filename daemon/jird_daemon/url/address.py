"""Which addresses may be connected to: public ones, and the ranges that the operator allows.

A crawler follows what strangers write, so it must not become their way into the network that it stands in. The check
is made on the address of the connection itself, not on a name, because a name may answer differently the next time.

Sources: IANA's special-purpose address registries for IPv4 and IPv6 (RFC 6890 and its updates). The tables are our own
rather than Python's `is_global`, whose answers changed between releases.
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from jird_daemon.url.refusal import Refusal

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address

_SPECIAL_V4 = tuple(
    (IPv4Network(network), name)
    for network, name in (
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a carrier"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "protocol assignments"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relays"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmarks"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_SPECIAL_V6 = tuple(
    (IPv6Network(network), name)
    for network, name in (
        ("::1/128", "loopback"),
        ("::/128", "unspecified"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("ff00::/8", "multicast"),
        ("2001::/32", "Teredo"),
        ("2001::/23", "protocol assignments"),
        ("2001:db8::/32", "documentation"),
        ("3fff::/20", "documentation"),
    )
)
# Everything that is handed out for use on the internet today lies here (RFC 4291 section 2.4).
_GLOBAL_UNICAST = IPv6Network("2000::/3")
# IPv6 addresses that stand for an IPv4 one: network, and how many bits follow the embedded address.
_EMBEDDING = (
    (IPv6Network("::ffff:0:0/96"), 0),  # IPv4-mapped, RFC 4291
    (IPv6Network("64:ff9b::/96"), 0),  # NAT64, RFC 6052
    (IPv6Network("2002::/16"), 80),  # 6to4, RFC 3056
)


class AddressPolicy:
    """Decides for one address and port. Immutable; threads may share it."""

    def __init__(self, allow_private: tuple[Network, ...], ports: tuple[int, ...]) -> None:
        """Take the operator's ranges, which are allowed beside the public ones, and the ports that may be used."""
        self._allow_private = allow_private
        self._ports = frozenset(ports)
        self._check_address = lru_cache(maxsize=1_024)(self._check_address_uncached)

    def check(self, address: str | Address, port: int) -> Refusal | None:
        """Say why an address may not be connected to.

        Args:
            address: As the socket would get it; a zone (`fe80::1%eth0`) is refused.
            port: TCP port.

        Returns:
            None when it may be; else URL_PORT or URL_PRIVATE_ADDRESS with a message.
        """
        if port not in self._ports:
            allowed = ", ".join(map(str, sorted(self._ports)))
            return Refusal("URL_PORT", f"port {port} is not allowed; allowed are {allowed}")
        return self._check_address(address)

    def check_address(self, address: str | Address) -> Refusal | None:
        """As check does, for the address alone."""
        return self._check_address(address)

    def _check_address_uncached(self, address: str | Address) -> Refusal | None:
        try:
            given = ip_address(address)
        except ValueError:
            return Refusal("URL_PRIVATE_ADDRESS", f"{address} is not an address")
        if isinstance(given, IPv6Address) and given.scope_id is not None:
            return Refusal("URL_PRIVATE_ADDRESS", f"{address} has a zone, so it is of a local link")
        real = _unmap(given)
        if any(real.version == network.version and real in network for network in self._allow_private):
            return None
        kind = _special_kind(real)
        if kind is None:
            return None
        return Refusal("URL_PRIVATE_ADDRESS", f"{given} is not public ({kind}) and not in network.allow_private")


def _unmap(address: Address) -> Address:
    """Give the IPv4 address that an IPv6 address reaches in the end, else the address itself."""
    if isinstance(address, IPv6Address):
        for network, shift in _EMBEDDING:
            if address in network:
                return IPv4Address(int(address) >> shift & 0xFFFF_FFFF)
    return address


def _special_kind(address: Address) -> str | None:
    """Name what an address is reserved for; None for a public one."""
    if isinstance(address, IPv4Address):
        return next((name for network, name in _SPECIAL_V4 if address in network), None)
    for network, name in _SPECIAL_V6:
        if address in network:
            return name
    return None if address in _GLOBAL_UNICAST else "reserved"
