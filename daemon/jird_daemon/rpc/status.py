"""From an exception to what a caller gets: the one place where gRPC codes are chosen.

The trailing metadata `jird-reason` holds the reason for programs; `jird-retry-after-ms` a hint when to come back. On
search.sock the message is that of the exception only where it speaks of the caller's own request; anything else could
name a path, and gets a sentence of its code.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from grpc import StatusCode

from jird_daemon.errors import (
    AlreadyExistsError,
    CallerError,
    DataError,
    InternalError,
    InvalidArgumentError,
    JirdError,
    NotFoundError,
    NotReadyError,
    OverloadedError,
    ParserFailedError,
    PermissionDeniedError,
    ShuttingDownError,
    SocketInUseError,
    StateError,
    StateLockedError,
    StoreFullError,
    UnauthenticatedError,
    WorkCancelledError,
    WrongStateError,
)

REASON_KEY = "jird-reason"
RETRY_AFTER_KEY = "jird-retry-after-ms"
MESSAGE_CHARS_MAX = 1_000  # trailers count against the peer's bound on headers, 8 KiB by default

# The nearest class up the tree decides.
CODES: Mapping[type[JirdError], StatusCode] = {
    CallerError: StatusCode.INVALID_ARGUMENT,
    InvalidArgumentError: StatusCode.INVALID_ARGUMENT,  # and with it InvalidQueryError and InvalidUrlError
    NotFoundError: StatusCode.NOT_FOUND,
    AlreadyExistsError: StatusCode.ALREADY_EXISTS,
    UnauthenticatedError: StatusCode.UNAUTHENTICATED,
    PermissionDeniedError: StatusCode.PERMISSION_DENIED,
    StateError: StatusCode.FAILED_PRECONDITION,
    WrongStateError: StatusCode.FAILED_PRECONDITION,
    OverloadedError: StatusCode.RESOURCE_EXHAUSTED,
    StoreFullError: StatusCode.RESOURCE_EXHAUSTED,
    NotReadyError: StatusCode.UNAVAILABLE,
    ShuttingDownError: StatusCode.UNAVAILABLE,
    WorkCancelledError: StatusCode.CANCELLED,
    StateLockedError: StatusCode.FAILED_PRECONDITION,
    SocketInUseError: StatusCode.FAILED_PRECONDITION,
    DataError: StatusCode.DATA_LOSS,
    ParserFailedError: StatusCode.INTERNAL,
    InternalError: StatusCode.INTERNAL,
    JirdError: StatusCode.INTERNAL,
}

_SENTENCES: Mapping[StatusCode, str] = {
    StatusCode.FAILED_PRECONDITION: "this cannot be done in the present state",
    StatusCode.RESOURCE_EXHAUSTED: "a limit is reached; try again in a moment",
    StatusCode.UNAVAILABLE: "not ready; try again in a moment",
    StatusCode.CANCELLED: "given up",
    StatusCode.DATA_LOSS: "stored data is damaged; the operator's log says what",
    StatusCode.DEADLINE_EXCEEDED: "this took too long and was given up",
    StatusCode.INTERNAL: "a fault in jird; the operator's log says what",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a caller gets instead of an answer."""

    code: StatusCode
    message: str
    trailing: tuple[tuple[str, str], ...]


def code_of(error: JirdError) -> StatusCode:
    """The code of an exception: that of the nearest class in the table, going up the tree."""
    return next(CODES[kind] for kind in type(error).__mro__ if kind in CODES)


def refusal_of(error: BaseException, *, is_public: bool) -> Refusal:
    """Turn any exception into a refusal.

    Args:
        error: What was raised; anything but JirdError and TimeoutError is a fault of ours.
        is_public: The caller is on search.sock: no paths, no internals.
    """
    if isinstance(error, TimeoutError):
        code = StatusCode.DEADLINE_EXCEEDED
        return Refusal(code, _SENTENCES[code], ((REASON_KEY, "DEADLINE"),))
    if not isinstance(error, JirdError):
        text = "" if is_public else f": {type(error).__name__}: {error}"
        message = _SENTENCES[StatusCode.INTERNAL] + text
        return Refusal(StatusCode.INTERNAL, _plain(message), ((REASON_KEY, "INTERNAL"),))
    code = code_of(error)
    trailing = [(REASON_KEY, error.reason)]
    if isinstance(error, OverloadedError):
        trailing.append((RETRY_AFTER_KEY, str(int(error.retry_after_s * 1000))))
    is_own = isinstance(error, CallerError) or not is_public
    return Refusal(code, _plain(error.message if is_own else _SENTENCES[code]), tuple(trailing))


def _plain(message: str) -> str:
    """Cut, and without control characters: messages quote what strangers sent."""
    text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in message)
    return text if len(text) <= MESSAGE_CHARS_MAX else text[: MESSAGE_CHARS_MAX - 3] + "..."
