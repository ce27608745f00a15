"""Every exception of the daemon, by whose fault it is.

    JirdError
    |-- CallerError                 the caller asked for something that cannot be
    |   |-- InvalidArgumentError
    |   |   |-- InvalidQueryError
    |   |   `-- InvalidUrlError
    |   |-- NotFoundError
    |   |-- AlreadyExistsError
    |   |-- UnauthenticatedError
    |   `-- PermissionDeniedError
    |-- StateError                  right question, wrong moment
    |   |-- WrongStateError
    |   |-- OverloadedError
    |   |-- StoreFullError
    |   |-- NotReadyError
    |   |-- ShuttingDownError
    |   |-- WorkCancelledError
    |   |-- StateLockedError
    |   |-- SocketInUseError
    |   `-- UnusableFolderError
    |-- DataError                   what we stored is not what we wrote
    |   |-- CorruptSegmentError
    |   |-- CorruptBlobError
    |   |-- CorruptManifestError
    |   |-- CorruptStoreError
    |   |-- FormatVersionError
    |   `-- SchemaVersionError
    |-- ParserFailedError           a page that its parse worker did not survive
    `-- InternalError               a promise of our own was broken

A page that cannot be fetched is none of these: it is an outcome in the crawl log. `reason` is for programs, in
UPPER_SNAKE; the message is for people, and says what was found and what was expected. rpc/status.py is the one table
from here to gRPC codes. A bad configuration is a `jird_settings.SettingsError`.
"""

from typing import ClassVar


class JirdError(Exception):
    """Root of the tree.

    Args:
        message: For a person. May name files and URLs; rpc/status.py decides who may read it.
        reason: For a program, in UPPER_SNAKE; empty means the class's own `default_reason`.
    """

    default_reason: ClassVar[str] = "INTERNAL"

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason or self.default_reason


class CallerError(JirdError):
    """The caller asked for something that cannot be; asking again changes nothing."""

    default_reason = "INVALID"


class InvalidArgumentError(CallerError):
    """A value is malformed or out of its range."""

    default_reason = "INVALID_ARGUMENT"


class InvalidQueryError(InvalidArgumentError):
    """A query is too long, not text, or breaks the syntax."""

    default_reason = "QUERY_SYNTAX"


class InvalidUrlError(InvalidArgumentError):
    """A URL is malformed or not allowed; the reason names the rule, e.g. URL_SCHEME, URL_PRIVATE_ADDRESS."""

    default_reason = "URL_MALFORMED"


class NotFoundError(CallerError):
    """The thing that was named does not exist."""

    default_reason = "NOT_FOUND"


class AlreadyExistsError(CallerError):
    """The thing to be made is there already."""

    default_reason = "ALREADY_EXISTS"


class UnauthenticatedError(CallerError):
    """The call needs the admin token, and came without it or with another one."""

    default_reason = "ADMIN_TOKEN_WRONG"


class PermissionDeniedError(CallerError):
    """The call is not allowed on this socket or by this configuration."""

    default_reason = "ADMIN_NOT_ALLOWED"


class StateError(JirdError):
    """The question is right, the moment is not."""

    default_reason = "WRONG_STATE"


class WrongStateError(StateError):
    """Something that runs, or is paused, forbids it, e.g. CRAWL_RUNNING, REBUILD_RUNNING."""


class OverloadedError(StateError):
    """A bound on concurrent work was met; `retry_after_s` is a hint when to come back."""

    default_reason = "OVERLOADED"

    def __init__(self, message: str, reason: str = "", retry_after_s: float = 1.0) -> None:
        super().__init__(message, reason)
        self.retry_after_s = retry_after_s


class StoreFullError(StateError):
    """The disk or the metadata map is full; what was committed before is safe."""

    default_reason = "STORE_FULL"


class NotReadyError(StateError):
    """The index is being opened or rebuilt, or the ingest process is being started."""

    default_reason = "NOT_READY"


class ShuttingDownError(StateError):
    """The daemon is stopping and takes nothing new."""

    default_reason = "SHUTTING_DOWN"


class WorkCancelledError(StateError):
    """Long work was given up because its caller no longer waits; what was in service before still is."""

    default_reason = "CANCELLED"


class StateLockedError(StateError):
    """Another process writes to the state directory; the message names its pid."""

    default_reason = "STATE_LOCKED"


class SocketInUseError(StateError):
    """Another process serves the socket."""

    default_reason = "SOCKET_IN_USE"


class UnusableFolderError(StateError):
    """A folder of the configuration cannot be made, read or written."""

    default_reason = "FOLDER_UNUSABLE"


class DataError(JirdError):
    """What we stored is not what we wrote, or was written by another release."""

    default_reason = "DATA_LOSS"


class CorruptSegmentError(DataError):
    """A segment of the index is damaged; it is taken out and the index rebuilt."""

    default_reason = "CORRUPT_SEGMENT"


class CorruptBlobError(DataError):
    """A stored body or text fails its checksum."""

    default_reason = "CORRUPT_BLOB"


class CorruptManifestError(DataError):
    """The manifest cannot be read or contradicts the files it names; the index is rebuilt."""

    default_reason = "CORRUPT_MANIFEST"


class CorruptStoreError(DataError):
    """The metadata is not all there, or cannot be opened at all."""

    default_reason = "CORRUPT_STORE"


class FormatVersionError(DataError):
    """A file has a format version that this release does not read."""

    default_reason = "FORMAT_VERSION"


class SchemaVersionError(DataError):
    """The metadata has a layout that this release does not read."""

    default_reason = "SCHEMA_VERSION"


class ParserFailedError(JirdError):
    """A parse worker crashed or overran on a page; the reason says which (CRASHED, TIMEOUT, MEMORY, PROTOCOL, ...)."""

    default_reason = "PARSER_FAILED"


class InternalError(JirdError):
    """A promise of our own was broken; the message is for the log alone."""


def error_from_name(kind: str, message: str, reason: str) -> JirdError:
    """Make the exception that another process of ours met.

    Args:
        kind: Class name in this module, as `type(error).__name__` gave it; any other name gives an InternalError.
        message: Its message.
        reason: Its reason code; empty for the default.
    """
    found = _BY_NAME.get(kind)
    if found is None:
        return InternalError(f"{kind}: {message}")
    return found(message, reason)


def _tree(root: type[JirdError]) -> dict[str, type[JirdError]]:
    names = {root.__name__: root}
    for child in root.__subclasses__():
        names.update(_tree(child))
    return names


_BY_NAME = _tree(JirdError)
