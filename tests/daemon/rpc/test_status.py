"""The table from exceptions to gRPC codes."""

import pytest
from grpc import StatusCode

from jird_daemon import errors
from jird_daemon.errors import JirdError, error_from_name
from jird_daemon.rpc.status import CODES, code_of, refusal_of


def all_kinds(root: type[JirdError] = JirdError) -> list[type[JirdError]]:
    return [root, *(kind for child in root.__subclasses__() for kind in all_kinds(child))]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.InvalidQueryError, StatusCode.INVALID_ARGUMENT),
        (errors.InvalidUrlError, StatusCode.INVALID_ARGUMENT),
        (errors.NotFoundError, StatusCode.NOT_FOUND),
        (errors.AlreadyExistsError, StatusCode.ALREADY_EXISTS),
        (errors.WrongStateError, StatusCode.FAILED_PRECONDITION),
        (errors.StoreFullError, StatusCode.RESOURCE_EXHAUSTED),
        (errors.OverloadedError, StatusCode.RESOURCE_EXHAUSTED),
        (errors.CorruptSegmentError, StatusCode.DATA_LOSS),
        (errors.FormatVersionError, StatusCode.DATA_LOSS),
        (errors.ShuttingDownError, StatusCode.UNAVAILABLE),
        (errors.NotReadyError, StatusCode.UNAVAILABLE),
        (errors.UnauthenticatedError, StatusCode.UNAUTHENTICATED),
        (errors.PermissionDeniedError, StatusCode.PERMISSION_DENIED),
    ],
)
def test_exception_has_its_code(kind: type[JirdError], code: StatusCode) -> None:
    assert code_of(kind("x")) is code


@pytest.mark.parametrize("kind", all_kinds())
def test_every_exception_has_a_code_and_a_reason_and_travels_by_name(kind: type[JirdError]) -> None:
    assert code_of(kind("x")) in CODES.values()
    again = error_from_name(kind.__name__, "what", "")
    assert type(again) is kind
    assert again.reason == kind.default_reason
    assert kind.__name__ in (errors.__doc__ or "")


def test_unknown_name_from_another_process_is_a_fault_of_ours() -> None:
    error = error_from_name("ZeroDivisionError", "division by zero", "")
    assert isinstance(error, errors.InternalError)


def test_caller_learns_reason_and_message_of_its_own_mistake() -> None:
    refusal = refusal_of(errors.InvalidUrlError("http://a.test/: scheme http", "URL_SCHEME"), is_public=True)
    assert refusal.message == "http://a.test/: scheme http"
    assert refusal.trailing == (("jird-reason", "URL_SCHEME"),)


@pytest.mark.parametrize(
    "error",
    [
        errors.StoreFullError("/var/lib/jird: no space"),
        errors.CorruptSegmentError("/var/lib/jird/index/a.qix: offset 8"),
        errors.InternalError("/var/lib/jird"),
        FileNotFoundError("/var/lib/jird/x"),
    ],
)
def test_public_caller_sees_no_path_and_no_exception_text(error: Exception) -> None:
    """J82, J86: neither paths nor exception text leave through search.sock; on admin.sock they help."""
    public, admin = refusal_of(error, is_public=True), refusal_of(error, is_public=False)
    assert "/var/lib" not in public.message
    assert "Error" not in public.message
    assert "/var/lib" in admin.message
    assert public.code is admin.code


def test_overload_comes_with_a_hint_when_to_come_back() -> None:
    refusal = refusal_of(errors.OverloadedError("busy", retry_after_s=1.5), is_public=True)
    assert ("jird-retry-after-ms", "1500") in refusal.trailing


def test_lost_patience_is_a_deadline() -> None:
    assert refusal_of(TimeoutError(), is_public=True).code is StatusCode.DEADLINE_EXCEEDED


def test_message_is_one_printable_line_of_bounded_length() -> None:
    refusal = refusal_of(errors.InvalidUrlError("a\r\nb" + "x" * 10_000), is_public=True)
    assert refusal.message.isprintable()
    assert len(refusal.message) == 1_000
