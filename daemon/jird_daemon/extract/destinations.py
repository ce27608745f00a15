"""What a link leads to, as its scheme, its type attribute or the end of its path tells without asking anyone (U45)."""

import re

from jird_daemon.url.canonical import URL_CHARS_MAX

FILE, DOCUMENT, FEED, STYLESHEET, SCRIPT = 0, 1, 2, 3, 4
MEDIA, MEDIA_IMAGE, MEDIA_AUDIO, MEDIA_VIDEO = 100, 101, 102, 103
COMMUNICATION = 1000
DESTINATION_NAMES = {
    FILE: "file", DOCUMENT: "document", FEED: "feed", STYLESHEET: "stylesheet", SCRIPT: "script", MEDIA: "media",
    MEDIA_IMAGE: "media_image", MEDIA_AUDIO: "media_audio", MEDIA_VIDEO: "media_video", COMMUNICATION: "communication",
}  # fmt: skip

_EXTENSIONS = {
    **dict.fromkeys(
        ("html", "htm", "xhtml", "php", "asp", "aspx", "jsp", "txt", "md", "pdf", "odt", "doc", "docx", "ps", "epub"),
        DOCUMENT,
    ),
    **dict.fromkeys(("rss", "atom"), FEED),
    "css": STYLESHEET,
    **dict.fromkeys(("js", "mjs"), SCRIPT),
    **dict.fromkeys(
        ("png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "bmp", "ico", "tif", "tiff", "jxl"), MEDIA_IMAGE
    ),
    **dict.fromkeys(("mp3", "ogg", "oga", "opus", "flac", "wav", "m4a", "aac"), MEDIA_AUDIO),
    **dict.fromkeys(("mp4", "webm", "mkv", "avi", "mov", "mpg", "mpeg", "ogv", "m4v"), MEDIA_VIDEO),
    **dict.fromkeys(
        ("zip", "gz", "tgz", "xz", "bz2", "zst", "7z", "rar", "tar", "jar", "deb", "rpm", "iso", "img", "exe", "msi",
         "dmg", "apk", "bin", "dll", "so", "whl", "woff", "woff2", "ttf", "otf", "eot", "swf", "torrent", "csv", "xls",
         "xlsx", "ods", "ppt", "pptx", "odp", "xml", "json", "yaml", "sig", "asc"),
        FILE,
    ),
}  # fmt: skip
_TYPES = {
    "application/rss+xml": FEED, "application/atom+xml": FEED, "application/feed+json": FEED, "text/css": STYLESHEET,
    "text/javascript": SCRIPT, "text/html": DOCUMENT, "application/xhtml+xml": DOCUMENT, "application/pdf": DOCUMENT,
}  # fmt: skip
_MEDIA_TREES = {"image": MEDIA_IMAGE, "audio": MEDIA_AUDIO, "video": MEDIA_VIDEO}
# Schemes that lead to people (IANA's registry of URI schemes); their links are kept, and never followed (J143).
_COMMUNICATION = re.compile(
    r"\s*(mailto|tel|sms|smsto|mms|sip|sips|xmpp|matrix|irc|ircs|callto|skype|whatsapp|tg|threema|signal):"
    r"([^\x00-\x20?\\\x7f]{1,320})(?:\?.*)?\s*",
    re.IGNORECASE | re.DOTALL,
)
_WEB = ("https:", "http:")


def communication_target(href: str) -> str:
    """Give the identity of a link to a person: scheme in lower case and address, without subject or text; "" else."""
    found = _COMMUNICATION.fullmatch(href) if len(href) <= URL_CHARS_MAX else None
    return f"{found[1].lower()}:{found[2]}" if found is not None else ""


def destination_type(url: str, media_type: str | None) -> int:
    """Guess what a link leads to (U45), from its scheme, its type attribute, or the end of its path."""
    if not url.startswith(_WEB):
        return COMMUNICATION
    if media_type:
        media_type = media_type.partition(";")[0].strip().lower()
        known = _TYPES.get(media_type, _MEDIA_TREES.get(media_type.partition("/")[0]))
        if known is not None:
            return known
    if "?" not in url and url.endswith((".html", "/")):  # most
        return DOCUMENT
    name = url.partition("?")[0].rpartition("/")[2]
    _, dot, extension = name.rpartition(".")
    if not dot:
        return DOCUMENT
    return _EXTENSIONS.get(extension.lower(), DOCUMENT)
