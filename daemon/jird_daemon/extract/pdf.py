"""From the bytes of a PDF file to its text, title, language and links, by PDFium.

PDFium is C++ that reads hostile bytes: it runs in the confined worker only. What it is given is bounded here, and what
it takes (memory, processor time) by the worker's own limits; a file that it dies of costs itself.

Pages are blocks of text, and so are lines: a line's end never glues two words. Where a word is broken at the end of a
line, PDFium says so, and it is joined again.
"""

import ctypes
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pypdfium2
import pypdfium2.raw as pdfium

from jird_daemon.extract.limits import (
    DESCRIPTION_CHARS_MAX,
    DOCUMENT_TEXT_CHARS_MAX,
    HEADING_CHARS_MAX,
    HEADINGS_MAX,
    PDF_CPU_S,
    PDF_PAGES_MAX,
    TITLE_CHARS_MAX,
)
from jird_daemon.extract.tree import RAW_LINKS_MAX, PageTree, RawLink
from jird_daemon.extract.walk import UNWANTED

# Levels of the outline that are headlines; deeper ones are paragraphs.
_OUTLINE_LEVELS = 3
_ADDRESS_BYTES_MAX = 8_192
_LANGUAGE = re.compile(r"([A-Za-z]{2,3})(?:[-_]|$)")
# ISO 32000-1, 7.9.4: D:YYYYMMDDHHmmSSOHH'mm', everything behind the year optional.
_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-])(\d\d)'?(\d\d)?'?)?", re.ASCII)
# What typesetters make of letters that meet; nobody types them into a search.
_LIGATURES = {
    "\ufb00": "ff",
    "\ufb01": "fi",
    "\ufb02": "fl",
    "\ufb03": "ffi",
    "\ufb04": "ffl",
    "\ufb05": "st",
    "\ufb06": "st",
}
# Besides, two marks with which PDFium says that a word is broken at the end of a line.
_LETTERS = str.maketrans({"\x02": "", "\ufffe": "", **_LIGATURES})
# Titles that programs make up: what they know is the name of a file.
_FILE_NAME = re.compile(
    r"(?i)^(?:microsoft (?:word|powerpoint) - )?[^\s]+\.(?:docx?|pptx?|odt|tex|dvi|indd|qxd|p65|rtf)$"
)


class PdfError(Exception):
    """The file cannot be read; the message says why."""


class PdfPages:
    """What was read of a file.

    Attributes:
        tree: Its text and links.
        title: As the file calls itself; else its first line.
        description: Its subject, as it says.
        language: Primary subtag as declared, lower case; "" when none is.
        headings: Titles of the outline.
        created: When it was made, as an ISO 8601 date; "" when it does not say.
    """

    __slots__ = ("created", "description", "headings", "language", "title", "tree")

    def __init__(self) -> None:
        self.tree = PageTree()
        self.title = ""
        self.description = ""
        self.language = ""
        self.headings: tuple[str, ...] = ()
        self.created = ""


def read_pdf(body: bytes) -> PdfPages:
    """Read a file, up to the limits of pages, characters and processor time.

    Raises:
        PdfError: It is no PDF, damaged beyond reading, or needs a password.
    """
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        is_locked = getattr(error, "err_code", None) in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
        raise PdfError("it is encrypted and needs a password" if is_locked else "it is damaged, or no PDF") from error
    try:
        found = PdfPages()
        _read_pages(document, found.tree)
        found.language = _language(document)
        found.headings = tuple(_headings(document))
        found.created = _created(document.get_metadata_value("CreationDate"))
        found.description = _one_line(document.get_metadata_value("Subject"), DESCRIPTION_CHARS_MAX)
        found.title = _title(document.get_metadata_value("Title"), found.tree.text)
        return found
    finally:
        document.close()


def _read_pages(document: pypdfium2.PdfDocument, tree: PageTree) -> None:
    texts: list[str] = []
    left, give_up_s = DOCUMENT_TEXT_CHARS_MAX, time.process_time() + PDF_CPU_S
    for number in range(len(document)):
        if number == PDF_PAGES_MAX:
            tree.truncated.add("document_pdf_pages")
            break
        if time.process_time() > give_up_s:
            tree.truncated.add("document_pdf_time")
            break
        try:
            page = document[number]
        except pypdfium2.PdfiumError:
            continue  # a page that is damaged; the others may be whole
        try:
            text = _page_text(page, left)
            _read_links(document, page, tree)
        finally:
            page.close()
        texts.append(text)
        left -= len(text) + 1
        if left <= 0:
            tree.truncated.add("document_text_chars")
            break
    tree.text = "\n".join(filter(None, texts))


def _page_text(page: pypdfium2.PdfPage, chars_max: int) -> str:
    try:
        found = page.get_textpage()
    except pypdfium2.PdfiumError:
        return ""
    try:
        # Of all but absurd pages, with every character that Unicode has.
        is_short = found.count_chars() <= chars_max
        text = found.get_text_bounded() if is_short else found.get_text_range(0, chars_max)
    finally:
        found.close()
    text = UNWANTED.sub("", text.translate(_LETTERS).replace("\r\n", "\n").replace("\r", "\n"))
    return "\n".join(line for line in (" ".join(line.split()) for line in text.split("\n")) if line)


def _read_links(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, tree: PageTree) -> None:
    """Add the addresses that areas of a page lead to; they have no words of their own."""
    place, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    while len(tree.links) < RAW_LINKS_MAX and pdfium.FPDFLink_Enumerate(page, place, link):
        action = pdfium.FPDFLink_GetAction(link)
        if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
            continue
        size = pdfium.FPDFAction_GetURIPath(document, action, None, 0)
        if not 1 < size <= _ADDRESS_BYTES_MAX:
            continue
        buffer = ctypes.create_string_buffer(size)
        pdfium.FPDFAction_GetURIPath(document, action, buffer, size)
        address = buffer.value.decode("utf-8", "replace")
        tree.links.append(RawLink(address.partition("#")[0], 0, 0, -1, -1, "", "", {}))


def _language(document: pypdfium2.PdfDocument) -> str:
    buffer = (ctypes.c_ushort * 64)()
    size = pdfium.FPDFCatalog_GetLanguage(document, buffer, len(buffer))
    if not 2 <= size <= ctypes.sizeof(buffer):
        return ""
    found = _LANGUAGE.match(bytes(buffer)[: size - 2].decode("utf-16-le", "replace"))
    return found[1].lower() if found is not None else ""


def _headings(document: pypdfium2.PdfDocument) -> Iterator[str]:
    for count, entry in enumerate(document.get_toc(max_depth=_OUTLINE_LEVELS)):
        if count == HEADINGS_MAX:
            return
        title = _one_line(entry.get_title(), HEADING_CHARS_MAX)
        if title:
            yield title


def _title(declared: str, text: str) -> str:
    title = _one_line(declared, TITLE_CHARS_MAX)
    if title and not _FILE_NAME.match(title):
        return title
    return text.partition("\n")[0][:TITLE_CHARS_MAX]


def _one_line(text: str, chars_max: int) -> str:
    return " ".join(UNWANTED.sub("", text[: 4 * chars_max]).split())[:chars_max].rstrip()


def _created(text: str) -> str:
    """A date of PDF as ISO 8601; "" when it is none."""
    found = _DATE.match(text.strip())
    if found is None:
        return ""
    year, month, day, hour, minute, second = (
        int(part or least) for part, least in zip(found.groups()[:6], "011000", strict=True)
    )
    sign = -1 if found[7] == "-" else 1
    try:
        offset = timedelta(hours=int(found[8] or 0), minutes=int(found[9] or 0))
        zone = timezone(sign * offset) if found[7] else UTC
        return datetime(year, month, day, hour, minute, second, tzinfo=zone).isoformat()
    except (ValueError, OverflowError):
        return ""
