"""Progress of long work, on stderr: a moving line on a terminal, else a plain line now and then; none with --json."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.progress import Progress

# In a log a line every few seconds shows life without drowning the rest.
PLAIN_INTERVAL_S = 5.0

Update = Callable[[str, int, int], None]  # text, units done, units in all (0: not known)


@contextmanager
def show_progress(as_json: bool) -> Iterator[Update]:
    """Give a function that shows how far the work is."""
    if as_json:
        yield lambda _text, _done, _total: None
    elif sys.stderr.isatty():
        with _terminal_progress() as progress:
            task = progress.add_task("", total=None)
            yield lambda text, done, total: progress.update(task, description=text, completed=done, total=total or None)
    else:
        yield PlainProgress(time.monotonic)


class PlainProgress:
    """Writes a line when the text of the work changes in kind, or enough time has passed.

    Args:
        clock: Monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._written_at: float | None = None

    def __call__(self, text: str, done: int, total: int) -> None:
        """Note a step."""
        now = self._clock()
        if self._written_at is not None and now - self._written_at < PLAIN_INTERVAL_S:
            return
        self._written_at = now
        click.echo(f"{text} {done}/{total}" if total else text, err=True)


@contextmanager
def terminal_text() -> Iterator[Callable[[str], None]]:
    """Give a function that replaces the text shown on the terminal of stderr; at the end it is taken away."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    def shown(text: str) -> Text:
        return Text(text, no_wrap=True, overflow="ellipsis")

    with Live(shown(""), console=Console(stderr=True), transient=True, auto_refresh=False) as live:
        yield lambda text: live.update(shown(text), refresh=True)


def _terminal_progress() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
