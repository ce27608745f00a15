"""The admin token: from a systemd credential or the environment, and never shown (J52, J99, J101)."""

import hmac
from collections.abc import Mapping
from pathlib import Path

from jird_settings.error import SettingsError

TOKEN_CHARS_MIN = 32  # J52: what cannot be guessed
TOKEN_CHARS_MAX = 1024  # J52: far below the bound on request headers
CREDENTIAL = "admin-token"
VARIABLE = "JIRD_ADMIN_TOKEN"


class Secret:
    """A string that does not show itself: repr, str and format give stars."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself, for sending it."""
        return self._value

    def is_same(self, candidate: str) -> bool:
        """Compare in a time that does not depend on where the two differ."""
        return hmac.compare_digest(self._value.encode(), candidate.encode("utf-8", "surrogatepass"))

    def __repr__(self) -> str:
        return "Secret(***)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self.is_same(other._value)

    def __hash__(self) -> int:
        return hash(self._value)


def read_admin_token(environ: Mapping[str, str]) -> Secret | None:
    """Find the admin token.

    Args:
        environ: `CREDENTIALS_DIRECTORY` names the folder with systemd's credentials; its `admin-token` wins over
            `JIRD_ADMIN_TOKEN`. Blanks and line ends around a token in a file do not count. A file that is empty, or a
            variable that is, counts as no token.

    Raises:
        SettingsError: The token cannot be read, is not printable ASCII, or has the wrong length.
    """
    folder = environ.get("CREDENTIALS_DIRECTORY")
    path = Path(folder) / CREDENTIAL if folder else None
    if path is not None and path.exists():
        source = f"the credential {CREDENTIAL}"
        try:
            text = path.read_bytes().decode("ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{source} cannot be read as ASCII text: {type(error).__name__}") from None
    else:
        source, text = VARIABLE, environ.get(VARIABLE, "")
    if not text:
        return None
    if not TOKEN_CHARS_MIN <= len(text) <= TOKEN_CHARS_MAX:
        raise SettingsError(f"{source} has {len(text)} characters; it must have {TOKEN_CHARS_MIN} to {TOKEN_CHARS_MAX}")
    if not all("!" <= char <= "~" for char in text):
        raise SettingsError(f"{source} holds blanks or characters outside printable ASCII")
    return Secret(text)
