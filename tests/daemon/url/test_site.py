"""Registrable domains by the Public Suffix List."""

import pytest

from jird_daemon.url.site import is_same_site, registrable_domain


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("www.example.com", "example.com"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("me.github.io", "me.github.io"),
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("docs.company.test", "company.test"),
    ],
)
def test_registrable_domain(host: str, expected: str) -> None:
    assert registrable_domain(host) == expected


def test_two_users_of_one_platform_are_two_sites() -> None:
    assert is_same_site("www.example.org", "example.org")
    assert not is_same_site("a.github.io", "b.github.io")
