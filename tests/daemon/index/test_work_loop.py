"""The writer's thread as such."""

import threading

import pytest

from jird_daemon.errors import ShuttingDownError
from jird_daemon.index.work_loop import WorkLoop


def test_call_gives_the_result_or_the_error_of_the_work() -> None:
    loop = WorkLoop("test", {}, lambda duty, error: None)
    loop.start()
    assert loop.call(lambda: threading.current_thread().name) == "test"
    with pytest.raises(ZeroDivisionError):
        loop.call(lambda: 1 // 0)
    loop.stop()


def test_failing_work_and_duties_are_told_and_the_thread_lives() -> None:
    """F91: one failure does not stop everything after it."""
    told: list[tuple[str, type[Exception]]] = []
    done = threading.Event()
    failing = {"fails": lambda: dict[str, int]()["no"], "ends": done.set}
    loop = WorkLoop("test", failing, lambda duty, error: told.append((duty, type(error))))
    loop.schedule("fails", 0.0)
    loop.schedule("ends", 0.02)
    loop.start()
    loop.post(lambda: bytes(1)[9])  # type: ignore[arg-type,return-value]
    assert done.wait(10)
    assert sorted(told, key=str) == [("", IndexError), ("fails", KeyError)]
    loop.stop()


def test_stopped_loop_has_done_what_was_asked_before_and_refuses_what_comes_after() -> None:
    done: list[int] = []
    loop = WorkLoop("test", {}, lambda duty, error: None)
    loop.start()
    for number in range(100):
        loop.post(lambda number=number: done.append(number))  # type: ignore[misc]
    loop.stop()
    assert done == list(range(100))
    with pytest.raises(ShuttingDownError):
        loop.call(lambda: None)
