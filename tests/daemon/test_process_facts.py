"""Facts of processes from /proc."""

import os
import subprocess
import sys

from jird_daemon.process_facts import read_process


def test_memory_counts_what_is_our_own() -> None:
    """Memory is RssAnon plus RssShmem: mapped files do not count."""
    code = "import sys; kept = b'x' * 50_000_000; print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        facts = read_process(process.pid)
        assert facts is not None
        assert 50_000_000 < facts.memory_bytes < 100_000_000
        assert 0 <= facts.uptime_s < 60


def test_process_that_is_gone_has_no_facts() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert read_process(process.pid) is None
    assert read_process(os.getpid()) is not None
