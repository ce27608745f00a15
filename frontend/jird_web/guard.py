"""uvicorn's HTTP protocol with the bounds that it lacks: deadlines, head and body sizes, connections (J66-J69, J105).

Stock uvicorn waits for ever for a request's head, takes one of 20 MB, and any number of connections from one address.
This subclass leans on names of a class that uvicorn does not call public, so the version is pinned in pyproject.toml
and tests/frontend/web/test_guard.py speaks to it through raw sockets.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

from uvicorn._types import ASGI3Application
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from jird_web.connections import ConnectionBudget

# J105: far above what browsers send, far below what hurts.
HEAD_BYTES_MAX = 16 * 1024
BODY_BYTES_MAX = 4 * 1024 * 1024

# Requests that one connection may have sent ahead while the first is being answered; browsers send none.
PIPELINE_MAX = 8

_REFUSALS = {
    400: b"The request is not valid HTTP.\n",
    408: b"The request took too long to arrive.\n",
    413: b"The request's body is larger than 4 MiB.\n",
    414: b"The request's address is longer than 16 KiB.\n",
    429: b"Too many connections from this address.\n",
    431: b"The request's head is larger than 16 KiB.\n",
    503: b"Too many connections.\n",
}


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Times in seconds; see the settings idle_timeout_ms, header_timeout_ms and body_timeout_ms."""

    idle_s: float
    header_s: float
    body_s: float


class _RefusedError(Exception):
    """Raised within a parser callback to stop parsing; the status is kept on the protocol."""


class GuardedProtocol(HttpToolsProtocol):
    """One connection. Its life: idle, head, body, answering, idle; each but answering has a deadline.

    Answering is bounded by the deadlines of the calls to the daemon, and sending by the body's deadline.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        budget: ConnectionBudget,
        deadlines: Deadlines,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._budget = budget
        self._deadlines = deadlines
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._admitted_address: str | None = None
        self._in_head = False
        self._in_body = False
        self._head_bytes = 0
        self._body_bytes = 0
        self._refusal = 400
        # self.cycle is the request that arrived last; this is the one that is being answered.
        self._answering: RequestResponseCycle = None  # type: ignore[assignment]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Admit or refuse the connection, and start its idle deadline."""
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        status = self._budget.admit(address)
        if status:
            self._refuse(status)
            return
        self._admitted_address = address
        self._arm(self._deadlines.idle_s, self._close_idle)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the connection back."""
        self._disarm()
        if self._write_timer is not None:
            self._write_timer.cancel()
        if self._admitted_address is not None:
            self._budget.release(self._admitted_address)
            self._admitted_address = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse, and bound what the parser keeps while a head is not complete."""
        if self.transport.is_closing():
            return
        if not self._in_head and not self._in_body and not self._is_answering():
            self._begin_head()
        if self._in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > HEAD_BYTES_MAX and not self.transport.is_closing():
            self._refuse(431 if self.url and self.headers is not None and self.headers else self._long_head_status())

    def _begin_head(self) -> None:
        self._in_head = True
        self._head_bytes = 0
        self._arm(self._deadlines.header_s, self._time_out)

    def _long_head_status(self) -> int:
        # The parser reports the address piecemeal, a header only when it is complete: an address that alone is
        # near the bound is what made the head too long.
        return 414 if len(self.url or b"") > HEAD_BYTES_MAX // 2 else 431

    def on_message_begin(self) -> None:
        """A request begins: maybe within the bytes that ended the one before."""
        super().on_message_begin()
        self._body_bytes = 0
        if not self._in_head:
            self._begin_head()

    def on_headers_complete(self) -> None:
        """Check the head as a whole, then let the application begin."""
        self._in_head = False
        lines = sum(len(name) + len(value) + 4 for name, value in self.headers)
        request_line = len(self.parser.get_method()) + len(self.url) + len("  HTTP/1.1\r\n")
        if request_line + lines + len("\r\n") > HEAD_BYTES_MAX:
            self._stop_parsing(414 if len(self.url) > lines else 431)
        hosts = sum(name == b"host" for name, _ in self.headers)
        # RFC 9112 section 3.2: a server answers 400 to a request of HTTP/1.1 without Host, or with more than one.
        if hosts > 1 or (hosts == 0 and self.parser.get_http_version() == "1.1"):
            self._stop_parsing(400)
        if self._declared_length() > BODY_BYTES_MAX:
            self._stop_parsing(413)
        if len(self.pipeline) >= PIPELINE_MAX:
            self._stop_parsing(429)
        self._in_body = True
        self._arm(self._deadlines.body_s, self._time_out)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Count a body that did not declare its length."""
        self._body_bytes += len(body)
        if self._body_bytes > BODY_BYTES_MAX:
            self._stop_parsing(413)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is here; from now on it is our turn."""
        self._in_body = False
        self._disarm()
        super().on_message_complete()
        if not self._is_answering():  # answered before its body was complete
            self._arm(self._deadlines.idle_s, self._close_idle)

    def on_response_complete(self) -> None:
        """Wait for the next request, unless the body of this one still comes in."""
        super().on_response_complete()
        self._unset_keepalive_if_required()
        if not self._in_body and not self._in_head and not self._is_answering() and not self.transport.is_closing():
            self._arm(self._deadlines.idle_s, self._close_idle)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def pause_writing(self) -> None:
        """The client does not read; it has the body's deadline to go on."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(self._deadlines.body_s, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads again."""
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def send_400_response(self, msg: str) -> None:
        """Answer what the parser, or a check within its callbacks, refused."""
        self._refuse(self._refusal)

    def _stop_parsing(self, status: int) -> None:
        self._refusal = status
        raise _RefusedError(status)

    def _refuse(self, status: int) -> None:
        is_own_body = self._in_body and self._answering is self.cycle
        self._in_head = self._in_body = False
        self._disarm()
        if self._is_answering() and is_own_body:
            # The application waits for the rest of this body, which will never come: the closed connection tells it.
            if self._answering.response_started:
                self.transport.abort()
                return
        elif self._is_answering():
            # An earlier request of this connection is being answered: that answer is the last thing it gets.
            self.pipeline.clear()
            self._answering.keep_alive = False
            self.flow.pause_reading()
            return
        body = _REFUSALS[status]
        head = [
            STATUS_LINE[status],
            b"content-type: text/plain; charset=utf-8\r\nconnection: close\r\n",
            b"retry-after: 1\r\n" if status in (429, 503) else b"",
            b"content-length: %d\r\n\r\n" % len(body),
        ]
        self.transport.write(b"".join(head) + body)
        self.transport.close()

    def _is_answering(self) -> bool:
        return self._answering is not None and not self._answering.response_complete

    def _declared_length(self) -> int:
        for name, value in self.headers:
            if name == b"content-length" and value.isdigit():
                return int(value[:20])
        return 0

    def _arm(self, delay_s: float, action: Any) -> None:
        self._disarm()
        self._timer = self.loop.call_later(delay_s, action)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_idle(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()

    def _time_out(self) -> None:
        if self.transport.is_closing():
            return
        if self._is_answering():
            # The application waits for the rest of the body: it sees the client gone, and answers nobody.
            self.transport.abort()
        else:
            self._refuse(408)
