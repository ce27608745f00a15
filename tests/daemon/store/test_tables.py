"""The layout of the metadata: keys whose order is relied on, names that say what they hold."""

from typing import get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jird_daemon.store import tables
from jird_daemon.store.tables import ALL_TABLES, INLINKS, PAGES, QUEUE, RUN_ORIGINS, WAITING, Table
from jird_daemon.store.uuid7 import make_uuid7, uuid7_floor

RECORDS = [
    kind
    for kind in vars(tables).values()
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind is not msgspec.Struct
]
U8, U32, U64 = (st.integers(0, 2**bits - 1) for bits in (8, 32, 64))
NUMBERED: list[tuple[Table[object, object], st.SearchStrategy[object]]] = [
    (PAGES, U64),
    (INLINKS, st.tuples(U64, U64)),
    (QUEUE, st.tuples(U64, U32, U8, U64)),
    (WAITING, st.tuples(U64, U64, U64)),
    (RUN_ORIGINS, st.tuples(U64, U32)),
]


@pytest.mark.parametrize(("table", "keys"), NUMBERED, ids=lambda value: getattr(value, "name", ""))
def test_keys_sort_as_their_numbers_do(table: Table[object, object], keys: st.SearchStrategy[object]) -> None:
    """Hot paths are short ordered scans: bytes must sort as what they stand for."""

    @given(keys, keys)
    def check(one: object, other: object) -> None:
        first, second = table.encode_key(one), table.encode_key(other)
        assert (first < second) == (one < other)  # type: ignore[operator]
        assert table.decode_key(first) == one

    check()


def test_every_table_has_a_name_of_its_own() -> None:
    assert len({table.name for table in ALL_TABLES}) == len(ALL_TABLES) == 30


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_names_of_fields_say_unit_and_kind(record: type) -> None:
    """U39: booleans are is_ or has_. U41: times and durations carry their unit; a float is a time in seconds."""
    for name, hint in get_type_hints(record).items():
        if name.startswith("__"):
            continue
        assert (hint is bool) == name.startswith(("is_", "has_")), name
        if hint is float or hint == float | None:
            assert name.endswith("_s"), name
        if "time" in name.split("_") or "not_before" in name or "response" in name:
            assert name.endswith(("_s", "_ms")), name


def test_fields_appended_later_have_a_default_when_an_older_value_is_read() -> None:
    """Values are arrays: an older, shorter one is read with today's defaults."""
    older = msgspec.msgpack.encode([200, 20, 1.0])
    page = PAGES.decode(older)
    assert (page.http_status, page.title, page.images) == (200, "", ())


@given(st.lists(st.integers(0, 4_000_000_000_000), min_size=2, max_size=20))
def test_uuids_are_16_bytes_of_version_7_and_sort_by_time(times_ms: list[int]) -> None:
    """U43, U73; RFC 9562 section 5.7."""
    times = sorted(set(times_ms))
    uuids = [make_uuid7(time / 1000) for time in times]
    assert uuids == sorted(uuids)
    assert {(len(uuid), uuid[6] >> 4, uuid[8] >> 6) for uuid in uuids} == {(16, 7, 2)}
    assert all(uuid7_floor(time / 1000) <= uuid for time, uuid in zip(times, uuids, strict=True))
    assert all(uuid7_floor(later / 1000) > uuid for later, uuid in zip(times[1:], uuids, strict=False))
