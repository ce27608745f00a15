"""Holding a merge that runs in another thread: stopping it, seeing how far it is, and what it may use."""

from jird_native._qix import ffi


class MergeControl:
    """For one merge. Any thread may use it.

    Args:
        bytes_per_s: That the merge may write on average, the files on its way included; 0: any number.
        cpu_percent: Of one processor that it may take on average, 1 to 100.

    Raises:
        ValueError: A number is out of its range.
    """

    def __init__(self, *, bytes_per_s: int = 0, cpu_percent: int = 100) -> None:
        if bytes_per_s < 0 or not 1 <= cpu_percent <= 100:
            raise ValueError(f"bytes_per_s {bytes_per_s} must be at least 0, cpu_percent {cpu_percent} 1 to 100")
        self.pointer = ffi.new("qix_control *")
        """The qix_control that C looks at."""
        self.pointer.bytes_per_s = bytes_per_s
        self.pointer.cpu_percent = 0 if cpu_percent == 100 else cpu_percent

    def stop(self) -> None:
        """End the merge within milliseconds, with StoppedError; it leaves nothing behind. Also before it begins."""
        self.pointer.is_stopped = 1

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called."""
        return bool(self.pointer.is_stopped)

    @property
    def done(self) -> int:
        """Bytes of lists that are merged, at most `total`."""
        return min(int(self.pointer.done), self.total)

    @property
    def total(self) -> int:
        """Bytes of lists in all; 0 before the merge begins."""
        return int(self.pointer.total)
