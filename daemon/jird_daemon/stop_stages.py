"""The ordered stop: what the start built is undone last first, and every stage is tried (J45, J47)."""

from collections.abc import Awaitable, Callable

from jird_daemon.errors import JirdError
from jird_daemon.log import get_logger
from jird_daemon.sdnotify import Notifier

MARGIN_S = 30.0  # what a stage may take beyond its own bound before systemd loses patience

_log = get_logger("serve")


class StopStages:
    """Stages, and what failed. Each part that is started adds the stage that undoes it."""

    def __init__(self, notifier: Notifier) -> None:
        self._notifier = notifier
        self._stages: list[tuple[str, float, Callable[[], Awaitable[None]]]] = []
        self.failures: list[str] = []

    def add(self, name: str, work: Callable[[], Awaitable[None]], bound_s: float = 0.0) -> None:
        """Register a stage; stages run in the reverse order of their registration.

        Args:
            name: For the log and `systemctl status`.
            work: Undoes what was started; may raise anything.
            bound_s: How long it may take by its own design.
        """
        self._stages.append((name, bound_s, work))

    async def run(self) -> None:
        """Run all stages, whatever the ones before did; what failed is in `failures`."""
        self._notifier.stopping("stopping")
        for name, bound_s, work in reversed(self._stages):
            self._notifier.extend_timeout(bound_s + MARGIN_S, f"stopping: {name}")
            try:
                await work()
                _log.info("stop.stage", stage=name)
            except Exception as error:
                self.fail(f"stop.{name}", error, exc_info=not isinstance(error, JirdError | OSError))
        self._stages.clear()

    def fail(self, what: str, error: BaseException, *, exc_info: bool = False) -> None:
        """Log a failure and remember it for the exit code."""
        _log.error(f"{what}.failed", message=f"{type(error).__name__}: {error}", exc_info=exc_info)
        self.failures.append(what)
