"""The Link field (F23, J147)."""

import time

import pytest

from jird_daemon.url.link_header import LINKS_MAX, VALUE_CHARS_MAX, parse_link_header


def canonical_of(value: str) -> list[str]:
    return [link.target for link in parse_link_header(value) if "canonical" in link.rels and not link.is_foreign]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("<https://h.org/a>; rel=canonical", ["https://h.org/a"]),
        ('<https://h.org/a,b>; rel="Canonical"', ["https://h.org/a,b"]),
        ('</s.css>; rel=preload; as=style, </a>; title="x, y"; rel="next canonical", </b>; rel=alternate', ["/a"]),
        ("</a>; rel=next; rel=canonical", []),
        ('</a>; rel=canonical; anchor="/other"', []),
        ("broken, <b>; rel=canonical", ["b"]),
        ("<a; rel=canonical", []),
        ('<a>; rel="canonical', []),
        ('<a> ; REL = "canonical" ; crossorigin', ["a"]),
        ("", []),
    ],
)
def test_only_the_item_with_the_relation_counts(value: str, expected: list[str]) -> None:
    """F23."""
    assert canonical_of(value) == expected


def test_field_is_read_to_its_limits() -> None:
    many = ", ".join(f"<{number}>; rel=next" for number in range(LINKS_MAX + 5))
    assert len(parse_link_header(many)) == LINKS_MAX
    cut = "<a>; rel=next, <" + "b" * VALUE_CHARS_MAX + ">; rel=canonical"
    assert [link.target for link in parse_link_header(cut)] == ["a"]


@pytest.mark.parametrize(
    "value", ["<a>" + ";" * 8_000, '<a>; x="' + "\\" * 8_000, "<" * 8_000, "," * 8_000, " " * 8_000]
)
def test_damaged_fields_cost_linear_time(value: str) -> None:
    """F51."""
    before = time.process_time()
    parse_link_header(value)
    assert time.process_time() - before < 0.1
