"""Dates as HTTP writes them: the three forms that RFC 9110 section 5.6.7 asks a recipient to read."""

import calendar
import re
import time

_MONTHS = {name: number for number, name in enumerate(calendar.month_abbr) if number}
_DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_LONG_DAY = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_MONTH = "(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK = r"(?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2})"
_FORMS = (
    re.compile(rf"{_DAY}, (?P<day>\d{{2}}) {_MONTH} (?P<year>\d{{4}}) {_CLOCK} GMT"),
    re.compile(rf"{_LONG_DAY}, (?P<day>\d{{2}})-{_MONTH}-(?P<year>\d{{2}}) {_CLOCK} GMT"),
    re.compile(rf"{_DAY} {_MONTH} (?P<day>[ \d]\d) {_CLOCK} (?P<year>\d{{4}})"),
)


def parse_http_date(text: str, now_s: float) -> float | None:
    """Read an HTTP date.

    Args:
        text: The field's value without blanks around it.
        now_s: Current time; a year of two digits is taken from the century that puts it closest, at most 50 years
            ahead.

    Returns:
        Unix seconds, or None when it is none of the three forms or names no real moment.
    """
    for form in _FORMS:
        found = form.fullmatch(text)
        if found is not None:
            return _moment(found, now_s)
    return None


def _moment(found: re.Match[str], now_s: float) -> float | None:
    year = int(found["year"])
    if len(found["year"]) == 2:
        year = _full_year(year, time.gmtime(now_s).tm_year)
    month, day = _MONTHS[found["month"]], int(found["day"])
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["second"])
    # The grammar knows a leap second, 60.
    if year < 1 or hour > 23 or minute > 59 or second > 60 or not 1 <= day <= calendar.monthrange(year, month)[1]:
        return None
    return float(calendar.timegm((year, month, day, hour, minute, second)))


def _full_year(short: int, this_year: int) -> int:
    year = this_year // 100 * 100 + short
    # RFC 9110 section 5.6.7: more than 50 years ahead means the century before.
    return year - 100 if year > this_year + 50 else year
