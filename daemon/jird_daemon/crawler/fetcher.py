"""HTTP requests through libcurl on the event loop: never a redirect followed, never an address unchecked.

libcurl's own multi-socket interface drives the transfers (pycurl.AsyncCurlMulti), so that no thread is needed and
connections are kept for each origin, with HTTP/2 where it is offered.
"""

import os
import ssl
from collections.abc import Callable, Iterable
from pathlib import Path

import pycurl

from jird_daemon.clock import Clock, SystemClock
from jird_daemon.crawler.response import Response, exit_code_of
from jird_daemon.crawler.transfer import FetchRequest, Transfer
from jird_daemon.outcome import ExitCode

# Idle connections that are kept, beside those in use; each costs a descriptor here and a slot there.
IDLE_CONNECTIONS = 256
# Of a message in the crawl log that quotes libcurl; J153 cuts the rest.
_ERROR_CHARS = 500


class Fetcher:
    """Sends requests; as many at a time as callers await. Belongs to one event loop."""

    def __init__(
        self,
        check_address: Callable[[str, int], str | None],
        user_agent: str,
        *,
        clock: Clock | None = None,
        connect_timeout_ms: int = 10_000,
        request_timeout_ms: int = 20_000,
    ) -> None:
        """Prepare; makes no connection. Arguments as for Transfer; the clock is the machine's unless given."""
        self._clock = clock or SystemClock()
        self._check_address = check_address
        self._user_agent = user_agent
        self._connect_timeout_ms = connect_timeout_ms
        self._request_timeout_ms = request_timeout_ms
        self._multi = pycurl.AsyncCurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, IDLE_CONNECTIONS)
        self._idle: list[Transfer] = []

    async def fetch(self, request: FetchRequest) -> Response:
        """Send one GET and read the answer. Never raises for anything that the other side does."""
        transfer = self._idle.pop() if self._idle else self._new_transfer()
        transfer.prepare(request)
        start_s, started_s = self._clock.now_s(), self._clock.monotonic_s()
        try:
            await self._multi.perform(transfer.curl)
            failure: tuple[ExitCode, str] | None = None
        except pycurl.error as error:
            code, *words = error.args
            failure = exit_code_of(int(code)), " ".join(map(str, words))[:_ERROR_CHARS]
        except BaseException:  # cancelled: the handle is still being taken out of the multi
            transfer.request = FetchRequest("", "", 0, ())
            raise
        response = _response(transfer, request, start_s, self._clock.monotonic_s() - started_s, failure)
        self._idle.append(transfer)
        return response

    async def close(self) -> None:
        """Break off what still runs and close every connection."""
        await self._multi.aclose()
        for transfer in self._idle:
            transfer.close()
        self._idle.clear()

    def _new_transfer(self) -> Transfer:
        return Transfer(
            self._check_address,
            self._user_agent,
            connect_timeout_ms=self._connect_timeout_ms,
            request_timeout_ms=self._request_timeout_ms,
        )


def _response(
    transfer: Transfer,
    request: FetchRequest,
    start_s: float,
    duration_s: float,
    failure: tuple[ExitCode, str] | None,
) -> Response:
    received, curl = transfer.received, transfer.curl
    if received.is_body_skipped or received.is_truncated:
        failure = None  # we broke it off ourselves, and have what we wanted
    failure = received.refusal or failure
    if failure is None and not received.status:
        failure = (ExitCode.DID_NOT_UNDERSTAND_ANSWER, "no HTTP status")
    body = b"" if received.is_unwanted else b"".join(received.chunks)
    received.chunks = []
    return Response(
        url=request.url,
        start_s=start_s,
        duration_s=duration_s,
        status=received.status if failure is None else 0,
        headers=transfer.header_values(),
        body=body if failure is None else b"",
        head=bytes(received.head),
        is_unwanted=received.is_unwanted,
        wire_bytes=int(curl.getinfo(pycurl.SIZE_DOWNLOAD_T)),
        remote_address=curl.getinfo(pycurl.PRIMARY_IP),
        failure=failure[0] if failure else None,
        message=failure[1] if failure else "",
        is_body_skipped=received.is_body_skipped,
        is_truncated=received.is_truncated,
    )


class AuthorityBundle:
    """The system's certificate authorities and further ones as one file, which libcurl reads once and caches.

    The file lies in memory and needs no folder to write to.
    """

    def __init__(self, further: Iterable[Path]) -> None:
        """Gather them.

        Args:
            further: PEM files beside the system's.

        Raises:
            OSError: One of them cannot be read.
        """
        parts = []
        system = ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt"
        if os.path.exists(system):
            parts.append(Path(system).read_bytes())
        parts += [path.read_bytes() for path in further]
        self._fd = os.memfd_create("jird-authorities", os.MFD_CLOEXEC)
        os.write(self._fd, b"\n".join(parts))

    @property
    def path(self) -> str:
        """Where libcurl finds the file, within this process."""
        return f"/proc/self/fd/{self._fd}"

    def close(self) -> None:
        """Free the memory."""
        os.close(self._fd)
