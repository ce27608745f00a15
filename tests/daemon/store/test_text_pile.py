"""The stored form of a page's text."""

import msgspec
import pytest

from jird_daemon.store.text_pile import (
    Marker,
    MarkerKind,
    TextPile,
    decode_pile,
    encode_marked,
    encode_pile,
    encoded_digest,
    pile_digest,
)

PILE = TextPile("Title\nText", (Marker(MarkerKind.HEADING_1, 0, 5), Marker(MarkerKind.MAIN, 6, 10)), "en")


def test_pile_keeps_text_in_its_order_with_markers_and_language() -> None:
    """U18, U19: what the markup said of the text, and the stated language, are kept beside it."""
    assert decode_pile(encode_pile(PILE)) == PILE


def test_pile_encoded_from_tuples_is_the_same_pile() -> None:
    """U21: the short way of a parse worker gives the same bytes, and so the same digest."""
    data = encode_marked(PILE.text, [(1, 0, 5), (0, 6, 10)], "en")
    assert data == encode_pile(PILE)
    assert encoded_digest(data) == pile_digest(PILE)


def test_digest_covers_text_markers_and_language() -> None:
    """U21: BLAKE2b-512 over the shortest serialisation of text and metadata, nothing else."""
    others = [
        TextPile("Title\ntext", PILE.markers, "en"),
        TextPile(PILE.text, PILE.markers[:1], "en"),
        TextPile(PILE.text, PILE.markers, "de"),
    ]
    digests = {pile_digest(pile) for pile in [PILE, *others]}
    assert len(digests) == 4
    assert {len(digest) for digest in digests} == {64}
    assert pile_digest(decode_pile(encode_pile(PILE))) == pile_digest(PILE)


def test_bytes_that_are_no_pile_are_an_error() -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_pile(b"\x93\x01\x02\x03")
