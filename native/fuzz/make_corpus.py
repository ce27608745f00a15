"""Write the inputs that fuzzing of the index begins with: small sound segments, and programs of every kind of query.

Run it after a change of the format: `python native/fuzz/make_corpus.py native/fuzz/corpus`. What the fuzzer found is
kept beside them under names of its own.
"""

import sys
import tempfile
from pathlib import Path
from random import Random

from jird_native import And, DocumentInput, Field, Filter, Namespace, Not, Or, Query, SegmentBuilder, Term, phrase_of
from jird_native.program import encode_query

HEAD_BYTES = 192 + 14 * 24
"""The part of a header that has meaning; fuzz_file.h pads it."""
HEADER_BYTES = 4096

QUERY_INPUTS = 12
"""Of the target that makes queries of any bytes: three for each of its views."""

QUERIES: tuple[Query, ...] = (
    Term("w0"),
    Term("w1", fields=frozenset({Field.TITLE})),
    Or((Term("w0"), Term("w1"), Term("w9"))),
    And((Term("w0"), Not(Term("w2")), Filter(Term("a.test", Namespace.HOST)))),
    phrase_of(["w0", "w1"]),
    Or((And((Term("w0"), phrase_of(["w1", "w0"]))), Term("w3", weight=0.5))),
)


def segment(doc_count: int, seed: int) -> bytes:
    """A segment as the targets take it: head, then payload."""
    random, builder = Random(seed), SegmentBuilder()
    for page in range(1, doc_count + 1):
        words = " ".join(f"w{min(int(random.expovariate(0.7)), 12)}" for _ in range(random.randrange(1, 6)))
        title = "w0 w1" if page % 5 == 0 else ""
        builder.add(
            DocumentInput(page, page % 3, 0, 0, 0, 0, (title, "", "", "", words), ((Namespace.HOST, "a.test"),))
        )
    with tempfile.TemporaryDirectory() as folder:
        builder.write(Path(folder) / "a", sync=False)
        data = (Path(folder) / "a").read_bytes()
    payload = int.from_bytes(data[24:32], "little")
    return data[:HEAD_BYTES] + data[HEADER_BYTES : HEADER_BYTES + payload]


def main() -> None:
    """Write open/, search/ and query/ below the folder that is named, and blocks taken from a segment."""
    folder = Path(sys.argv[1])
    for name in ("open", "search", "query", "block"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    small, large = segment(12, 1), segment(300, 2)
    (folder / "open" / "small").write_bytes(small)
    (folder / "open" / "large").write_bytes(large)
    for number, query in enumerate(QUERIES):
        program = encode_query(query)
        data = len(program).to_bytes(2, "little") + program + (large if number % 2 else small)
        (folder / "search" / f"query{number}").write_bytes(data)
    for number in range(QUERY_INPUTS):
        (folder / "query" / f"random{number}").write_bytes(bytes((number,)) + Random(number).randbytes(60))
    tail = bytes((1, 2, 0, 0, 0, 0)) + bytes.fromhex("07000509")
    packed = (
        bytes((0, 0, 0, 0, 0, 0))
        + bytes((0, 1, 20))
        + bytes((1, 0))
        + b"\x55" * 16
        + bytes(2)
        + bytes((1, 0))
        + bytes(16)
    )
    bitmap = bytes((0, 0, 9, 0, 0, 0)) + bytes((1, 0, 0, 16, 0)) + b"\xff" * 16 + bytes(2)
    for name, data in (("tail", tail), ("packed", packed), ("bitmap", bitmap)):
        (folder / "block" / name).write_bytes(data)


if __name__ == "__main__":
    main()
