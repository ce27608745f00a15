"""Templates and static files: built in, or an operator's own in their place (U85, U89).

Read once at start: the frontend then needs no disk, and a change in the operator's folder takes effect at a restart.
"""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined

from jird_client.text import size
from jird_client.waiting import waiting_words
from jird_settings import SettingsError
from jird_web import words

_BUILT_IN = Path(__file__).parent / "static"

# Files of a design: style, script, logo, maybe a font. Not a place for downloads.
STATIC_BYTES_MAX = 2 * 1024 * 1024
STATIC_COUNT_MAX = 200

_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webp": "image/webp",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file as it is sent."""

    body: bytes
    media_type: str
    tag: str  # of its content, 16 hexadecimal digits


@dataclass(frozen=True, slots=True)
class Assets:
    """Everything that pages are made of.

    Attributes:
        templates: Jinja environment; everything is escaped.
        static: Path below /static/ to file.
        extra: The operator's extra.toml, for templates of their own.
    """

    templates: Environment
    static: Mapping[str, StaticFile]
    extra: Mapping[str, Any]

    @classmethod
    def load(cls, template_dir: Path | None) -> Self:
        """Read the built-in files, then the operator's over them.

        Args:
            template_dir: Folder with templates, and maybe a folder `static` and a file `extra.toml`.

        Raises:
            SettingsError: The folder cannot be read, or extra.toml is no TOML.
        """
        static = _read_static(_BUILT_IN)
        extra: Mapping[str, Any] = {}
        loaders: list[FileSystemLoader | PackageLoader] = [PackageLoader("jird_web")]
        if template_dir is not None:
            if not template_dir.is_dir():
                raise SettingsError(f"web.template_dir is {template_dir}; there is no such folder")
            loaders.insert(0, FileSystemLoader(template_dir))
            static |= _read_static(template_dir / "static")
            extra = _read_extra(template_dir / "extra.toml")
        templates = Environment(
            loader=ChoiceLoader(loaders),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        templates.filters.update(
            size=size, number=words.number, moment=words.moment, span=words.span, waiting=waiting_words
        )
        templates.globals["static_tag"] = lambda name: static[name].tag
        return cls(templates, static, extra)


def _read_static(folder: Path) -> dict[str, StaticFile]:
    files = {}
    for path in sorted(folder.rglob("*"))[:STATIC_COUNT_MAX]:
        media_type = _MEDIA_TYPES.get(path.suffix)
        if media_type is None or not path.is_file() or path.stat().st_size > STATIC_BYTES_MAX:
            continue
        body = path.read_bytes()
        tag = hashlib.blake2b(body, digest_size=8).hexdigest()
        files[path.relative_to(folder).as_posix()] = StaticFile(body, media_type, tag)
    return files


def _read_extra(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path}: {error}") from None
