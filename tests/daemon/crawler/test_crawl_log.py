"""The crawl log's own rules."""

from pathlib import Path

from jird_daemon.crawler.crawl_log import CrawlLog, validator
from jird_daemon.crawler.response import Response
from jird_daemon.frontier.batch import FrontierBatch, SeenRows
from jird_daemon.frontier.runs import RunPlan, start_run
from jird_daemon.outcome import CrawlType, ExitCode
from jird_daemon.store import Store
from jird_daemon.store.tables import CRAWL_LOG, CRAWL_LOG_BY_ORIGIN, CRAWL_LOG_BY_URL, Scope
from jird_daemon.store.urls import intern_origin, intern_url


def test_entries_are_appended_with_their_look_ups(tmp_path: Path) -> None:
    """U27, U28, U29, U30, U46, J153: the last exit code of a URL is one step from it; diagnostics are cut."""
    with Store.open(tmp_path, map_bytes=1 << 26) as store, store.write() as txn:
        plan = RunPlan(("https://a.test/",), 1, 10, Scope.SAME_ORIGIN, 1_000)
        run_id = start_run(txn, plan, 1.0, 10).run_id
        url_id, origin_id = intern_url(txn, "https://a.test/"), intern_origin(txn, "https://a.test")
        batch = FrontierBatch(txn, SeenRows(), 1.0)
        log = CrawlLog(b"a" * 16)
        for second, code in enumerate((ExitCode.REQUEST_TIMEOUT, ExitCode.FILE_INGESTED)):
            answer = Response("https://a.test/", 1_700_000_000.0 + second, 0.5, status=200)
            log.append(batch, run_id, url_id, origin_id, answer, code, message="x" * 5_000)
        entries = [entry for _, entry in txn.scan(CRAWL_LOG)]
        last = next(code for _, code in txn.scan(CRAWL_LOG_BY_URL, (url_id, b""), (url_id + 1, b""), reverse=True))
        by_origin = [code for _, code in txn.scan(CRAWL_LOG_BY_ORIGIN, (origin_id, b""), (origin_id + 1, b""))]
        counted = batch.flush().runs[run_id].counts.exit_codes
    assert [entry.exit_code for entry in entries] == by_origin == [101, 20]
    assert last == ExitCode.FILE_INGESTED
    assert {(len(entry.message), entry.agent_uuid, entry.crawl_type, entry.duration_ms) for entry in entries} == {
        (4_096, b"a" * 16, CrawlType.FILE_CRAWL, 500)
    }
    assert counted == {101: 1, 20: 1}


def test_validators_with_controls_or_too_long_are_not_kept() -> None:
    """J170."""
    assert validator('"v1"') == '"v1"'
    assert validator('"' + "x" * 1_022 + '"')
    assert [validator(value) for value in ('"a\r\nX: b"', '"a\x00"', '"a\x7f"', "x" * 1_025)] == [""] * 4
