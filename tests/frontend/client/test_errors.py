"""Codes and reasons of a real server come back as the exceptions that stand for them."""

import itertools
import threading

import grpc
import pytest

from jird.v1.search_service_pb2 import SearchRequest
from jird_client import errors
from jird_client.channel import Client
from testkit.fake_daemon import FakeDaemon, Fault


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (grpc.StatusCode.INVALID_ARGUMENT, errors.InvalidRequestError),
        (grpc.StatusCode.NOT_FOUND, errors.NotFoundError),
        (grpc.StatusCode.ALREADY_EXISTS, errors.ConflictError),
        (grpc.StatusCode.FAILED_PRECONDITION, errors.ConflictError),
        (grpc.StatusCode.UNAUTHENTICATED, errors.UnauthenticatedError),
        (grpc.StatusCode.PERMISSION_DENIED, errors.ForbiddenError),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, errors.OverloadedError),
        (grpc.StatusCode.DATA_LOSS, errors.DamagedDataError),
        (grpc.StatusCode.UNAVAILABLE, errors.NotReadyError),
        (grpc.StatusCode.INTERNAL, errors.DaemonFaultError),
    ],
)
def test_code_reason_and_message_survive_the_way_back(
    daemon: FakeDaemon, code: grpc.StatusCode, expected: type[errors.ClientError]
) -> None:
    daemon.faults["Search"] = Fault(code, "SOME_REASON", "what went wrong")
    seconds = itertools.count(step=10)  # the clock of a client that would wait for one that is not ready
    with (
        Client(daemon.run_dir / "search.sock", lambda: float(next(seconds)), lambda _: None) as client,
        pytest.raises(expected) as caught,
    ):
        client.call(client.stubs.search.Search, SearchRequest(query="x"))
    assert (caught.value.reason, caught.value.message) == ("SOME_REASON", "what went wrong")


def test_without_a_reason_the_code_stands_in(daemon: FakeDaemon) -> None:
    daemon.faults["Search"] = Fault(grpc.StatusCode.INTERNAL)
    with Client(daemon.run_dir / "search.sock") as client, pytest.raises(errors.DaemonFaultError) as caught:
        client.call(client.stubs.search.Search, SearchRequest(query="x"))
    assert caught.value.reason == "INTERNAL"


def test_transport_failure_names_no_socket_internals(daemon: FakeDaemon) -> None:
    with Client(daemon.run_dir / "search.sock") as client:
        daemon.stop()
        with pytest.raises(errors.DaemonUnreachableError) as caught:
            client.call(client.stubs.search.Search, SearchRequest(query="x"))
    assert caught.value.message == "the jird daemon cannot be reached"


def test_deadline_of_a_call_is_kept(daemon: FakeDaemon) -> None:
    daemon.gate = threading.Event()
    with Client(daemon.run_dir / "search.sock") as client, pytest.raises(errors.DeadlineError):
        client.call(client.stubs.search.Search, SearchRequest(query="x"), timeout_s=0.1)
