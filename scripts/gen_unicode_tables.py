"""Generate native/qix/qix_unicode_tables.c from Python's unicodedata; the result is committed.

The tokenizer asks four things of a character: what kind it is, what it folds to (NFKC_Casefold of The Unicode
Standard, section 5.18.4, with the deviations below), what it is without its accents, and how it composes with its
neighbours (Unicode Standard Annex 15). The interpreter's Unicode version is written into the table; another version
may give other tokens, so regenerating with one means raising QIX_ANALYSIS_VERSION.

Deviations from NFKC_Casefold, each for the sake of searching:
  * decimal digits of every script fold to ASCII digits;
  * U+0130 (I with dot) folds to "i" alone, so that a Turkish word is the same in both cases;
  * punctuation around a compatibility character is dropped ("(1)" of U+2474 is "1"), and one with punctuation inside
    (U+00BC, a quarter) separates words;
  * U+200B separates words, since Thai and Khmer texts mark word ends with it.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "native" / "qix" / "qix_unicode_tables.c"
BLOCK = 128
CODE_POINTS = 0x110000

SEPARATOR, WORD, MARK, UNSPACED, IGNORED, CONNECTOR, APOSTROPHE = range(7)
FLAG_COMPOSES, FLAG_STRIPS, FLAG_DIGIT = 0x10, 0x20, 0x40

# Scripts written without spaces between words, by the beginning of their characters' names. Hangul is here because
# particles are written onto Korean words: bigrams find the word within.
UNSPACED_NAMES = (
    "CJK UNIFIED", "CJK COMPATIBILITY IDEOGRAPH", "HIRAGANA", "KATAKANA", "HENTAIGANA", "BOPOMOFO", "IDEOGRAPHIC",
    "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR", "TAI ", "NEW TAI", "YI SYLLABLE", "TANGUT", "NUSHU", "JAVANESE",
    "VERTICAL IDEOGRAPHIC",
)  # fmt: skip
CONNECTORS = frozenset("._@-\u2010\u2011")
APOSTROPHES = frozenset("'\u2019\u02bc\u00b4\u05f3\u05f4")
# Default_Ignorable_Code_Point beyond category Cf, and tatweel, which only stretches an Arabic word.
IGNORED_EXTRA = frozenset([0x034F, 0x0640, 0x115F, 0x17B4, 0x17B5, 0x3164, 0xFFA0])
VARIATION_SELECTORS = (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
# Letters with a mark in their decomposition that are letters of their own to everyone who uses them.
KEPT_LETTERS = frozenset("\u0439\u0457\u045e")
# Letters without a decomposition, and what those who cannot type them type instead.
PLAIN_LETTERS = {
    "\u00e6": "ae", "\u0153": "oe", "\u00f0": "d", "\u00fe": "th", "\u0131": "i", "\u014b": "n", "\u0259": "e",
    "\u06cc": "\u064a", "\u06a9": "\u0643", "\u0649": "\u064a",
}  # fmt: skip
LATIN_NAME = re.compile(r"LATIN SMALL LETTER (?:DOTLESS )?([A-Z]) WITH ")
# Combining classes whose marks are accents or optional vowel points. Others (virama 9, kana voicing 8, the vowels of
# Thai, Lao, Tibetan, ...) are part of the spelling.
ACCENT_CLASSES = frozenset([1, 7, *range(10, 37), *range(200, 241)])


@dataclass(frozen=True, slots=True)
class Record:
    """What the C side knows of a character; many share one record, since single mappings are kept as differences."""

    kind: int
    flags: int
    ccc: int
    fold: tuple[int, ...] | int
    strip: tuple[int, ...] | int


def fold_fully(char: str) -> str:
    """NFKC_Casefold of one character, without removal of ignorable ones, digits as ASCII."""
    if char == "\u0130":
        return "i"
    folded, before = char, ""
    while folded != before:
        before = folded
        folded = unicodedata.normalize("NFKC", folded.casefold())
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in folded)


def kind_of(char: str) -> int:
    """The kind of a character that folds to itself."""
    code, category = ord(char), unicodedata.category(char)
    if char in CONNECTORS:
        return CONNECTOR
    if char in APOSTROPHES:
        return APOSTROPHE
    if code == 0x200B:
        return SEPARATOR
    if category == "Cf" or code in IGNORED_EXTRA or any(code in each for each in VARIATION_SELECTORS):
        return IGNORED
    if category[0] == "M" or 0x1160 <= code <= 0x11FF:
        return MARK
    if category[0] in "LN" or char == "\u3007":
        return UNSPACED if unicodedata.name(char, "").startswith(UNSPACED_NAMES) else WORD
    return SEPARATOR


def fold(char: str) -> tuple[int, str]:
    """Kind and folded form; for a separator or an ignored character the form is the character itself."""
    if kind_of(char) in (IGNORED, APOSTROPHE, CONNECTOR):
        return kind_of(char), char
    folded = fold_fully(char)
    while folded and kind_of(folded[0]) in (SEPARATOR, IGNORED) and len(folded) > 1:
        folded = folded[1:]
    while folded and kind_of(folded[-1]) in (SEPARATOR, IGNORED) and len(folded) > 1:
        folded = folded[:-1]
    kinds = [kind_of(c) for c in folded]
    if len(folded) == 1:
        stray_mark = kinds[0] == MARK and " " in fold_fully(char)
        return (SEPARATOR, char) if stray_mark or kinds[0] == SEPARATOR else (kinds[0], folded)
    if all(kind in (WORD, MARK, UNSPACED) for kind in kinds) and set(kinds) != {MARK}:
        return kinds[0], folded
    return SEPARATOR, char


def is_accent(char: str) -> bool:
    """Whether removing this mark leaves a plainer spelling of the same word."""
    return unicodedata.category(char) == "Mn" and unicodedata.combining(char) in ACCENT_CLASSES


def strip_accents(char: str) -> str:
    """The folded character without accents; empty for a mark that is one; itself where nothing changes."""
    if char in KEPT_LETTERS or kind_of(char) == UNSPACED:
        return char
    if char in PLAIN_LETTERS:
        return PLAIN_LETTERS[char]
    plain = "".join(c for c in unicodedata.normalize("NFD", char) if not is_accent(c))
    plain = unicodedata.normalize("NFC", plain)
    named = LATIN_NAME.match(unicodedata.name(plain, "")) if len(plain) == 1 else None
    return named.group(1).lower() if named else PLAIN_LETTERS.get(plain, plain)


def compositions() -> list[tuple[int, int, int]]:
    """(first, second, composed) of every primary composite that folding leaves as it is, Hangul excepted."""
    found = []
    for char in map(chr, range(CODE_POINTS)):
        parts = unicodedata.decomposition(char).split()
        is_pair = len(parts) == 2 and parts[0][0] != "<"
        if is_pair and fold_fully(char) == char and unicodedata.is_normalized("NFC", char):
            found.append((int(parts[0], 16), int(parts[1], 16), ord(char)))
    return sorted(found)


def flags_of(char: str, seconds: frozenset[int]) -> int:
    """Flags of a folded character."""
    code, flags = ord(char), 0
    if unicodedata.combining(char) or code in seconds or 0x1160 <= code <= 0x11FF:
        flags |= FLAG_COMPOSES
    if strip_accents(char) != char:
        flags |= FLAG_STRIPS
    if char.isdecimal():
        flags |= FLAG_DIGIT
    return flags


def mapping(source: str, target: str) -> tuple[int, ...] | int:
    """A difference for a single character, else the sequence (which may be empty)."""
    return ord(target) - ord(source) if len(target) == 1 else tuple(map(ord, target))


def record_of(char: str, seconds: frozenset[int]) -> Record:
    """The record of one character: kind and flags are those of the first folded character."""
    kind, folded = fold(char)
    if kind == SEPARATOR:
        return Record(SEPARATOR, 0, 0, 0, 0)
    assert all(fold(c)[1] == c for c in folded), f"folding U+{ord(char):04X} is not stable"
    return Record(
        kind=kind,
        flags=flags_of(folded[0], seconds),
        ccc=unicodedata.combining(char),
        fold=mapping(char, folded),
        strip=mapping(char, strip_accents(char)) if folded == char else 0,
    )


def lines(values: Iterable[str]) -> str:
    """Comma-separated values in lines of at most 116 characters."""
    rows, row = [], ""
    for value in values:
        if len(row) + len(value) + 2 > 116:
            rows.append(row.rstrip())
            row = ""
        row += value + ", "
    rows.append(row.rstrip())
    return "\n".join(f"    {each}" for each in rows)


def index_records(seconds: frozenset[int]) -> tuple[list[Record], list[int], list[list[int]]]:
    """Unique records, the block of every 128 code points, and the blocks (record numbers)."""
    records: dict[Record, int] = {Record(SEPARATOR, 0, 0, 0, 0): 0}
    blocks: dict[tuple[int, ...], int] = {}
    stage: list[int] = []
    for base in range(0, CODE_POINTS, BLOCK):
        numbers = []
        for code in range(base, base + BLOCK):
            record = Record(SEPARATOR, 0, 0, 0, 0) if 0xD800 <= code < 0xE000 else record_of(chr(code), seconds)
            numbers.append(records.setdefault(record, len(records)))
        stage.append(blocks.setdefault(tuple(numbers), len(blocks)))
    return list(records), stage, [list(block) for block in blocks]


def pool_sequences(records: Sequence[Record]) -> tuple[list[int], dict[tuple[int, ...], int]]:
    """All sequences behind one another, and where each begins."""
    pool: list[int] = []
    offsets: dict[tuple[int, ...], int] = {}
    for record in records:
        for sequence in (record.fold, record.strip):
            if isinstance(sequence, tuple) and sequence not in offsets:
                offsets[sequence] = len(pool)
                pool.extend(sequence)
    return pool, offsets


def record_text(record: Record, offsets: dict[tuple[int, ...], int]) -> str:
    """One initialiser; a count of 255 says that the value is a difference."""
    parts = []
    for value in (record.fold, record.strip):
        parts.append((offsets[value], len(value)) if isinstance(value, tuple) else (value, 255))
    (fold_at, fold_count), (strip_at, strip_count) = parts
    return f"{{{fold_at}, {strip_at}, {fold_count}, {strip_count}, {record.kind | record.flags}, {record.ccc}}}"


def render() -> str:
    """The whole C file."""
    pairs = compositions()
    records, stage, blocks = index_records(frozenset(second for _, second, _ in pairs))
    pool, offsets = pool_sequences(records)
    by_composed = sorted(range(len(pairs)), key=lambda i: pairs[i][2])
    arrays = [
        (f"const uint16_t qix_char_stage[{len(stage)}]", map(str, stage)),
        (f"const uint16_t qix_char_blocks[{len(blocks) * BLOCK}]", (str(n) for block in blocks for n in block)),
        (f"const qix_char_record qix_char_records[{len(records)}]", (record_text(r, offsets) for r in records)),
        (f"const uint32_t qix_char_sequences[{len(pool)}]", map(str, pool)),
        (f"const qix_char_pair qix_char_pairs[{len(pairs)}]", (f"{{{a}, {b}, {c}}}" for a, b, c in pairs)),
        (f"const uint16_t qix_char_pairs_by_composed[{len(pairs)}]", map(str, by_composed)),
    ]
    head = (
        f"/* Generated by scripts/gen_unicode_tables.py from Unicode {unicodedata.unidata_version}; do not edit. */\n"
        '#include "qix_unicode_tables.h"\n\n'
        f'const char qix_unicode_version[] = "{unicodedata.unidata_version}";\n'
        f"const uint32_t qix_char_pair_count = {len(pairs)};\n"
    )
    body = (
        f"\n/* clang-format off */\n{name} = {{\n{lines(values)}\n}};\n/* clang-format on */\n"
        for name, values in arrays
    )
    return head + "".join(body)


def main() -> int:
    """Write the table, or with --check say whether the committed one is what this interpreter would write."""
    text = render()
    if "--check" in sys.argv[1:]:
        return int(TARGET.read_text() != text)
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
