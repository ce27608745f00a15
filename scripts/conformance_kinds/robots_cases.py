"""Cases of robots.txt: the file in `robots` or `robots_b64`, `agent`, `url` (whole, or path and query), `allowed`.

A line with `kind` asks for something else than whether a URL is allowed. A case may name its `group`.
"""

import base64
from collections.abc import Sequence

from conformance_kinds.cases import Case, Outcome, compare
from jird_daemon.errors import InvalidUrlError
from jird_daemon.url.canonical import canonicalize, split
from jird_daemon.url.robots import RobotsPolicy

_BASE = "https://example.org/"


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
    return compare(case["allowed"], RobotsPolicy.parse(_body(case)).is_allowed(case["agent"], path_query))


def _body(case: Case) -> bytes:
    if "robots_b64" in case:
        return base64.b64decode(case["robots_b64"])
    return str(case["robots"]).encode("utf-8", "surrogatepass")
