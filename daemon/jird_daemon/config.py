"""The daemon's use of the settings: read once at start, again at a reload, and in effect as one immutable value.

Only serve reads them. Its children get the value that it has checked, so that a file that is broken or half edited does
no harm until it is accepted, also when a child is started again.
"""

import dataclasses
import os
import pickle
from collections.abc import Mapping
from pathlib import Path

from jird_settings import Settings, SettingsError, load, refuse_open_admin

# Tables whose parts are built once; a change is taken up by the next start.
_FIXED_TABLES = ("storage", "search", "index")


class Configuration:
    """The settings in effect.

    Args:
        path: The file given on the command line; None leaves the choice to jird_settings.
        environ: The environment.

    Raises:
        SettingsError: They cannot be used.
    """

    def __init__(self, path: Path | None, environ: Mapping[str, str]) -> None:
        self.path = path
        self._environ = environ
        self._settings = self._read()

    def settings(self) -> Settings:
        """The settings in effect now."""
        return self._settings

    def reload(self) -> tuple[str, ...]:
        """Read them again; what was in effect stays in effect if they cannot be used.

        Returns:
            Names of tables that changed and are taken up only by the next start.

        Raises:
            SettingsError: They cannot be used.
        """
        fresh = self._read()
        old = self._settings
        late = tuple(name for name in _FIXED_TABLES if getattr(old, name) != getattr(fresh, name))
        self._settings = dataclasses.replace(fresh, **{name: getattr(old, name) for name in late})
        return late

    def _read(self) -> Settings:
        settings = load(self.path, self._environ)
        refuse_open_admin(settings)
        _refuse_missing_files(settings)
        return settings


def encode_settings(settings: Settings) -> bytes:
    """The settings for a child of ours, without the token, which is no business of its."""
    return pickle.dumps(dataclasses.replace(settings, admin_token=None))


def decode_settings(data: bytes) -> Settings:
    """Take what `encode_settings` of the parent process gave; nobody else can have written it."""
    settings = pickle.loads(data)
    assert isinstance(settings, Settings)
    return settings


def settings_file(settings: Settings) -> int:
    """The settings as a file in memory, for a child to inherit; returns its descriptor."""
    descriptor = os.memfd_create("jird-settings", os.MFD_CLOEXEC)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(encode_settings(settings))
    return descriptor


def read_settings_file(descriptor: int) -> Settings:
    """Read what `settings_file` of the parent process wrote, and close it."""
    with open(descriptor, "rb") as file:
        file.seek(0)
        return decode_settings(file.read())


def _refuse_missing_files(settings: Settings) -> None:
    named = {"network.ca_file": settings.network.ca_file}
    named.update({f"hosts.ca_file of {rule.match}": rule.ca_file for rule in settings.hosts})
    for name, path in named.items():
        if path is None:
            continue
        try:
            path.open("rb").close()
        except OSError as error:
            raise SettingsError(f"{name} is {path}, which cannot be read: {error.strerror}") from None
