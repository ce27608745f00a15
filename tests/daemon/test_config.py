"""The configuration in effect, and its reload."""

import os
from pathlib import Path

import pytest

from jird_daemon.config import Configuration, read_settings_file, settings_file
from jird_settings import SettingsError


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_reload_takes_up_what_changed(tmp_path: Path) -> None:
    path = write(tmp_path / "jird.toml", "[crawl]\ndelay_ms = 1\n")
    configuration = Configuration(path, {})
    write(path, "[crawl]\ndelay_ms = 2\n")
    assert configuration.reload() == ()
    assert configuration.settings().crawl.delay_ms == 2


def test_bad_configuration_is_refused_and_the_old_one_stays(tmp_path: Path) -> None:
    path = write(tmp_path / "jird.toml", "[crawl]\ndelay_ms = 1\n")
    configuration = Configuration(path, {})
    write(path, "[crawl]\ndelay_ms = -2\n")
    with pytest.raises(SettingsError):
        configuration.reload()
    assert configuration.settings().crawl.delay_ms == 1


def test_what_is_fixed_at_start_waits_for_the_next(tmp_path: Path) -> None:
    path = write(tmp_path / "jird.toml", '[storage]\nstate_dir = "/a"\n')
    configuration = Configuration(path, {})
    write(path, '[storage]\nstate_dir = "/b"\n[crawl]\ndelay_ms = 2\n')
    assert configuration.reload() == ("storage",)
    assert configuration.settings().storage.state_dir == Path("/a")
    assert configuration.settings().crawl.delay_ms == 2


def test_open_bind_without_token_is_refused(tmp_path: Path) -> None:
    """J53: the process that compares the token refuses to start."""
    with pytest.raises(SettingsError, match="there is no admin token"):
        Configuration(write(tmp_path / "jird.toml", '[web]\nbind = "0.0.0.0"\n'), {})


@pytest.mark.parametrize("table", ["[network]\n", '[[hosts]]\nmatch = "a.test"\n'])
def test_missing_file_of_authorities_is_refused(tmp_path: Path, table: str) -> None:
    with pytest.raises(SettingsError, match=r"ca_file.* cannot be read: No such file"):
        Configuration(write(tmp_path / "jird.toml", f'{table}ca_file = "{tmp_path}/none.pem"\n'), os.environ)


def test_child_gets_the_settings_in_effect_without_the_token(tmp_path: Path) -> None:
    """J99: what is in the file by then does not matter to it."""
    text = '[network]\nallow_private = ["10.0.0.0/8"]\nresolve = { "a.test" = "10.0.0.1" }\n[[hosts]]\nmatch = "a.*"\n'
    configuration = Configuration(write(tmp_path / "jird.toml", text), {"JIRD_ADMIN_TOKEN": "t" * 40})
    given = read_settings_file(settings_file(configuration.settings()))
    assert given.admin_token is None
    assert (given.network, given.hosts) == (configuration.settings().network, configuration.settings().hosts)
