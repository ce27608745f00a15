"""Query strings of all search routes: one reading for pages, the API and SearXNG (J74, J75, U92)."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from jird_web.errors import HttpError

QUERY_CHARS_MAX = 1_024  # J103
LIMIT_DEFAULT = 20  # J74
IMAGE_LIMIT_DEFAULT = 40
LIMIT_MAX = 100  # J75
OFFSET_MAX = 1_000  # J75
SUGGESTIONS_DEFAULT = 8
SUGGESTIONS_MAX = 20

# Our own forms send fewer than ten; a query string of thousands is no search.
FIELD_COUNT_MAX = 50


@dataclass(frozen=True, slots=True)
class SearchParams:
    """What a search route was asked for.

    Attributes:
        query: As typed; empty when none was given.
        limit: Results wanted, 1 to LIMIT_MAX.
        offset: Rank of the first, 0 to OFFSET_MAX.
        duplicates: Also show pages that say the same, or nearly the same, as another.
    """

    query: str
    limit: int
    offset: int
    duplicates: bool = False


def read_fields(query_string: bytes) -> dict[str, str]:
    """Return the fields of a query string or form body; of a repeated one, the first.

    Raises:
        HttpError: 400: it is no UTF-8, or has more than FIELD_COUNT_MAX fields.
    """
    try:
        pairs = parse_qsl(
            query_string.decode("utf-8"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=FIELD_COUNT_MAX,
        )
    except UnicodeDecodeError:
        raise HttpError(400, "QUERY_NOT_TEXT", "the request is not valid UTF-8 text") from None
    except ValueError:
        message = f"the request has more than {FIELD_COUNT_MAX} fields"
        raise HttpError(400, "TOO_MANY_FIELDS", message) from None
    return dict(reversed(pairs))


def read_search(
    fields: Mapping[str, str], default_limit: int = LIMIT_DEFAULT, limit_max: int = LIMIT_MAX
) -> SearchParams:
    """Read a search: `q` or `search`, `limit`, `offset` or `page` (from 0, in pages of `limit`), `duplicates` (0 or 1).

    Raises:
        HttpError: 414: the query is above QUERY_CHARS_MAX characters. 400: a number is none.
    """
    query = (fields.get("q") or fields.get("search") or "").strip(" ")
    if len(query) > QUERY_CHARS_MAX:
        message = f"the query has {len(query):,} characters; at most {QUERY_CHARS_MAX:,} are possible"
        raise HttpError(414, "QUERY_TOO_LONG", message)
    limit = min(_number(fields, "limit", default_limit, 1), limit_max)
    offset = _number(fields, "page", 0, 0) * limit
    if fields.get("offset"):
        offset = _number(fields, "offset", 0, 0)
    duplicates = _number(fields, "duplicates", 0, 0) > 0
    return SearchParams(query, limit, min(offset, OFFSET_MAX), duplicates)


def wants_json(fields: Mapping[str, str]) -> bool:
    """Return whether `format` asks for JSON (U91).

    Raises:
        HttpError: 400: it asks for something else than json or html.
    """
    wanted = fields.get("format") or "html"
    if wanted not in ("html", "json"):
        raise HttpError(400, "BAD_FORMAT", f'format is "{wanted[:40]}"; it must be json or html')
    return wanted == "json"


def _number(fields: Mapping[str, str], name: str, default: int, minimum: int) -> int:
    text = fields.get(name, "")
    if not text:
        return default
    # Nine digits are above every limit; longer ones would only cost time.
    if not (text.isascii() and text.isdigit() and len(text) <= 9) or int(text) < minimum:
        raise HttpError(400, "BAD_NUMBER", f'{name} is "{text[:40]}"; it must be a whole number, {minimum} or more')
    return int(text)
