"""One segment of N documents: collected, written, opened, verified, merged with another of as many."""

import sys
import time

from jird_native import Segment, SegmentBuilder, merge_segments
from measure import report
from stores.filled import TOKENS, scratch_folder, texts, times_us
from stores.parameters import Number, read_parameters

OPENS = 20


def main() -> int:
    """Measure and report."""
    given = read_parameters(__doc__, N=Number(50_000, "documents"))
    count = given["N"]
    lines = [text.encode() for text in texts(2 * count)]
    figures: dict[str, float] = {}
    with scratch_folder() as folder:
        paths = [folder / "first.qix", folder / "second.qix"]
        for part, path in enumerate(paths):
            builder, start = SegmentBuilder(), time.process_time()
            for number in range(part * count, (part + 1) * count):
                builder.add_terms(number + 1, lines[number])
            figures["add_documents_per_cpu_second"] = count / (time.process_time() - start)
            start = time.process_time()
            info = builder.write(path, sync=False)
            figures |= {"write_cpu_ms": (time.process_time() - start) * 1000, "bytes_per_document": info.bytes / count}
        figures["open_min_us"] = min(times_us(OPENS, lambda: Segment.open(paths[0]).close()))
        segments = [Segment.open(path) for path in paths]
        start = time.process_time()
        faults = segments[0].verify()
        figures["verify_mb_per_cpu_second"] = segments[0].bytes / 1e6 / (time.process_time() - start)
        assert not faults, f"a new segment has faults: {faults}"
        start = time.process_time()
        merge_segments([(segment, None) for segment in segments], folder / "merged.qix", sync=False)
        figures["merge_documents_per_cpu_second"] = 2 * count / (time.process_time() - start)
    report("segment-bench", {**given, "tokens_each": TOKENS}, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
