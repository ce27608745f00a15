"""The text of a page as jird keeps it: in the page's own order, with what the markup said about it.

A pile is stored once for each content and does not know its address, so that pages with the same text share it
(U17). Its digest covers text, markers and language, and nothing that can be derived again (U21).
"""

from collections.abc import Sequence
from enum import IntEnum
from hashlib import blake2b

import msgspec


class MarkerKind(IntEnum):
    """What a range of the text was in the page. Numbers are stored; new kinds get new numbers."""

    MAIN = 0  # main content, as told apart from navigation and frame
    HEADING_1 = 1
    HEADING_2 = 2
    HEADING_3 = 3
    HEADING_4 = 4
    HEADING_5 = 5
    HEADING_6 = 6
    CODE = 7
    QUOTE = 8
    LIST = 9
    TABLE = 10
    NAVIGATION = 11


class Marker(msgspec.Struct, frozen=True, array_like=True):
    """A half-open range of code points of the text, `0 <= start < end <= len(text)`."""

    kind: MarkerKind
    start: int
    end: int


class TextPile(msgspec.Struct, frozen=True, array_like=True):
    """Text with blocks separated by newlines; markers ordered by start, then end descending; language as declared."""

    text: str
    markers: tuple[Marker, ...] = ()
    language: str = ""  # IANA primary subtag, lower case; empty when the page does not state it


def main_parts(pile: TextPile) -> list[tuple[int, int]]:
    """Give the ranges of the main part, else of the whole text, without what is marked as navigation.

    They are in order and do not overlap, though markers may nest and overlap.
    """
    main = [(m.start, m.end) for m in pile.markers if m.kind == MarkerKind.MAIN] or [(0, len(pile.text))]
    left_out = [(m.start, m.end) for m in pile.markers if m.kind == MarkerKind.NAVIGATION]
    parts = []
    position = 0
    for start, end in main:
        position = max(position, start)
        for hole_start, hole_end in left_out:
            if hole_end <= position or hole_start >= end:
                continue
            if hole_start > position:
                parts.append((position, hole_start))
            position = max(position, hole_end)
        if position < end:
            parts.append((position, end))
            position = end
    return parts


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(TextPile)


def encode_pile(pile: TextPile) -> bytes:
    """Serialise a pile: MessagePack array of text, markers [kind, start, end] and language; one form for one pile."""
    return _encoder.encode(pile)


def encode_marked(text: str, markers: Sequence[tuple[int, int, int]], language: str) -> bytes:
    """Serialise a pile whose markers are tuples of kind, start and end; the same bytes as encode_pile gives."""
    return _encoder.encode((text, markers, language))


def decode_pile(data: bytes) -> TextPile:
    """Read what encode_pile wrote.

    Raises:
        msgspec.DecodeError: The bytes are not a pile.
    """
    return _decoder.decode(data)


def has_text(data: bytes) -> bool:
    """Whether a serialised pile holds any text: its first element is not MessagePack's empty string."""
    return len(data) > 1 and data[1] != 0xA0


def pile_digest(pile: TextPile) -> bytes:
    """BLAKE2b-512 over the serialised pile (U21); 64 bytes."""
    return encoded_digest(encode_pile(pile))


def encoded_digest(data: bytes) -> bytes:
    """The digest of a pile that encode_pile or encode_marked gave."""
    return blake2b(data).digest()
