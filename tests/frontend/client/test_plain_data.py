"""Messages as JSON that people and jq can use."""

from jird.v1.crawl_service_pb2 import CrawlRun
from jird_client.plain_data import to_plain
from testkit.fake_daemon import make_run


def test_numbers_times_and_enums_are_plain() -> None:
    run = to_plain(make_run("COMPLETED", "DRAINED"))
    assert run["run_id"] == 4
    assert run["state"] == "completed"
    assert run["reason"] == "drained"
    assert run["create_time"] == "2026-11-30T00:53:20Z"
    assert run["counts"]["exit_code_counts"] == {"file_ingested": 9, "file_not_found": 3}


def test_unset_fields_are_present_as_null_or_zero() -> None:
    run = to_plain(CrawlRun(run_id=1))
    assert run["end_time"] is None
    assert run["active_time_s"] is None
    assert run["max_pages"] == 0
    assert run["seeds"] == []
