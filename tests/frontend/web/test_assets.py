"""An operator's own templates, static files and extra settings (U85)."""

from pathlib import Path

import pytest

from jird_settings import SettingsError
from jird_web.assets import Assets
from testkit.fake_daemon import FakeDaemon
from testkit.frontend import Frontend, make_settings


def test_operators_files_stand_before_the_built_in_ones(run_dir: Path, tmp_path: Path) -> None:
    """U84, U85: a template may be replaced alone; extra.toml reaches every template; static files too."""
    (tmp_path / "_tips.html").write_text("<p>ask {{ extra.contact.name }} & co</p>")
    (tmp_path / "extra.toml").write_text('[contact]\nname = "<the desk>"\n')
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "style.css").write_text("body{}")
    (tmp_path / "static" / "secret.key").write_text("no media type of a design")
    with FakeDaemon(run_dir), Frontend(make_settings(run_dir, template_dir=tmp_path)) as frontend:
        text = frontend.http.get("/").text
        assert "<p>ask &lt;the desk&gt; & co</p>" in text
        assert "3,214 pages" in text
        assert frontend.http.get("/static/style.css").text == "body{}"
        assert frontend.http.get("/static/jird.js").status_code == 200
        assert frontend.http.get("/static/secret.key").status_code == 404


def test_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no such folder"):
        Assets.load(tmp_path / "gone")


def test_extra_that_is_no_toml_is_named(tmp_path: Path) -> None:
    (tmp_path / "extra.toml").write_text("a = ")
    with pytest.raises(SettingsError, match=r"extra\.toml"):
        Assets.load(tmp_path)
