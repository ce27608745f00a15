"""The misbehaving server misbehaves as it says, seen by a plain client."""

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from testkit.origin import HOST, Origin, Reply


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Origin]:
    with Origin(tmp_path_factory.mktemp("origin"), address="127.0.1.8") as server:
        yield server


def get(origin: Origin, path: str, *, host: str = HOST, read_s: float = 5.0) -> httpx.Response:
    """Ask the server by address, with the host in SNI and Host."""
    context = ssl.create_default_context(cafile=str(origin.authority.ca_file))
    timeout = httpx.Timeout(5.0, read=read_s)
    with httpx.Client(verify=context, timeout=timeout, trust_env=False) as client:
        return client.get(
            f"https://{origin.address}:{origin.port}{path}",
            headers={"Host": f"{host}:{origin.port}"},
            extensions={"sni_hostname": host},
        )


def test_good_page_is_served_under_a_trusted_certificate(origin: Origin) -> None:
    reply = get(origin, "/ok")
    assert (reply.status_code, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "A good page" in reply.text


@pytest.mark.parametrize(
    ("host", "reason"),
    [("expired.test", "expired"), ("wrong-name.test", "mismatch"), ("self-signed.test", "self-signed")],
)
def test_certificate_fault_is_what_its_host_says(origin: Origin, host: str, reason: str) -> None:
    with pytest.raises(httpx.ConnectError, match=reason):
        get(origin, "/ok", host=host)


@pytest.mark.parametrize("path", ["/drop", "/reset", "/short-body", "/bad-chunk", "/open-chunk", "/not-http"])
def test_broken_answer_is_a_protocol_or_network_error(origin: Origin, path: str) -> None:
    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
        get(origin, path)


@pytest.mark.parametrize("path", ["/slow-header", "/half-header", "/slow-body"])
def test_stalled_answer_times_out(origin: Origin, path: str) -> None:
    with pytest.raises(httpx.ReadTimeout):
        get(origin, path, read_s=0.2)


def test_small_packed_body_unpacks_to_a_bomb(origin: Origin) -> None:
    for path in ("/gzip-bomb?bytes=4000000", "/br-bomb?bytes=4000000"):
        reply = get(origin, path)
        assert len(reply.content) == 4_000_000
        assert int(reply.headers["content-length"]) < 10_000


def test_etag_is_answered_with_304(origin: Origin) -> None:
    first = get(origin, "/etag")
    context = ssl.create_default_context(cafile=str(origin.authority.ca_file))
    again = httpx.get(
        f"https://{origin.address}:{origin.port}/etag",
        headers={"If-None-Match": first.headers["etag"]},
        verify=context,
        trust_env=False,
    )
    assert (again.status_code, again.content) == (304, b"")


def test_page_can_be_gone_and_come_back(origin: Origin) -> None:
    origin.set_gone("/ok", 410)
    assert get(origin, "/ok").status_code == 410
    origin.set_gone("/ok", None)
    assert get(origin, "/ok").status_code == 200


def test_robots_state_is_chosen_by_host_and_can_be_set(origin: Origin) -> None:
    assert get(origin, "/robots.txt", host="robots-503.test").status_code == 503
    origin.set_robots("disallow")
    assert "Disallow: /\n" in get(origin, "/robots.txt").text
    origin.set_robots("allow")
    assert "Disallow:\n" in get(origin, "/robots.txt").text


def test_added_route_answers_on_its_host_only(origin: Origin) -> None:
    host = origin.add_host("a.fault.test")
    origin.add("/mine", Reply.html("<p>mine"), host=host)
    assert get(origin, "/mine", host=host).text == "<p>mine"
    assert get(origin, "/mine").status_code == 404


def test_log_knows_gaps_and_peak_in_flight(origin: Origin) -> None:
    host = origin.add_host("log.fault.test")
    get(origin, "/ok?1", host=host)
    get(origin, "/ok?2", host=host)
    assert origin.log.targets(host=host) == ["/ok?1", "/ok?2"]
    assert all(gap >= 0 for gap in origin.log.gaps_s(host))
    assert origin.log.peak_in_flight(host=host) == 1


def test_second_answer_on_a_connection_is_not_held_back(origin: Origin) -> None:
    """Without TCP_NODELAY, head and body of an answer are 40 ms apart."""
    context = ssl.create_default_context(cafile=str(origin.authority.ca_file))
    context.check_hostname = False
    host = origin.add_host("quick.fault.test")
    with httpx.Client(verify=context, trust_env=False) as client:
        for _ in range(10):
            client.get(f"https://{origin.address}:{origin.port}/ok", headers={"Host": f"{host}:{origin.port}"})
    times_s = [(access.end_s or 0.0) - access.start_s for access in origin.log.entries(host=host)]
    assert len({access.peer_port for access in origin.log.entries(host=host)}) == 1
    assert sorted(origin.log.gaps_s(host))[4] + sorted(times_s)[4] < 0.03


def test_stopping_ends_connections_that_stall(tmp_path: Path) -> None:
    with Origin(tmp_path, tls=False, address="127.0.1.8") as server:
        client = socket.create_connection((server.address, server.port))
        client.sendall(b"GET /slow-header HTTP/1.1\r\nHost: fault.test\r\n\r\n")
        server.log.wait_for_path("/slow-header")
    client.settimeout(5)
    assert client.recv(1) == b""
    client.close()
