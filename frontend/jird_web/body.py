"""Bodies of admin requests: bounded before they are decoded (J102), then read as a form or as JSON."""

import json
from typing import Any

from starlette.requests import Request

from jird.v1.crawl_service_pb2 import CrawlScope, StartCrawlRequest
from jird_web.errors import HttpError
from jird_web.params import read_fields

FORM_BYTES_MAX = 65_536  # J102
SEED_CHARS_MAX = 4_096  # J104
SEED_COUNT_MAX = 1_000  # as StartCrawlRequest says
NUMBER_MAX = 2**31 - 1

_SCOPES = {
    "same-origin": CrawlScope.CRAWL_SCOPE_SAME_ORIGIN,
    "seeds": CrawlScope.CRAWL_SCOPE_SEEDS,
    "open": CrawlScope.CRAWL_SCOPE_OPEN,
}
_SEED_KEYS = ("url", "urls", "seed", "seeds")


async def read_body(request: Request) -> bytes:
    """Read a body of at most FORM_BYTES_MAX bytes.

    Raises:
        HttpError: 413: it is larger; nothing of it was decoded.
    """
    declared = request.headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > FORM_BYTES_MAX:
        raise _too_large()
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > FORM_BYTES_MAX:
            raise _too_large()
    return bytes(body)


def parse_fields(body: bytes, content_type: str) -> dict[str, Any]:
    """Return the fields of a form or a JSON object; an empty body has none.

    Raises:
        HttpError: 400: it is malformed. 415: it is neither.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    if not body:
        return {}
    if media_type == "application/json":
        return _parse_json(body)
    if media_type in ("application/x-www-form-urlencoded", ""):
        return dict(read_fields(body))
    message = f"the body is {media_type[:80]}; send application/json or application/x-www-form-urlencoded"
    raise HttpError(415, "MEDIA_TYPE", message)


def crawl_request(fields: dict[str, Any]) -> StartCrawlRequest:
    """Return the run that a form or JSON body describes.

    Understood are `url` or `seeds` (in a form: one a line), `max_depth`, `max_pages`, `scope`, `delay_ms` and `name`.

    Raises:
        HttpError: 400: there is no seed, one is too long, or a value is not what it must be.
    """
    request = StartCrawlRequest(seeds=_seeds(fields), name=_text(fields, "name")[:200])
    depth, pages, delay = (_number(fields, name) for name in ("max_depth", "max_pages", "delay_ms"))
    if depth is not None:
        request.max_depth = depth
    if pages is not None:
        request.max_pages = pages
    if delay is not None:
        request.delay.FromMilliseconds(delay)
    scope = _text(fields, "scope").replace("_", "-")
    if scope:
        if scope not in _SCOPES:
            raise HttpError(400, "BAD_SCOPE", f'scope is "{scope[:40]}"; it must be one of {", ".join(_SCOPES)}')
        request.scope = _SCOPES[scope]
    return request


def run_number(fields: dict[str, Any]) -> int:
    """Return the run that a stop names; 0 stands for all.

    Raises:
        HttpError: 400: it is no number.
    """
    return _number(fields, "run_id") or _number(fields, "crawl_id") or 0


def _too_large() -> HttpError:
    message = f"the body is larger than {FORM_BYTES_MAX:,} bytes"
    return HttpError(413, "BODY_TOO_LARGE", message, {"Connection": "close"})


def _parse_json(body: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(body)
        json.dumps(fields, ensure_ascii=False).encode()  # half of a surrogate pair, as "\\ud800", is no text
    except (ValueError, RecursionError):
        raise HttpError(400, "BAD_JSON", "the body is not valid JSON") from None
    if not isinstance(fields, dict):
        raise HttpError(400, "BAD_JSON", "the body is not a JSON object")
    return fields


def _seeds(fields: dict[str, Any]) -> list[str]:
    seeds: list[str] = []
    for key in _SEED_KEYS:
        value = fields.get(key, "")
        items = value if isinstance(value, list) else str(value).splitlines()
        seeds += [item.strip() for item in items if isinstance(item, str) and item.strip()]
    if not seeds:
        raise HttpError(400, "NO_SEEDS", "there is no address to begin with; give one as url")
    if len(seeds) > SEED_COUNT_MAX:
        raise HttpError(
            400, "TOO_MANY_SEEDS", f"there are {len(seeds):,} seeds; at most {SEED_COUNT_MAX:,} are possible"
        )
    for seed in seeds:
        if len(seed) > SEED_CHARS_MAX:
            message = f"a seed has {len(seed):,} characters; at most {SEED_CHARS_MAX:,} are possible"
            raise HttpError(400, "SEED_TOO_LONG", message)
    return seeds


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise HttpError(400, "BAD_VALUE", f"{name} must be text")
    return value.strip()


def _number(fields: dict[str, Any], name: str) -> int | None:
    value = fields.get(name, "")
    if value is None or value == "":
        return None
    text = str(value)
    if isinstance(value, bool) or not (text.isascii() and text.isdigit() and len(text) <= 10) or int(text) > NUMBER_MAX:
        raise HttpError(400, "BAD_NUMBER", f'{name} is "{text[:40]}"; it must be a whole number from 0 on')
    return int(text)
