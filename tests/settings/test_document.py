"""The documentation says what the declarations say."""

import re
import tomllib
from pathlib import Path

from jird_settings import HostRule, Settings, load
from jird_settings.declare import settings_of
from jird_settings.document import default_file, reference_page
from jird_settings.load import TABLES

ROOT = Path(__file__).resolve().parents[2]


def test_reference_page_is_up_to_date() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    assert page == reference_page(), "run: python -m jird_settings --docs > docs/configuration.md"


def test_default_file_with_its_comments_taken_away_is_the_default(tmp_path: Path) -> None:
    lines = [line.removeprefix("#") for line in default_file().splitlines() if not line.startswith("# ")]
    text = "\n".join(line for line in lines if not line.endswith("= ..."))
    path = tmp_path / "jird.toml"
    path.write_text(text)
    assert tomllib.loads(text)["crawl"]["delay_ms"] == 500
    settings = load(path, {})
    assert settings.hosts == (HostRule(),)
    assert Settings() == load(_without_hosts(path), {})


def _without_hosts(path: Path) -> Path:
    path.write_text(path.read_text().split("[[hosts]]")[0])
    return path


def test_every_setting_is_read_somewhere() -> None:
    sources = [path for folder in ("daemon", "frontend") for path in (ROOT / folder).rglob("*.py")]
    text = "\n".join(path.read_text() for path in sources)
    for table in (*TABLES.values(), HostRule):
        for declared in settings_of(table):
            assert re.search(rf"\.{declared.name}\b", text), f"{table.__name__}.{declared.name}"


def test_environment_names_are_unique() -> None:
    names = [declared.env for table in TABLES.values() for declared in settings_of(table)]
    assert len(names) == len(set(names))
    assert all(name.startswith("JIRD_") for name in names)


def test_defaults_are_within_their_own_range() -> None:
    for table in TABLES.values():
        for declared in settings_of(table):
            if declared.default is not None:
                rendered = tomllib.loads(f"x = {declared.kind.render(declared.default)}")["x"]
                assert declared.kind.read(rendered) == declared.default
