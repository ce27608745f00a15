"""serve's end of the channel to ingest."""

import asyncio
import socket
from collections.abc import Callable

from jird_daemon.control import Answer, Call, Cancel, Event, Heartbeat, Progress, Request, ViewChanged
from jird_daemon.control_frames import CALLS_MAX, EVENTS, Frames, decode
from jird_daemon.errors import NotReadyError, OverloadedError, error_from_name


class ControlClient:
    """serve's end. Lives in one event loop.

    Args:
        frames: From `connect`.
        on_event: Called in the loop with every ViewChanged and Heartbeat, in order; must not block.
    """

    def __init__(self, frames: Frames, on_event: Callable[[ViewChanged | Heartbeat], None]) -> None:
        self._frames = frames
        self._on_event = on_event
        self._calls: dict[int, tuple[asyncio.Future[Answer], Callable[[Progress], None] | None]] = {}
        self._last_id = 0
        self._is_open = True

    @classmethod
    async def connect(cls, sock: socket.socket, on_event: Callable[[ViewChanged | Heartbeat], None]) -> "ControlClient":
        """Speak through a connected stream socket, which then belongs to the client."""
        return cls(await Frames.over(sock), on_event)

    async def run(self) -> None:
        """Read until ingest is gone or breaks the framing (ChannelError); calls that wait then raise NotReadyError."""
        try:
            while (data := await self._frames.read()) is not None:
                self._take(decode(EVENTS, data))
        finally:
            self._is_open = False
            for future, _ in self._calls.values():
                if not future.done():
                    future.set_exception(NotReadyError("the ingest process is gone; it is being started again"))

    async def call(
        self, request: Request, *, timeout_s: float | None, progress: Callable[[Progress], None] | None = None
    ) -> Answer:
        """Ask, and wait for the answer.

        Args:
            request: What to do.
            timeout_s: None waits as long as ingest lives. After it, and when the caller is cancelled, ingest is told.
            progress: Called in the loop with every Progress before the answer.

        Raises:
            JirdError: As ingest raised it; NotReadyError when ingest goes away.
            TimeoutError: There was no answer in time.
        """
        if not self._is_open:
            raise NotReadyError("the ingest process is being started")
        if len(self._calls) >= CALLS_MAX:
            raise OverloadedError(f"{CALLS_MAX} commands are being worked on")
        self._last_id += 1
        call_id = self._last_id
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._calls[call_id] = (future, progress)
        try:
            self._frames.write(Call(call_id, request))
            async with asyncio.timeout(timeout_s):
                return await future
        except (asyncio.CancelledError, TimeoutError):
            self._frames.write(Cancel(call_id))
            raise
        finally:
            del self._calls[call_id]

    async def close(self) -> None:
        """Give the socket back; ingest sees the end of the channel."""
        self._is_open = False
        await self._frames.close()

    def _take(self, event: Event) -> None:
        if isinstance(event, ViewChanged | Heartbeat):
            self._on_event(event)
            return
        future, progress = self._calls.get(event.call_id, (None, None))
        if future is None or future.done():
            return  # the caller has given up
        if isinstance(event, Progress):
            if progress is not None:
                progress(event)
        elif event.fault is not None:
            future.set_exception(error_from_name(event.fault.kind, event.fault.message, event.fault.reason))
        else:
            future.set_result(event.answer or Answer())
