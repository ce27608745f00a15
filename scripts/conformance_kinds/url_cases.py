"""Cases of urltestdata.json: an input and a base (or null), and the href or the failure that the URL Standard gives."""

from conformance_kinds.cases import Case, Outcome, compare
from jird_daemon.errors import InvalidUrlError
from jird_daemon.url.canonical import parse_href

_FAILURE = "failure"


def judge(case: Case) -> Outcome:
    """Parse as the standard does, before jird's rules of identity."""
    expected = _FAILURE if case.get("failure") else case["href"]
    base = case["base"]
    try:
        found = parse_href(_scalar(case["input"]), None if base is None else _scalar(base))
    except InvalidUrlError:
        found = _FAILURE
    return compare(expected, found)


def _scalar(text: str) -> str:
    # Web IDL, USVString: a surrogate without its other half becomes U+FFFD before the parser sees it.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
