"""UUIDs of version 7, which sort by the time they were made (RFC 9562 section 5.7)."""

import os

_UUID_BYTES = 16


def make_uuid7(time_s: float) -> bytes:
    """Make one, as 16 bytes.

    Args:
        time_s: Seconds since 1970 UTC, below the year 10,000. Milliseconds fill the first 48 bits and the fraction of
            a millisecond the 12 bits of rand_a (RFC 9562 section 6.2, method 3), so that order holds to 0.25 us.
    """
    ticks = int(time_s * 4_096_000)
    value = (ticks >> 12) << 80 | 0x7 << 76 | (ticks & 0xFFF) << 64
    value |= 0b10 << 62 | int.from_bytes(os.urandom(8)) >> 2
    return value.to_bytes(_UUID_BYTES)


def uuid7_floor(time_s: float) -> bytes:
    """The smallest 16 bytes that a UUID made at `time_s` or later can be; for scans of keys from a time on."""
    ticks = int(time_s * 4_096_000)
    return ((ticks >> 12) << 80 | 0x7 << 76 | (ticks & 0xFFF) << 64).to_bytes(_UUID_BYTES)
