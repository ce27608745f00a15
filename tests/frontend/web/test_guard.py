"""The guard, spoken to through raw sockets: deadlines, sizes, connections."""

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from testkit.fake_daemon import FakeDaemon
from testkit.frontend import Frontend, make_settings, receive_all

GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(scope="module")
def quick(shared_daemon: FakeDaemon) -> Iterator[Frontend]:
    """A frontend whose deadlines are short, and apart from each other."""
    settings = make_settings(shared_daemon.run_dir, idle_timeout_ms=150, header_timeout_ms=300, body_timeout_ms=600)
    with Frontend(settings) as frontend:
        yield frontend


@pytest.fixture
def frontend(shared_frontend: Frontend) -> Frontend:
    return shared_frontend


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 0


def exchange(frontend: Frontend, request: bytes) -> bytes:
    with frontend.connect() as connection:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(request)
        return receive_all(connection)


def test_silent_connection_is_closed_at_the_idle_deadline(quick: Frontend) -> None:
    """J69."""
    begin = time.monotonic()
    with quick.connect() as connection:
        assert receive_all(connection) == b""
    assert 0.1 < time.monotonic() - begin < 5


def test_idle_connection_is_closed_after_its_answer(quick: Frontend) -> None:
    """J69: keep-alive lasts for the idle deadline."""
    assert status_of(exchange(quick, GET)) == 200


def test_slow_head_is_408_at_its_deadline(quick: Frontend) -> None:
    """J69: dripping bytes do not lengthen it."""
    begin = time.monotonic()
    with quick.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        connection.settimeout(0.05)
        answer = b""
        while not answer:
            assert time.monotonic() - begin < 5
            try:
                answer = connection.recv(1_000)
            except TimeoutError:
                connection.sendall(b"X-A: b\r\n")
    assert status_of(answer) == 408


def test_slow_body_ends_the_connection_at_its_deadline(quick: Frontend) -> None:
    """J69."""
    begin = time.monotonic()
    head = b"POST /api/crawl HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"
    answer = exchange(quick, head + b"a")
    assert status_of(answer) in (0, 408)
    assert 0.4 < time.monotonic() - begin < 5


def test_client_that_does_not_read_is_dropped(quick: Frontend) -> None:
    """A large answer is not kept for ever for one who does not take it."""
    with quick.connect() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
        request = b"GET /search?q=x&limit=100 HTTP/1.1\r\nHost: x\r\n\r\n"
        connection.settimeout(0.05)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            send_for_ever(connection, request)


def send_for_ever(connection: socket.socket, request: bytes) -> None:
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        with contextlib.suppress(TimeoutError):
            connection.sendall(request)


def test_client_that_leaves_within_its_body_is_not_worth_a_traceback(
    frontend: Frontend, caplog: pytest.LogCaptureFixture
) -> None:
    with frontend.connect() as connection:
        connection.sendall(b"POST /api/crawl HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nurl=")
    assert status_of(exchange(frontend, GET.replace(b"x\r\n", b"x\r\nConnection: close\r\n"))) == 200
    assert [record for record in caplog.records if record.exc_info] == []


@pytest.mark.parametrize("size", [16_300, 16_400, 70_000])
def test_head_is_bounded_at_16_kib(frontend: Frontend, size: int) -> None:
    """J105: in one header, in many, with or without its end."""
    frame = len(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-A: \r\n\r\n")
    filler = b"a" * (size - frame)
    expected = 200 if size <= 16_384 else 431
    one = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-A: " + filler + b"\r\n\r\n"
    assert status_of(exchange(frontend, one)) == expected
    if expected == 431:
        assert status_of(exchange(frontend, one[:-4])) == 431
        many = b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"X-A: bcd\r\n" * (size // 10 + 1)
        assert status_of(exchange(frontend, many)) == 431


def test_address_above_the_bound_is_414(frontend: Frontend) -> None:
    """J103, J105: a query that long is refused as too long, whoever notices first."""
    request = b"GET /search?q=" + b"%E8%AA%9E" * 2_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"
    assert status_of(exchange(frontend, request)) == 414
    assert status_of(exchange(frontend, b"GET /search?q=" + b"a" * 40_000)) == 414


def test_body_above_4_mib_is_413_before_the_application(frontend: Frontend, daemon: FakeDaemon) -> None:
    """J105."""
    head = b"POST /api/crawl HTTP/1.1\r\nHost: x\r\n"
    assert status_of(exchange(frontend, head + b"Content-Length: 4194305\r\n\r\n")) == 413
    assert daemon.seen == []


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST /api/crawl HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /api/crawl HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
    ],
)
def test_malformed_request_is_400(frontend: Frontend, request_bytes: bytes) -> None:
    answer = exchange(frontend, request_bytes)
    assert status_of(answer) == 400
    assert b"connection: close" in answer


@pytest.mark.parametrize("chunk", [b"ZZ\r\n", b"-1\r\n", b"1\r\nab\r\n", b"FFFFFFFFFFFFFFFFF\r\n"])
def test_body_that_breaks_off_into_nonsense_is_400_at_once(frontend: Frontend, chunk: bytes) -> None:
    """J69: the application waits for a body that can never be complete; the connection must not be held for ever."""
    head = b"POST /api/crawl HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = exchange(frontend, head + chunk)
    assert status_of(answer) == 400
    assert answer.count(b"HTTP/1.1 ") == 1


def test_bad_request_behind_a_good_one_does_not_spoil_its_answer(frontend: Frontend) -> None:
    answer = exchange(frontend, b"GET /api/search?q=x HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n")
    assert status_of(answer) == 200
    assert answer.count(b"HTTP/1.1 ") == 1
    assert answer.endswith(b"}")


def test_requests_sent_ahead_are_answered_in_order_but_not_without_bound(frontend: Frontend) -> None:
    three = GET * 2 + b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    assert exchange(frontend, three).count(b"HTTP/1.1 200 OK") == 3
    assert exchange(frontend, GET * 2_000).count(b"HTTP/1.1 200 OK") < 50


def test_connections_of_one_address_are_bounded(shared_daemon: FakeDaemon) -> None:
    """J67."""
    settings = make_settings(shared_daemon.run_dir, max_connections_per_ip=3)
    with Frontend(settings) as frontend, contextlib.ExitStack() as stack:
        held = [stack.enter_context(frontend.connect()) for _ in range(3)]
        assert all(answers(connection) for connection in held)
        answer = exchange(frontend, GET)
        assert (status_of(answer), b"retry-after: 1" in answer) == (429, True)
        held[0].close()
        wait_for_status(frontend, 200)


def test_connections_in_all_are_bounded_with_a_reserve_for_this_machine(shared_daemon: FakeDaemon) -> None:
    """J66, F113: loopback may go over the total by four, so that health can be asked for."""
    settings = make_settings(shared_daemon.run_dir, max_connections=4, max_connections_per_ip=4_096)
    with Frontend(settings) as frontend, contextlib.ExitStack() as stack:
        held = [stack.enter_context(frontend.connect()) for _ in range(8)]
        assert all(answers(connection) for connection in held)
        assert status_of(exchange(frontend, GET)) == 503


def test_new_connections_of_one_address_are_bounded_in_a_second(shared_daemon: FakeDaemon) -> None:
    """J68."""
    settings = make_settings(shared_daemon.run_dir, accepts_per_second_per_ip=5)
    with Frontend(settings) as frontend:
        statuses = [
            status_of(exchange(frontend, GET.replace(b"x\r\n", b"x\r\nConnection: close\r\n"))) for _ in range(20)
        ]
    assert statuses[:5] == [200] * 5
    assert 429 in statuses


def test_trusted_proxy_speaks_for_many(run_dir: Path) -> None:
    """J67: limits for one address do not bind the proxy that everyone comes through."""
    from ipaddress import ip_network

    trusted = (ip_network("127.0.0.1/32"),)
    settings = make_settings(run_dir, max_connections_per_ip=1, accepts_per_second_per_ip=1, trusted_proxies=trusted)
    with FakeDaemon(run_dir), Frontend(settings) as frontend, contextlib.ExitStack() as stack:
        held = [stack.enter_context(frontend.connect()) for _ in range(10)]
        assert all(answers(connection) for connection in held)


def answers(connection: socket.socket) -> bool:
    connection.sendall(GET)
    return status_of(connection.recv(4_096)) == 200


def wait_for_status(frontend: Frontend, expected: int) -> None:
    deadline = time.monotonic() + 10
    while status_of(exchange(frontend, GET.replace(b"x\r\n", b"x\r\nConnection: close\r\n"))) != expected:
        assert time.monotonic() < deadline
