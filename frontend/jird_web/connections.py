"""How many connections each address may have, and how fast it may open them (J66, J67, J68)."""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address

# Addresses whose rate is remembered; beyond it the one that was quiet for longest is forgotten. About 1 MB.
REMEMBERED_MAX = 8_192

# Kept back for this machine's own look at /healthz when strangers hold every other connection (F113).
LOOPBACK_RESERVE = 4

Networks = Sequence[IPv4Network | IPv6Network]


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits on connections; see the settings of the same names."""

    max_connections: int
    max_connections_per_ip: int
    accepts_per_second_per_ip: int
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()


class ConnectionBudget:
    """Decides for each new connection; counts what it refused.

    Trusted proxies speak for many people, so only the total binds them.

    Args:
        limits: The limits.
        clock: Monotonic seconds.
    """

    def __init__(self, limits: ConnectionLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._open: Counter[str] = Counter()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # address to (tokens, when)
        self.open_count = 0
        self.refused_count = 0

    def admit(self, address: str) -> int:
        """Note a new connection.

        Returns:
            0 when it is admitted (and must be given back with `release`), else the HTTP status of the refusal.
        """
        status = self._refusal(address)
        if status:
            self.refused_count += 1
            return status
        self._open[_group(address)] += 1
        self.open_count += 1
        return 0

    def release(self, address: str) -> None:
        """Note the end of an admitted connection."""
        group = _group(address)
        self.open_count -= 1
        self._open[group] -= 1
        if self._open[group] <= 0:
            del self._open[group]

    def _refusal(self, address: str) -> int:
        reserve = LOOPBACK_RESERVE if is_loopback(address) else 0
        if self.open_count >= self._limits.max_connections + reserve:
            return 503
        if is_within(address, self._limits.trusted_proxies):
            return 0
        group = _group(address)
        if self._open[group] >= self._limits.max_connections_per_ip:
            return 429
        return 0 if self._take_token(group) else 429

    def _take_token(self, group: str) -> bool:
        rate = float(self._limits.accepts_per_second_per_ip)
        now = self._clock()
        tokens, when = self._buckets.pop(group, (rate, now))
        tokens = min(rate, tokens + (now - when) * rate)
        has_token = tokens >= 1
        self._buckets[group] = (tokens - 1 if has_token else tokens, now)
        if len(self._buckets) > REMEMBERED_MAX:
            self._buckets.popitem(last=False)
        return has_token


def is_within(address: str, networks: Networks) -> bool:
    """Return whether an address lies in one of the networks; text that is no address lies in none."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    return any(parsed in network for network in networks if network.version == parsed.version)


def is_loopback(address: str) -> bool:
    """Return whether an address is one of this machine alone."""
    return is_within(address, (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128")))


def _group(address: str) -> str:
    """Return what counts as one address: an IPv4 address, or the /64 that one IPv6 subscriber has."""
    if ":" not in address:
        return address
    try:
        parsed = IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Network((parsed, 64), strict=False))
