"""The documentation of the settings, made from their declarations."""

import textwrap
from collections.abc import Iterator

from jird_settings.crawl_file import CrawlFile
from jird_settings.declare import Setting, settings_of
from jird_settings.load import TABLES
from jird_settings.tables import HostRule

_INTRODUCTION = """\
# Configuration

jird reads one TOML file: the one given with `--config`, else the one that `JIRD_CONFIG` names, else
`/etc/jird/jird.toml` where it exists. Every setting has a default, so that no file is needed. A variable in the
environment that is not empty wins over the file; lists are separated by commas, tables are `name=value` pairs
separated by commas. A value out of range, an unknown key and an unknown table are refused at start, in one line with
the place, the setting, the value and what is allowed; the exit code is then 2. `systemctl reload jird` reads the file
again; a file with a fault is refused, and what was in effect stays.

The admin token is no setting of the file: it comes from the systemd credential `admin-token` or from
`JIRD_ADMIN_TOKEN`, has 32 to 1,024 printable ASCII characters, and is never shown. Relative
paths start at the working directory.

This page is generated from the declarations in `settings/jird_settings/tables.py`
(`python -m jird_settings --docs > docs/configuration.md`); `python -m jird_settings` prints a file with every default.
"""

_CRAWL_FILE = """\
Not part of jird.toml: what `jirdctl crawl start --file crawl.toml` reads. [crawling.md](crawling.md) has its policies,
`[[do_not_crawl]]` and `[[url_query_parameters]]`. Options of the command win over the file.
"""


def reference_page() -> str:
    """docs/configuration.md."""
    parts = [_INTRODUCTION]
    for name, table in TABLES.items():
        parts.append(f"\n## [{name}]\n\n{table.__doc__}\n\n" + "".join(_rows(table)))
    parts.append(f"\n## [[hosts]]\n\n{HostRule.__doc__}\n\n" + "".join(_rows(HostRule)))
    parts.append(f"\n## A crawl file\n\n{_CRAWL_FILE}\n" + "".join(_rows(CrawlFile)))
    return "".join(parts)


def default_file() -> str:
    """A jird.toml in which every setting stands as a comment with its default."""
    lines = ["# jird: every setting with its default. Take away the # in front of what you change."]
    for name, table in TABLES.items():
        lines += ["", f"# {table.__doc__}", f"[{name}]"]
        for declared in settings_of(table):
            lines += _comment(declared)
    lines += ["", f"# {HostRule.__doc__}", "#[[hosts]]"]
    for declared in settings_of(HostRule):
        lines += _comment(declared)
    return "\n".join(lines) + "\n"


def _rows(table: type) -> Iterator[str]:
    yield "| key | default | allowed | environment | what it does |\n| --- | --- | --- | --- | --- |\n"
    for declared in settings_of(table):
        cells = [
            f"`{declared.name}`",
            f"`{_default(declared)}`" if declared.default is not None else "not set",
            declared.kind.allowed,
            f"`{declared.env}`" if declared.env else "",
            declared.doc + (f" ({declared.ids.replace(' ', ', ')})" if declared.ids else ""),
        ]
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _comment(declared: Setting) -> Iterator[str]:
    for line in textwrap.wrap(f"{declared.doc} Allowed: {declared.kind.allowed}.", 116):
        yield f"# {line}"
    yield f"#{declared.name} = {_default(declared) if declared.default is not None else '...'}"


def _default(declared: Setting) -> str:
    return declared.kind.render(declared.default)
