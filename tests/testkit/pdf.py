"""A small writer of PDF files (ISO 32000), for tests that need one with known words, links, or faults.

body = make_pdf(["first line\\nsecond line", "next page"], title="T", language="en")
"""

import zlib
from collections.abc import Mapping, Sequence

LINE_POINTS = 14


def make_pdf(
    pages: Sequence[str],
    *,
    title: str = "",
    subject: str = "",
    language: str = "",
    created: str = "",
    outline: Sequence[str] = (),
    links: Sequence[str] = (),
    is_encrypted: bool = False,
    contents: Sequence[bytes] | None = None,
    filters: str = "",
) -> bytes:
    """Write a file.

    Args:
        pages: The lines of each page, in WinAnsi.
        title: Of the document.
        subject: What it is about.
        language: Of the document, e.g. "de-AT".
        created: A date in PDF's own form.
        outline: Titles of bookmarks.
        links: Addresses on the first page.
        is_encrypted: Protected by a password that is nowhere said.
        contents: Content streams of the pages as they are, instead of `pages`.
        filters: Filters of the content streams, e.g. "/FlateDecode".
    """
    streams = list(contents) if contents is not None else [_page_content(page) for page in pages]
    objects: dict[int, bytes] = {}
    first_page, info, font, outlines = 10, 5, 4, 3
    kids = " ".join(f"{first_page + 2 * number} 0 R" for number in range(len(streams)))
    entries = (
        f"/Pages 2 0 R{f' /Lang ({language})' if language else ''}{f' /Outlines {outlines} 0 R' if outline else ''}"
    )
    objects[1] = f"<< /Type /Catalog {entries} >>".encode()
    objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {len(streams)} >>".encode()
    objects[font] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    objects[info] = f"<< /Title {_text(title)} /Subject {_text(subject)} /CreationDate ({created}) >>".encode("latin-1")
    annotations = " ".join(
        f"<< /Type /Annot /Subtype /Link /Rect [50 {700 - 20 * number} 300 {715 - 20 * number}] "
        f"/A << /S /URI /URI ({link}) >> >>"
        for number, link in enumerate(links)
    )
    for number, stream in enumerate(streams):
        page, content = first_page + 2 * number, first_page + 2 * number + 1
        annots = f"/Annots [{annotations}]" if annotations and number == 0 else ""
        objects[page] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R {annots} "
            f"/Resources << /Font << /F1 {font} 0 R >> >> >>"
        ).encode()
        head = f"<< /Length {len(stream)} {f'/Filter [{filters}]' if filters else ''} >>\nstream\n".encode()
        objects[content] = head + stream + b"\nendstream"
    _add_outline(objects, outlines, outline, first_page)
    keys = f"/O ({'o' * 32}) /U ({'u' * 32})"
    trailer = f"/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -44 {keys} >> /ID [(a) (a)]"
    return _file(objects, f"/Root 1 0 R /Info {info} 0 R {trailer if is_encrypted else ''}")


def _add_outline(objects: dict[int, bytes], number: int, titles: Sequence[str], page: int) -> None:
    base = 1_000_000
    for place, title in enumerate(titles):
        around = f"/Next {base + place + 1} 0 R" if place + 1 < len(titles) else ""
        before = f"/Prev {base + place - 1} 0 R" if place else ""
        objects[base + place] = (
            f"<< /Title {_text(title)} /Parent {number} 0 R {around} {before} /Dest [{page} 0 R /Fit] >>"
        ).encode("latin-1")
    if titles:
        last = base + len(titles) - 1
        objects[number] = f"<< /Type /Outlines /First {base} 0 R /Last {last} 0 R /Count {len(titles)} >>".encode()


def _text(words: str) -> str:
    """A text string: UTF-16 with its mark, in hexadecimal."""
    return f"<FEFF{words.encode('utf-16-be').hex()}>"


def _page_content(lines: str) -> bytes:
    shown = b""
    for line in lines.split("\n"):
        escaped = line.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
        shown += b"(" + escaped + b") Tj T*\n"
    return b"BT /F1 12 Tf %d TL 50 700 Td\n" % LINE_POINTS + shown + b"ET"


def _file(objects: Mapping[int, bytes], trailer: str) -> bytes:
    data, places = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", {}
    for number in sorted(objects):
        places[number] = len(data)
        data += b"%d 0 obj\n" % number + objects[number] + b"\nendobj\n"
    table = b"xref\n"
    for number, place in places.items():
        table += b"%d 1\n%010d 00000 n \n" % (number, place)
    size = max(objects) + 1
    return data + table + f"trailer << /Size {size} {trailer} >>\nstartxref\n{len(data)}\n%%EOF\n".encode("latin-1")


def deflated(data: bytes, times: int = 1) -> bytes:
    """Compress for one /FlateDecode after the other."""
    for _ in range(times):
        data = zlib.compress(data, 9)
    return data
