"""Which segments to merge, and when. Pure: sizes in, choice out.

Tiered: segments of like size are merged with each other, so that a document is copied once for each tier it climbs,
and not once for every merge. Only an explicit compaction rewrites everything.

A merge is looked for when there are `merge_segments` segments or when `max_overlay_documents` documents have changed
since the last merge (J91); it is worth its work when each segment taken is at most GROWTH_MAX times as large as the
smaller ones together. A segment that is mostly deleted is rewritten by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

# With 2, every document ends up in a segment at least half as large again as the one it came from: a document of a
# million-page index has then been copied some twenty times in all its life, mostly within tiny segments.
GROWTH_MAX = 2.0
# Segments of fewer documents count as this large: merging the tiniest first would win nothing.
_DOCUMENTS_MIN = 64
# More in one merge holds too many files and too much memory for dictionaries at a time.
_MERGE_PARTS_MAX = 64
# A segment with more deleted documents than this part is rewritten...
_DELETED_PART_MAX = 0.5
# ...unless it is so small that the next merge will take it anyway.
_REWRITE_DOCUMENTS_MIN = 1_024


@dataclass(frozen=True, slots=True)
class SegmentSize:
    """Documents of one segment."""

    live_count: int
    deleted_count: int = 0


def choose_merge(
    sizes: Sequence[SegmentSize], changed_since_merge: int, *, merge_segments: int, max_overlay_documents: int
) -> tuple[int, ...]:
    """Choose segments to merge into one.

    Args:
        sizes: The segments in use.
        changed_since_merge: Documents added or deleted since the last merge was scheduled.
        merge_segments: Number of segments from which on one is looked for.
        max_overlay_documents: Number of changed documents from which on one is looked for.

    Returns:
        Indices into `sizes`, ascending: none when there is nothing worth doing, a single one for a rewrite without its
        deleted documents.
    """
    if len(sizes) >= merge_segments or changed_since_merge >= max_overlay_documents:
        chosen = _growing_run(sizes)
        if chosen:
            return chosen
    return _mostly_deleted(sizes)


def changed_since_base(sizes: Sequence[SegmentSize]) -> int:
    """Documents that the largest segment does not hold, or no longer holds."""
    if not sizes:
        return 0
    base = max(sizes, key=lambda size: size.live_count)
    return sum(size.live_count for size in sizes) - base.live_count + base.deleted_count


def _growing_run(sizes: Sequence[SegmentSize]) -> tuple[int, ...]:
    """The longest run of segments, ordered by size, that do not grow too fast; it begins as small as can be."""
    order = sorted(range(len(sizes)), key=lambda index: (sizes[index].live_count, index))
    weights = [max(sizes[index].live_count, _DOCUMENTS_MIN) for index in order]
    for first in range(len(order) - 1):
        total, end = weights[first], first + 1
        while end < len(order) and end - first < _MERGE_PARTS_MAX and weights[end] <= GROWTH_MAX * total:
            total += weights[end]
            end += 1
        if end - first >= 2:
            return tuple(sorted(order[first:end]))
    return ()


def _mostly_deleted(sizes: Sequence[SegmentSize]) -> tuple[int, ...]:
    for index, size in enumerate(sizes):
        total = size.live_count + size.deleted_count
        if total >= _REWRITE_DOCUMENTS_MIN and size.deleted_count > total * _DELETED_PART_MAX:
            return (index,)
    return ()
