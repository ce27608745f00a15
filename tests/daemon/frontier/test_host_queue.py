"""Gates by the time they may next be asked."""

from jird_daemon.frontier.host_queue import HostQueue


def queue_of(**ready_s: float) -> HostQueue[str]:
    """One gate for each name, with one source of the same name."""
    hosts: HostQueue[str] = HostQueue()
    for name, time_s in ready_s.items():
        hosts.add_source(hosts.open_gate(name, 1, time_s), name)
    return hosts


def taken(hosts: HostQueue[str], now_s: float) -> list[str]:
    """Names of everything that may be asked now."""
    names = []
    while (found := hosts.take(now_s)) is not None:
        names.append(found[0].name)
    return names


def test_the_gate_that_is_ready_longest_goes_first() -> None:
    """S13, S14."""
    assert taken(queue_of(late=3.0, first=1.0, second=2.0), 2.5) == ["first", "second"]


def test_with_nobody_ready_the_next_look_is_at_the_earliest_deadline() -> None:
    """S14: whoever asks may sleep until then, and not longer."""
    hosts = queue_of(a=7.0, b=3.0, c=9.0)
    assert hosts.take(2.0) is None
    assert hosts.next_time_s() == 3.0
    assert taken(hosts, 3.0) == ["b"]


def test_a_waiting_gate_hides_nobody() -> None:
    """S11, S15, F75, J132: ten thousand that wait, and one that does not."""
    hosts = queue_of(**{f"blocked{number}": 1e9 for number in range(10_000)}, free=0.0)
    assert taken(hosts, 1.0) == ["free"]


def test_one_request_at_a_time_until_its_token_is_back() -> None:
    """J133, U94."""
    hosts = queue_of(a=0.0)
    found = hosts.take(0.0)
    assert found is not None
    assert hosts.take(100.0) is None
    hosts.release(found[0], ready_s=105.0)
    assert hosts.take(104.9) is None
    assert taken(hosts, 105.0) == ["a"]


def test_a_gate_with_several_connections_has_several_tokens() -> None:
    """[[hosts]] connections: each waits for itself."""
    hosts: HostQueue[str] = HostQueue()
    gate = hosts.open_gate("own", 3, 0.0)
    hosts.add_source(gate, "own")
    assert taken(hosts, 0.0) == ["own"] * 3
    hosts.release(gate, 5.0)
    hosts.release(gate, 7.0)
    assert taken(hosts, 6.0) == ["own"]


def test_a_held_gate_holds_all_its_tokens() -> None:
    """S12, S17: a 429 on one connection counts for all."""
    hosts: HostQueue[str] = HostQueue()
    gate = hosts.open_gate("own", 2, 0.0)
    hosts.add_source(gate, "own")
    assert hosts.take(0.0) is not None
    hosts.hold(gate, 60.0)
    hosts.hold(gate, 30.0)
    hosts.release(gate, 1.0)
    assert taken(hosts, 59.0) == []
    assert taken(hosts, 60.0) == ["own", "own"]


def test_sources_of_one_gate_are_served_in_turn() -> None:
    """J165: ten runs over one origin change nothing about its pace, and none starves."""
    hosts: HostQueue[str] = HostQueue()
    gate = hosts.open_gate("a", 1, 0.0)
    for source in ("run1", "run2", "run3"):
        hosts.add_source(gate, source)
    served = []
    for second in range(6):
        found = hosts.take(float(second))
        assert found is not None
        served.append(found[1])
        hosts.release(gate, second + 1.0)
    assert served == ["run1", "run2", "run3"] * 2


def test_a_deadline_leaves_memory_when_it_has_passed() -> None:
    """J134, J135: counted, and not before."""
    hosts = queue_of(a=0.0)
    found = hosts.take(0.0)
    assert found is not None
    hosts.remove_source(found[0], "a")
    hosts.release(found[0], 10.0)
    assert taken(hosts, 9.0) == []
    assert (len(hosts), hosts.expired) == (1, 0)
    assert taken(hosts, 10.0) == []
    assert (len(hosts), hosts.expired) == (0, 1)


def test_a_stale_heap_entry_does_not_delete_a_newer_deadline() -> None:
    """J134."""
    hosts = queue_of(a=0.0)
    found = hosts.take(0.0)
    assert found is not None
    hosts.remove_source(found[0], "a")
    assert hosts.shed() == 0  # its request is out
    hosts.release(found[0], 5.0)
    newer = hosts.open_gate("a", 1, 50.0)
    assert taken(hosts, 5.0) == []
    assert hosts.gate("a") is newer
    assert newer.not_before_s == 50.0


def test_a_gate_waits_for_a_source_that_comes_later() -> None:
    """J134: the deadline holds for a run that is started while it lasts."""
    hosts: HostQueue[str] = HostQueue()
    gate = hosts.open_gate("a", 1, 10.0)
    assert hosts.take(5.0) is None
    hosts.add_source(gate, "later")
    assert taken(hosts, 9.0) == []
    found = hosts.take(10.0)
    assert found is not None
    assert found[1] == "later"


def test_parked_gates_are_left_out_until_they_are_unparked() -> None:
    """crawl.address_connections: who waits for an address takes nobody's turn."""
    hosts = queue_of(a=0.0, b=0.0)
    gate = hosts.gate("a")
    assert gate is not None
    hosts.park(gate)
    assert taken(hosts, 1.0) == ["b"]
    hosts.unpark(gate)
    assert taken(hosts, 1.0) == ["a"]


def test_shed_keeps_gates_in_use() -> None:
    """Memory does not grow with the hosts seen."""
    hosts = queue_of(**{f"h{number}": 100.0 for number in range(10)})
    for number in range(8):
        gate = hosts.gate(f"h{number}")
        assert gate is not None
        hosts.remove_source(gate, f"h{number}")
    assert hosts.shed() == 8
    assert sorted(taken(hosts, 100.0)) == ["h8", "h9"]
