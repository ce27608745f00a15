"""ingest's end of the channel: calls in, answers, progress, views and heartbeats out."""

import asyncio
import socket
import time
from collections.abc import Callable
from typing import Protocol

from jird_daemon.control import (
    AcknowledgeView,
    Answer,
    Call,
    Cancel,
    Checkpoint,
    CollectGarbage,
    Compact,
    Fault,
    Heartbeat,
    ImportDocuments,
    ProbeParsers,
    Progress,
    PruneLog,
    Rebuild,
    Reload,
    Reply,
    ReportDamage,
    Request,
    Shutdown,
    StartCrawl,
    StartReindex,
    StopCrawl,
    StopReindex,
    Verify,
    View,
    ViewChanged,
)
from jird_daemon.control_frames import CALLS_MAX, MESSAGES, Frames, decode
from jird_daemon.errors import InternalError, JirdError, OverloadedError, WorkCancelledError
from jird_daemon.log import get_logger

PROGRESS_INTERVAL_S = 0.1  # a person sees no faster

ProgressCallback = Callable[[str, int, int], None]
"""Report (stage, done, total; 0: not known). From any thread. Raises WorkCancelledError when nobody waits any more."""

_log = get_logger("control")


class ControlHandler(Protocol):
    """What ingest can be asked; each method may raise any JirdError, which reaches the caller as itself."""

    async def start_crawl(self, request: StartCrawl) -> Answer:
        """Make or resume a run."""
        ...

    async def stop_crawl(self, request: StopCrawl) -> Answer:
        """Pause runs."""
        ...

    async def checkpoint(self, request: Checkpoint) -> Answer:
        """Make the view durable."""
        ...

    async def compact(self, request: Compact, progress: ProgressCallback) -> Answer:
        """Rewrite all segments into one."""
        ...

    async def verify(self, request: Verify, progress: ProgressCallback) -> Answer:
        """Read every byte of every segment."""
        ...

    async def rebuild(self, request: Rebuild, progress: ProgressCallback) -> Answer:
        """Derive the index again."""
        ...

    async def collect_garbage(self, request: CollectGarbage) -> Answer:
        """Remove unreferenced blobs."""
        ...

    async def prune_log(self, request: PruneLog, progress: ProgressCallback) -> Answer:
        """Forget old entries of the crawl log, or count them."""
        ...

    async def start_reindex(self, request: StartReindex) -> Answer:
        """Parse the stored bytes again, in the background."""
        ...

    async def stop_reindex(self, request: StopReindex) -> Answer:
        """End that work."""
        ...

    async def import_documents(self, request: ImportDocuments) -> Answer:
        """Parse and store a batch of documents."""
        ...

    async def probe_parsers(self, request: ProbeParsers) -> Answer:
        """Run the probes on a parse worker."""
        ...

    async def acknowledge_view(self, request: AcknowledgeView) -> Answer:
        """Let the files of older views go."""
        ...

    async def report_damage(self, request: ReportDamage) -> Answer:
        """Take a damaged segment out and derive its documents again."""
        ...

    async def reload(self, request: Reload) -> Answer:
        """Read the configuration again."""
        ...

    async def shutdown(self, request: Shutdown) -> Answer:
        """Stop the crawl, checkpoint, close; faults hold what failed."""
        ...


class ControlServer:
    """ingest's end. Lives in one event loop; `publish_view` may be called from any thread.

    Args:
        frames: From `connect`.
        handler: Does the work; calls run at the same time.
    """

    def __init__(self, frames: Frames, handler: ControlHandler) -> None:
        self._frames = frames
        self._handler = handler
        self._loop = asyncio.get_running_loop()
        self._calls: dict[int, tuple[asyncio.Task[None], _Reporter]] = {}

    @classmethod
    async def connect(cls, sock: socket.socket, handler: ControlHandler) -> "ControlServer":
        """Speak through a connected stream socket, which then belongs to the server."""
        return cls(await Frames.over(sock), handler)

    async def run(self) -> None:
        """Answer calls until serve is gone, or breaks the framing (ChannelError). ingest must then stop.

        Work that was begun goes on to its end: a cancelled commit would close the writer (F101).
        """
        while (data := await self._frames.read()) is not None:
            message = decode(MESSAGES, data)
            if isinstance(message, Cancel):
                if message.call_id in self._calls:
                    self._calls[message.call_id][1].is_cancelled = True
            else:
                self._begin(message)

    def publish_view(self, view: View) -> None:
        """Tell serve of a new view. From any thread, in order."""
        self._loop.call_soon_threadsafe(self._frames.write, ViewChanged(view))

    def send_heartbeat(self, heartbeat: Heartbeat) -> None:
        """Show that the crawl loop goes round. In the loop only; left out while serve is not reading."""
        if not self._frames.is_backed_up:
            self._frames.write(heartbeat)

    async def close(self) -> None:
        """Let answers out, and give the socket back."""
        if tasks := [task for task, _ in self._calls.values() if task is not asyncio.current_task()]:
            await asyncio.wait(tasks)
        await self._frames.flush()
        await self._frames.close()

    def _begin(self, call: Call) -> None:
        if len(self._calls) >= CALLS_MAX:
            fault = Fault(OverloadedError.__name__, f"{CALLS_MAX} commands are being worked on")
            self._frames.write(Reply(call.call_id, fault=fault))
            return
        reporter = _Reporter(call.call_id, self._loop, self._frames)
        task = self._loop.create_task(self._answer(call, reporter))
        self._calls[call.call_id] = (task, reporter)
        task.add_done_callback(lambda _: self._calls.pop(call.call_id))

    async def _answer(self, call: Call, reporter: "_Reporter") -> None:
        try:
            reply = Reply(call.call_id, answer=await self._dispatch(call.request, reporter))
        except JirdError as error:
            reply = Reply(call.call_id, fault=Fault(type(error).__name__, error.message, error.reason))
        except Exception as error:  # a fault of one command must not end the crawl
            _log.error("command.failed", command=type(call.request).__name__, exc_info=True)
            reply = Reply(call.call_id, fault=Fault(InternalError.__name__, f"{type(error).__name__}: {error}"))
        await asyncio.sleep(0)  # progress that is scheduled goes first
        self._frames.write(reply)

    async def _dispatch(self, request: Request, reporter: "_Reporter") -> Answer:  # noqa: C901 - one line a request
        handler = self._handler
        match request:
            case StartCrawl():
                return await handler.start_crawl(request)
            case StopCrawl():
                return await handler.stop_crawl(request)
            case Checkpoint():
                return await handler.checkpoint(request)
            case Compact():
                return await handler.compact(request, reporter)
            case Verify():
                return await handler.verify(request, reporter)
            case Rebuild():
                return await handler.rebuild(request, reporter)
            case CollectGarbage():
                return await handler.collect_garbage(request)
            case PruneLog():
                return await handler.prune_log(request, reporter)
            case StartReindex():
                return await handler.start_reindex(request)
            case StopReindex():
                return await handler.stop_reindex(request)
            case ImportDocuments():
                return await handler.import_documents(request)
            case ProbeParsers():
                return await handler.probe_parsers(request)
            case AcknowledgeView():
                return await handler.acknowledge_view(request)
            case ReportDamage():
                return await handler.report_damage(request)
            case Reload():
                return await handler.reload(request)
            case Shutdown():
                return await handler.shutdown(request)


class _Reporter:
    """The progress callback of one call; from any thread."""

    def __init__(self, call_id: int, loop: asyncio.AbstractEventLoop, frames: Frames) -> None:
        self.is_cancelled = False
        self._call_id = call_id
        self._loop = loop
        self._frames = frames
        self._stage = ""
        self._next_s = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self.is_cancelled:
            raise WorkCancelledError(f"{stage}: nobody waits for it any more")
        now_s = time.monotonic()
        if stage == self._stage and now_s < self._next_s and (done < total or total == 0):
            return
        self._stage, self._next_s = stage, now_s + PROGRESS_INTERVAL_S
        self._loop.call_soon_threadsafe(self._send, Progress(self._call_id, stage, done, total))

    def _send(self, progress: Progress) -> None:
        if not self._frames.is_backed_up:
            self._frames.write(progress)
