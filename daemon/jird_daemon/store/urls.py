"""Numbers for URLs and origins: each gets one at its first mention and keeps it."""

import re
from collections.abc import Iterable
from hashlib import blake2b

from jird_daemon.store.tables import ORIGIN_IDS, ORIGINS, URL_IDS, URLS, Origin, Url
from jird_daemon.store.txn import Txn

# Names of counts kept in META; the counts are also the last number given out.
URL_COUNT = "urls"
ORIGIN_COUNT = "origins"

_DEFAULT_PORTS = {"http": 80, "https": 443}
_END_OF_AUTHORITY = re.compile("[/?#]")
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
    return f"{scheme}://{_END_OF_AUTHORITY.split(rest, 1)[0]}"


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


def intern_urls(txn: Txn, urls: Iterable[str]) -> dict[str, int]:
    """Numbers of canonical URLs, given out in their order to those that have none.

    As intern_url for each, at a third of its cost: a page has hundreds, and what is read and written lies in the order
    of the keys.

    Raises:
        ValueError: One of the URLs has no origin.
    """
    recent, new = txn.recent_urls.get, txn.new_urls
    found = {url: recent(url) or new.get(url, 0) for url in urls}
    digests = {url: url_digest(url) for url, url_id in found.items() if not url_id}
    if not digests:
        return found
    stored = txn.get_many(URL_IDS, sorted(digests.values()))
    met = {url: url_id for url, digest in digests.items() if (url_id := stored.get(digest))}
    unknown = [url for url in digests if url not in met]
    if unknown:
        last = txn.add_number(URL_COUNT, len(unknown))
        added = dict(zip(unknown, range(last - len(unknown) + 1, last + 1), strict=True))
        origin_ids = _origin_ids(txn, unknown)
        txn.put_many(URLS, [(url_id, Url(url, origin_ids[url])) for url, url_id in added.items()])
        txn.put_many(URL_IDS, sorted((digests[url], url_id) for url, url_id in added.items()))
        met.update(added)
    new.update(met)
    found.update(met)
    return found


def _origin_ids(txn: Txn, urls: Iterable[str]) -> dict[str, int]:
    """Number of the origin of each URL; the many URLs of one origin cost one look-up."""
    by_name: dict[str, int] = {}
    found = {}
    for url in urls:
        name = origin_of(url)
        if name is None:
            raise ValueError(f"no origin in {url!r}")
        if name not in by_name:
            by_name[name] = intern_origin(txn, name)
        found[url] = by_name[name]
    return found


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
