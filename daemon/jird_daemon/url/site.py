"""Which hosts belong together: the registrable domain by the Public Suffix List (https://publicsuffix.org).

The list ships with its package and is read at first use (60 ms); nothing is fetched.
"""

from functools import lru_cache

from publicsuffixlist import PublicSuffixList


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


@lru_cache(maxsize=8_192)  # a look-up takes microseconds, and crawls ask for the same hosts again and again
def registrable_domain(host: str) -> str:
    """Give the site of a host: the name that someone registered, e.g. `example.co.uk` for `www.example.co.uk`.

    Args:
        host: As in a canonical URL.

    Returns:
        The registrable domain; the host itself where it has none (an address, a public suffix, a name without a dot).
    """
    if host.startswith("[") or host.rpartition(".")[2].isdigit():
        return host
    return _suffixes().privatesuffix(host) or host


def is_same_site(host: str, other: str) -> bool:
    """Tell whether two hosts have the same registrable domain."""
    return registrable_domain(host) == registrable_domain(other)
