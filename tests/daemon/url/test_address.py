"""Which addresses may be connected to (J44)."""

from ipaddress import IPv4Network, IPv6Network

import pytest

from jird_daemon.url.address import AddressPolicy

PUBLIC_ONLY = AddressPolicy((), (80, 443))
INTRANET = AddressPolicy((IPv4Network("10.1.0.0/16"), IPv6Network("fd00::/8")), (443, 8443))


@pytest.mark.parametrize(
    "address",
    ["0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
     "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.9",
     "224.0.0.1", "240.0.0.1", "255.255.255.255",
     "::", "::1", "fc00::1", "fd12::1", "fe80::1", "fe80::1%eth0", "ff02::1", "2001::1", "2001:db8::1", "3fff::1",
     "100::1", "64:ff9b:1::1", "::7f00:1", "5f00::1", "4000::1"],
)  # fmt: skip
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    """J44, F67."""
    refusal = PUBLIC_ONLY.check(address, 443)
    assert refusal is not None
    assert refusal.reason == "URL_PRIVATE_ADDRESS"
    assert address in refusal.message


@pytest.mark.parametrize(
    "address",
    ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::169.254.169.254", "2002:7f00:1::",
     "2002:c0a8:101::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
)  # fmt: skip
def test_private_ipv4_inside_ipv6_is_refused(address: str) -> None:
    """J44: mapped, NAT64, 6to4 and Teredo."""
    assert PUBLIC_ONLY.check(address, 443) is not None


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "172.32.0.1", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::8.8.8.8",
                "2002:808:808::1", "2620:4f:8000::1"],
)  # fmt: skip
def test_public_addresses_are_allowed(address: str) -> None:
    assert PUBLIC_ONLY.check(address, 443) is None


def test_operator_allows_ranges_one_by_one() -> None:
    assert INTRANET.check("10.1.2.3", 443) is None
    assert INTRANET.check("::ffff:10.1.2.3", 443) is None
    assert INTRANET.check("fd00::5", 8443) is None
    assert INTRANET.check("10.2.0.1", 443) is not None
    assert INTRANET.check("127.0.0.1", 443) is not None
    assert INTRANET.check("93.184.216.34", 443) is None


def test_port_must_be_allowed() -> None:
    """J44."""
    refusal = PUBLIC_ONLY.check("93.184.216.34", 22)
    assert refusal is not None
    assert refusal.reason == "URL_PORT"
    assert "22" in refusal.message


def test_what_is_no_address_is_refused() -> None:
    assert PUBLIC_ONLY.check("example.org", 443) is not None
    assert PUBLIC_ONLY.check("", 443) is not None
