"""A segment whose file is cut short while it is mapped costs itself, not the process (F93).

What could end the process runs in one of its own.
"""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

PRELUDE = """
import mmap, os, sys, threading
from random import Random
from jird_native import *

def build(path, seed):
    random, builder = Random(seed), SegmentBuilder()
    for page in range(1, 2501):
        words = " ".join(f"w{min(int(random.expovariate(0.02)), 500)}" for _ in range(60))
        builder.add(DocumentInput(seed * 10000 + page, page % 7, 0, 0, 0, 0, ("title", "", "", "", words), ()))
    builder.write(path, sync=False)

def cut(path, size):
    os.chmod(path, 0o600)
    os.truncate(path, size)

QUERIES = (Term("w1"), Or((Term("w0"), Term("w7"), Term("w200"))), And((Term("w0"), Term("w3"))),
           phrase_of(["w0", "w1"]), Term("title", fields=frozenset({Field.TITLE})))

def refused(call):
    try:
        call()
    except CorruptSegmentError as error:
        return "lost its end" in error.reason and 0 < error.offset and error.path.name == "cut"
    return False
"""


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run PRELUDE and a script in a folder, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", PRELUDE + script], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("part", [0.01, 0.5, 0.999, 0.999999])
def test_every_call_on_a_file_that_lost_its_end_is_refused_and_the_process_lives(tmp_path: Path, part: float) -> None:
    """F93, J14: wherever the cut lies, and whether or not the bytes had been hashed before."""
    script = f"""
build("cut", 1)
segment = Segment.open("cut")
assert segment.verify() == []
snapshot = Snapshot([(segment, None)])
size = int(segment.bytes * {part})
cut("cut", size)
faults = segment.verify()
assert len(faults) == 1 and "lost its end" in faults[0].reason, faults
assert faults[0].offset >= size or faults[0].offset + mmap.PAGESIZE > size
calls = [lambda: segment.df("w1"), lambda: segment.terms("w"), lambda: segment.find(10003), segment.page_ids,
         lambda: segment.document(2499), lambda: segment.check_chunks(0, 1), lambda: snapshot.df("w1"),
         lambda: merge_segments([(segment, None)], "merged", sync=False)]
calls += [lambda query=query: snapshot.search(query, 10) for query in QUERIES]
assert all([refused(call) for call in calls])
assert not os.path.exists("merged")
try:
    Segment.open("cut")
except CorruptSegmentError as error:
    assert error.offset in (16, size)
print("done")
"""
    done = run(script, tmp_path)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_a_cut_in_the_middle_of_searches_ends_them_and_leaves_other_segments(tmp_path: Path) -> None:
    """F93, F91: threads search two segments, one loses its end; the other then answers as before."""
    script = """
build("whole", 1)
build("cut", 2)
whole, torn = Segment.open("whole"), Segment.open("cut")
both, one = Snapshot([(whole, None), (torn, None)]), Snapshot([(whole, None)])
before = [one.search(query, 10) for query in QUERIES]
started, ended = threading.Barrier(5), []

def search(number):
    started.wait()
    while True:
        try:
            if number % 2:
                both.search(QUERIES[number], 10)
            elif torn.verify():
                break
        except CorruptSegmentError as error:
            assert error.path.name == "cut" and "lost its end" in error.reason, error
            break
    ended.append(number)

threads = [threading.Thread(target=search, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
started.wait()
cut("cut", 5000)
for thread in threads:
    thread.join(30)
assert sorted(ended) == [0, 1, 2, 3], ended
assert [one.search(query, 10) for query in QUERIES] == before
print("done")
"""
    done = run(script, tmp_path)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_a_closed_segment_no_longer_guards_where_it_lay(tmp_path: Path) -> None:
    """Opening and closing many leaves no guard behind, and guards are used again."""
    script = """
build("cut", 1)
for _ in range(300):
    segments = [Segment.open("cut") for _ in range(3)]
    del segments
with open("/proc/self/maps") as maps:
    assert not any("cut" in line for line in maps)
again = Segment.open("cut")
cut("cut", 4096)
assert refused(again.page_ids)
print("done")
"""
    done = run(script, tmp_path)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_a_bus_error_of_something_else_ends_the_process_as_ever(tmp_path: Path) -> None:
    """The handler takes nothing that is not its own: neither a map of others nor a signal that was sent."""
    foreign = """
build("cut", 1)
segment = Segment.open("cut")
open("other", "wb").write(bytes(1 << 20))
with open("other", "rb") as file:
    other = mmap.mmap(file.fileno(), 1 << 20, prot=mmap.PROT_READ)
cut("other", 0)
print("before", flush=True)
other[500000]
print("after")
"""
    sent = """
build("cut", 1)
segment = Segment.open("cut")
print("before", flush=True)
os.kill(os.getpid(), 7)
print("after")
"""
    for script in (foreign, sent):
        done = run(script, tmp_path)
        # Under `make sanitize` the handler that was there before is the sanitizer's, which reports.
        assert done.stdout == "before\n"
        assert done.returncode == -signal.SIGBUS or "AddressSanitizer: BUS" in done.stderr, done.stderr
