"""Parse workers as real processes: confined, bounded, replaced (J5)."""

import asyncio
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from jird_daemon.errors import ParserFailedError, ShuttingDownError
from jird_daemon.extract import wire
from jird_daemon.extract.document import ParseJob, ParseKind
from jird_daemon.extract.pool import PEAK_MEMORY_KIB_MAX, QUEUED_JOBS_MAX, ParsePool

# A page that keeps the parser busy for seconds: unclosed elements below the guard's sight are no help, sheer size is.
SLOW_PAGE = b"<p>" + b"<b a=1><i><p>x" * 400_000


def job(body: bytes, url: str = "https://example.org/a") -> ParseJob:
    return ParseJob(url, body, "text/html")


@pytest.fixture
async def pool() -> AsyncIterator[ParsePool]:
    made = ParsePool(2, page_timeout_ms=20_000)
    await made.start()
    yield made
    await made.close()


async def stopped(pool: ParsePool) -> None:
    """Stop every worker so that what is sent stays unanswered."""
    for pid in pool.pids:
        os.kill(pid, signal.SIGSTOP)


def proc(pid: int, name: str) -> str:
    return Path(f"/proc/{pid}/{name}").read_bytes().decode("utf-8", "replace")


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists() and "State:\tZ" not in proc(pid, "status")


async def test_page_goes_through_a_worker(pool: ParsePool) -> None:
    """J5."""
    document = await pool.parse(job(b"<title>T</title><p>one<p>two <a href=/b>b</a>"))
    assert document.kind is ParseKind.DOCUMENT
    assert document.title == "T"
    assert [link.to_url for link in document.links] == ["https://example.org/b"]
    assert document.pile is None
    assert pool.counters.parsed == 1


async def test_confined_worker_tells_languages(pool: ParsePool) -> None:
    """J5, U65: the model is loaded before files are out of reach."""
    document = await pool.parse(
        job("<meta charset=utf-8><p>Pociąg dziś nie przyjechał, ponieważ całą noc padało.".encode())
    )
    assert document.language == "pl"


async def test_every_forbidden_action_is_refused(pool: ParsePool) -> None:
    """J5: no files, no network, no processes, no privileges, bounded memory and time."""
    results = {result.name: result for result in await pool.probe()}
    assert {"open_file", "write_file", "connect", "connect_unix", "socket", "fork", "thread", "exec", "new_privileges",
            "ptrace", "signal_parent", "memory", "cpu_time", "io_uring_setup", "executable_memory",
            "raise_limits"} <= results.keys()  # fmt: skip
    assert [result for result in results.values() if not result.is_refused] == []
    assert results["open_file"].detail == "EPERM"
    document = await pool.parse(job(b"<p>still here"))
    assert document.kind is ParseKind.DOCUMENT


async def test_limits_of_the_kernel_are_set_on_a_worker(pool: ParsePool) -> None:
    """J5."""
    status = proc(pool.pids[0], "status")
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status
    assert "Threads:\t1" in status
    limits = proc(pool.pids[0], "limits")
    assert "Max open files            0 " in limits
    assert "Max address space         805306368" in limits


async def test_killed_worker_costs_its_page_and_no_other() -> None:
    """J5: kill -9 in mid-job."""
    pool = ParsePool(1, page_timeout_ms=20_000)
    await pool.start()
    try:
        await stopped(pool)
        victim = pool.pids[0]
        tasks = [asyncio.create_task(pool.parse(job(b"<p>%d" % number))) for number in range(5)]
        await asyncio.sleep(0)
        os.kill(victim, signal.SIGKILL)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(results[0], ParserFailedError)
        assert results[0].reason == "CRASHED"
        assert "SIGKILL" in results[0].message
        assert all(not isinstance(result, BaseException) for result in results[1:])
        assert pool.counters.crashed == 1
        assert victim not in pool.pids
    finally:
        await pool.close()


async def test_hung_worker_is_replaced_after_the_page_time() -> None:
    """J5: wall-clock time."""
    pool = ParsePool(1, page_timeout_ms=1_000)
    await pool.start()
    try:
        await stopped(pool)
        with pytest.raises(ParserFailedError) as caught:
            await pool.parse(job(b"<p>x"))
        assert caught.value.reason == "TIMEOUT"
        assert (await pool.parse(job(b"<title>y</title>"))).title == "y"
        assert pool.counters.timed_out == 1
    finally:
        await pool.close()


async def test_page_that_takes_too_much_processor_time_is_lost_alone() -> None:
    """J5: processor time of one page, also inside of the C parser."""
    pool = ParsePool(1, page_timeout_ms=600)
    await pool.start()
    try:
        with pytest.raises(ParserFailedError) as caught:
            await pool.parse(job(SLOW_PAGE))
        assert caught.value.reason in ("TIMEOUT", "MEMORY")
        assert (await pool.parse(job(b"<title>y</title>"))).title == "y"
    finally:
        await pool.close()


async def test_page_that_takes_too_much_memory_is_lost_alone() -> None:
    """J5: address space."""
    pool = ParsePool(1, page_timeout_ms=20_000, memory_bytes=160 * 1024 * 1024)
    await pool.start()
    try:
        with pytest.raises(ParserFailedError) as caught:
            await pool.parse(job(b"<p>" + b"<b>" * 60 + b"<p>x" * 500_000))
        assert caught.value.reason == "MEMORY"
        assert (await pool.parse(job(b"<title>y</title>"))).title == "y"
    finally:
        await pool.close()


async def test_worker_is_recycled_after_its_pages() -> None:
    pool = ParsePool(1, page_timeout_ms=20_000, pages_per_worker=3)
    await pool.start()
    try:
        first = pool.pids[0]
        documents = await asyncio.gather(*(pool.parse(job(b"<title>%d</title>" % number)) for number in range(10)))
        assert [document.title for document in documents] == [str(number) for number in range(10)]
        assert first not in pool.pids
        assert pool.counters.workers_recycled == 2  # after three pages and the one that waited behind them
        assert pool.counters.crashed == 0
    finally:
        await pool.close()


async def test_memory_of_the_process_that_starts_a_worker_is_not_held_against_it() -> None:
    """A large store is mapped by its writer, whose peak Linux counts for every program that it starts."""
    ballast = b"\1" * (PEAK_MEMORY_KIB_MAX * 1024 + 1)
    pool = ParsePool(1, page_timeout_ms=20_000)
    await pool.start()
    try:
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > len(ballast)
        for _ in range(4):
            await pool.parse(job(b"<title>small</title>"))
        assert pool.counters.workers_recycled == 0
    finally:
        await pool.close()


async def test_callers_wait_when_the_queue_is_full() -> None:
    """Back-pressure: what is admitted is bounded."""
    pool = ParsePool(1, page_timeout_ms=20_000)
    await pool.start()
    try:
        await stopped(pool)
        tasks = [asyncio.create_task(pool.parse(job(b"<p>x"))) for _ in range(3 * QUEUED_JOBS_MAX)]
        await asyncio.sleep(0.05)
        assert pool.queued == QUEUED_JOBS_MAX
        os.kill(pool.pids[0], signal.SIGCONT)
        await asyncio.gather(*tasks)
        assert pool.counters.parsed == 3 * QUEUED_JOBS_MAX
    finally:
        await pool.close()


async def test_close_joins_every_process_and_refuses_new_pages() -> None:
    pool = ParsePool(2, page_timeout_ms=20_000)
    await pool.start()
    pids = pool.pids
    tasks = [asyncio.create_task(pool.parse(job(b"<p>x"))) for _ in range(4)]
    await asyncio.sleep(0)
    await pool.close()
    assert not any(is_running(pid) for pid in pids)
    assert pool.pids == ()
    assert all(not isinstance(r, BaseException) for r in await asyncio.gather(*tasks, return_exceptions=True))
    with pytest.raises(ShuttingDownError):
        await pool.parse(job(b"<p>x"))
    await pool.close()


async def test_caller_that_gives_up_disturbs_nobody(pool: ParsePool) -> None:
    tasks = [asyncio.create_task(pool.parse(job(b"<title>%d</title>" % number))) for number in range(20)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [r.title for r in results[1::2] if not isinstance(r, BaseException)] == [str(n) for n in range(1, 20, 2)]


async def test_pool_whose_workers_cannot_start_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    pool = ParsePool(2, page_timeout_ms=1_000)
    with pytest.raises(ParserFailedError) as caught:
        await pool.start()
    assert caught.value.reason == "NO_WORKER"
    assert pool.pids == ()


async def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    """An orphan would keep memory, and nobody would read its answers."""
    script = (
        "import asyncio, sys\nfrom jird_daemon.extract.pool import ParsePool\n"
        "async def main():\n    pool = ParsePool(1, 1000)\n    await pool.start()\n"
        "    print(pool.pids[0], flush=True)\n    await asyncio.sleep(60)\nasyncio.run(main())\n"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    pid = int(await process.stdout.readline())
    process.kill()
    await process.wait()
    async with asyncio.timeout(10):
        while is_running(pid):  # noqa: ASYNC110 - the kernel sends no event to a stranger
            await asyncio.sleep(0.01)


async def test_environment_of_a_worker_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JIRD_ADMIN_TOKEN", "s" * 40)
    pool = ParsePool(1, page_timeout_ms=1_000)
    await pool.start()
    try:
        assert "ssss" not in proc(pool.pids[0], "environ")
    finally:
        await pool.close()


def test_frames_name_their_length_and_kind() -> None:
    assert wire.frame(wire.JOB, b"abc") == b"\x00\x00\x00\x03Jabc"


async def test_no_page_is_given_to_a_worker_whose_end_is_being_found_out(pool: ParsePool) -> None:
    """J5: of pages that come while a killed worker is replaced, at most the one in its hands is lost."""
    victim = pool.pids[0]
    os.kill(victim, signal.SIGKILL)
    lost = []
    async with asyncio.timeout(20):
        while victim in pool.pids or len(pool.pids) < 2:
            try:
                await pool.parse(job(b"<p>words"))
            except ParserFailedError as error:
                lost.append(error.reason)
    assert lost in ([], ["CRASHED"])
