"""Which URLs may be asked for (J43, J44, S33-S37)."""

from ipaddress import IPv4Network

import pytest

from jird_daemon.url.canonical import canonicalize
from jird_daemon.url.policy import UrlPolicy

DEFAULT = UrlPolicy(["https"], (80, 443))
INTRANET = UrlPolicy(["https", "http"], (443, 8443), (IPv4Network("10.0.0.0/8"),), ["wiki", "docs.internal", "*.test"])


def reason(policy: UrlPolicy, url: str) -> str:
    refusal = policy.check(canonicalize(url))
    return refusal.reason if refusal is not None else ""


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.org/", "URL_SCHEME"),
        ("https://example.org:22/", "URL_PORT"),
        ("https://example.org:8443/", "URL_PORT"),
        ("https://localhost/", "URL_LOCAL_NAME"),
        ("https://a.localhost/", "URL_LOCAL_NAME"),
        ("https://localhost.localdomain/", "URL_LOCAL_NAME"),
        ("https://printer.local/", "URL_LOCAL_NAME"),
        ("https://db.internal/", "URL_LOCAL_NAME"),
        ("https://myserver/", "URL_LOCAL_NAME"),
        ("https://127.0.0.1/", "URL_PRIVATE_ADDRESS"),
        ("https://0x7f.1/", "URL_PRIVATE_ADDRESS"),
        ("https://2130706433/", "URL_PRIVATE_ADDRESS"),
        ("https://[::1]/", "URL_PRIVATE_ADDRESS"),
        ("https://[::ffff:10.0.0.1]/", "URL_PRIVATE_ADDRESS"),
        ("https://93.184.216.34/", "URL_IP_LITERAL"),
        ("https://example.org/", ""),
        ("https://example.org:80/", ""),
        ("https://localhost.example.org/", ""),
        ("https://mylocal/", "URL_LOCAL_NAME"),
        ("https://notlocal.org/", ""),
    ],
)
def test_each_rule_names_itself(url: str, expected: str) -> None:
    """J43, J44, S33, S34, S35, S37."""
    assert reason(DEFAULT, url) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://wiki/", "URL_PORT"),
        ("https://wiki/", ""),
        ("https://docs.internal:8443/", ""),
        ("https://other.internal/", "URL_LOCAL_NAME"),
        ("https://a.test/", ""),
        ("https://10.2.3.4/", ""),
        ("https://192.168.1.1/", "URL_PRIVATE_ADDRESS"),
        ("https://8.8.8.8/", "URL_IP_LITERAL"),
        ("https://mywiki/", "URL_LOCAL_NAME"),
    ],
)
def test_operator_opens_names_and_ranges_one_by_one(url: str, expected: str) -> None:
    """J44."""
    assert reason(INTRANET, url) == expected


def test_message_names_the_value_and_the_setting() -> None:
    """S37."""
    refusal = DEFAULT.check("http://example.org/")
    assert refusal is not None
    assert "http" in refusal.message
    assert "crawl.schemes" in refusal.message
