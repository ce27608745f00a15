"""Sending documents to the daemon: in batches, two on their way at a time, so that neither side waits for the other."""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jird.v1.archive_service_pb2 import (
    ImportDocumentsRequest,
    ImportDocumentsResponse,
    ImportOutcome,
)
from jird_cli.archive.found import Found

if TYPE_CHECKING:
    from jird_client.channel import Client

# A batch is sent when it has so many documents or bytes: large enough that its commit costs little, small enough that
# the daemon's memory does not feel it.
BATCH_DOCUMENTS = 400
BATCH_BYTES = 4 * 1024 * 1024
IN_FLIGHT = 2
# What a document costs beside its body.
_OVERHEAD_BYTES = 500
TIMEOUT_S = 600.0
# Outcomes that mean that something is wrong with the document, and not that there is nothing to do.
_FAULTS = frozenset({ImportOutcome.IMPORT_OUTCOME_REFUSED, ImportOutcome.IMPORT_OUTCOME_FAILED})
_PREFIX = "IMPORT_OUTCOME_"

OnFault = Callable[[str, str], None]
"""Called with a place and a reason."""


@dataclass(slots=True)
class Tally:
    """What became of everything so far."""

    documents: int = 0  # sent and answered
    outcomes: Counter[str] = field(default_factory=Counter)  # stored, unchanged, ...
    reasons: Counter[str] = field(default_factory=Counter)  # why some were not read or are not found
    passed_over: Counter[str] = field(default_factory=Counter)  # records that are no documents, by kind
    faults: int = 0
    generation: int = 0


@dataclass(slots=True)
class _Batch:
    found: list[Found] = field(default_factory=list)
    urls: set[str] = field(default_factory=set)
    size: int = 0


class BatchSender:
    """Sends what it is given, in order where order matters: a URL is never in two batches that are on their way."""

    def __init__(self, client: "Client", tally: Tally, on_fault: OnFault) -> None:
        """Take the daemon, and where results go."""
        self._client = client
        self._tally = tally
        self._on_fault = on_fault
        self._batch = _Batch()
        self._in_flight: deque[tuple[_Batch, Callable[[], ImportDocumentsResponse]]] = deque()

    def add(self, found: Found) -> None:
        """Take one thing found in the file.

        Raises:
            ClientError: A batch could not be imported.
        """
        if found.document is None:
            self._note(found)
            return
        document = found.document
        urls = {_key(document.url), _key(document.same_as_url)} - {""}
        if document.same_as_url and _key(document.same_as_url) in self._batch.urls:
            self._send()
        if any(not urls.isdisjoint(batch.urls) for batch, _ in self._in_flight):
            self._take_answers(0)
        size = len(document.body) + _OVERHEAD_BYTES
        if self._batch.size + size > BATCH_BYTES or len(self._batch.found) == BATCH_DOCUMENTS:
            self._send()
        self._batch.found.append(found)
        self._batch.urls |= urls
        self._batch.size += size

    def finish(self) -> None:
        """Send the rest, and wait until everything can be found."""
        self._send(is_last=True)
        self._take_answers(0)

    def _note(self, found: Found) -> None:
        if found.fault:
            self._tally.faults += 1
            self._on_fault(found.place, found.fault)
        elif found.passed_over:
            self._tally.passed_over[found.passed_over] += 1

    def _send(self, *, is_last: bool = False) -> None:
        if not self._batch.found and not is_last:
            return
        # The last one is answered when all before it can be found, too, so it has to come behind them.
        self._take_answers(0 if is_last else IN_FLIGHT - 1)
        documents = [found.document for found in self._batch.found if found.document is not None]
        request = ImportDocumentsRequest(documents=documents, wait_searchable=is_last)
        answer = self._client.begin(self._client.stubs.archive.ImportDocuments, request, TIMEOUT_S)
        self._in_flight.append((self._batch, answer))
        self._batch = _Batch()

    def _take_answers(self, left: int) -> None:
        """Wait until so many batches are left on their way."""
        while len(self._in_flight) > left:
            batch, answer = self._in_flight.popleft()
            response = answer()
            self._tally.generation = response.generation
            for found, result in zip(batch.found, response.results, strict=True):
                self._tally.documents += 1
                self._tally.outcomes[ImportOutcome.Name(result.outcome).removeprefix(_PREFIX).lower()] += 1
                if result.outcome in _FAULTS:
                    assert found.document is not None
                    self._tally.faults += 1
                    self._on_fault(found.place, f"{found.document.url[:200]}: {result.message}")
                elif result.message:
                    self._tally.reasons[result.message[:100]] += 1


def _key(url: str) -> str:
    return url.partition("#")[0]
