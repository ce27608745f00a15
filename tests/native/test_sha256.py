"""The digests of segments: FIPS 180-4, whatever instructions the processor has for it."""

import hashlib
from random import Random

import pytest

from jird_native._qix import ffi, lib


def digest(data: bytes, portable: bool) -> bytes:
    """SHA-256 as C computes it."""
    result = ffi.new("uint8_t[32]")
    lib.qix_sha256_digest(data, len(data), portable, result)
    return bytes(ffi.buffer(result))


@pytest.mark.parametrize("portable", [False, True], ids=["fastest", "portable"])
def test_digests_are_those_of_another_implementation(portable: bool) -> None:
    """J17, J18: every length around the padding's edges, and long ones, as hashlib has them."""
    data = Random(5).randbytes(5000)
    for length in (*range(260), 1000, 4096, 4999, 5000):
        assert digest(data[:length], portable) == hashlib.sha256(data[:length]).digest(), length


def test_a_block_that_lies_at_any_address_gives_the_same_digest() -> None:
    """Vector loads must not depend on alignment."""
    data = Random(6).randbytes(1024)
    for start in range(17):
        view = ffi.from_buffer("uint8_t[]", data) + start
        result = ffi.new("uint8_t[32]")
        lib.qix_sha256_digest(view, 900, False, result)
        assert bytes(ffi.buffer(result)) == hashlib.sha256(data[start : start + 900]).digest()


def test_the_standards_own_examples_hold() -> None:
    """FIPS 180-4's "abc" and its message of two blocks, and the empty message."""
    two_blocks = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
    for portable in (False, True):
        assert digest(b"abc", portable).hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        assert digest(two_blocks, portable).hex() == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        assert digest(b"", portable).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
