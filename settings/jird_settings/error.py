"""The one error of this package."""


class SettingsError(Exception):
    """The configuration cannot be used.

    The message is one line for the operator: where (file and line, or environment variable), which setting, the value
    found and the values allowed. A secret's value is never part of it.
    """


def shorten(value: object, limit: int = 100) -> str:
    """Show a value in a message: its TOML-like text, cut at `limit` characters."""
    text = str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
