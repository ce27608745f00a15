"""A site with one page for each rule that a crawler must keep: robots.txt, directives, canonical, redirects, sitemap.

Every page has a word of its own, made up, so that a search tells whether it was indexed: HIDDEN_WORDS must never be
found, SHOWN_WORDS must be found once the crawl has ended.
"""

from testkit.site_pages import Resources, document, links
from testkit.web_server import Reply

SHOWN_WORDS = {
    "/": "startoword",
    "/plain": "plainoword",
    "/moved-to": "movetoword",
    "/canonical/target": "canonword",
    "/self-canonical": "selfcanword",
    "/open/inside": "openword",
    "/umlaut/b%C3%BCcher": "umlautword",
    "/noarchive": "noarchiword",
    "/pictures": "pictureword",
    "/base/deep/page": "basepageword",
    "/base/elsewhere/relative": "relativeword",
    "/sitemap-only": "sitemapword",
    "/noscript": "noscriptword",
}
"""Words of pages that a crawl must find (the last path only through the sitemap), by path."""

HIDDEN_WORDS = {
    "/private/secret": "privateword",
    "/noindex": "noindexword",
    "/noindex-header": "headerword",
    "/none": "noneword",
    "/canonical/copy": "copyword",
    "/gone": "goneword",
    "/missing": "missingword",
    "/only-nofollow": "nofollowword",
    "/behind-nofollow-page": "behindword",
    "/login": "loginword",
    "/data.bin": "binaryword",
}
"""Words that no search may find, by path."""

ROBOTS = """\
# The case site.
User-agent: *
Disallow: /private/
Allow: /open/
Disallow: /*?sort=

Sitemap: {origin}/sitemap.xml
"""


def cases(origin: str) -> Resources:
    """The site; `origin` is its own, for the places that need absolute URLs."""
    pages: Resources = {path: _page(path, word) for path, word in {**SHOWN_WORDS, **HIDDEN_WORDS}.items()}
    elsewhere = ("/only-nofollow", "/behind-nofollow-page", "/login")
    hidden_links = [path for path in HIDDEN_WORDS if path not in elsewhere]
    shown_links = [path for path in SHOWN_WORDS if path not in ("/", "/sitemap-only", "/base/elsewhere/relative")]
    to = links({path: path.strip("/") for path in [*shown_links, *hidden_links, "/moved-from", "/chain-1", "/loop-a"]})
    odd = (
        '<a href="/only-nofollow" rel="nofollow">not to be followed</a> <a href="/plain?sort=name">sorted</a> '
        '<a href="/nofollow-page">a page whose links count for nothing</a> <a href="http://[broken">broken</a> '
        '<a href="mailto:nobody@cases.test">mail</a> <a href="javascript:void(0)">script</a> <a href="#top">top</a>'
    )
    pages["/"] = document("en", "The case site", f"<p>{SHOWN_WORDS['/']}</p>{to}<p>{odd}</p>")
    pages["/noindex"] = _page("/noindex", "noindexword", head='<META NAME="ROBOTS" CONTENT="NOINDEX">')
    pages["/none"] = _page("/none", "noneword", head="<meta name='robots'content='none'/>")
    pages["/noarchive"] = _page("/noarchive", "noarchiword", head='<meta name="robots" content="noarchive">')
    pages["/nofollow-page"] = document(
        "en",
        "Nothing to follow",
        '<a href="/behind-nofollow-page">behind</a>',
        head='<meta name="robots" content="nofollow">',
    )
    pages["/noindex-header"] = _with_header(pages["/noindex-header"], "X-Robots-Tag", "noindex")
    pages["/canonical/copy"] = _page(
        "/canonical/copy", "copyword", head=f'<link rel="canonical" href="{origin}/canonical/target">'
    )
    pages["/self-canonical"] = _page(
        "/self-canonical", "selfcanword", head=f'<link rel="canonical" href="{origin}/self-canonical">'
    )
    pages["/base/deep/page"] = document(
        "en",
        "A base of its own",
        f'<p>{SHOWN_WORDS["/base/deep/page"]}</p><a href="relative">relative to the base</a>',
        head='<base href="/base/elsewhere/">',
    )
    # A 401 ends the crawl of an origin for ten minutes, so it lies as deep as it can: all else is found before it.
    last = f'<p>{SHOWN_WORDS["/base/elsewhere/relative"]}</p><a href="/login">log in</a>'
    pages["/base/elsewhere/relative"] = document("en", "Found through a base", last)
    pages["/pictures"] = document("en", "Pictures", f"<p>{SHOWN_WORDS['/pictures']}</p>{_PICTURES}")
    pages["/noscript"] = document(
        "en",
        "Without scripts",
        f"<p>{SHOWN_WORDS['/noscript']}</p>"
        "<noscript><meta http-equiv=refresh content='0;url=/private/secret'></noscript>",
    )
    for path, status in (("/gone", 410), ("/missing", 404), ("/login", 401)):
        pages[path] = Reply(status, pages[path].body, pages[path].headers)
    pages["/data.bin"] = Reply(200, b"\x00\x01binaryword\xff" * 100, (("Content-Type", "application/octet-stream"),))
    pages["/moved-from"] = Reply.redirect("/moved-to", 301)
    pages |= {f"/chain-{hop}": Reply.redirect(f"/chain-{hop + 1}", 302) for hop in range(1, 4)}
    pages["/chain-4"] = Reply.redirect("/plain", 307)
    pages |= {"/loop-a": Reply.redirect("/loop-b", 302), "/loop-b": Reply.redirect("/loop-a", 302)}
    pages["/robots.txt"] = Reply.text(ROBOTS.format(origin=origin))
    pages["/sitemap.xml"] = _sitemap(origin)
    return pages


_PICTURES = (
    '<figure><img src="/img/lighthouse.png" alt="A lighthouse in the fog" width="640" height="480">'
    "<figcaption>The old lighthouse</figcaption></figure>"
    '<picture><source srcset="/img/ferry-2x.webp 2x"><img src="/img/ferry.jpg" alt="The last ferry"></picture>'
)


def _page(path: str, word: str, *, head: str = "") -> Reply:
    name = path.strip("/").replace("/", " ") or "start"
    return document("en", f"Case: {name}", f"<p>The word of this page is {word}.</p>", head=head)


def _with_header(reply: Reply, name: str, value: str) -> Reply:
    return Reply(reply.status, reply.body, (*reply.headers, (name, value)))


def _sitemap(origin: str) -> Reply:
    entries = "".join(f"<url><loc>{origin}{path}</loc></url>" for path in ("/plain", "/sitemap-only"))
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>\n'
    )
    return Reply(200, text.encode(), (("Content-Type", "application/xml"),))
