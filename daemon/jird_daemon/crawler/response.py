"""What one request brought, and which exit code that is."""

from dataclasses import dataclass, field

import pycurl

from jird_daemon.outcome import ExitCode

# Header fields that anything here looks at; the rest is counted and dropped. Names in lower case, as bytes, because
# header bytes need not be text (F77: all lines of a repeated field are kept).
WANTED_HEADERS = frozenset(
    {
        b"cf-mitigated",
        b"content-length",
        b"content-type",
        b"etag",
        b"last-modified",
        b"link",
        b"location",
        b"retry-after",
        b"x-robots-tag",
        b"x-amzn-waf-action",
    }
)


@dataclass(frozen=True, slots=True)
class Response:
    """One request's end, answered or not.

    Attributes:
        url: What was asked for.
        start_s: When it began, seconds since 1970 UTC.
        duration_s: Until the last byte, or until it failed.
        status: HTTP status; 0 when no complete answer came.
        headers: Values of WANTED_HEADERS by lower-case name, decoded as Latin-1, in order.
        body: Decoded from its content coding; at most the request's limit.
        wire_bytes: Bytes of the body as transferred.
        remote_address: Address that answered; empty when there was no connection.
        failure: Exit code of a request that failed; None when it was answered.
        message: Why it failed.
        head: First bytes of a body that is not wanted for its media type, or that may be a challenge.
        is_unwanted: The body is of no use: no success, or of a type that is not read; it is empty here.
        is_body_skipped: The body was not read to its end since nobody wants it.
        is_truncated: The body was cut at the request's limit.
        was_sent: A connection was tried; not when there is no address to connect to.
    """

    url: str
    start_s: float
    duration_s: float
    status: int = 0
    headers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    body: bytes = b""
    wire_bytes: int = 0
    remote_address: str = ""
    failure: ExitCode | None = None
    message: str = ""
    head: bytes = b""
    is_unwanted: bool = False
    is_body_skipped: bool = False
    is_truncated: bool = False
    was_sent: bool = True

    @property
    def end_s(self) -> float:
        """When it ended, seconds since 1970 UTC."""
        return self.start_s + self.duration_s

    def header(self, name: str) -> str:
        """First value of a header; empty when there is none."""
        values = self.headers.get(name)
        return values[0] if values else ""

    def all(self, name: str) -> tuple[str, ...]:
        """Every value of a header, in order."""
        return self.headers.get(name, ())


# Of libcurl's curl.h; pycurl does not name them.
_WEIRD_SERVER_REPLY = 8
_HTTP2_STREAM = 92
_TOO_LARGE = 100

# libcurl's result to exit code; anything else is UNKNOWN_ERROR. The three groups are "never got there", "took too long"
# and "what came back broke off or broke HTTP"; the last lines are answers that will be the same next time.
_CURL_CODES = {
    pycurl.E_COULDNT_RESOLVE_HOST: ExitCode.CONNECTION_FAILED,
    pycurl.E_COULDNT_CONNECT: ExitCode.CONNECTION_FAILED,
    pycurl.E_SSL_CONNECT_ERROR: ExitCode.CONNECTION_FAILED,
    pycurl.E_PEER_FAILED_VERIFICATION: ExitCode.CONNECTION_FAILED,
    pycurl.E_SSL_CERTPROBLEM: ExitCode.CONNECTION_FAILED,
    pycurl.E_SSL_CIPHER: ExitCode.CONNECTION_FAILED,
    pycurl.E_SSL_CACERT_BADFILE: ExitCode.CONNECTION_FAILED,
    pycurl.E_SEND_ERROR: ExitCode.CONNECTION_FAILED,
    pycurl.E_ABORTED_BY_CALLBACK: ExitCode.BLOCKED_ORIGIN_BY_LOCAL_POLICY,
    pycurl.E_OPERATION_TIMEDOUT: ExitCode.REQUEST_TIMEOUT,
    pycurl.E_RECV_ERROR: ExitCode.ERROR_READING_RESPONSE,
    pycurl.E_PARTIAL_FILE: ExitCode.ERROR_READING_RESPONSE,
    pycurl.E_GOT_NOTHING: ExitCode.ERROR_READING_RESPONSE,
    pycurl.E_HTTP2: ExitCode.ERROR_READING_RESPONSE,
    _HTTP2_STREAM: ExitCode.ERROR_READING_RESPONSE,
    _WEIRD_SERVER_REPLY: ExitCode.DID_NOT_UNDERSTAND_ANSWER,
    pycurl.E_UNSUPPORTED_PROTOCOL: ExitCode.DID_NOT_UNDERSTAND_ANSWER,
    pycurl.E_BAD_CONTENT_ENCODING: ExitCode.DID_NOT_UNDERSTAND_ANSWER,
    pycurl.E_FILESIZE_EXCEEDED: ExitCode.DID_NOT_UNDERSTAND_ANSWER,
    _TOO_LARGE: ExitCode.DID_NOT_UNDERSTAND_ANSWER,
}


def exit_code_of(curl_code: int) -> ExitCode:
    """Exit code of a transfer that libcurl gave up."""
    return _CURL_CODES.get(curl_code, ExitCode.UNKNOWN_ERROR)
