"""Cases of encodings: `content_type`, `bytes_b64`, and in `expected` the name that a browser must choose.

`not NAME (...)` is expected of pages in an encoding that browsers do not know: they take UTF-8 or their default.
"""

import base64

from conformance_kinds.cases import PASSED, Case, Outcome, compare
from jird_daemon.extract import media_type as media
from jird_daemon.extract.charset import decode_body, header_charset, prescan

_BROWSER_DEFAULT = "windows-1252"
_BOMS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")


def judge(case: Case) -> Outcome:
    """Decode the bytes as those of a page and compare the name of the encoding."""
    body = base64.b64decode(case["bytes_b64"])
    content_type, expected = case["content_type"] or "", str(case["expected"]).lower()
    is_html = media.media_type_of(content_type) != media.PLAIN
    found = decode_body(body, content_type, is_html=is_html).charset
    if expected.startswith("not "):
        unwanted = expected.split()[1]
        return Outcome(fault=f"expected {expected!r}, found {found!r}") if found.startswith(unwanted) else PASSED
    if found != expected == _BROWSER_DEFAULT and not _is_declared(body, content_type):
        # Where browsers take their default, a crawler may look at the bytes.
        return Outcome(skip_reason=f"no valid declaration: jird guesses {found}, browsers take {_BROWSER_DEFAULT}")
    return compare(expected, found)


def _is_declared(body: bytes, content_type: str) -> bool:
    return body.startswith(_BOMS) or bool(header_charset(content_type)) or bool(prescan(body))
