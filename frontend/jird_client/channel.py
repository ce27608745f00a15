"""Channels to the daemon's sockets: limits on both sides, quick reconnects, and the stubs of all services.

Every call has a deadline, taken from the tables here, so that no caller forgets it. Streams of long work (compaction,
watching a run) have none in the whole; they end with the work, and the caller cancels them by leaving the loop.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import grpc
import grpc.aio

from jird.v1 import (
    archive_service_pb2_grpc,
    crawl_service_pb2_grpc,
    index_service_pb2_grpc,
    search_service_pb2_grpc,
    status_service_pb2_grpc,
)
from jird_client.errors import ClientError, DaemonUnreachableError, NotReadyError, from_rpc_error
from jird_client.sockets import check_path_length

Response = TypeVar("Response")
Metadata = Sequence[tuple[str, str]]

# F123: the largest answer is a block of exported pages, which one page with its bytes (at most 64 MiB) and its text of
# 2,097,152 characters of up to 4 bytes may end; the largest request is a document of 16 MiB.
RECEIVE_BYTES_MAX = 96 * 1024 * 1024
SEND_BYTES_MAX = 20 * 1024 * 1024

# Ordinary calls answer in milliseconds; the deadline is what a person waits for before an error is kinder.
CALL_TIMEOUT_S = 10.0
# A search that takes longer has lost its reader; SearXNG gives up after three seconds.
SEARCH_TIMEOUT_S = 5.0
# StopCrawl joins requests in flight, checkpoints sync files, collection reads every page record.
WORK_TIMEOUT_S = 600.0

# For so long after the daemon last answered, a lost connection is taken for a restart and waited for.
RESTART_GRACE_S = 30.0
RESTART_WAIT_S = 3.0

# A person who starts a crawl right after the service need not know that its writer takes a moment more, or is being
# replaced; the daemon starts it again within a second, unless it keeps failing.
READY_WAIT_S = 15.0
READY_RETRY_S = 0.2

# With gRPC's default back-off a client needs seconds to notice that the daemon is back; a local socket costs nothing
# to try (measured after an outage of 6 s: 3.8 s with the defaults, 0.1 s with these).
_OPTIONS: list[tuple[str, Any]] = [
    ("grpc.max_receive_message_length", RECEIVE_BYTES_MAX),
    ("grpc.max_send_message_length", SEND_BYTES_MAX),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 500),
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),
]


@dataclass(slots=True)
class Stubs:
    """The services of one channel, of synchronous or of grpc.aio stubs."""

    search: Any
    crawl: Any
    index: Any
    status: Any
    archive: Any

    @classmethod
    def of(cls, channel: Any) -> Self:
        """Make the stubs of a channel."""
        return cls(
            search_service_pb2_grpc.SearchServiceStub(channel),
            crawl_service_pb2_grpc.CrawlServiceStub(channel),
            index_service_pb2_grpc.IndexServiceStub(channel),
            status_service_pb2_grpc.StatusServiceStub(channel),
            archive_service_pb2_grpc.ArchiveServiceStub(channel),
        )


class Client:
    """A synchronous client, for programs that run once. Not for use from several threads.

    Args:
        socket_path: The socket.
        clock: Monotonic seconds.
        sleep: Waits for so many seconds.
    """

    def __init__(
        self,
        socket_path: Path,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        check_path_length(socket_path)
        self._clock = clock
        self._sleep = sleep
        self._channel = grpc.insecure_channel(f"unix:{socket_path.absolute()}", options=_OPTIONS)
        self.stubs = Stubs.of(self._channel)

    def call(self, method: Callable[..., Response], request: Any, timeout_s: float = CALL_TIMEOUT_S) -> Response:
        """Make one call; while the daemon says that it is not ready yet, make it again.

        Args:
            method: A method of `stubs`.
            request: Its request message.
            timeout_s: Its deadline in seconds.

        Raises:
            ClientError: It failed; see errors.py.
        """
        give_up_at = self._clock() + READY_WAIT_S
        while True:
            try:
                return method(request, timeout=timeout_s)
            except grpc.RpcError as error:
                failure = from_rpc_error(error)
            if not isinstance(failure, NotReadyError) or self._clock() >= give_up_at:
                raise failure
            self._sleep(failure.retry_after_s or READY_RETRY_S)

    def begin(self, method: Any, request: Any, timeout_s: float = CALL_TIMEOUT_S) -> Callable[[], Any]:
        """Make a call without waiting for it; what is returned waits and gives its answer, or raises as `call` does.

        Only for calls that may be made twice: one that met a daemon that was not ready yet is made again.
        """
        future = method.future(request, timeout=timeout_s)

        def wait() -> Any:
            try:
                return future.result()
            except grpc.RpcError as error:
                failure = from_rpc_error(error)
            if isinstance(failure, NotReadyError):
                return self.call(method, request, timeout_s)
            raise failure

        return wait

    def stream(self, method: Callable[..., Any], request: Any) -> Iterator[Any]:
        """Yield the messages of a streaming call; leaving the loop cancels it.

        Raises:
            ClientError: It failed; see errors.py.
        """
        call = method(request)
        try:
            yield from call
        except grpc.RpcError as error:
            raise from_rpc_error(error) from None
        finally:
            call.cancel()

    def wait_ready(self, timeout_s: float) -> bool:
        """Wait for a daemon that is being restarted; return whether it is back."""
        try:
            grpc.channel_ready_future(self._channel).result(timeout=timeout_s)
        except grpc.FutureTimeoutError:
            return False
        return True

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient:
    """A client for a program that stays up while daemons come and go.

    A call made shortly after the daemon was last heard of waits a moment for it to come back, so that a restart is
    not seen by those who search; when it has been away for longer, calls fail at once.

    Args:
        socket_path: The socket.
        clock: Monotonic seconds.
    """

    def __init__(self, socket_path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        check_path_length(socket_path)
        self._channel = grpc.aio.insecure_channel(f"unix:{socket_path.absolute()}", options=_OPTIONS)
        self._clock = clock
        self._heard_at: float | None = None
        self.stubs = Stubs.of(self._channel)

    async def call(
        self,
        method: Callable[..., Awaitable[Response]],
        request: Any,
        timeout_s: float = CALL_TIMEOUT_S,
        metadata: Metadata = (),
    ) -> Response:
        """Make one call.

        Args:
            method: A method of `stubs`.
            request: Its request message.
            timeout_s: Its deadline in seconds.
            metadata: What is sent beside it, e.g. the admin token.

        Raises:
            ClientError: It failed; see errors.py.
        """
        await self._await_restart()
        try:
            response = await method(request, timeout=timeout_s, metadata=tuple(metadata))
        except grpc.aio.AioRpcError as error:
            raise self._noted(error) from None
        self._heard_at = self._clock()
        return response

    async def stream(self, method: Callable[..., Any], request: Any, metadata: Metadata = ()) -> AsyncGenerator[Any]:
        """Yield the messages of a streaming call; closing the iterator cancels it.

        Raises:
            ClientError: It failed; see errors.py.
        """
        await self._await_restart()
        call = method(request, metadata=tuple(metadata))
        try:
            async for message in call:
                self._heard_at = self._clock()
                yield message
        except grpc.aio.AioRpcError as error:
            raise self._noted(error) from None
        finally:
            call.cancel()

    async def _await_restart(self) -> None:
        if self._heard_at is None or self._clock() - self._heard_at > RESTART_GRACE_S:
            return
        try:
            await asyncio.wait_for(self._ready(), RESTART_WAIT_S)
        except TimeoutError:
            self._heard_at = None  # the next callers need not wait again
            raise DaemonUnreachableError("the jird daemon cannot be reached", "UNAVAILABLE") from None

    async def _ready(self) -> None:
        state = self._channel.get_state(try_to_connect=True)
        while state is not grpc.ChannelConnectivity.READY:
            await self._channel.wait_for_state_change(state)
            state = self._channel.get_state(try_to_connect=True)

    def _noted(self, error: grpc.aio.AioRpcError) -> ClientError:
        converted = from_rpc_error(error)
        if not isinstance(converted, DaemonUnreachableError):
            self._heard_at = self._clock()
        return converted

    async def close(self) -> None:
        """Close the channel; calls in flight are cancelled."""
        await self._channel.close()
