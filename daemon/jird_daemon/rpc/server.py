"""The two gRPC servers: one process, two sockets, the same services; search.sock behind its rules."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from grpc import aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from jird.v1 import archive_service_pb2 as archive_pb
from jird.v1 import archive_service_pb2_grpc as archive_grpc
from jird.v1 import crawl_service_pb2 as crawl_pb
from jird.v1 import crawl_service_pb2_grpc as crawl_grpc
from jird.v1 import index_service_pb2 as index_pb
from jird.v1 import index_service_pb2_grpc as index_grpc
from jird.v1 import search_service_pb2 as search_pb
from jird.v1 import search_service_pb2_grpc as search_grpc
from jird.v1 import status_service_pb2 as status_pb
from jird.v1 import status_service_pb2_grpc as status_grpc
from jird_daemon.rpc.archive_service import ArchiveService
from jird_daemon.rpc.backend import Backend
from jird_daemon.rpc.crawl_service import CrawlService
from jird_daemon.rpc.gate import Gate
from jird_daemon.rpc.index_service import IndexService
from jird_daemon.rpc.search_service import SearchService
from jird_daemon.rpc.sockets import ADMIN_SOCKET, SEARCH_SOCKET, SocketFolder
from jird_daemon.rpc.status_service import StatusService

# What one message may have (F123): from the frontend a query or a seed; from an admin 1,000 seeds of 4,096 characters,
# or a batch of an import with one document of 16 MiB.
SEARCH_RECEIVE_BYTES_MAX = 64 * 1024
ADMIN_RECEIVE_BYTES_MAX = 20 * 1024 * 1024
# A page with 2,097,152 characters of text, each of four bytes, and 10,000 links; or a block of exported pages, which
# ends with one of the largest crawl.max_body_bytes (64 MiB) and its text.
SEND_BYTES_MAX = 96 * 1024 * 1024

_SERVICERS: tuple[tuple[Callable[[Backend], object], Callable[[Any, Any], None]], ...] = (
    (SearchService, search_grpc.add_SearchServiceServicer_to_server),
    (CrawlService, crawl_grpc.add_CrawlServiceServicer_to_server),
    (IndexService, index_grpc.add_IndexServiceServicer_to_server),
    (StatusService, status_grpc.add_StatusServiceServicer_to_server),
    (ArchiveService, archive_grpc.add_ArchiveServiceServicer_to_server),
)
_FILES = (search_pb, crawl_pb, index_pb, status_pb, archive_pb)
SERVICES = tuple(next(iter(file.DESCRIPTOR.services_by_name.values())).full_name for file in _FILES)


class RpcServers:
    """Both servers. Lives in one event loop.

    Args:
        backend: What the services work with.
        sockets: The claimed folder.
    """

    def __init__(self, backend: Backend, sockets: SocketFolder) -> None:
        self._backend = backend
        self._sockets = sockets
        self._health = health.aio.HealthServicer()
        self._servers: list[aio.Server] = []

    async def start(self) -> None:
        """Bind both sockets and answer calls; health says NOT_SERVING until `set_ready`."""
        for name, is_public in ((SEARCH_SOCKET, True), (ADMIN_SOCKET, False)):
            server = self._make(is_public=is_public)
            self._sockets.publish(name, partial(_bind, server))
            await server.start()
            self._servers.append(server)

    async def set_ready(self, is_ready: bool) -> None:
        """What health answers, for every service and for the whole."""
        states = health_pb2.HealthCheckResponse
        for name in ("", *SERVICES):
            await self._health.set(name, states.SERVING if is_ready else states.NOT_SERVING)

    async def stop(self, grace_s: float) -> None:
        """Refuse new calls at once, and give the running ones `grace_s` seconds. Harmless when repeated."""
        await self._health.enter_graceful_shutdown()
        await asyncio.gather(*(server.stop(grace_s) for server in self._servers))
        self._servers.clear()

    def _make(self, *, is_public: bool) -> aio.Server:
        receive = SEARCH_RECEIVE_BYTES_MAX if is_public else ADMIN_RECEIVE_BYTES_MAX
        backend = self._backend
        server = aio.server(
            interceptors=[Gate(is_public=is_public, settings=backend.settings, stopping=backend.stopping)],
            options=[
                ("grpc.max_receive_message_length", receive),
                ("grpc.max_send_message_length", SEND_BYTES_MAX),
                ("grpc.so_reuseport", 0),
            ],
        )
        for make, add in _SERVICERS:
            add(make(backend), server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        reflection.enable_server_reflection(_service_names(), server)
        return server


def _bind(server: aio.Server, path: str) -> None:
    server.add_insecure_port(f"unix:{path}")


def _service_names() -> Sequence[str]:
    return (*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME)
