"""From a gRPC status to an exception: the way back of the daemon's `rpc/status.py`.

    ClientError
      DaemonUnreachableError   no daemon answers on the socket
      NotReadyError            UNAVAILABLE with a reason: the daemon opens or rebuilds its index, or is stopping
      DeadlineError            it answers too slowly
      InvalidRequestError      INVALID_ARGUMENT, OUT_OF_RANGE
      NotFoundError            NOT_FOUND
      ConflictError            ALREADY_EXISTS, FAILED_PRECONDITION, ABORTED
      UnauthenticatedError     UNAUTHENTICATED
      ForbiddenError           PERMISSION_DENIED, UNIMPLEMENTED
      OverloadedError          RESOURCE_EXHAUSTED
      DamagedDataError         DATA_LOSS
      DaemonFaultError         everything else: a fault of the daemon's

A server puts a reason for programs into the trailing metadata `jird-reason` (upper snake case, e.g. QUERY_TOO_LONG);
where there is none, the name of the status code stands in. `jird-retry-after-ms` is a hint when to come back.
"""

import re
from typing import Any

import grpc

REASON_KEY = "jird-reason"
RETRY_AFTER_KEY = "jird-retry-after-ms"

# Longest message that is shown to a person; servers keep theirs far below.
MESSAGE_CHARS_MAX = 2_000

_REASON = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_MILLIS = re.compile(r"[0-9]{1,9}")


class ClientError(Exception):
    """A call that did not succeed.

    Attributes:
        message: What went wrong, in a sentence for people.
        reason: The same for programs, upper snake case.
        retry_after_s: When the daemon thinks that another try may succeed; 0 when it did not say.
    """

    def __init__(self, message: str, reason: str, retry_after_s: float = 0.0) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.retry_after_s = retry_after_s


class DaemonUnreachableError(ClientError):
    """No daemon answers on the socket."""


class NotReadyError(ClientError):
    """The daemon answers, but cannot serve this just now."""


class DeadlineError(ClientError):
    """The daemon did not answer within the call's deadline."""


class InvalidRequestError(ClientError):
    """The caller asked for something that cannot be."""


class NotFoundError(ClientError):
    """What was named does not exist."""


class ConflictError(ClientError):
    """The daemon is in a state in which this cannot be done now."""


class UnauthenticatedError(ClientError):
    """The call needs a token, or the token is wrong."""


class ForbiddenError(ClientError):
    """The call is not allowed on this socket, or admin is off."""


class OverloadedError(ClientError):
    """A limit was met or the state is full; the same call may succeed later."""


class DamagedDataError(ClientError):
    """Stored data is damaged, or of a version that this release cannot read."""


class DaemonFaultError(ClientError):
    """The daemon failed in a way that it has no code for."""


_BY_CODE: dict[grpc.StatusCode, type[ClientError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequestError,
    grpc.StatusCode.OUT_OF_RANGE: InvalidRequestError,
    grpc.StatusCode.NOT_FOUND: NotFoundError,
    grpc.StatusCode.ALREADY_EXISTS: ConflictError,
    grpc.StatusCode.FAILED_PRECONDITION: ConflictError,
    grpc.StatusCode.ABORTED: ConflictError,
    grpc.StatusCode.UNAUTHENTICATED: UnauthenticatedError,
    grpc.StatusCode.PERMISSION_DENIED: ForbiddenError,
    grpc.StatusCode.UNIMPLEMENTED: ForbiddenError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: OverloadedError,
    grpc.StatusCode.DATA_LOSS: DamagedDataError,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineError,
    grpc.StatusCode.UNAVAILABLE: DaemonUnreachableError,
}

# What gRPC itself says on UNAVAILABLE names sockets and errnos for its own developers; people get these instead.
_TRANSPORT_MESSAGES = {
    grpc.StatusCode.UNAVAILABLE: "the jird daemon cannot be reached",
    grpc.StatusCode.DEADLINE_EXCEEDED: "the jird daemon did not answer in time",
}


def from_rpc_error(error: Any) -> ClientError:
    """Return the exception for a failed call.

    Args:
        error: What a stub raised; synchronous and grpc.aio errors alike.
    """
    code = error.code() if hasattr(error, "code") else None
    if not isinstance(code, grpc.StatusCode):
        return DaemonFaultError(str(error)[:MESSAGE_CHARS_MAX], "UNKNOWN")
    trailing = {key: str(value) for key, value in error.trailing_metadata() or ()}
    reason = trailing.get(REASON_KEY, "")
    reason = reason if _REASON.fullmatch(reason) else ""
    hint = trailing.get(RETRY_AFTER_KEY, "")
    retry_after_s = int(hint) / 1_000 if _MILLIS.fullmatch(hint) else 0.0
    details = (error.details() or "")[:MESSAGE_CHARS_MAX]
    kind = _BY_CODE.get(code, DaemonFaultError)
    if not reason:
        details = _TRANSPORT_MESSAGES.get(code, details)
    elif code is grpc.StatusCode.UNAVAILABLE:
        kind = NotReadyError
    return kind(details or code.name.lower().replace("_", " "), reason or code.name, retry_after_s)
