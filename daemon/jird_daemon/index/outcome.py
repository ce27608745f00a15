"""What somebody waits for who asked for slow work: one at a time, told once how it ended."""

from concurrent.futures import Future


class Outcome:
    """Belongs to one thread; the future may be waited for in any."""

    def __init__(self) -> None:
        self._future: Future[None] | None = None

    @property
    def is_awaited(self) -> bool:
        """Whether somebody waits."""
        return self._future is not None

    def promise(self) -> Future[None]:
        """A future that `settle` will answer."""
        assert self._future is None, "somebody waits already"
        self._future = future = Future[None]()
        return future

    def settle(self, failure: Exception | None) -> None:
        """Tell whoever waits, if anyone does, that the work is done, or why it is not."""
        future, self._future = self._future, None
        if future is None:
            return
        if failure is None:
            future.set_result(None)
        else:
            future.set_exception(failure)
