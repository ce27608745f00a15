"""From a host name to addresses that may be connected to.

jird looks names up itself, so that the addresses it checks are the ones that libcurl is given (transfer.py). Answers
come from the configuration first, then from DNS; both are remembered for as long as they hold, failures too, so that a
page with a thousand links to a dead host costs one look-up (F67).
"""

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

import aiodns

from jird_daemon.clock import Clock
from jird_daemon.frontier.rules import OriginRules
from jird_daemon.outcome import ExitCode
from jird_daemon.url.address import AddressPolicy
from jird_settings import Net

# A shorter TTL would let one page's pictures cost more look-ups than the page; a longer one would outlive a move.
TTL_MIN_S = 60.0
TTL_MAX_S = 3_600.0
FAILURE_TTL_S = 60.0
NAMES_REMEMBERED = 4_096
# Of one name: more would only lengthen the list that libcurl tries one after the other.
ADDRESSES_MAX = 8
TIMEOUT_S = 5.0
TRIES = 2


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where a host is, or why it may or can not be asked.

    Attributes:
        addresses: Checked addresses; empty when there is a failure.
        failure: CONNECTION_FAILED or BLOCKED_ORIGIN_BY_LOCAL_POLICY; None when there are addresses.
        message: Why it failed.
    """

    addresses: tuple[str, ...] = ()
    failure: ExitCode | None = None
    message: str = ""


class Resolver:
    """Belongs to one event loop."""

    def __init__(self, network: Net, rules: OriginRules, addresses: AddressPolicy, clock: Clock) -> None:
        """Take the operator's answers (network.resolve, [[hosts]] resolve) and what may be connected to."""
        self._fixed: Mapping[str, str] = network.resolve
        self._rules = rules
        self._addresses = addresses
        self._clock = clock
        self._dns: aiodns.DNSResolver | None = None
        self._known: OrderedDict[str, tuple[float, Resolved]] = OrderedDict()
        self._asked: dict[str, asyncio.Future[Resolved]] = {}

    async def resolve(self, host: str, port: int) -> Resolved:
        """Find the addresses of a host of a canonical URL; all of them must be allowed."""
        fixed = self._rules.of(host).host.resolve or self._fixed.get(host) or _literal(host)
        if fixed is not None:
            return self._checked((fixed,), port)
        found = await self._look_up(host)
        return found if found.failure is not None else self._checked(found.addresses, port)

    async def close(self) -> None:
        """Give up what is being looked up."""
        for future in self._asked.values():
            future.cancel()
        if self._dns is not None:
            await self._dns.close()

    def _checked(self, addresses: tuple[str, ...], port: int) -> Resolved:
        # One bad address among good ones is an attempt to get past the check, or a mistake; neither is crawled.
        for address in addresses:
            refusal = self._addresses.check(address, port)
            if refusal is not None:
                message = f"{refusal.reason}: {refusal.message}"
                return Resolved(failure=ExitCode.BLOCKED_ORIGIN_BY_LOCAL_POLICY, message=message)
        return Resolved(addresses)

    async def _look_up(self, host: str) -> Resolved:
        known = self._known.get(host)
        if known is not None and known[0] > self._clock.monotonic_s():
            self._known.move_to_end(host)
            return known[1]
        asked = self._asked.get(host)
        if asked is None:
            asked = self._asked[host] = asyncio.ensure_future(self._ask(host))
            asked.add_done_callback(lambda _: self._asked.pop(host, None))
        # Shielded: one caller that is cancelled must not take the answer from the others.
        return await asyncio.shield(asked)

    async def _ask(self, host: str) -> Resolved:
        if self._dns is None:
            self._dns = aiodns.DNSResolver(timeout=TIMEOUT_S, tries=TRIES)
        try:
            answer = await self._dns.getaddrinfo(host, family=socket.AF_UNSPEC, type=socket.SOCK_STREAM)
        except aiodns.error.DNSError as error:
            found, ttl_s = Resolved((), ExitCode.CONNECTION_FAILED, f"DNS: {error.args[-1]}"), FAILURE_TTL_S
        else:
            addresses = tuple(dict.fromkeys(_text(node.addr[0]) for node in answer.nodes))[:ADDRESSES_MAX]
            ttl_s = min(max(min((node.ttl for node in answer.nodes), default=0), TTL_MIN_S), TTL_MAX_S)
            found = Resolved(addresses)
            if not addresses:
                found, ttl_s = Resolved((), ExitCode.CONNECTION_FAILED, "DNS: no address"), FAILURE_TTL_S
        self._known[host] = (self._clock.monotonic_s() + ttl_s, found)
        while len(self._known) > NAMES_REMEMBERED:
            self._known.popitem(last=False)
        return found


def _text(address: str | bytes) -> str:
    return address.decode("ascii") if isinstance(address, bytes) else address


def _literal(host: str) -> str | None:
    if host.startswith("["):
        return host[1:-1]
    return host if host.rpartition(".")[2].isdigit() else None
