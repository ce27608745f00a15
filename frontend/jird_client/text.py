"""Text for people: what comes from the web made safe to show (F117), sizes with their units."""

import json
import re
import unicodedata
from urllib.parse import unquote_to_bytes, urlsplit

# Bidirectional controls reorder what follows them, zero-width and filler characters hide in it; a URL or a title that
# holds them can look like another one (Unicode UTS 39, UTR 36). Joiners stay in prose: Persian and emoji need them.
_CONTROLS = re.compile(
    "[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]+"
)
_HIDDEN_IN_URLS = frozenset("\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200d\u2800\u3164\uffa0")

# Characters that would change what a URL means, or where it seems to end, were they shown decoded.
_KEPT_ENCODED = frozenset(" %/?#[]@!$&'()*+,;=:\\\"<>^`{|}")

_RUN = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def clean(text: str) -> str:
    """Return text on one line, with a blank for each run of control and direction characters."""
    return _CONTROLS.sub(" ", text)


def json_text(value: object, indent: int | None = None) -> str:
    """Return JSON that a terminal may show: letters as they are, control and direction characters escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _CONTROLS.sub(lambda found: "".join(map(_json_escape, found[0])), text)


def _json_escape(char: str) -> str:
    # The line ends of the indentation are the only ones that json.dumps leaves.
    return char if char == "\n" else json.dumps(char)[1:-1]


def plain(text: str) -> str:
    """Return a whole title or message as `clean` does, without blanks at its ends."""
    return clean(text).strip()


def readable_url(url: str) -> str:
    """Return a URL with percent-encoded letters decoded where that is safe, e.g. `/b%C3%BCcher` as `/bücher` (F117).

    Decoded are only whole, valid UTF-8 characters that are letters, marks, digits or harmless punctuation. Reserved
    characters, spaces, invisible and direction characters, and anything not assigned stay encoded. The host is left
    in its ASCII form, so that look-alike letters cannot pose as another name.
    """
    parts = urlsplit(url)
    authority = f"{parts.scheme}://{parts.netloc}"
    if not parts.scheme or not url.startswith(authority):
        return _escape_unsafe(url)
    return _escape_unsafe(authority) + _RUN.sub(_decode_run, _escape_unsafe(url[len(authority) :]))


def size(byte_count: int) -> str:
    """Return a size with its unit, e.g. "5.1 MB" (powers of 1,000)."""
    value = float(byte_count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1_000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1_000
    return f"{value:.1f} TB"


def span(seconds: int) -> str:
    """Return a duration in its two largest units, e.g. "3 d 4 h"."""
    parts = []
    for name, length in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        if seconds >= length:
            parts.append(f"{seconds // length} {name}")
            seconds %= length
    return " ".join(parts[:2]) or "0 s"


def _decode_run(match: re.Match[str]) -> str:
    raw = unquote_to_bytes(match.group())
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return match.group()
    return "".join(char if _is_showable(char) else _encode(char) for char in text)


def _escape_unsafe(text: str) -> str:
    return "".join(char if (" " < char < "\x7f") or _is_showable(char) else _encode(char) for char in text)


def _is_showable(char: str) -> bool:
    if char in _KEPT_ENCODED or char in _HIDDEN_IN_URLS or _CONTROLS.match(char):
        return False
    return unicodedata.category(char)[0] in "LMNPS"


def _encode(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace"))
