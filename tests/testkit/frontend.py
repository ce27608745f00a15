"""A real frontend: uvicorn with the guard on port 0, in a thread of its own, and clients for it."""

import asyncio
import dataclasses
import socket
import threading
from pathlib import Path
from typing import Any, Self

import httpx

from jird_settings import Settings, Storage, Web
from jird_web.server import Server, listen, make_server

DEADLINE_S = 20.0


def make_settings(run_dir: Path, **web: Any) -> Settings:
    """Return settings for a frontend of the daemon in run_dir.

    Connections are opened as quickly as tests do it, unless a test says otherwise.
    """
    defaults: dict[str, Any] = {"port": 0, "accepts_per_second_per_ip": 10_000}
    storage = dataclasses.replace(Storage(), run_dir=run_dir)
    return Settings(storage=storage, web=dataclasses.replace(Web(), **{**defaults, **web}))


class Frontend:
    """Runs until closed; use as a context manager.

    Attributes:
        port: Where it listens, on 127.0.0.1.
        http: A client that follows no redirects.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._started = threading.Event()
        self._server: Server | None = None
        self._sockets = listen(settings.web.bind, 0)
        self.port: int = self._sockets[0].getsockname()[1]
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=DEADLINE_S, trust_env=False)
        self._thread = threading.Thread(target=self._run, name="frontend")

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._started.wait(DEADLINE_S)
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()
        assert self._server is not None
        self._server.should_exit = True
        self._thread.join(DEADLINE_S)
        assert not self._thread.is_alive()

    def connect(self) -> socket.socket:
        """Open a raw connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE_S)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._server = make_server(self._settings)
        start = self._server.startup

        async def start_and_tell(sockets: list[socket.socket] | None = None) -> None:
            await start(sockets)
            self._started.set()

        self._server.startup = start_and_tell  # type: ignore[method-assign]
        await self._server.serve(self._sockets)


def receive_all(connection: socket.socket) -> bytes:
    """Read until the other side closes; a reset counts as the end."""
    got = b""
    while True:
        try:
            chunk = connection.recv(65_536)
        except ConnectionResetError:
            return got
        if not chunk:
            return got
        got += chunk
