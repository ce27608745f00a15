"""Pages that say the same, and pages that nearly do.

**The same.** Pages of one site with the same text form a group; one of them stands, the others are marked. A site is a
host, with or without www., under http and https: mirrors of one site are not two sites. https stands before http, then
the shortest URL (U151), then the one known first. Link destinations and formatting do not matter (U152), since they
are no part of the text. The group is a range of keys in `same_text`, in this order, so that one look-up gives
the one that stands, and a page that comes or goes changes two rows at most.

**Nearly the same.** Two texts whose SimHashes differ in at most DISTANCE_MAX of 64 bits, on any site. Such pages are
found as in Manku, Jain and Das Sarma 2007: of four blocks of 16 bits, two such hashes share one at least, so a page is
listed four times, each time with another block in front. They are folded in results, and never marked as duplicates:
how alike is alike enough is for people to say.
"""

from hashlib import blake2b
from itertools import islice

from jird_daemon.store.tables import PAGES, SAME_TEXT, SIMHASHES, URLS, Page
from jird_daemon.store.txn import Txn
from jird_daemon.store.urls import origin_of

# Manku et al. found 3 to be right for 64 bits; tests state precision and recall.
DISTANCE_MAX = 3
_BLOCKS = 4
_BLOCK_BITS = 16
_MASK = (1 << 64) - 1
# Hashes with the same block that are looked at: more are pages of one template, and one of them is near enough.
_CANDIDATES_MAX = 256
# Before the length of a URL, which is at most 4,096 characters.
_HTTP_RANK = 1 << 15
_END = 0xFFFF


def site_of(url: str) -> str:
    """What mirrors of one site have in common: the host without www., and the port where it is no default one."""
    return (origin_of(url) or "").partition("://")[2].removeprefix("www.")


def is_comparable(page: Page | None) -> bool:
    """Whether a page has a part in this: it can be found, and says something."""
    return page is not None and page.is_indexable and page.has_text


def standing_page(txn: Txn, url_id: int, page: Page) -> int:
    """Number of the page that stands for a duplicate, or its own."""
    url = txn.get(URLS, url_id)
    return _first(txn, _group(url.url, page)) or url_id if url is not None else url_id


def leave_groups(txn: Txn, url_id: int, old: Page | None) -> int:
    """Take a page out of where its old text put it; returns the page that stands now and did not before, or 0."""
    url = txn.get(URLS, url_id)
    if old is None or url is None or not is_comparable(old):
        return 0
    for block in range(_BLOCKS if old.simhash else 0):
        txn.delete(SIMHASHES, (block, _turned(old.simhash, block), url_id))
    group = _group(url.url, old)
    was_first = _first(txn, group) == url_id
    txn.delete(SAME_TEXT, (group, _rank(url.url), url_id))
    return _first(txn, group) if was_first else 0


def join_groups(txn: Txn, url_id: int, new: Page) -> tuple[bool, int, int]:
    """Put a page where its text belongs.

    Returns:
        Whether another page stands for it; the page that stood until now and does no longer, or 0; the page that it is
        nearly the same as, or 0.
    """
    url = txn.get(URLS, url_id)
    if url is None or not is_comparable(new):
        return False, 0, 0
    near = _nearest(txn, url_id, new.simhash) if new.simhash else 0
    for block in range(_BLOCKS if new.simhash else 0):
        txn.put(SIMHASHES, (block, _turned(new.simhash, block), url_id), None)
    group = _group(url.url, new)
    before = _first(txn, group)
    txn.put(SAME_TEXT, (group, _rank(url.url), url_id), None)
    stands = _first(txn, group) == url_id
    return not stands, before if stands and before != url_id else 0, near


def _group(url: str, page: Page) -> bytes:
    return blake2b(site_of(url).encode() + b"\0" + page.pile_digest, digest_size=16).digest()


def _rank(url: str) -> int:
    return min(len(url), _HTTP_RANK - 1) + (0 if url.startswith("https:") else _HTTP_RANK)


def _first(txn: Txn, group: bytes) -> int:
    for (_, _, url_id), _ in txn.scan(SAME_TEXT, (group, 0, 0), (group, _END, 0)):
        return url_id
    return 0


def _turned(simhash: int, block: int) -> int:
    shift = block * _BLOCK_BITS
    return (simhash << shift | simhash >> 64 - shift) & _MASK


def _nearest(txn: Txn, url_id: int, simhash: int) -> int:
    """The first of its kind among the pages that are nearly the same; of several kinds the one known first."""
    found: set[int] = set()
    for block in range(_BLOCKS):
        turned = _turned(simhash, block)
        low = turned >> 48 << 48
        scan = txn.scan(SIMHASHES, (block, low, 0), (block, low | (1 << 48) - 1, _MASK))
        for (_, other, other_id), _ in islice(scan, _CANDIDATES_MAX):
            if other_id != url_id and (other ^ turned).bit_count() <= DISTANCE_MAX:
                found.add(other_id)
    kinds = set()
    for other_id in found:
        page = txn.get(PAGES, other_id)
        if page is not None:
            kinds.add(page.near_duplicate_of or other_id)
    kinds.discard(url_id)
    return min(kinds, default=0)
