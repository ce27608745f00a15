"""Cases of robots.txt: the file in `robots` or `robots_b64`, `agent`, `url` (whole, or path and query), `allowed`.

A line with `kind` asks for something else than whether a URL is allowed. A case may name its `group`.

EXCEPTIONS lists the published cases that jird decides otherwise on purpose. One that is decided as published after all
counts as failed, so that the list cannot grow old.
"""

import base64
from collections.abc import Sequence

from conformance_kinds.cases import Case, Outcome, compare
from jird_daemon.errors import InvalidUrlError
from jird_daemon.url.canonical import canonicalize, split
from jird_daemon.url.robots import RobotsPolicy

_BASE = "https://example.org/"

_ESCAPED_FIRST = "RFC 9309 section 2.2.2 compares both sides percent-encoded; the case takes the URL as it is written"
_UNRESERVED = "RFC 9309 section 2.2.2, second table: an escaped unreserved octet equals the octet itself"
_FIRST_WORD = "a product token ends at the first blank (RFC 9309 section 2.2.1), in the agent as in the file"
_EXACT_TOKEN = "RFC 9309 section 2.2.1: a group is for its product token, not for longer or shorter ones"
EXCEPTIONS = {
    "google-robotstxt-51": _FIRST_WORD,
    "google-robotstxt-74": _ESCAPED_FIRST,
    "google-robotstxt-76": _ESCAPED_FIRST,
    "google-robotstxt-77": _UNRESERVED,
    "google-robotstxt-89": "RFC 9309 knows no index.html that stands for its folder, which its rules forbid",
    **{f"protego-google-spec-{number}": _EXACT_TOKEN for number in (4, 5, 14, 15, 17, 18)},
}


def judge(case: Case, skipped_groups: Sequence[str]) -> Outcome:
    """Ask the parsed file, with the URL in the form that the crawler asks with."""
    if "kind" in case:
        return Outcome(skip_reason=f"asks for {case['kind']}")
    for prefix in skipped_groups:
        if case.get("group", "").startswith(prefix):
            return Outcome(skip_reason=f"group {prefix}*")
    try:
        path_query = split(canonicalize(case["url"], _BASE)).path_query
    except InvalidUrlError as error:
        return Outcome(skip_reason=f"URL is never asked for: {error.reason}")
    outcome = compare(case["allowed"], RobotsPolicy.parse(_body(case)).is_allowed(case["agent"], path_query))
    reason = EXCEPTIONS.get(case.get("id", ""))
    if reason is None:
        return outcome
    if not outcome.fault:
        return Outcome(fault="listed as an exception, and decided as published")
    return Outcome(skip_reason=f"exception {case['id']}: {reason}")


def _body(case: Case) -> bytes:
    if "robots_b64" in case:
        return base64.b64decode(case["robots_b64"])
    return str(case["robots"]).encode("utf-8", "surrogatepass")
