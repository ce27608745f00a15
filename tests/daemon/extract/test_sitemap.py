"""Sitemaps and feeds as text, with what is wrong with them in the wild (J122-J125, F27-F35)."""

import gzip

import pytest

from jird_daemon.extract import sitemap, sitemap_xml
from jird_daemon.extract.document import ParseJob, ParseKind, Sitemap
from jird_daemon.extract.limits import SITEMAP_BYTES_MAX, SITEMAP_LOCATIONS_MAX
from jird_daemon.extract.page import parse_page
from jird_daemon.extract.sitemap import read_sitemap

HOME = "https://h.example/"
XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def read(body: str | bytes, *, own: bool = False, url: str = HOME + "sitemap.xml", content_type: str = "") -> Sitemap:
    return read_sitemap(body.encode() if isinstance(body, str) else body, url, content_type, is_own_origin=own)


def paths(found: Sitemap) -> list[str]:
    return [location.url.removeprefix(HOME) for location in found.locations]


def urlset(*locations: str) -> str:
    return f"<urlset {XMLNS}>" + "".join(f"<url><loc>{text}</loc></url>" for text in locations) + "</urlset>"


def test_url_set_gives_locations_and_what_it_says_of_them() -> None:
    """J122: lastmod as a W3C date, priority within 0 and 1, changefreq one of its words; else unknown."""
    found = read(f"""<?xml version="1.0" encoding="UTF-8"?>
    <urlset {XMLNS}><!-- made by hand -->
      <url><loc>{HOME}a</loc><lastmod>2024-02-29</lastmod><priority>0.75</priority><changefreq>Weekly</changefreq></url>
      <url><loc>{HOME}b</loc><lastmod>2024-02-29T12:00:00+01:00</lastmod><priority>7</priority></url>
      <url><loc>{HOME}c</loc><lastmod>yesterday</lastmod><priority>nan</priority><changefreq>now</changefreq></url>
    </urlset>""")
    assert (found.format, found.is_index, found.is_cut) == ("urlset", False, False)
    told = [(location.modified_s, location.priority, location.frequency) for location in found.locations]
    assert told == [(1_709_164_800.0, 0.75, "weekly"), (1_709_204_400.0, 1.0, ""), (None, None, "")]


def test_index_is_told_from_url_set() -> None:
    """J122; F29: two locations in one element are two; a location without its element counts."""
    entries = f"<sitemap><loc>{HOME}a.xml</loc><loc>{HOME}b.xml</loc></sitemap><sitemap>\n{HOME}c.xml\n</sitemap>"
    found = read(f"<sitemapindex {XMLNS}>{entries}</sitemapindex>")
    assert (found.is_index, paths(found)) == (True, ["a.xml", "b.xml", "c.xml"])


def test_one_bad_location_does_not_spoil_the_others() -> None:
    """F31, J125, J145: empty, blank inside, markup inside, unknown entity, not a URL; white space around is layout."""
    found = read(
        urlset("", f"\u00a0 {HOME}a \n", f"{HOME}x y", f"<b>{HOME}c</b>", f"{HOME}?&nbsp;", "mailto:a@h", f"{HOME}d")
    )
    assert paths(found) == ["a", "d"]
    assert found.refused == 4


def test_references_are_the_five_of_xml_and_numeric_ones() -> None:
    """J125; an ampersand that nobody escaped stays what it is."""
    found = read(
        urlset(f"{HOME}a?b=1&amp;c=2", f"{HOME}&#100;&#x65;", f"{HOME}f?g=1&h=2", f"{HOME}&#0;", f"{HOME}&#xD800;")
    )
    assert paths(found) == ["a?b=1&c=2", "de", "f?g=1&h=2"]
    assert read(urlset(f"<![CDATA[{HOME}a?b&amp;c]]>")).locations[0].url == f"{HOME}a?b&amp;c"


@pytest.mark.parametrize(
    "prologue",
    [
        '<!DOCTYPE urlset SYSTEM "file:///etc/passwd">',
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
        "<!doctype html>",
    ],
)
def test_document_type_declaration_is_refused(prologue: str) -> None:
    """F33, J125: nothing is expanded, nothing is fetched, nothing is read."""
    found = read(prologue + urlset(f"{HOME}a"))
    assert found.locations == ()
    assert "document type" in found.refusal
    assert read(urlset(f"{HOME}a").replace("</urlset>", "<!ENTITY a 'b'></urlset>")).refusal


def test_prefix_and_foreign_elements() -> None:
    """J122: whatever prefix its elements have; locations of pictures and videos are none of pages."""
    extra = '<i:image xmlns:i="http://x/"><i:loc>https://h.example/i.png</i:loc><loc>https://h.example/j.png</loc></i:image>'
    found = read(
        f'<s:urlset xmlns:s="http://s/"><s:url><s:loc>{HOME}a</s:loc>{extra}<i:loc>{HOME}k</i:loc></s:url></s:urlset>'
    )
    assert paths(found) == ["a"]


def test_locations_on_other_origins_are_dropped_and_counted() -> None:
    """J124, F35: scheme, host and port must be the sitemap's own; repetitions are one."""
    body = urlset(f"{HOME}a", "http://h.example/a", "https://h.example:444/a", "https://other.example/", f"{HOME}a#x")
    found = read(body, own=True)
    assert (paths(found), found.foreign, found.repeated) == (["a"], 3, 1)


def test_text_file_has_a_url_a_line() -> None:
    """J122; a byte order mark, CR LF and lines that are no URL do no harm; a file without any URL is no sitemap."""
    found = read(b"\xef\xbb\xbf" + f"{HOME}a\r\n\r\n{HOME}b\nnot a url\n".encode(), url=HOME + "sitemap.txt")
    assert (found.format, paths(found), found.refused) == ("text", ["a", "b"], 1)
    assert read("Not found\n").refusal
    assert read("").refusal


def test_gzip_is_unpacked_up_to_the_limit() -> None:
    """J123: whatever it is called; a bomb stops at the limit, a broken file gives what it has or says why not."""
    assert paths(read(gzip.compress(urlset(f"{HOME}a").encode()))) == ["a"]
    bomb = gzip.compress((urlset(f"{HOME}a").removesuffix("</urlset>") + " " * (4 * SITEMAP_BYTES_MAX)).encode())
    found = read(bomb)
    assert (paths(found), found.is_cut) == (["a"], True)
    assert "gzip" in read(b"\x1f\x8bnothing").refusal


def test_cut_file_gives_what_it_has() -> None:
    """J123: a file that ends in the middle, or is longer than the limit."""
    found = read(urlset(f"{HOME}a", f"{HOME}b")[:-12])
    assert (paths(found), found.is_cut) == (["a", "b"], True)
    padding = "<!--" + "x" * SITEMAP_BYTES_MAX + "-->"
    assert read(urlset(f"{HOME}a").replace("</urlset>", padding + f"<url><loc>{HOME}z</loc></url></urlset>")).is_cut


def test_locations_end_at_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """J123: 50,000 distinct ones; repetitions take no place."""
    assert SITEMAP_LOCATIONS_MAX == 50_000
    monkeypatch.setattr(sitemap, "SITEMAP_LOCATIONS_MAX", 500)
    lines = [f"{HOME}{number}" for number in range(500)]
    assert not read("\n".join([*lines, *lines[:10]])).is_cut
    found = read("\n".join([*lines, f"{HOME}more"]))
    assert (len(found.locations), found.is_cut) == (500, True)


def test_rss_and_atom_name_their_items() -> None:
    """An item's link, or its guid unless that is none; an entry's alternate; relative ones against the feed."""
    rss = f"""<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><link>{HOME}</link>
      <atom:link href="{HOME}feed" rel="self"/>
      <item><title>x</title><link>{HOME}a</link><guid>{HOME}other</guid>
      <pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate></item>
      <item><guid isPermaLink="true">{HOME}b</guid></item><item><guid isPermaLink='false'>{HOME}c</guid></item>
      </channel></rss>"""
    found = read(rss)
    assert (found.format, paths(found), found.locations[0].modified_s) == ("rss", ["a", "b"], 1_704_067_200.0)
    atom = """<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><entry><link rel="edit" href="/edit"/>
      <link href="posts/1?a=1&amp;b"/><link rel="alternate" href="/1.txt"/><updated>2024-01-01T00:00:00Z</updated>
      <content type="xhtml"><div><link href="/no"/></div></content></entry></feed>"""
    assert paths(read(atom, url=HOME + "feed.xml")) == ["posts/1?a=1&b"]
    rdf = f'<rdf:RDF xmlns="http://purl.org/rss/1.0/"><item rdf:about="x"><link>{HOME}r</link></item></rdf:RDF>'
    assert paths(read(rdf)) == ["r"]


@pytest.mark.parametrize(
    "body",
    [
        "<" * 2_000_000,
        "<a " * 1_000_000,
        '<urlset a="' + "<b>" * 1_000_000,
        "<urlset>" + "<url>" * 700_000,
        "<urlset>" + "</x>" * 100_000,
        "<urlset><url><loc>" + "&amp;" * 700_000,
        "<urlset><!--" + "<!--" * 700_000,
        "<urlset>" + "<url><loc><![CDATA[" * 50_000,
    ],
)
def test_hostile_markup_costs_no_more_than_its_length(body: str) -> None:
    """J113's rule for sitemaps: bounded work, no location, no exception."""
    assert read(body).locations == ()


def test_other_xml_is_no_sitemap() -> None:
    """J156: a page of type XML that is neither feed nor sitemap is media of an unknown type."""
    svg = b"<svg xmlns='http://www.w3.org/2000/svg'><loc>https://h.example/</loc></svg>"
    document = parse_page(ParseJob(HOME + "a.svg", svg, "text/xml"), 0.0)
    assert (document.kind, document.media_type) == (ParseKind.UNKNOWN_TYPE, "text/xml")
    document = parse_page(ParseJob(HOME + "s", b"<html>Sorry</html>", "text/html", is_sitemap=True), 0.0)
    assert document.kind is ParseKind.TOO_COMPLEX
    assert "not a sitemap" in document.message


def test_elements_end_at_their_depth() -> None:
    deep = "<a>" * (sitemap_xml.DEPTH_MAX + 1)
    found = read(f"<urlset><url><loc>{HOME}a</loc></url>{deep}<url><loc>{HOME}b</loc></url></urlset>")
    assert (paths(found), found.is_cut) == (["a"], True)
