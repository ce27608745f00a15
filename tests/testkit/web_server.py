"""A small HTTP/1.1 server for tests, in a thread of its own, that can also break every rule of HTTP on purpose."""

import asyncio
import contextlib
import http
import socket
import ssl
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from urllib.parse import parse_qsl

from testkit.access_log import Access, AccessLog

MAX_HEADER_BYTES = 1 << 16
"""Request heads above this end the connection: no client under test sends one on purpose."""

START_TIMEOUT_S = 10.0
"""Starting and stopping are local and quick; longer means a deadlock that should fail the test."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A well-formed answer; Content-Length is added unless `headers` holds it or Transfer-Encoding."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)

    @classmethod
    def html(cls, text: str, *headers: tuple[str, str], status: int = 200) -> "Reply":
        """A page in UTF-8."""
        return cls(status, text.encode(), (("Content-Type", "text/html; charset=utf-8"), *headers))

    @classmethod
    def text(cls, text: str, *headers: tuple[str, str], status: int = 200) -> "Reply":
        """Plain text in UTF-8."""
        return cls(status, text.encode(), (("Content-Type", "text/plain; charset=utf-8"), *headers))

    @classmethod
    def redirect(cls, location: str, status: int = 302) -> "Reply":
        """A redirect with a small body."""
        return cls(status, b"moved", (("Location", location), ("Content-Type", "text/plain")))


@dataclass(slots=True)
class Exchange:
    """One request, and the means to answer it: properly (`send`) or byte by byte (`write`)."""

    access: Access
    """The request, as it stands in the access log."""
    path: str
    """Target without its query."""
    query: Mapping[str, str]
    """Decoded query parameters, the last of each name."""
    stopping: asyncio.Event
    """Set when the server stops: what stalls waits for this, not for a time."""
    _writer: asyncio.StreamWriter
    keep_alive: bool = True
    """Whether the connection takes another request after this one."""

    async def send(self, reply: Reply) -> None:
        """Send a whole answer."""
        names = {name.lower() for name, _ in reply.headers}
        headers = list(reply.headers)
        bodiless = reply.status in (204, 304)
        if not bodiless and not names & {"content-length", "transfer-encoding"}:
            headers.append(("Content-Length", str(len(reply.body))))
        if "date" not in names:
            headers.append(("Date", formatdate(usegmt=True)))
        await self.write(self.head(reply.status, headers))
        if self.access.method != "HEAD" and not bodiless:
            await self.write(reply.body)

    def head(self, status: int, headers: Sequence[tuple[str, str]]) -> bytes:
        """Status line and headers as bytes (Latin-1); notes the status in the log."""
        self.access.status = status
        phrase = http.HTTPStatus(status).phrase if status in http.HTTPStatus.__members__.values() else "Odd"
        lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers), "", ""]
        return "\r\n".join(lines).encode("latin-1")

    async def write(self, data: bytes) -> None:
        """Send bytes as they are.

        Raises:
            ConnectionError: The client is gone.
        """
        self._writer.write(data)
        await self._writer.drain()

    async def stall(self) -> None:
        """Say nothing more until the client gives up or the server stops."""
        self.keep_alive = False
        transport = self._writer.transport
        while not self.stopping.is_set() and not transport.is_closing():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), 0.05)

    def drop(self) -> None:
        """Close without another word."""
        self.keep_alive = False
        self._writer.close()

    def reset(self) -> None:
        """Break the connection with a TCP reset."""
        self.keep_alive = False
        raw = self._writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        self._writer.transport.abort()


Handler = Callable[[Exchange], Awaitable[None]]


@dataclass(slots=True)
class WebServer:
    """Listens on `addresses`, all on one port, and passes each request to `handler` in the server's own thread.

    Attributes:
        addresses: Loopback addresses.
        handler: Answers one exchange; runs on the server's event loop.
        contexts: TLS context per server name, `""` for clients that name none or an unknown one. None: plain HTTP.
        port: Port to bind; 0 picks one that is free on all addresses, and after start() this holds it.
    """

    addresses: Sequence[str]
    handler: Handler
    contexts: Mapping[str, ssl.SSLContext] | None = None
    port: int = 0
    log: AccessLog = field(default_factory=AccessLog)
    _loop: asyncio.AbstractEventLoop = field(init=False)
    _stopping: asyncio.Event = field(init=False)
    _servers: list[asyncio.Server] = field(init=False, default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(init=False, default_factory=set)
    _thread: threading.Thread | None = field(init=False, default=None)

    def start(self, listeners: Sequence[socket.socket] | None = None) -> "WebServer":
        """Bind, unless bound `listeners` are given, and serve; returns when connections are accepted."""
        sockets = listeners or bind_all(self.addresses, self.port)
        self.port = sockets[0].getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"web-server-{self.port}", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._serve(sockets), self._loop).result(START_TIMEOUT_S)
        return self

    def stop(self) -> None:
        """Drop every connection and end the thread; harmless when not running."""
        if self._thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._shut_down(), self._loop).result(START_TIMEOUT_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(START_TIMEOUT_S)
        self._loop.close()
        self._thread = None

    def __enter__(self) -> "WebServer":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def _serve(self, sockets: Sequence[socket.socket]) -> None:
        self._stopping = asyncio.Event()
        context = self._sni_context()
        for listener in sockets:
            server = await asyncio.start_server(self._connected, sock=listener, ssl=context, limit=MAX_HEADER_BYTES)
            self._servers.append(server)

    def _sni_context(self) -> ssl.SSLContext | None:
        if self.contexts is None:
            return None
        contexts = self.contexts

        def choose(tls: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
            tls.context = contexts.get(name or "", contexts[""])

        default = contexts[""]
        default.sni_callback = choose
        return default

    async def _shut_down(self) -> None:
        self._stopping.set()
        for server in self._servers:
            server.close()
        self._servers.clear()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._answer_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ssl.SSLError, TimeoutError):
            pass  # the client left or sent nonsense: its test sees that side of it
        except asyncio.CancelledError:
            pass  # stopping
        finally:
            self._tasks.discard(task)
            if self._stopping.is_set():
                writer.transport.abort()
            else:
                writer.close()

    async def _answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        exchange = _parse_head(head, writer, self._stopping)
        body_bytes = int(exchange.access.headers.get("content-length", "0"))
        if body_bytes:
            await reader.readexactly(body_bytes)
        self.log.begin(exchange.access)
        try:
            await self.handler(exchange)
        finally:
            self.log.end(exchange.access)
        return exchange.keep_alive and exchange.access.headers.get("connection", "").lower() != "close"


def _parse_head(head: bytes, writer: asyncio.StreamWriter, stopping: asyncio.Event) -> Exchange:
    start_s = time.monotonic()
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _version = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
    }
    host = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
    access = Access(
        host=host.lower(),
        address=writer.get_extra_info("sockname")[0],
        peer_port=writer.get_extra_info("peername")[1],
        method=method,
        target=target,
        headers=headers,
        start_s=start_s,
    )
    path, _, query = target.partition("?")
    return Exchange(access, path, dict(parse_qsl(query, keep_blank_values=True)), stopping, writer)


def bind_all(addresses: Sequence[str], port: int) -> list[socket.socket]:
    """Bind one port on every address; with port 0, try until one is free on all of them."""
    for _ in range(50):
        sockets: list[socket.socket] = []
        try:
            for address in addresses:
                # asyncio sets TCP_NODELAY only where it is told the protocol; without it an answer takes 40 ms.
                listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
                sockets.append(listener)
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind((address, sockets[0].getsockname()[1] if len(sockets) > 1 else port))
            return sockets
        except OSError:
            for listener in sockets:
                listener.close()
            if port:
                raise
    raise OSError(f"no port is free on all of {', '.join(addresses)}")
