"""What jird's index must reach, and what it aims at, as parts of Tantivy's times in the same run."""

from dataclasses import dataclass

LARGER_K = 1.25
"""With k above 10 the parts may be a quarter larger."""


@dataclass(frozen=True, slots=True)
class Target:
    """Parts of Tantivy's time; `must_p99` is None where only the mean counts."""

    must_mean: float
    aim_mean: float
    must_p99: float | None = None


REAL = {
    "term": Target(0.10, 0.08, 0.12),
    "or2": Target(0.13, 0.095, 0.19),
    "or35": Target(0.11, 0.10, 0.18),
    "and2": Target(0.25, 0.18, 0.30),
    "and3": Target(0.60, 0.42, 0.80),
    "phrase": Target(0.40, 0.28, 0.45),
}
GENERATED = {
    "term": Target(0.08, 0.08),
    "or2": Target(0.14, 0.09),
    "or35": Target(0.08, 0.065),
    "and2": Target(0.25, 0.16),
    "and3": Target(0.50, 0.34),
    "phrase": Target(0.60, 0.38),
}


def target_of(text_name: str, query_class: str, k: int) -> Target:
    """The target of a class on a text; texts of a person's own are held to those of the real one."""
    target = (GENERATED if text_name == "generated" else REAL)[query_class]
    if k <= 10:
        return target
    p99 = None if target.must_p99 is None else target.must_p99 * LARGER_K
    return Target(target.must_mean * LARGER_K, target.aim_mean * LARGER_K, p99)
