"""The daemon's use of the settings: read once at start, again at a reload, and in effect as one immutable value."""

import dataclasses
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
