"""Show what jird sees in a page: python scripts/extract.py FILE_OR_URL [--json | --main].

A file is parsed as the daemon's workers do, without the daemon. A URL is fetched with one plain request; nothing is
stored, and robots.txt is not asked, since a person reads the page. For a file, --url says where it would stand.
"""

import argparse
import json
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from jird_daemon.errors import InvalidUrlError
from jird_daemon.extract.destinations import DESTINATION_NAMES
from jird_daemon.extract.document import ParsedDocument, ParseJob, ParseKind
from jird_daemon.extract.elements import LocationFlag
from jird_daemon.extract.links import LOCALITY_NAMES, REL_NAMES
from jird_daemon.extract.main_text import main_text
from jird_daemon.extract.page import parse_page
from jird_daemon.store.tables import Link
from jird_daemon.store.text_pile import MarkerKind, TextPile, decode_pile
from jird_daemon.url.canonical import canonicalize

TIMEOUT_S = 30
BODY_BYTES_MAX = 16 * 1024 * 1024
SHOWN_CHARS = 60  # of the text of a marker
SUFFIX_TYPES = {
    ".txt": "text/plain",
    ".text": "text/plain",
    ".xhtml": "application/xhtml+xml",
    ".pdf": "application/pdf",
}


def main() -> int:
    """Read, parse, print; 0 when the page could be read, 1 when not, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="extract.py", description="Show what jird sees in a page.")
    parser.add_argument("page", metavar="FILE_OR_URL", help="a file, - for standard input, or an http(s) URL")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="everything, as one JSON object")
    form.add_argument("--main", action="store_true", help="the main text alone")
    parser.add_argument("--url", default="https://example.org/", help="address of a file, for its links")
    parser.add_argument("--type", default="", help="Content-Type of a file; by default from its name")
    arguments = parser.parse_args()
    try:
        job = _fetch(arguments.page) if "://" in arguments.page else _read(arguments)
    except (OSError, InvalidUrlError) as error:
        print(f"extract.py: {error}", file=sys.stderr)
        return 1
    document = parse_page(job, time.time())
    pile = decode_pile(document.pile_bytes) if document.pile_bytes else TextPile("")
    if arguments.json:
        json.dump(_as_dict(document, pile), sys.stdout, ensure_ascii=False, indent=1)
        print()
    elif arguments.main:
        print(main_text(pile))
    else:
        _print(document, pile)
    if document.kind is ParseKind.UNKNOWN_TYPE:
        print(f"extract.py: {document.message}", file=sys.stderr)
        return 1
    return 0


def _read(arguments: argparse.Namespace) -> ParseJob:
    path = Path(arguments.page)
    body = sys.stdin.buffer.read() if arguments.page == "-" else path.read_bytes()
    content_type = arguments.type or SUFFIX_TYPES.get(path.suffix.lower(), "text/html")
    return ParseJob(canonicalize(arguments.url), body, content_type)


def _fetch(url: str) -> ParseJob:
    request = urllib.request.Request(canonicalize(url), headers={"User-Agent": "jird"})
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
        body = answer.read(BODY_BYTES_MAX)
        headers = answer.headers
        return ParseJob(
            canonicalize(answer.url),
            body,
            headers.get("Content-Type", ""),
            tuple(headers.get_all("X-Robots-Tag", ())),
            tuple(headers.get_all("Link", ())),
            last_modified=headers.get("Last-Modified", ""),
        )


def _as_dict(document: ParsedDocument, pile: TextPile) -> dict[str, Any]:
    return {
        "kind": document.kind.name.lower(),
        "message": document.message,
        "media_type": document.media_type,
        "charset": document.charset,
        "title": document.title,
        "description": document.description,
        "language": document.language,
        "stated_language": pile.language,
        "published": _iso(document.published_s),
        "modified": _iso(document.modified_s),
        "canonical_url": document.canonical_url,
        "is_noindex": document.is_noindex,
        "is_nofollow": document.is_nofollow,
        "headings": document.headings,
        "text": pile.text,
        "main_text": main_text(pile),
        "markers": [[MarkerKind(m.kind).name.lower(), m.start, m.end] for m in pile.markers],
        "pile_digest": document.pile_digest.hex(),
        "links": [
            {
                "url": link.to_url,
                "text": link.text,
                "is_nofollow": link.is_nofollow,
                "is_crawlable": link.is_crawlable,
                "rel": _rel(link),
                "location": _places(link),
                "destination_type": DESTINATION_NAMES[link.destination_type],
                "locality": LOCALITY_NAMES[link.locality],
                "contains_headline": link.has_headline,
            }
            for link in document.links
        ],
        "images": [{"url": image.url, "alt": image.alt} for image in document.images],
        "truncated": document.truncated,
    }


def _print(document: ParsedDocument, pile: TextPile) -> None:
    facts = {
        "title": document.title,
        "description": document.description,
        "language": _language(document.language, pile.language),
        "published": _iso(document.published_s),
        "changed": _iso(document.modified_s),
        "canonical": document.canonical_url,
        "read as": f"{document.media_type} in {document.charset}, {document.kind.name.lower()}",
        "robots": " ".join(["noindex"] * document.is_noindex + ["nofollow"] * document.is_nofollow),
        "limits met": " ".join(document.truncated),
        "message": document.message,
    }
    for name, value in facts.items():
        if value:
            print(f"{name + ':':13}{value}")
    main = main_text(pile)
    print(f"\n--- main text ({len(main)} of {len(pile.text)} characters)\n{main}")
    print(f"\n--- markers ({len(pile.markers)})")
    for marker in pile.markers:
        shown = " ".join(pile.text[marker.start : min(marker.end, marker.start + SHOWN_CHARS)].split())
        print(f"{MarkerKind(marker.kind).name.lower():11}{marker.start:>7}-{marker.end:<7} {shown}")
    print(f"\n--- links ({len(document.links)})")
    for link in document.links:
        print(f"{'' if link.is_crawlable else '(not followed) '}{link.to_url}  {link.text}\n    {_facts_of(link)}")
    print(f"\n--- pictures ({len(document.images)})")
    for image in document.images:
        print(f"{image.url}  {image.alt}")


def _language(decided: str, stated: str) -> str:
    """The language with the reason for it."""
    if not decided:
        return "not known: none is stated, and the text is too short, mixed, or no prose"
    if not stated:
        return f"{decided} (none is stated; the text shows it)"
    return f"{decided} (stated)" if decided == stated else f"{decided} ({stated} is stated; the text shows another)"


def _facts_of(link: Link) -> str:
    facts = [DESTINATION_NAMES[link.destination_type], LOCALITY_NAMES[link.locality], *_places(link)]
    facts += ["contains_headline"] * link.has_headline + [f"rel={rel}" for rel in _rel(link)]
    return " ".join(facts)


def _places(link: Link) -> list[str]:
    return [str(flag.name).lower() for flag in LocationFlag(link.location_flags)]


def _rel(link: Link) -> list[str]:
    return [name for flag, name in REL_NAMES.items() if link.rel_flags & flag]


def _iso(moment_s: float | None) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment_s)) if moment_s is not None else ""


if __name__ == "__main__":
    sys.exit(main())
