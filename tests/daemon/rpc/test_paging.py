"""Page sizes and tokens."""

import pytest

from jird_daemon.errors import InvalidArgumentError
from jird_daemon.rpc.paging import make_token, page_size, read_token


@pytest.mark.parametrize(("wanted", "size"), [(0, 20), (1, 1), (200, 200), (201, 200)])
def test_page_size_has_a_default_and_a_cap(wanted: int, size: int) -> None:
    assert page_size(wanted, 20, 200) == size


def test_negative_page_size_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="it must be 0 to 200"):
        page_size(-1, 20, 200)


def test_token_gives_its_position_back() -> None:
    assert read_token(("a", 1), make_token(("a", 1), "here")) == "here"
    assert read_token(("a", 1), make_token(("a", 1), 7)) == 7
    assert read_token(("a", 1), "") is None


@pytest.mark.parametrize("token", ["x", "ä", "AAAA", "=" * 8, "a" * 300, "kgEC", make_token(("b", 1), "here")])
def test_other_token_is_refused(token: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        read_token(("a", 1), token)
    assert caught.value.reason == "PAGE_TOKEN"
