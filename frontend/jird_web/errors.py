"""The one place where an HTTP status is chosen for what went wrong, and the two forms in which it is told."""

import math
from dataclasses import dataclass, field

from jird_client import errors as client_errors

# How soon a client may try again, in seconds: a restart of the daemon takes about two.
RETRY_AFTER_S = 2

_WORDS = {
    400: "bad_request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "body_too_large",
    414: "query_too_long",
    415: "unsupported_media_type",
    429: "too_many_requests",
    500: "internal",
    503: "unavailable",
}


@dataclass(eq=False)
class HttpError(Exception):
    """A request that is answered with an error.

    Attributes:
        status: HTTP status code.
        reason: For programs, upper snake case.
        message: For people; holds no path, token, or exception text.
        headers: Further response headers.
    """

    status: int
    reason: str
    message: str
    headers: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, str]:
        """Return the structured answer: error, reason, message."""
        return {"error": _WORDS.get(self.status, "error"), "reason": self.reason, "message": self.message}


_BY_CLASS: dict[type[client_errors.ClientError], int] = {
    client_errors.DaemonUnreachableError: 503,
    client_errors.NotReadyError: 503,
    client_errors.DeadlineError: 503,
    client_errors.OverloadedError: 503,
    client_errors.InvalidRequestError: 400,
    client_errors.NotFoundError: 404,
    client_errors.ConflictError: 409,
    client_errors.UnauthenticatedError: 401,
    client_errors.ForbiddenError: 403,
}

# Faults inside the daemon: their messages may name files, so people get one that does not (J82).
_HIDDEN = "the search engine met an internal error; its log says more"

# Why something cannot be done now: on search.sock the daemon tells the reason, but no details.
_STATES = {
    "CRAWL_RUNNING": "a crawl is running; stop it first",
    "GC_RUNNING": "unused content is being removed; try again when that is done",
    "COMPACTION_RUNNING": "the index is being compacted already",
    "REBUILD_RUNNING": "the index is being rebuilt; try again when that is done",
    "INTAKE_PAUSED": "crawls are held back, because the disk or the metadata is full",
}


def from_client_error(error: client_errors.ClientError) -> HttpError:
    """Return the HTTP error for a call to the daemon that failed."""
    status = _BY_CLASS.get(type(error), 500)
    if status == 500:
        return HttpError(500, error.reason, _HIDDEN)
    if error.reason == "QUERY_TOO_LONG":
        status = 414
    headers = {}
    if status == 503:
        headers["Retry-After"] = str(math.ceil(error.retry_after_s) or RETRY_AFTER_S)
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="jird"'
    return HttpError(status, error.reason, _STATES.get(error.reason, error.message), headers)


def explain(error: HttpError) -> tuple[str, str, str]:
    """Return an error for people: a heading, what happened as a sentence, and what they can do about it."""
    is_query = error.reason.startswith("QUERY") or error.reason in ("BAD_NUMBER", "INVALID_ARGUMENT")
    heading, advice = _EXPLANATIONS.get(error.status, _UNKNOWN)
    if error.status == 400 and not is_query:
        heading, advice = "This was refused", "Nothing was changed."
    advice = _ADVICE.get(error.reason, advice)
    first = error.message.partition(" ")[0]
    is_name = ":" in first or "/" in first  # a URL or a file keeps its letters
    sentence = error.message if is_name else error.message[:1].upper() + error.message[1:]
    return heading, sentence.rstrip(".") + ".", advice


_EXPLANATIONS = {
    400: (
        "This query cannot be read",
        'Look for a quotation mark that is not closed, or a filter that is not complete, such as "site:".',
    ),
    404: ("There is no such page", "The address may be mistyped. You can search from here."),
    405: ("Not possible here", "You can search from here."),
    414: ("This query is too long", "Shorten it; a few telling words find more than a long passage."),
    429: ("Too many searches at once", "Please wait a few seconds, then ask again."),
    503: ("Searches cannot be answered just now", "Nothing is lost. Please try again in a moment."),
}
_ADVICE = {
    "QUERY_NOT_TEXT": "Something invisible came with it; type the query by hand.",
    "BAD_NUMBER": "The address of this page was changed; search again from here.",
}
_UNKNOWN = ("Something went wrong", "If this goes on, please tell the operator of this search engine.")
