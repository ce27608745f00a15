"""One libcurl handle with its callbacks: what it may connect to, how much it may read, what it keeps.

A handle is used for one request after another. Everything that is the same for all of them is set once, since setting
forty options costs as much as a request.
"""

import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pycurl

from jird_daemon.crawler.response import WANTED_HEADERS
from jird_daemon.extract.challenge import CHALLENGE_BYTES, CHALLENGE_STATUSES
from jird_daemon.extract.sniff import SNIFF_BYTES, sniff
from jird_daemon.outcome import ExitCode

# Of all header lines of one answer together; real ones have a few kilobytes.
HEADER_BYTES_MAX = 65_536
# An answer nobody wants is read to its end when that is cheap, since breaking it off costs the connection.
UNWANTED_BYTES_MAX = 65_536
# Slower than this for LOW_SPEED_S and the body is given up, besides the total deadline (F57).
LOW_SPEED_BYTES_PER_S = 100
LOW_SPEED_S = 10
# A pooled connection keeps the address that was checked when it was made: not for long after DNS may have changed.
IDLE_CONNECTION_S = 60
CONNECTION_LIFE_S = 300
# libcurl's largest piece handed to the write callback; a page in two calls instead of five.
BUFFER_BYTES = 65_536

_DONE = -1  # what a write callback returns to end the transfer


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """One GET.

    Attributes:
        url: Canonical URL.
        host: Its host.
        port: Its port.
        addresses: Where to connect, every one checked; the first is tried first.
        headers: Further request header lines, "Name: value".
        accept: Media types whose body is wanted of a 200; empty: all.
        max_bytes: Most bytes of the decoded body.
        is_cut: A longer body is cut there and counts; otherwise it is refused.
        ca_file: Path of the authorities to trust.
        user_agent: Of this request; empty: the handle's own.
    """

    url: str
    host: str
    port: int
    addresses: tuple[str, ...]
    headers: tuple[str, ...] = ()
    accept: frozenset[str] = frozenset()
    max_bytes: int = 4 * 1024 * 1024
    is_cut: bool = False
    ca_file: str = ""
    user_agent: str = ""


@dataclass(slots=True)
class _Received:
    """What has come in for the request that runs."""

    requests: int = 0
    status: int = 0
    header_bytes: int = 0
    headers: dict[bytes, list[bytes]] = field(default_factory=dict)
    chunks: list[bytes] = field(default_factory=list)
    body_bytes: int = 0
    head: bytearray = field(default_factory=bytearray)  # of a body that is unwanted for its type
    is_unwanted: bool = False
    is_body_skipped: bool = False
    is_truncated: bool = False
    refusal: tuple[ExitCode, str] | None = None


class _NewSocket:
    """A socket on its way to libcurl, which duplicates the descriptor: ours is closed as soon as it has done so."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        return self._descriptor

    def __del__(self) -> None:
        os.close(self._descriptor)


class Transfer:
    """A reusable handle. Belongs to one event loop; used for one request at a time."""

    def __init__(
        self,
        check_address: Callable[[str, int], str | None],
        user_agent: str,
        *,
        connect_timeout_ms: int,
        request_timeout_ms: int,
    ) -> None:
        """Make a handle.

        Args:
            check_address: Gives the reason why (address, port) may not be connected to; None: it may.
            user_agent: User-Agent header.
            connect_timeout_ms: Time to connect, TLS included.
            request_timeout_ms: Time for the whole request.
        """
        self.curl = pycurl.Curl()
        self._check_address = check_address
        self.request = FetchRequest("", "", 0, ())
        self.received = _Received()
        self._set_safety()
        self._set_limits(connect_timeout_ms, request_timeout_ms)
        self._user_agent = user_agent
        self.curl.setopt(pycurl.ACCEPT_ENCODING, "gzip, deflate, br")
        self.curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS)
        self.curl.setopt(pycurl.HEADERFUNCTION, self._on_header)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._on_body)

    def prepare(self, request: FetchRequest) -> None:
        """Set what differs from request to request."""
        self.request = request
        self.received = _Received()
        curl = self.curl
        curl.setopt(pycurl.URL, request.url)
        curl.setopt(pycurl.USERAGENT, request.user_agent or self._user_agent)
        # The pins: libcurl connects to these and looks nothing up. "+" lets an entry age instead of staying for ever.
        addresses = ",".join(f"[{address}]" if ":" in address else address for address in request.addresses)
        curl.setopt(pycurl.RESOLVE, [f"+{request.host}:{request.port}:{addresses}"])
        curl.setopt(pycurl.HTTPHEADER, ["Accept: text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.1",
                                        *request.headers])  # fmt: skip
        if request.ca_file:
            curl.setopt(pycurl.CAINFO, request.ca_file)

    def header_values(self) -> dict[str, tuple[str, ...]]:
        """Wanted headers of the final answer."""
        return {
            name.decode("ascii"): tuple(value.decode("latin-1") for value in values)
            for name, values in self.received.headers.items()
        }

    def close(self) -> None:
        """Free the handle."""
        self.curl.close()

    def _set_safety(self) -> None:
        curl = self.curl
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        curl.setopt(pycurl.REDIR_PROTOCOLS, 0)
        curl.setopt(pycurl.FOLLOWLOCATION, 0)
        # Otherwise http_proxy and its kind in the environment would choose where we connect.
        curl.setopt(pycurl.PROXY, "")
        curl.setopt(pycurl.PATH_AS_IS, 1)
        curl.setopt(pycurl.SSL_VERIFYPEER, 1)
        curl.setopt(pycurl.SSL_VERIFYHOST, 2)
        curl.setopt(pycurl.SSLVERSION, pycurl.SSLVERSION_TLSv1_2)
        # Three locks on one door: no look-up by libcurl, no socket to another address, no request on such a connection.
        curl.setopt(pycurl.RESOLVER_START_FUNCTION, self._on_resolve)
        curl.setopt(pycurl.OPENSOCKETFUNCTION, self._on_socket)
        curl.setopt(pycurl.PREREQFUNCTION, self._on_request)

    def _set_limits(self, connect_timeout_ms: int, request_timeout_ms: int) -> None:
        curl = self.curl
        curl.setopt(pycurl.CONNECTTIMEOUT_MS, min(connect_timeout_ms, request_timeout_ms))
        curl.setopt(pycurl.TIMEOUT_MS, request_timeout_ms)
        curl.setopt(pycurl.LOW_SPEED_LIMIT, LOW_SPEED_BYTES_PER_S)
        curl.setopt(pycurl.LOW_SPEED_TIME, LOW_SPEED_S)
        curl.setopt(pycurl.MAXAGE_CONN, IDLE_CONNECTION_S)
        curl.setopt(pycurl.MAXLIFETIME_CONN, CONNECTION_LIFE_S)
        curl.setopt(pycurl.BUFFERSIZE, BUFFER_BYTES)

    def _on_resolve(self, *_: object) -> int:
        return 1  # "curl never resolves": everything is pinned, so this is a request that we must not make

    def _on_socket(self, _purpose: int, found: tuple[int, int, int, tuple[str, int]]) -> "_NewSocket | int":
        family, kind, protocol, place = found
        reason = self._check_address(place[0], place[1])
        if reason is not None:
            self._refuse(place[0], place[1], reason)
            return pycurl.SOCKET_BAD
        return _NewSocket(socket.socket(family, kind, protocol).detach())

    def _on_request(self, address: str, _local: str, port: int, _local_port: int) -> int:
        received = self.received
        received.requests += 1
        reason = self._check_address(address, port)
        if reason is not None:
            self._refuse(address, port, reason)
        elif received.requests > 1:
            # libcurl would send the request again when a kept connection broke; a second try is ours to make and count.
            received.refusal = (ExitCode.ERROR_READING_RESPONSE, "the connection was closed without an answer")
        else:
            return int(pycurl.PREREQFUNC_OK)
        return int(pycurl.PREREQFUNC_ABORT)

    def _refuse(self, address: str, port: int, reason: str) -> None:
        message = f"{reason}: address {address} port {port} may not be connected to"
        self.received.refusal = (ExitCode.BLOCKED_ORIGIN_BY_LOCAL_POLICY, message)

    def _on_header(self, line: bytes) -> int | None:
        received = self.received
        received.header_bytes += len(line)
        if received.header_bytes > HEADER_BYTES_MAX:
            message = f"more than {HEADER_BYTES_MAX} bytes of headers"
            received.refusal = (ExitCode.DID_NOT_UNDERSTAND_ANSWER, message)
            return _DONE
        name, colon, value = line.partition(b":")
        if not colon:
            if line.startswith(b"HTTP/"):
                # Also of an interim answer (1xx), whose headers are not the answer's.
                received.headers.clear()
                received.status = _status_of(line)
            return None
        name = name.lower()
        if name in WANTED_HEADERS:
            received.headers.setdefault(name, []).append(value.strip())
        return None

    def _on_body(self, data: bytes) -> int | None:
        received = self.received
        if not received.body_bytes:
            received.is_unwanted = self._is_unwanted(data)
        if received.is_unwanted:
            return self._on_unwanted(data)
        received.body_bytes += len(data)
        if received.body_bytes > self.request.max_bytes:
            return self._too_long(data)
        received.chunks.append(data)
        return None

    def _too_long(self, data: bytes) -> int:
        received, limit = self.received, self.request.max_bytes
        if self.request.is_cut:
            received.chunks.append(data[: limit - (received.body_bytes - len(data))])
            received.is_truncated = True
        else:
            received.refusal = (ExitCode.DID_NOT_UNDERSTAND_ANSWER, f"body is longer than {limit} bytes")
        return _DONE

    def _on_unwanted(self, data: bytes) -> int | None:
        """Read a body that nobody wants as far as it shows what it is, and to its end where that is cheap."""
        received = self.received
        received.body_bytes += len(data)
        if len(received.head) < self._head_bytes:
            received.head += data[: self._head_bytes - len(received.head)]
        shows_enough = len(received.head) == self._head_bytes
        if (self._is_long() and shows_enough) or received.body_bytes > UNWANTED_BYTES_MAX:
            received.is_body_skipped = True
            return _DONE
        return None

    @property
    def _head_bytes(self) -> int:
        """How much of an unwanted body shows what it is; nothing, where that is of no interest."""
        if self._is_success:
            return SNIFF_BYTES
        return CHALLENGE_BYTES if self.received.status in CHALLENGE_STATUSES else 0

    @property
    def _is_success(self) -> bool:
        return self.received.status in (200, 203)

    def _is_unwanted(self, head: bytes) -> bool:
        """Whether the body of this answer is of no use: not a success, or of a type that is not read.

        Both its header and its first bytes must say that it is one of those. What the first bytes leave open, the
        parser finds out.
        """
        accept = self.request.accept
        if not self._is_success:
            return True
        if not accept:
            return False
        values = self.received.headers.get(b"content-type")
        sniffed = sniff(values[0].decode("latin-1") if values else "", head)
        return sniffed.declared not in accept or sniffed.actual not in accept

    def _is_long(self) -> bool:
        length = self.received.headers.get(b"content-length", [b""])[0]
        return length.isdigit() and int(length) > UNWANTED_BYTES_MAX


def header_line(name: str, value: str) -> str:
    """A request header line; both parts are checked where they come in."""
    assert not {"\r", "\n"} & set(value)
    return f"{name}: {value}"


def extra_lines(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Header lines of a host rule."""
    return tuple(header_line(name, value) for name, value in headers.items())


def _status_of(line: bytes) -> int:
    parts = line.split(None, 2)
    return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() and len(parts[1]) == 3 else 0
