"""The link graph: what a page links to, and, kept beside it, who links to a page and under which words."""

from jird_daemon.store.tables import INLINKS, LINKS, Inlink, Link, LinkSet
from jird_daemon.store.txn import Txn
from jird_daemon.store.urls import intern_urls

# Words under which one page links to another; more is a paragraph, not a name.
ANCHOR_CHARS_MAX = 256
# Distinct anchor texts of a page that count for finding it, and the backlinks that are looked at for them: what
# thousands of pages say is said by the first of them too.
ANCHORS_MAX = 32
ANCHORS_CHARS_MAX = 2_048
_BACKLINKS_READ_MAX = 1_000
# Other links (mailto:, ...) lead to no page.
_WEB_SCHEMES = ("https://", "http://")


def replace_links(txn: Txn, url_id: int, links: tuple[Link, ...]) -> None:
    """Set the outgoing links of a page, and its entries among the backlinks of others."""
    old = txn.get(LINKS, url_id)
    if old is not None and old.links == links:
        return
    before = _destinations(txn, url_id, old.links) if old is not None else {}
    after = _destinations(txn, url_id, links)
    for to_id in before.keys() - after.keys():
        txn.delete(INLINKS, (to_id, url_id))
    # In the order of keys: half the time of tree order, since neighbours share a leaf.
    txn.put_many(
        INLINKS,
        (((to_id, url_id), inlink) for to_id, inlink in sorted(after.items()) if before.get(to_id) != inlink),
    )
    txn.put(LINKS, url_id, LinkSet(links))


def collect_anchors(txn: Txn, url_id: int) -> tuple[str, ...]:
    """Distinct words under which others link to a page, oldest linking page first; nofollow links say nothing."""
    anchors: dict[str, str] = {}
    chars = 0
    for seen, (_, inlink) in enumerate(txn.scan(INLINKS, (url_id, 0), (url_id + 1, 0))):
        if seen >= _BACKLINKS_READ_MAX or len(anchors) >= ANCHORS_MAX:
            break
        key = inlink.text.casefold()
        if not key or inlink.is_nofollow or key in anchors:
            continue
        chars += len(inlink.text)
        if chars > ANCHORS_CHARS_MAX:
            break
        anchors[key] = inlink.text
    return tuple(anchors.values())


def _destinations(txn: Txn, url_id: int, links: tuple[Link, ...]) -> dict[int, Inlink]:
    """Backlink entry for each page linked to, itself left out; of several links the best named one counts."""
    found: dict[int, Inlink] = {}
    web_links = [link for link in links if link.to_url.startswith(_WEB_SCHEMES)]
    ids = intern_urls(txn, [link.to_url for link in web_links])
    for link in web_links:
        to_id = ids[link.to_url]
        if to_id == url_id:
            continue
        entry = Inlink(link.text[:ANCHOR_CHARS_MAX].strip(), link.is_nofollow)
        known = found.get(to_id)
        if known is None or _rank(entry) > _rank(known):
            found[to_id] = entry
    return found


def _rank(inlink: Inlink) -> tuple[bool, bool]:
    return not inlink.is_nofollow, bool(inlink.text)
