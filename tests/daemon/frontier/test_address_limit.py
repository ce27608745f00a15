"""Requests to one address, whatever the names that lead to it."""

from jird_daemon.frontier.address_limit import AddressLimit


def test_an_address_takes_its_limit_and_wakes_who_waited_first() -> None:
    """REQUIREMENTS, head: origins on one address share crawl.address_connections requests at a time."""
    limit: AddressLimit[str] = AddressLimit(2)
    assert [limit.try_acquire("192.0.2.1", name) for name in "abcd"] == [True, True, False, False]
    assert limit.try_acquire("192.0.2.2", "e")
    assert limit.release("192.0.2.1") == ["c", "d"]
    assert [limit.try_acquire("192.0.2.1", name) for name in "cd"] == [True, False]
    assert limit.release("192.0.2.1") == ["d"]
    assert limit.release("192.0.2.1") == []
