"""When intake is paused for want of disk space, and when it goes on. Pure."""

# Checks in a row that must be good before intake goes on, so that it does not flutter at the limit.
HEALTHY_CHECKS = 2
# Room that must be free beyond the limit, likewise.
HEALTHY_MARGIN = 1.1

DISK = "disk"


class DiskGuard:
    """Keeps the count of healthy checks. Other guards, set when a write failed, end by the same rule."""

    def __init__(self, min_free_bytes: int) -> None:
        """Take the free bytes below which intake is paused; 0 switches the guard off."""
        self._min_free_bytes = min_free_bytes
        self._healthy = 0

    def check(self, guard: str, free_bytes: int) -> str:
        """Decide.

        Args:
            guard: The reason for which intake is paused now; empty when it is not.
            free_bytes: What the file system has left.

        Returns:
            The reason for which it is to be paused from now on; empty for none.
        """
        if free_bytes < self._min_free_bytes:
            self._healthy = 0
            return guard or DISK
        if not guard:
            return ""
        self._healthy = self._healthy + 1 if free_bytes >= self._min_free_bytes * HEALTHY_MARGIN else 0
        if self._healthy < HEALTHY_CHECKS:
            return guard
        self._healthy = 0
        return ""
