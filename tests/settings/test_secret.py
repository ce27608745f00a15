"""The admin token: where it comes from, what is refused, and that it shows nowhere."""

import dataclasses
from pathlib import Path

import pytest

from jird_settings import Secret, Settings, SettingsError, load
from jird_settings.secret import read_admin_token


@pytest.mark.parametrize("length", [32, 1024])
def test_token_of_allowed_length_is_taken(length: int) -> None:
    """J52: 32 to 1,024 characters."""
    token = read_admin_token({"JIRD_ADMIN_TOKEN": "x" * length})
    assert token is not None
    assert token.is_same("x" * length)


@pytest.mark.parametrize("length", [1, 31, 1025])
def test_token_of_other_length_is_refused_without_showing_it(length: int) -> None:
    """J52: 31 and 1,025 characters refuse the start. J99: the message does not hold the token."""
    with pytest.raises(SettingsError, match=f"has {length} characters; it must have 32 to 1024") as caught:
        load(None, {"JIRD_ADMIN_TOKEN": "x" * length, "JIRD_CONFIG": "/dev/null"})
    assert length == 1 or "x" * length not in str(caught.value)


def test_token_that_cannot_be_a_header_is_refused() -> None:
    with pytest.raises(SettingsError, match="printable ASCII"):
        read_admin_token({"JIRD_ADMIN_TOKEN": "a b" * 20})


def test_credential_wins_over_the_variable(tmp_path: Path) -> None:
    """J101: the secret facility is systemd's credentials; the file's line end does not count."""
    (tmp_path / "admin-token").write_text("c" * 40 + "\n")
    token = read_admin_token({"CREDENTIALS_DIRECTORY": str(tmp_path), "JIRD_ADMIN_TOKEN": "e" * 40})
    assert token == Secret("c" * 40)


def test_no_credential_and_no_variable_is_no_token(tmp_path: Path) -> None:
    assert read_admin_token({"CREDENTIALS_DIRECTORY": str(tmp_path)}) is None
    (tmp_path / "admin-token").write_text("\n")
    assert read_admin_token({"CREDENTIALS_DIRECTORY": str(tmp_path)}) is None


def test_binary_credential_is_refused(tmp_path: Path) -> None:
    (tmp_path / "admin-token").write_bytes(b"\xff" * 40)
    with pytest.raises(SettingsError, match="cannot be read as ASCII"):
        read_admin_token({"CREDENTIALS_DIRECTORY": str(tmp_path)})


def test_token_is_in_no_dump() -> None:
    """J99: not in repr, str, format, nor in a dump of all settings."""
    secret = "s3cret" * 10
    settings = Settings(admin_token=Secret(secret))
    assert secret not in repr(settings)
    assert secret not in str(dataclasses.asdict(settings))
    assert secret not in f"{settings.admin_token} {settings.admin_token!r}"


def test_secret_compares_any_text() -> None:
    assert not Secret("x" * 32).is_same("\udcff\u00e9")
