"""Numbers for URLs and origins: each gets one at its first mention and keeps it."""

from hashlib import blake2b

from jird_daemon.store.tables import ORIGIN_IDS, ORIGINS, URL_IDS, URLS, Origin, Url
from jird_daemon.store.txn import Txn

# Names of counts kept in META; the counts are also the last number given out.
URL_COUNT = "urls"
ORIGIN_COUNT = "origins"

_DEFAULT_PORTS = {"http": 80, "https": 443}
# Two URLs with one digest of 128 bits would take the work of 2**64 tries to find.
_URL_DIGEST_BYTES = 16


def url_digest(url: str) -> bytes:
    """Key of a URL in `url_ids`: BLAKE2b over its UTF-8, 16 bytes."""
    return blake2b(url.encode(), digest_size=_URL_DIGEST_BYTES).digest()


def origin_of(url: str) -> str | None:
    """Scheme, host and port of a canonical URL, without the default port; None when it has no host (mailto:)."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return None
    end = min((place for place in map(rest.find, "/?#") if place >= 0), default=len(rest))
    return f"{scheme}://{rest[:end]}"


def find_url(txn: Txn, url: str) -> int | None:
    """Number of a canonical URL; None when it was never mentioned."""
    return txn.recent_urls.get(url) or txn.new_urls.get(url) or txn.get(URL_IDS, url_digest(url))


def intern_url(txn: Txn, url: str) -> int:
    """Number of a canonical URL, given out now if it has none.

    Raises:
        ValueError: The URL has no origin.
    """
    found = txn.recent_urls.get(url) or txn.new_urls.get(url)
    if found is not None:
        return found
    digest = url_digest(url)
    url_id = txn.get(URL_IDS, digest)
    if url_id is None:
        name = origin_of(url)
        if name is None:
            raise ValueError(f"no origin in {url!r}")
        origin_id = intern_origin(txn, name)
        url_id = txn.add_number(URL_COUNT, 1)
        txn.put(URLS, url_id, Url(url, origin_id))
        txn.put(URL_IDS, digest, url_id)
    txn.new_urls[url] = url_id
    return url_id


def intern_origin(txn: Txn, name: str) -> int:
    """Number of an origin, given out now if it has none.

    Args:
        txn: A write transaction.
        name: Scheme, host and port, the default port left out: "https://example.org".
    """
    origin_id = txn.get(ORIGIN_IDS, name)
    if origin_id is None:
        origin_id = txn.add_number(ORIGIN_COUNT, 1)
        txn.put(ORIGINS, origin_id, parse_origin(name))
        txn.put(ORIGIN_IDS, name, origin_id)
    return origin_id


def parse_origin(name: str) -> Origin:
    """Take the name of an origin apart; an IPv6 host keeps its brackets."""
    scheme, _, place = name.partition("://")
    host, colon, port = place.rpartition(":")
    if not colon or not port.isdecimal():
        return Origin(name, scheme, place, _DEFAULT_PORTS.get(scheme, 0))
    return Origin(name, scheme, host, int(port))
