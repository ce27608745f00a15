"""Document frequencies looked up ROUNDS times in an index of N documents, OVERRIDES of which were replaced since."""

import sys

from jird_native import Segment, SegmentBuilder, Snapshot, Tombstones
from measure import report
from stores.filled import ABSENT, COMMON, SEED, build_segment, latency_figures, scratch_folder, texts, times_us
from stores.parameters import Number, read_parameters


def main() -> int:
    """Measure and report."""
    given = read_parameters(
        __doc__,
        N=Number(50_000, "documents"),
        OVERRIDES=Number(1_000, "of them replaced", least=0),
        ROUNDS=Number(20_000, "look-ups"),
    )
    replaced = min(given["OVERRIDES"], given["N"])
    with scratch_folder() as folder:
        build_segment(given["N"], folder / "base.qix")
        base = Segment.open(folder / "base.qix")
        parts: list[tuple[Segment, Tombstones | None]] = [(base, None)]
        if replaced:
            gone, builder = Tombstones(base.doc_count), SegmentBuilder()
            for page_id, text in enumerate(texts(replaced, SEED + 1), 1):
                docid = base.find(page_id)
                assert docid is not None, f"page {page_id} is in the base"
                gone.add(docid)
                builder.add_terms(page_id, text.encode())
            builder.write(folder / "changed.qix", sync=False)
            parts = [(base, gone), (Segment.open(folder / "changed.qix"), None)]
        snapshot = Snapshot(parts)
        figures = {
            **latency_figures("common", times_us(given["ROUNDS"], lambda: snapshot.df(COMMON))),
            **latency_figures("absent", times_us(given["ROUNDS"], lambda: snapshot.df(ABSENT))),
            "common_df": snapshot.df(COMMON),
            "live_documents": snapshot.document_count,
        }
    report("document-frequency-bench", given, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
