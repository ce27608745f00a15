"""What is asked of a page's source before it is parsed; the walk itself is compared with Python's in tests/daemon."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jird_native.page import scan_source

UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")


@given(st.text(alphabet="ab<>/ \t\n\r\x00\x0b\x1f\x7fé\uffff\ufffe\ufffd\uffef日", max_size=60))
def test_scan_finds_what_searching_the_text_finds(text: str) -> None:
    """F89, J161: on every text, wherever in it something stands."""
    found = scan_source(text.encode())
    assert found.has_unwanted == (UNWANTED.search(text) is not None)
    assert found.open_count == len(re.findall("<(?!/)", text))


@pytest.mark.parametrize("source", [b"", b"<", b"</", b"<<", b"\xef\xbf", b"\xff\xbf\xbf"])
def test_scan_reads_no_further_than_the_source(source: bytes) -> None:
    found = scan_source(source)
    assert (found.has_unwanted, found.open_count) == (False, source.replace(b"</", b"").count(b"<"))
