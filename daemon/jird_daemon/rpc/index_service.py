"""IndexService: maintenance of index and content, which is ingest's work, told here step by step; and explanations."""

import asyncio
from collections.abc import AsyncIterator

from jird.v1 import index_service_pb2 as index_pb
from jird.v1 import index_service_pb2_grpc as index_grpc
from jird_daemon.control import (
    Answer,
    Checkpoint,
    CollectGarbage,
    Compact,
    Progress,
    Rebuild,
    Request,
    StartReindex,
    StopReindex,
    Verify,
    View,
)
from jird_daemon.crawler.reindex import read_state
from jird_daemon.errors import CorruptSegmentError, InternalError, NotFoundError
from jird_daemon.rpc.backend import Backend
from jird_daemon.rpc.convert import timestamp
from jird_daemon.rpc.explain_query import explain_query
from jird_daemon.rpc.gate import Context
from jird_daemon.store.pages import DOCUMENT_COUNT, INDEX_GENERATION
from jird_daemon.store.txn import Txn

CHECKPOINT_TIMEOUT_S = 300.0  # a slow disk syncs a gigabyte
REINDEX_TIMEOUT_S = 60.0  # a batch is finished first
GARBAGE_TIMEOUT_S = 3_600.0  # volumes are rewritten


class IndexService(index_grpc.IndexServiceServicer):
    """See index_service.proto."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def Checkpoint(self, request: index_pb.CheckpointRequest, context: Context) -> index_pb.IndexState:
        """Make all that is searchable durable."""
        return await self._state(await self._backend.ingest.call(Checkpoint(), timeout_s=CHECKPOINT_TIMEOUT_S))

    async def Compact(
        self, request: index_pb.CompactRequest, context: Context
    ) -> AsyncIterator[index_pb.IndexProgress]:
        """Rewrite all segments into one."""
        async for step in self._work(Compact()):
            yield step

    async def Verify(self, request: index_pb.VerifyRequest, context: Context) -> AsyncIterator[index_pb.IndexProgress]:
        """Read every byte of every segment."""
        faults = 0
        async for step in self._work(Verify()):
            faults = len(step.faults)
            yield step
        if faults:
            raise CorruptSegmentError(f"{faults} faults were found")

    async def Rebuild(
        self, request: index_pb.RebuildRequest, context: Context
    ) -> AsyncIterator[index_pb.IndexProgress]:
        """Derive the index again."""
        async for step in self._work(Rebuild()):
            yield step

    async def CollectGarbage(
        self, request: index_pb.CollectGarbageRequest, context: Context
    ) -> index_pb.CollectGarbageResponse:
        """Remove content that no page refers to."""
        answer = await self._backend.ingest.call(CollectGarbage(), timeout_s=GARBAGE_TIMEOUT_S)
        if answer.garbage is None:
            raise InternalError("ingest collected garbage and gave no report")
        self._backend.store.forget_removed_volumes()
        return index_pb.CollectGarbageResponse(blob_count=answer.garbage.blobs, freed_bytes=answer.garbage.freed_bytes)

    async def StartReindex(self, request: index_pb.StartReindexRequest, context: Context) -> index_pb.Reindex:
        """Parse the stored bytes again, in the background."""
        since_s = request.since_time.seconds + request.since_time.nanos / 1e9
        await self._backend.ingest.call(StartReindex(request.host.lower(), since_s), timeout_s=REINDEX_TIMEOUT_S)
        return await self._backend.read(_reindex)

    async def GetReindex(self, request: index_pb.GetReindexRequest, context: Context) -> index_pb.Reindex:
        """Say where the latest one stands."""
        return await self._backend.read(_reindex)

    async def StopReindex(self, request: index_pb.StopReindexRequest, context: Context) -> index_pb.Reindex:
        """End it."""
        await self._backend.ingest.call(StopReindex(), timeout_s=REINDEX_TIMEOUT_S)
        return await self._backend.read(_reindex)

    async def ExplainQuery(
        self, request: index_pb.ExplainQueryRequest, context: Context
    ) -> index_pb.ExplainQueryResponse:
        """Search, and say how."""
        return await explain_query(self._backend, request)

    async def _work(self, request: Request) -> AsyncIterator[index_pb.IndexProgress]:
        """Stream the progress of long work, then its end. A caller that goes away ends the work at its next step."""
        steps: asyncio.Queue[Progress | None] = asyncio.Queue()
        call = asyncio.create_task(self._backend.ingest.call(request, timeout_s=None, progress=steps.put_nowait))
        call.add_done_callback(lambda _: steps.put_nowait(None))
        last = Progress(0, "", 0)
        try:
            while (step := await steps.get()) is not None:
                last = step
                yield index_pb.IndexProgress(stage=step.stage, done_count=step.done, total_count=step.total)
            answer = call.result()
        finally:
            call.cancel()
        yield index_pb.IndexProgress(
            stage=last.stage or "done",
            done_count=last.done,
            total_count=last.total,
            done=True,
            faults=answer.faults,
            state=await self._state(answer),
        )

    async def _state(self, answer: Answer) -> index_pb.IndexState:
        view = answer.view or self._backend.searcher.view or View(0, 0, 0)
        generation, documents = await self._backend.read(
            lambda txn: (txn.number(INDEX_GENERATION), txn.number(DOCUMENT_COUNT))
        )
        return index_pb.IndexState(
            generation=generation,
            checkpoint_generation=view.checkpoint_generation,
            segment_count=len(view.segments),
            document_count=documents,
        )


def _reindex(txn: Txn) -> index_pb.Reindex:
    state = read_state(txn)
    if state is None:
        raise NotFoundError("no stored pages were parsed again yet", "REINDEX_UNKNOWN")
    return index_pb.Reindex(
        host=state.host,
        start_time=timestamp(state.start_time_s),
        end_time=timestamp(state.end_time_s),
        is_stopped=state.is_stopped,
        total_count=state.total,
        done_count=state.looked_at,
        derived_count=state.derived,
        changed_count=state.changed,
        failed_count=state.failed,
        skipped_count=state.skipped,
    )
