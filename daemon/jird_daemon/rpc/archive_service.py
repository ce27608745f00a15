"""ArchiveService: documents that come from files, and pages that leave for files."""

import asyncio
from collections.abc import AsyncIterator

from jird.v1 import archive_service_pb2 as archive_pb
from jird.v1 import archive_service_pb2_grpc as archive_grpc
from jird_daemon.control import ImportDocuments, ImportedDocument
from jird_daemon.errors import InvalidArgumentError
from jird_daemon.rpc.backend import Backend
from jird_daemon.rpc.exported import Exporter
from jird_daemon.rpc.gate import Context
from jird_daemon.url.canonical import HOST_CHARS_MAX

# A batch whose every page takes the parser as long as it may.
IMPORT_TIMEOUT_S = 600.0
# How often the view is looked at while a batch is waited for; it comes within a second.
_LOOK_INTERVAL_S = 0.02


class ArchiveService(archive_grpc.ArchiveServiceServicer):
    """See archive_service.proto."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def ImportDocuments(
        self, request: archive_pb.ImportDocumentsRequest, context: Context
    ) -> archive_pb.ImportDocumentsResponse:
        """Parse and store a batch."""
        batch = ImportDocuments(tuple(map(_document, request.documents)))
        answer = await self._backend.ingest.call(batch, timeout_s=IMPORT_TIMEOUT_S)
        if request.wait_searchable:
            await self._until_searchable(answer.generation)
        results = [
            archive_pb.ImportResult(outcome=int(each.outcome), message=each.message)  # type: ignore[arg-type]
            for each in answer.imported
        ]
        return archive_pb.ImportDocumentsResponse(results=results, generation=answer.generation)

    async def ExportPages(
        self, request: archive_pb.ExportPagesRequest, context: Context
    ) -> AsyncIterator[archive_pb.ExportPagesResponse]:
        """Stream pages, block by block."""
        if len(request.host) > HOST_CHARS_MAX:
            raise InvalidArgumentError(f"host has {len(request.host)} characters, at most {HOST_CHARS_MAX}")
        exporter = Exporter(request)
        while not exporter.is_done:
            yield await self._backend.read(exporter.next_block)

    async def _until_searchable(self, generation: int) -> None:
        async with asyncio.timeout(IMPORT_TIMEOUT_S):
            while (view := self._backend.searcher.view) is None or view.generation < generation:  # noqa: ASYNC110
                await asyncio.sleep(_LOOK_INTERVAL_S)


def _document(message: archive_pb.ImportDocument) -> ImportedDocument:
    return ImportedDocument(
        message.url,
        message.body,
        message.content_type,
        message.title,
        message.language,
        _seconds(message, "published_time"),
        _seconds(message, "fetch_time"),
        tuple(message.robots_headers),
        tuple(message.link_headers),
        message.etag,
        message.last_modified,
        message.is_gone,
        message.same_as_url,
    )


def _seconds(message: archive_pb.ImportDocument, field: str) -> float | None:
    if not message.HasField(field):
        return None
    time = getattr(message, field)
    return float(time.seconds + time.nanos / 1e9)
