"""Every fault of the misbehaving server in one crawl: each URL ends in its exit code, and the crawl goes on."""

import resource
from pathlib import Path
from urllib.parse import quote

from jird_daemon.outcome import ExitCode
from jird_daemon.store.tables import RunState, Scope
from testkit.crawling import crawling
from testkit.faults import packed_bomb
from testkit.origin import ROBOTS, Origin

TIMEOUT_MS = 3_000
"""For a whole request; the server answers from one thread."""
MEMORY_KIB_MAX = 300 * 1_024
"""That the crawl of all faults may take: a bomb that is unpacked takes 64 MiB, and there are four."""
HTML = "Content-Type: text/html"


def head(*lines: str) -> str:
    """A path that answers with these lines, Latin-1, as its head."""
    return "/odd-head?lines=" + quote("\n".join(lines), safe="", encoding="latin-1")


def success(*lines: str) -> str:
    """The same for a page."""
    return head("HTTP/1.1 200 OK", HTML, *lines)


PAGES = (
    "/ok", "/zero-length", "/wrong-charset", "/coded?coding=gzip", "/coded?coding=x-gzip", "/coded?coding=deflate",
    "/coded?coding=raw-deflate", "/coded?coding=br", "/coded?coding=twice", "/cut-gzip",
    success("X-Name: caf\xe9 \xff\xfe", 'ETag: "\xe9"'), success("Content-Length: 99999999999999999999"),
    success(": no name"), head("HTTP/2 200", HTML),
)  # fmt: skip
FAULTS: dict[ExitCode, tuple[str, ...]] = {
    ExitCode.FILE_INGESTED: PAGES,
    ExitCode.REQUEST_TIMEOUT: (
        "/slow-header", "/half-header", "/header-drip", "/slow-body", "/drip", "/chunk-extension",
    ),
    ExitCode.ERROR_READING_RESPONSE: (
        "/drop", "/reset", "/short-body", "/bad-chunk", "/open-chunk", "/chunk-bomb",
    ),
    ExitCode.DID_NOT_UNDERSTAND_ANSWER: (
        "/header-flood", "/interim-flood", "/huge-header", "/many-headers", "/not-http", "/bad-length", "/endless",
        "/big", "/bomb?coding=gzip", "/bomb?coding=br", "/bomb?coding=deflate", "/bomb?coding=twice",
        "/coded?coding=unheard-of", "/broken-gzip", "/many-codings", "/status?code=204",
        "/status?code=206", "/status?code=304",
        success("Content-Length: 5", "Content-Length: 7"), success("Content-Length: -1"), success("No colon here"),
        success("X-Nul: a\x00b"), success("Transfer-Encoding: gzip"), head("HTTP/1.1 999 Odd", HTML),
        head("HTTP/1.1 000 Null", HTML), head("HTTP/9.9 200 OK", HTML), head("HTTP/1.1 101 Switch", "Upgrade: h2c"),
    ),
    ExitCode.REDIRECT: (
        "/endless-redirect", "/redirect-loop", "/redirect?to=/redirect", "/redirect?to=javascript:alert(1)",
        "/redirect?to=file:///etc/passwd", "/redirect?to=http://127.0.0.1/", "/redirect?to=http://[::1",
        "/redirect?to=%20",
        head("HTTP/1.1 302 Found", "Location: /caf\xe9\xff"), head("HTTP/1.1 302 Found"),
    ),
    ExitCode.FILE_OF_UNKNOWN_TYPE: ("/wrong-type", "/no-type"),
    ExitCode.BLOCKED_AT_REQUEST_OF_REMOTE: ("/noindex", "/noindex-header", "/duplicate-header"),
    ExitCode.RATE_LIMITED: (
        "/too-many-requests", "/too-many-requests?after=-5", "/too-many-requests?after=huge",
        "/too-many-requests?after=none",
    ),
    ExitCode.SERVER_BLAMED_CLIENT: (
        "/status?code=401", "/status?code=403", "/status?code=407", "/status?code=451",
        head("HTTP/1.1 401 No", "WWW-Authenticate: Basic realm=x"),
    ),
    ExitCode.SERVER_INTERNAL_ERROR: ("/status?code=500", "/status?code=503"),
    ExitCode.FILE_NOT_FOUND: ("/status?code=404",),
    ExitCode.FILE_GONE: ("/status?code=410",),
}  # fmt: skip
FORBIDDEN = tuple(f"robots-{name}.test" for name in ("disallow", "500", "503", "endless-redirect"))
"""Hosts of which nothing may be asked: their robots.txt forbids it, or cannot be had."""


async def test_every_fault_ends_in_its_exit_code_and_the_crawl_goes_on(origin: Origin, tmp_path: Path) -> None:
    """F1, F55, F57, F59, F65, F75, F77: a host for each, all at once; within their time, with memory bounded."""
    wanted = {path: code for code, paths in FAULTS.items() for path in paths}
    hosts = {path: origin.add_host(f"fault-{number}.fault.test") for number, path in enumerate(wanted)}
    for coding in ("gzip", "br", "deflate", "twice"):
        packed_bomb(coding)
    # These two are asked again after a minute, and five times to the end of their time.
    robots = [f"robots-{name}.test" for name in ROBOTS if name not in ("429", "slow")]
    bad_certificates = ["expired.test", "wrong-name.test", "self-signed.test"]
    seeds = [origin.url(path, host=host) for path, host in hosts.items()]
    seeds += [origin.url("/ok", host=host) for host in (*robots, *bad_certificates)]
    settings = {
        "crawl": {
            "max_attempts": 1, "request_timeout_ms": TIMEOUT_MS, "connect_timeout_ms": TIMEOUT_MS,
            "address_connections": 64, "connections": 16, "max_body_bytes": 1 << 20,
        }
    }  # fmt: skip
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with crawling(origin, tmp_path, settings) as crawl:
        run = await crawl.run(*seeds, max_depth=0, scope=Scope.OPEN, timeout_s=60)
        found = {path: crawl.exit_codes(path, host=host) for path, host in hosts.items()}
        assert found == {path: [code] for path, code in wanted.items()}
        assert max(entry.duration_ms for entry in crawl.log()) < 3 * TIMEOUT_MS
        read = {host for host in robots if ExitCode.FILE_INGESTED in crawl.exit_codes("/ok", host=host)}
        assert read == set(robots) - set(FORBIDDEN)
        assert set(crawl.indexed()) >= {origin.url(path, host=hosts[path]) for path in PAGES}
    assert run.state == RunState.COMPLETED
    assert not {access.host for access in origin.log.entries()} & set(bad_certificates)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < MEMORY_KIB_MAX
