"""Why something may not be fetched, for programs and for people."""

from typing import NamedTuple


class Refusal(NamedTuple):
    """The rule that says no."""

    reason: str  # machine-readable, as InvalidUrlError has it: URL_PORT, URL_PRIVATE_ADDRESS, ...
    message: str  # one sentence that names the value and the rule
