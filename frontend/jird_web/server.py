"""The HTTP server around the application: sockets, the guard, systemd, an ordered stop."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import threading
from collections.abc import Generator
from functools import partial

import uvicorn
import uvloop

from jird_client.sdnotify import notify
from jird_settings import Settings
from jird_web.app import build_app
from jird_web.connections import ConnectionBudget, ConnectionLimits
from jird_web.guard import Deadlines, GuardedProtocol

log = logging.getLogger("jird_web")

# Connections that the kernel holds while we are busy.
BACKLOG = 256

# J45: requests under way may finish; the longest ordinary one takes ten seconds.
DRAIN_S = 15


class Server(uvicorn.Server):
    """uvicorn, with signals that end in an ordered stop and exit code 0, and news for systemd.

    uvicorn itself raises the signal again when it is done, which ends the process by signal; a second SIGINT makes it
    drop connections.
    """

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start serving, and say so."""
        await super().startup(sockets)
        addresses = ", ".join(_address(sock) for sock in sockets or [])
        log.info("web.start address=%s", addresses)
        notify(f"READY=1\nSTATUS=serving on {addresses}")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain."""
        log.info("web.stop connections=%d", len(self.server_state.connections))
        notify("STOPPING=1\nSTATUS=answering the last requests")
        await super().shutdown(sockets)
        log.info("web.end")

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Stop at the first SIGINT or SIGTERM; further ones change nothing."""
        if threading.current_thread() is not threading.main_thread():
            yield  # signals go to the main thread
            return
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    def _stop(self) -> None:
        self.should_exit = True


def make_server(settings: Settings) -> Server:
    """Build the application and the server around it; nothing listens yet.

    Raises:
        SettingsError: The operator's templates cannot be read.
        DaemonUnreachableError: The socket's path is too long for the kernel.
    """
    web = settings.web
    limits = ConnectionLimits(
        web.max_connections, web.max_connections_per_ip, web.accepts_per_second_per_ip, web.trusted_proxies
    )
    budget = ConnectionBudget(limits)
    deadlines = Deadlines(web.idle_timeout_ms / 1_000, web.header_timeout_ms / 1_000, web.body_timeout_ms / 1_000)
    watchdog_s = int(os.environ.get("WATCHDOG_USEC", 0)) / 1_000_000
    config = uvicorn.Config(
        build_app(settings, budget),
        http=partial(GuardedProtocol, budget=budget, deadlines=deadlines),  # type: ignore[arg-type]
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=DRAIN_S,
        callback_notify=_watchdog if watchdog_s else None,
        timeout_notify=max(1, int(watchdog_s / 3)),
    )
    return Server(config)


def listen(bind: str, port: int) -> list[socket.socket]:
    """Return listening sockets for every address that `bind` stands for (localhost has two).

    Raises:
        OSError: An address cannot be bound.
    """
    found = socket.getaddrinfo(bind, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    for family, _, _, _, address in found:
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            sock.bind(address)
        except OSError:
            sock.close()
            if not sockets:
                raise
            continue  # localhost is there under one family, the other is switched off on this machine
        sock.listen(BACKLOG)
        sock.setblocking(False)
        sockets.append(sock)
        if port == 0:
            break  # two families would get two different ports
    return sockets


def serve(settings: Settings, sockets: list[socket.socket]) -> None:
    """Serve on listening sockets until a signal says stop.

    Raises:
        SettingsError: The operator's templates cannot be read.
        DaemonUnreachableError: The socket's path is too long for the kernel.
    """

    async def run() -> None:
        # The application is built inside the loop, since grpc.aio channels belong to one.
        await make_server(settings).serve(sockets)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())


async def _watchdog() -> None:
    notify("WATCHDOG=1")


def _address(sock: socket.socket) -> str:
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
