"""What may be connected to: names, addresses, sockets, and the environment's proxies."""

import asyncio
from ipaddress import ip_network

import pytest

from jird_daemon.clock import ManualClock
from jird_daemon.crawler.fetcher import AuthorityBundle, Fetcher
from jird_daemon.crawler.resolver import Resolved, Resolver
from jird_daemon.crawler.transfer import FetchRequest
from jird_daemon.crawler.visitor import make_checker
from jird_daemon.frontier.rules import OriginRules
from jird_daemon.outcome import ExitCode
from jird_daemon.url.address import AddressPolicy
from jird_settings import Crawl, HostRule, Net
from testkit.origin import Origin


def fetcher(port: int, *, allow: bool = False) -> Fetcher:
    """A fetcher for one port; loopback only when allowed."""
    return Fetcher(make_checker(AddressPolicy((ip_network("127.0.0.0/8"),) if allow else (), (port,))), "test")


def request(origin: Origin, path: str, *addresses: str, bundle: AuthorityBundle) -> FetchRequest:
    """A GET for a path of the origin, pinned to addresses."""
    return FetchRequest(origin.url(path), "fault.test", origin.port, addresses, ca_file=bundle.path)


@pytest.fixture
def bundle(origin: Origin) -> AuthorityBundle:
    """The authorities that the origin's certificate needs."""
    return AuthorityBundle([origin.authority.ca_file])


async def test_the_socket_itself_is_refused_whatever_the_look_up_said(origin: Origin, bundle: AuthorityBundle) -> None:
    """J44: an address that slipped through every earlier check is not connected to."""
    client = fetcher(origin.port)
    response = await client.fetch(request(origin, "/ok", origin.address, bundle=bundle))
    await client.close()
    assert response.failure is ExitCode.BLOCKED_ORIGIN_BY_LOCAL_POLICY
    assert "URL_PRIVATE_ADDRESS" in response.message
    assert origin.log.entries() == []


async def test_a_name_without_a_pin_is_not_looked_up(origin: Origin, bundle: AuthorityBundle) -> None:
    """J44: libcurl never resolves, so that what was checked and what is connected to cannot differ."""
    client = fetcher(443, allow=True)
    response = await client.fetch(FetchRequest("https://localhost/", "other.test", 443, ("127.0.0.1",)))
    await client.close()
    assert response.failure is not None
    assert response.remote_address == ""


async def test_proxies_of_the_environment_are_not_used(
    origin: Origin, bundle: AuthorityBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """J44: a proxy would choose where we connect."""
    for name in ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    client = fetcher(origin.port, allow=True)
    response = await client.fetch(request(origin, "/ok", origin.address, bundle=bundle))
    await client.close()
    assert response.status == 200


async def test_the_next_address_is_tried_when_the_first_does_not_answer(
    origin: Origin, bundle: AuthorityBundle
) -> None:
    """F67: all addresses of a name are pinned."""
    client = fetcher(origin.port, allow=True)
    response = await client.fetch(request(origin, "/ok", "127.0.1.250", origin.address, bundle=bundle))
    await client.close()
    assert (response.status, response.remote_address) == (200, origin.address)


async def test_connections_are_kept_for_the_next_request(origin: Origin, bundle: AuthorityBundle) -> None:
    """One handshake for an origin, not one for each page."""
    client = fetcher(origin.port, allow=True)
    for _ in range(3):
        assert (await client.fetch(request(origin, "/ok", origin.address, bundle=bundle))).status == 200
    await client.close()
    assert len({access.peer_port for access in origin.log.entries()}) == 1


async def test_a_fetch_that_is_cancelled_leaves_the_fetcher_usable(origin: Origin, bundle: AuthorityBundle) -> None:
    """J168."""
    client = fetcher(origin.port, allow=True)
    task = asyncio.create_task(client.fetch(request(origin, "/slow-header", origin.address, bundle=bundle)))
    while not origin.log.entries():  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await client.fetch(request(origin, "/ok", origin.address, bundle=bundle))).status == 200
    await client.close()


def resolver(network: Net, *hosts: HostRule) -> Resolver:
    """A resolver with these settings."""
    rules = OriginRules(Crawl(), hosts)
    return Resolver(network, rules, AddressPolicy(network.allow_private, network.ports), ManualClock())


async def test_the_operators_answers_come_before_dns() -> None:
    """network.resolve and [[hosts]] resolve; what they name is checked like any address."""
    found = resolver(Net(resolve={"a.test": "1.1.1.1", "b.test": "10.0.0.1"}), HostRule("c.test", resolve="1.0.0.1"))
    assert await found.resolve("a.test", 443) == Resolved(("1.1.1.1",))
    assert await found.resolve("c.test", 443) == Resolved(("1.0.0.1",))
    refused = await found.resolve("b.test", 443)
    assert refused.failure is ExitCode.BLOCKED_ORIGIN_BY_LOCAL_POLICY
    assert refused.message.startswith("URL_PRIVATE_ADDRESS: ")


@pytest.mark.parametrize(
    "addresses",
    [
        ("1.1.1.1", "127.0.0.1"),  # one bad address among good ones: rebinding, or a mistake
        ("0.0.0.0",),
        ("::1",),
        ("::ffff:10.0.0.1",),
        ("64:ff9b::a00:1",),
        ("2002:a00:1::",),
        ("fe80::1",),
        ("169.254.169.254",),
    ],
)
async def test_every_address_of_a_name_must_be_allowed(
    addresses: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """J44, F67: whatever DNS says."""
    found = resolver(Net())

    async def ask(host: str) -> Resolved:
        return Resolved(addresses)

    monkeypatch.setattr(found, "_ask", ask)
    assert (await found.resolve("evil.test", 443)).failure is ExitCode.BLOCKED_ORIGIN_BY_LOCAL_POLICY
    await found.close()


async def test_a_name_that_does_not_exist_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """F67: no retry storm; a thousand links to a dead host are one look-up."""
    found = resolver(Net())
    asked: list[str] = []
    real = found._ask

    async def ask(host: str) -> Resolved:
        asked.append(host)
        return await real(host)

    monkeypatch.setattr(found, "_ask", ask)
    answers = await asyncio.gather(*(found.resolve("does-not-exist.invalid", 443) for _ in range(50)))
    answers.append(await found.resolve("does-not-exist.invalid", 443))
    await found.close()
    assert {answer.failure for answer in answers} == {ExitCode.CONNECTION_FAILED}
    assert asked == ["does-not-exist.invalid"]
