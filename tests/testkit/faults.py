"""The faults of the misbehaving server, one function per fault; origin.py gives each a route.

Parameters come from the query, so that a test can set sizes and speeds: /drip?bytes=10&interval_ms=20.
"""

import asyncio
import gzip
import zlib
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from functools import cache
from urllib.parse import unquote_to_bytes

import brotli

from testkit.web_server import Exchange, Reply

Fault = Callable[[Exchange], Awaitable[None]]

PAGE = (
    "<!doctype html><html lang='en'><head><title>{title}</title></head>"
    "<body><h1>{title}</h1><p>{text}</p></body></html>"
)
BOMB_BYTES = 64 << 20
"""What a decompression bomb unpacks to by default: above every body limit, small enough to make at once."""
ENDLESS_CHUNK = b"<p>and so it goes on without an end</p>\n" * 100
FAR_FUTURE_S = 999_999_999
"""A Retry-After that nobody would wait for (F65)."""


def page(title: str, text: str = "A page of the misbehaving server.") -> str:
    """A small HTML page."""
    return PAGE.format(title=title, text=text)


def number(exchange: Exchange, name: str, default: int) -> int:
    """An integer parameter of the query."""
    return int(exchange.query.get(name, default))


async def ok(exchange: Exchange) -> None:
    """A good page, for comparison."""
    await exchange.send(Reply.html(page("A good page")))


async def slow_header(exchange: Exchange) -> None:
    """No byte of an answer, ever."""
    await exchange.stall()


async def half_header(exchange: Exchange) -> None:
    """The status line and one header, then silence."""
    await exchange.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n")
    await exchange.stall()


async def slow_body(exchange: Exchange) -> None:
    """Headers and half a body, then silence."""
    body = page("Slow body").encode()
    await exchange.write(exchange.head(200, [("Content-Type", "text/html"), ("Content-Length", str(len(body)))]))
    await exchange.write(body[: len(body) // 2])
    await exchange.stall()


async def drip(exchange: Exchange) -> None:
    """`bytes` (default a million) bytes, one each `interval_ms` (default 20): only a total deadline ends it (F57)."""
    exchange.keep_alive = False
    total = number(exchange, "bytes", 1_000_000)
    interval_s = number(exchange, "interval_ms", 20) / 1000
    await exchange.write(exchange.head(200, [("Content-Type", "text/html"), ("Content-Length", str(total))]))
    for _ in range(total):
        await exchange.write(b".")
        await asyncio.sleep(interval_s)


async def drop(exchange: Exchange) -> None:
    """The connection closes without an answer."""
    exchange.drop()


async def reset(exchange: Exchange) -> None:
    """The connection is reset without an answer."""
    exchange.reset()


async def short_body(exchange: Exchange) -> None:
    """Content-Length promises a thousand bytes more than come (F59)."""
    body = page("Short body").encode()
    head = exchange.head(200, [("Content-Type", "text/html"), ("Content-Length", str(len(body) + 1000))])
    await exchange.write(head + body)
    exchange.drop()


async def bad_length(exchange: Exchange) -> None:
    """Content-Length is no number (F59)."""
    exchange.keep_alive = False
    await exchange.write(exchange.head(200, [("Content-Type", "text/html"), ("Content-Length", "12abc")]) + b"<p>hello")


async def zero_length(exchange: Exchange) -> None:
    """Content-Length is 0, and a body follows all the same (F59)."""
    exchange.keep_alive = False
    await exchange.write(exchange.head(200, [("Content-Type", "text/html"), ("Content-Length", "0")]) + b"<p>hello")


async def bad_chunk(exchange: Exchange) -> None:
    """Chunked, and the second chunk size is no number."""
    head = exchange.head(200, [("Content-Type", "text/html"), ("Transfer-Encoding", "chunked")])
    await exchange.write(head + b"5\r\n<p>ok\r\nXYZ\r\nmore\r\n")
    exchange.drop()


async def open_chunk(exchange: Exchange) -> None:
    """Chunked, and the connection closes before the last chunk (F59)."""
    head = exchange.head(200, [("Content-Type", "text/html"), ("Transfer-Encoding", "chunked")])
    await exchange.write(head + b"6\r\n<p>one\r\n")
    exchange.drop()


async def endless(exchange: Exchange) -> None:
    """A body that never ends, as fast as the client reads."""
    exchange.keep_alive = False
    await exchange.write(exchange.head(200, [("Content-Type", "text/html; charset=utf-8")]))
    while not exchange.stopping.is_set():
        await exchange.write(ENDLESS_CHUNK)
        await asyncio.sleep(0)


async def big(exchange: Exchange) -> None:
    """A body of `bytes` bytes (default 20 MB) with an honest Content-Length."""
    total = number(exchange, "bytes", 20_000_000)
    await exchange.send(Reply(200, (ENDLESS_CHUNK * (total // len(ENDLESS_CHUNK) + 1))[:total]))


async def endless_redirect(exchange: Exchange) -> None:
    """Each hop leads to a new one: /endless-redirect?n=1, 2, 3, ..."""
    await exchange.send(Reply.redirect(f"{exchange.path}?n={number(exchange, 'n', 0) + 1}"))


async def redirect_loop(exchange: Exchange) -> None:
    """/redirect-loop and /redirect-loop?b lead to each other."""
    await exchange.send(Reply.redirect(exchange.path if "b" in exchange.query else f"{exchange.path}?b"))


async def redirect(exchange: Exchange) -> None:
    """A redirect to `to` (default /ok) with `status` (default 302)."""
    await exchange.send(Reply.redirect(exchange.query.get("to", "/ok"), number(exchange, "status", 302)))


async def gzip_bomb(exchange: Exchange) -> None:
    """A few kilobytes of gzip that unpack to `bytes` (default 64 MiB)."""
    await _send_coded(exchange, "gzip", gzip.compress(bytes(number(exchange, "bytes", BOMB_BYTES)), 9))


async def br_bomb(exchange: Exchange) -> None:
    """A few bytes of Brotli that unpack to `bytes` (default 64 MiB)."""
    await _send_coded(exchange, "br", brotli.compress(bytes(number(exchange, "bytes", BOMB_BYTES)), quality=5))


async def coded(exchange: Exchange) -> None:
    """A page in the content coding `coding`: gzip, x-gzip, deflate, raw-deflate, br, twice, or any other word (F55)."""
    body = page("A coded page", "This text was packed for the journey.").encode()
    coding = exchange.query.get("coding", "gzip")
    raw = zlib.compressobj(wbits=-15)
    packers: dict[str, Callable[[], bytes]] = {
        "gzip": lambda: gzip.compress(body),
        "x-gzip": lambda: gzip.compress(body),
        "deflate": lambda: zlib.compress(body),
        "raw-deflate": lambda: raw.compress(body) + raw.flush(),
        "br": lambda: brotli.compress(body),
        "twice": lambda: gzip.compress(gzip.compress(body)),
    }
    packed = packers.get(coding, lambda: body)()
    await _send_coded(exchange, {"raw-deflate": "deflate", "twice": "gzip, gzip"}.get(coding, coding), packed)


async def broken_gzip(exchange: Exchange) -> None:
    """Content-Encoding says gzip, the body is plain text."""
    await _send_coded(exchange, "gzip", page("Not packed").encode())


async def wrong_charset(exchange: Exchange) -> None:
    """The header says ISO-8859-1, the bytes are Shift_JIS, the meta element tells the truth."""
    text = page("文字コード", "ヘッダーは嘘をつく。").replace("<head>", "<head><meta charset='Shift_JIS'>")
    await exchange.send(Reply(200, text.encode("shift_jis"), (("Content-Type", "text/html; charset=iso-8859-1"),)))


async def meta_charset(exchange: Exchange) -> None:
    """No charset in the header; `<meta charset>` names Shift_JIS (F79)."""
    text = page("東京の天気", "今日は晴れのち曇り。").replace("<head>", "<head><meta charset='Shift_JIS'>")
    await exchange.send(Reply(200, text.encode("shift_jis"), (("Content-Type", "text/html"),)))


async def duplicate_header(exchange: Exchange) -> None:
    """Two X-Robots-Tag, two Set-Cookie, two equal Content-Type."""
    twice = [("X-Robots-Tag", "noarchive"), ("X-Robots-Tag", "noindex"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]
    kind = ("Content-Type", "text/html; charset=utf-8")
    await exchange.send(Reply(200, page("Two headers").encode(), (kind, kind, *twice)))


async def huge_header(exchange: Exchange) -> None:
    """One header of `bytes` bytes (default 2 MB)."""
    exchange.keep_alive = False
    value = "x" * number(exchange, "bytes", 2_000_000)
    await exchange.send(Reply.html(page("Huge header"), ("X-Huge", value)))


async def many_headers(exchange: Exchange) -> None:
    """`count` headers (default 20,000)."""
    exchange.keep_alive = False
    extra = [(f"X-Header-{index}", "value") for index in range(number(exchange, "count", 20_000))]
    await exchange.send(Reply.html(page("Many headers"), *extra))


async def too_many_requests(exchange: Exchange) -> None:
    """429; `after` is Retry-After: seconds as they are, or past-date, future-date, huge, none (F65)."""
    after = exchange.query.get("after", "1")
    value = {
        "past-date": formatdate(0, usegmt=True),
        "future-date": formatdate(4_102_444_800, usegmt=True),  # the year 2100
        "huge": str(FAR_FUTURE_S),
    }.get(after, after)
    headers = () if after == "none" else (("Retry-After", value),)
    await exchange.send(Reply.html(page("Too many requests"), *headers, status=429))


async def status(exchange: Exchange) -> None:
    """Whatever status `code` names (default 500), with a page whose words must never be indexed."""
    code = number(exchange, "code", 500)
    await exchange.send(Reply.html(page(f"Status {code}", "errorpagewords"), status=code))


async def wrong_type(exchange: Exchange) -> None:
    """HTML that is sent as `type` (default application/msword) (F87)."""
    kind = exchange.query.get("type", "application/msword")
    await exchange.send(Reply(200, page("A lie about its type").encode(), (("Content-Type", kind),)))


async def no_type(exchange: Exchange) -> None:
    """HTML without a Content-Type."""
    await exchange.send(Reply(200, page("No type").encode(), ()))


async def etag(exchange: Exchange) -> None:
    """A page with ETag and Last-Modified that answers 304 to either."""
    stamp = formatdate(1_700_000_000, usegmt=True)
    marks = (("ETag", '"v1"'), ("Last-Modified", stamp))
    asked = exchange.access.headers
    if asked.get("if-none-match") == '"v1"' or asked.get("if-modified-since") == stamp:
        await exchange.send(Reply(304, b"", marks))
    else:
        text = "The same as last time. <a href='/ok'>a link that a 304 must keep</a>"
        await exchange.send(Reply.html(page("Conditional", text), *marks))


async def not_http(exchange: Exchange) -> None:
    """Bytes that are no HTTP at all."""
    await exchange.write(b"SSH-2.0-OpenSSH_9.2\r\n\x00\xff\xfe\r\n")
    exchange.drop()


async def header_drip(exchange: Exchange) -> None:
    """A header line every 20 ms, without end (F57)."""
    exchange.keep_alive = False
    await exchange.write(b"HTTP/1.1 200 OK\r\n")
    while not exchange.stopping.is_set():
        await exchange.write(b"X-Drip: 1\r\n")
        await asyncio.sleep(0.02)


async def header_flood(exchange: Exchange) -> None:
    """Header lines without end, as fast as the client reads."""
    exchange.keep_alive = False
    await exchange.write(b"HTTP/1.1 200 OK\r\n")
    while not exchange.stopping.is_set():
        await exchange.write(b"X-Flood: again\r\n" * 500)
        await asyncio.sleep(0.002)  # the server has others to answer


async def interim_flood(exchange: Exchange) -> None:
    """Interim answers (103) without end, and never the real one."""
    exchange.keep_alive = False
    while not exchange.stopping.is_set():
        await exchange.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" * 50)
        await asyncio.sleep(0.002)  # the server has others to answer


async def odd_head(exchange: Exchange) -> None:
    """A page below a head of `lines`: a status line and headers with \\n between them, percent-encoded."""
    exchange.keep_alive = False
    lines = unquote_to_bytes(exchange.query.get("lines", "")).replace(b"\n", b"\r\n")
    await exchange.write(lines + b"\r\n\r\n" + page("Odd head").encode())
    exchange.drop()


async def chunk_bomb(exchange: Exchange) -> None:
    """A chunk that says it has 2^63 bytes."""
    head = exchange.head(200, [("Content-Type", "text/html"), ("Transfer-Encoding", "chunked")])
    await exchange.write(head + b"7fffffffffffffff\r\n<p>hello")
    exchange.drop()


async def chunk_extension(exchange: Exchange) -> None:
    """A chunk whose extension has no end."""
    exchange.keep_alive = False
    await exchange.write(
        exchange.head(200, [("Content-Type", "text/html"), ("Transfer-Encoding", "chunked")]) + b"5;x="
    )
    while not exchange.stopping.is_set():
        await exchange.write(b"y" * 4_096)
        await asyncio.sleep(0.002)  # the server has others to answer


async def bomb(exchange: Exchange) -> None:
    """64 MiB of nothing, packed by `coding`: gzip, deflate, br, or twice."""
    coding = exchange.query.get("coding", "gzip")
    await _send_coded(exchange, {"twice": "gzip, gzip"}.get(coding, coding), packed_bomb(coding))


@cache
def packed_bomb(coding: str) -> bytes:
    """BOMB_BYTES packed; made once, since making it holds up the server."""
    plain = bytes(BOMB_BYTES)
    packers: dict[str, Callable[[], bytes]] = {
        "gzip": lambda: gzip.compress(plain, 6),
        "deflate": lambda: zlib.compress(plain, 6),
        "br": lambda: brotli.compress(plain, quality=2),
        "twice": lambda: gzip.compress(gzip.compress(plain, 6)),
    }
    return packers[coding]()


async def cut_gzip(exchange: Exchange) -> None:
    """The first half of a gzip stream, with an honest length."""
    packed = gzip.compress(page("Cut", "words " * 500).encode())
    await _send_coded(exchange, "gzip", packed[: len(packed) // 2])


async def many_codings(exchange: Exchange) -> None:
    """A page that says it is packed a hundred times over."""
    await _send_coded(exchange, ", ".join(["gzip"] * 100), page("Not packed").encode())


async def noindex(exchange: Exchange) -> None:
    """A page that asks by `<meta name=robots>` not to be indexed."""
    text = page("Noindex", "secretnoindexword").replace("<head>", "<head><META NAME='ROBOTS' CONTENT='NOINDEX'>")
    await exchange.send(Reply.html(text))


async def noindex_header(exchange: Exchange) -> None:
    """The same by X-Robots-Tag."""
    await exchange.send(Reply.html(page("Noindex", "secretheaderword"), ("X-Robots-Tag", "noindex")))


async def _send_coded(exchange: Exchange, coding: str, body: bytes) -> None:
    kind = ("Content-Type", "text/html; charset=utf-8")
    await exchange.send(Reply(200, body, (kind, ("Content-Encoding", coding))))


ROUTES: dict[str, Fault] = {
    "/ok": ok,
    "/slow-header": slow_header,
    "/half-header": half_header,
    "/slow-body": slow_body,
    "/drip": drip,
    "/drop": drop,
    "/reset": reset,
    "/short-body": short_body,
    "/bad-length": bad_length,
    "/zero-length": zero_length,
    "/bad-chunk": bad_chunk,
    "/open-chunk": open_chunk,
    "/endless": endless,
    "/big": big,
    "/endless-redirect": endless_redirect,
    "/redirect-loop": redirect_loop,
    "/redirect": redirect,
    "/gzip-bomb": gzip_bomb,
    "/br-bomb": br_bomb,
    "/coded": coded,
    "/broken-gzip": broken_gzip,
    "/wrong-charset": wrong_charset,
    "/meta-charset": meta_charset,
    "/duplicate-header": duplicate_header,
    "/huge-header": huge_header,
    "/many-headers": many_headers,
    "/too-many-requests": too_many_requests,
    "/status": status,
    "/wrong-type": wrong_type,
    "/no-type": no_type,
    "/etag": etag,
    "/not-http": not_http,
    "/header-drip": header_drip,
    "/header-flood": header_flood,
    "/interim-flood": interim_flood,
    "/odd-head": odd_head,
    "/chunk-bomb": chunk_bomb,
    "/chunk-extension": chunk_extension,
    "/bomb": bomb,
    "/cut-gzip": cut_gzip,
    "/many-codings": many_codings,
    "/noindex": noindex,
    "/noindex-header": noindex_header,
}
"""Every fault by its path."""
