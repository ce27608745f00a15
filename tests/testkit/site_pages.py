"""The written sites of the test internet: what stands under which path, built from the tables in content/.

Each function returns the resources of one site: path to Reply. The texts are sentences that a person would look for
something in, in four languages; the case site holds one page for each rule that a crawler must keep.
"""

import csv
from collections.abc import Mapping
from html import escape
from pathlib import Path

from testkit.web_server import Reply

CONTENT = Path(__file__).parent / "content"
Resources = dict[str, Reply]
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def rows(name: str) -> list[dict[str, str]]:
    """The rows of a table in content/."""
    with (CONTENT / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def document(language: str, title: str, body: str, *, head: str = "", description: str = "") -> Reply:
    """A whole page with navigation, main part and footer, as real sites have them."""
    meta = f'<meta name="description" content="{escape(description)}">' if description else ""
    return Reply.html(
        f'<!doctype html>\n<html lang="{language}"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'{meta}{head}</head>\n<body><nav><a href="/">Start</a></nav>\n<main><h1>{escape(title)}</h1>\n{body}\n'
        "</main>\n<footer><p>A site of the test internet.</p></footer></body></html>\n"
    )


def links(targets: Mapping[str, str]) -> str:
    """A list of links: path to text."""
    return "<ul>" + "".join(f'<li><a href="{path}">{escape(text)}</a></li>' for path, text in targets.items()) + "</ul>"


def garden() -> Resources:
    """A handbook for allotments, in English: a page for each crop, month and family."""
    crops = rows("crops.tsv")
    names = {crop["slug"]: crop["name"] for crop in crops}
    pages: Resources = {}
    for crop in crops:
        friend = names.get(crop["friend"])
        company = f'<p>Good company: <a href="/crops/{crop["friend"]}.html">{friend}</a>.</p>' if friend else ""
        body = (
            f"<p>{escape(crop['text'])}</p><h2>When</h2>"
            f"<p>Sow or plant in <a href='/months/{crop['sow'].lower()}.html'>"
            f"{crop['sow']}</a>; the first harvest is in <a href='/months/{crop['harvest'].lower()}.html'>"
            f"{crop['harvest']}</a>.</p><h2>Kin</h2><p>They belong to the <a href='/families/{crop['family']}.html'>"
            f"{crop['family']}</a>; do not follow one of these with another on the same bed.</p>{company}"
        )
        pages[f"/crops/{crop['slug']}.html"] = document("en", f"{crop['name']} on the allotment", body)
    for month in MONTHS:
        sown = {f"/crops/{crop['slug']}.html": crop["name"] for crop in crops if crop["sow"] == month}
        reaped = {f"/crops/{crop['slug']}.html": crop["name"] for crop in crops if crop["harvest"] == month}
        body = f"<h2>To sow</h2>{links(sown)}<h2>To bring in</h2>{links(reaped)}"
        pages[f"/months/{month.lower()}.html"] = document("en", f"Allotment work in {month}", body)
    for family in sorted({crop["family"] for crop in crops}):
        kin = {f"/crops/{crop['slug']}.html": crop["name"] for crop in crops if crop["family"] == family}
        pages[f"/families/{family}.html"] = document("en", f"Crop rotation: {family}", links(kin))
    start = "<p>What to do on a small plot, month by month.</p>" + links(
        {path: path.rpartition("/")[2].removesuffix(".html") for path in pages if not path.startswith("/crops/")}
    )
    return {"/": document("en", "The allotment handbook", start), **pages}


def elements() -> Resources:
    """The chemical elements, in English: each linked with its neighbours."""
    table = rows("elements.tsv")
    pages: Resources = {}
    for row in table:
        number = int(row["number"])
        near = {f"/{other['symbol']}": other["name"] for other in table if abs(int(other["number"]) - number) == 1}
        article = "an" if row["kind"][0] in "aeiou" else "a"
        kind = "an element of unknown character" if row["kind"] == "unknown" else f"{article} {row['kind']}"
        body = (
            f"<p>{row['name']} ({row['symbol']}) is {kind} with {number} protons in its nucleus. It was found "
            f"{escape(row['found'])}. {escape(row['use'])}</p>{links(near)}"
        )
        pages[f"/{row['symbol']}"] = document("en", row["name"], body, description=f"{row['name']}: {row['use']}")
    start = links({f"/{row['symbol']}": row["name"] for row in table})
    return {"/": document("en", "The elements", start), **pages}


def rivers() -> Resources:
    """German rivers, in German."""
    table = rows("rivers_de.tsv")
    paths = {row["name"]: f"/fluss/{row['name'].lower().replace('ü', 'ue').replace('ß', 'ss')}" for row in table}
    pages: Resources = {}
    for row in table:
        body = (
            f"<p>{row['name']}: Der Fluss entspringt {row['source']} und mündet nach {row['length']} Kilometern "
            f"{row['mouth']}. An seinem Lauf liegen {row['towns']}.</p><p>{row['note']}</p>"
        )
        pages[paths[row["name"]]] = document("de", f"Fluss {row['name']}", body)
    return {"/": document("de", "Flüsse in Deutschland", links({paths[n]: n for n in paths})), **pages}


def prefectures() -> Resources:
    """The prefectures of Japan, in Japanese; half of the pages are sent as Shift_JIS."""
    table = rows("prefectures_ja.tsv")
    pages: Resources = {}
    for number, row in enumerate(table):
        body = f"<p>{row['name']}は{row['region']}にあり、県庁所在地は{row['capital']}である。{row['note']}</p>"
        page = document("ja", row["name"], body)
        if number % 2:
            text = page.body.decode().replace('charset="utf-8"', 'charset="Shift_JIS"')
            page = Reply(200, text.encode("cp932"), (("Content-Type", "text/html"),))
        pages[f"/ken/{row['slug']}/"] = page
    start = links({f"/ken/{row['slug']}/": row["name"] for row in table})
    return {"/": document("ja", "都道府県のしおり", start), **pages}


def lakes() -> Resources:
    """Lakes of Russia, in Russian; sent as windows-1251 with the charset in the header only."""
    table = rows("lakes_ru.tsv")
    pages: Resources = {}
    for row in table:
        body = f"<p>Где искать {row['name']}: {row['region']}. Площадь — {row['area']} кв. км.</p><p>{row['note']}</p>"
        text = document("ru", f"{row['name']}: озеро", body).body.decode().replace('<meta charset="utf-8">', "")
        kind = (("Content-Type", "text/html; charset=windows-1251"),)
        pages[f"/ozero/{row['slug']}"] = Reply(200, text.encode("cp1251", "xmlcharrefreplace"), kind)
    start = links({f"/ozero/{row['slug']}": row["name"] for row in table})
    return {"/": document("ru", "Озёра России", start), **pages}
