"""The Retry-After field (RFC 9110 section 10.2.3): how long a server asks to be left alone."""

import re

from jird_daemon.url.http_date import parse_http_date

# J154: no form is longer than 33 characters; what is much longer is not meant for us.
VALUE_CHARS_MAX = 128

_SECONDS = re.compile(r"[0-9]+")


def parse_retry_after(value: str, now_s: float) -> float | None:
    """Read a Retry-After value.

    Args:
        value: As sent.
        now_s: Current time in unix seconds, from which a date is counted.

    Returns:
        Seconds to wait, above 0 and without a ceiling (the caller has one); None when the value is malformed, not in
        the future, or absent: then the caller's own back-off holds (F65).
    """
    value = value.strip(" \t")
    if len(value) > VALUE_CHARS_MAX:
        return None
    if _SECONDS.fullmatch(value):
        return float(value) or None
    moment = parse_http_date(value, now_s)
    if moment is None or moment <= now_s:
        return None
    return moment - now_s
