"""What a reader of a file finds in it, whatever the file's format."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from jird.v1.archive_service_pb2 import ImportDocument

# A document larger than this does not fit into a message to the daemon; pages are a thousandth of it.
BODY_BYTES_MAX = 16 * 1024 * 1024

# The kind of the line with which an export ends.
END = "end"


@dataclass(frozen=True, slots=True)
class Found:
    """One record or line of the file.

    Attributes:
        place: Where: "line 17", "record 3 at byte 2048".
        document: For the daemon; None when there is none.
        fault: What is wrong with it; "" when nothing is.
        passed_over: Why it is rightly left out, as a kind: "request", "status 301"; "" for a document or a fault.
    """

    place: str
    document: "ImportDocument | None" = None
    fault: str = ""
    passed_over: str = ""


class Reader(Protocol):
    """Reads a file of one format from its beginning, in bounded memory."""

    def __iter__(self) -> Iterator[Found]:
        """Give what is there, in order; what is broken becomes a fault, and the rest goes on where it can."""
        ...
