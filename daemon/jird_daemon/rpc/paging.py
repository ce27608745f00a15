"""Page sizes and opaque page tokens.

A token holds where the next page begins and a digest of the request's filters, so that a token of one list cannot be
used on another by mistake. It is no secret and grants nothing.
"""

import base64
import binascii
from collections.abc import Sequence
from hashlib import blake2b

import msgspec

from jird_daemon.errors import InvalidArgumentError

TOKEN_CHARS_MAX = 200
_DIGEST_BYTES = 8


def page_size(wanted: int, default: int, most: int) -> int:
    """The page size in effect: 0 means the default, too much is lowered.

    Raises:
        InvalidArgumentError: It is negative.
    """
    if wanted < 0:
        raise InvalidArgumentError(f"page_size is {wanted}; it must be 0 to {most}", "PAGE_SIZE")
    return min(wanted, most) or default


def make_token(filters: Sequence[str | int | float], position: str | int) -> str:
    """Make the token of the page that begins behind `position`."""
    return base64.urlsafe_b64encode(msgspec.msgpack.encode((_digest(filters), position))).decode()


def read_token(filters: Sequence[str | int | float], token: str) -> str | int | None:
    """The position that a token holds; None for the first page.

    Raises:
        InvalidArgumentError: The token is not one of this list with these filters.
    """
    if not token:
        return None
    try:
        if len(token) > TOKEN_CHARS_MAX:
            raise ValueError(token)
        data = base64.b64decode(token.encode("ascii"), altchars=b"-_", validate=True)
        digest, position = msgspec.msgpack.decode(data, type=tuple[bytes, str | int])
    except (ValueError, binascii.Error, msgspec.DecodeError):
        raise InvalidArgumentError("page_token is not one that this list gave", "PAGE_TOKEN") from None
    if digest != _digest(filters):
        raise InvalidArgumentError("page_token belongs to a list with other filters", "PAGE_TOKEN")
    return position


def _digest(filters: Sequence[str | int | float]) -> bytes:
    return blake2b(msgspec.msgpack.encode(tuple(filters)), digest_size=_DIGEST_BYTES).digest()
