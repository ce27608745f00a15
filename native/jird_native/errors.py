"""What can go wrong with a segment, and the one place where a status from C becomes an exception.

JirdNativeError
|-- CorruptSegmentError      bytes of a segment are not what was written
|-- FormatVersionError       a QIX file of another format version
|-- SegmentLimitError        a named bound of builder or format was reached
`-- StoppedError             somebody stopped the merge

A broken condition of an argument is a ValueError, a failed system call an OSError.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from jird_native._qix import ffi, lib

if TYPE_CHECKING:
    from jird_native._qix import CData

FORMAT_VERSION: int = lib.QIX_FORMAT_VERSION
"""The QIX version that is written and read; native/qix/qix_format.h has the history."""


class JirdNativeError(Exception):
    """Whatever is wrong with a segment."""


class CorruptSegmentError(JirdNativeError):
    """A segment's bytes are not what was written; `offset` is in the file, `reason` says which rule is broken."""

    def __init__(self, path: Path, offset: int, reason: str) -> None:
        super().__init__(f"segment {path}: offset {offset}: {reason}")
        self.path = path
        self.offset = offset
        self.reason = reason


class FormatVersionError(JirdNativeError):
    """A QIX file that this version cannot read: `found` is its format version."""

    def __init__(self, path: Path, found: int) -> None:
        super().__init__(f"segment {path}: format version {found}, expected {FORMAT_VERSION}")
        self.path = path
        self.found = found
        self.expected = FORMAT_VERSION


class SegmentLimitError(JirdNativeError):
    """A builder or a list has grown to its bound; write the segment and go on with a new one."""


class StoppedError(JirdNativeError):
    """A merge was stopped by its MergeControl; nothing was written."""


def new_fault() -> "CData":
    """Room for what C says about a failure."""
    return ffi.new("qix_fault *")


def reason_of(fault: "CData") -> str:
    """The reason in a fault."""
    return ffi.string(fault.reason).decode()


def check(status: int, fault: "CData", path: Path) -> None:
    """Raise what `status` stands for, unless it is QIX_OK; `path` is the segment that was worked on."""
    if status == lib.QIX_OK:
        return
    reason = reason_of(fault)
    if status == lib.QIX_ERR_CORRUPT:
        raise CorruptSegmentError(path, fault.offset, reason)
    if status == lib.QIX_ERR_VERSION:
        raise FormatVersionError(path, fault.offset)
    if status == lib.QIX_ERR_IO:
        raise OSError(fault.offset, reason, str(path))
    if status == lib.QIX_ERR_MEMORY:
        raise MemoryError(reason)
    if status == lib.QIX_ERR_LIMIT:
        raise SegmentLimitError(reason)
    if status == lib.QIX_ERR_STOPPED:
        raise StoppedError(reason)
    raise ValueError(reason)
