"""How many searches are under way: the rest waits its turn for a moment, or is told to come back (F113).

Health and status do not pass through here, so they answer while searches are refused.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from jird_web.errors import RETRY_AFTER_S, HttpError

# One visitor behind a proxy may hold as many places as one without can open connections (J67's default).
PER_CLIENT_MAX = 16

# Longer than this nobody waits in a queue; SearXNG gives up after three seconds in all (U92).
QUEUE_TIMEOUT_S = 2.0


class SearchGate:
    """Bounds searches in flight, in the queue, and for one client.

    Args:
        concurrency: Searches under way at a time.
        queue: Searches that may wait.
    """

    def __init__(self, concurrency: int, queue: int) -> None:
        self._places = asyncio.Semaphore(concurrency)
        self._most = concurrency + queue
        self._clients: Counter[str] = Counter()
        self.refused_count = 0

    @asynccontextmanager
    async def enter(self, client: str) -> AsyncIterator[None]:
        """Hold a place for the length of the block.

        Raises:
            HttpError: 429: this client holds too many places. 503: all are taken.
        """
        if self._clients[client] >= PER_CLIENT_MAX:
            self.refused_count += 1
            raise _refusal(429, "CLIENT_BUSY", f"more than {PER_CLIENT_MAX} searches at a time from one address")
        if self._clients.total() >= self._most:
            self.refused_count += 1
            raise _refusal(503, "SEARCH_BUSY", "too many searches are under way")
        self._clients[client] += 1
        try:
            await self._take_place()
            try:
                yield
            finally:
                self._places.release()
        finally:
            self._clients[client] -= 1
            if not self._clients[client]:
                del self._clients[client]

    async def _take_place(self) -> None:
        try:
            async with asyncio.timeout(QUEUE_TIMEOUT_S):
                await self._places.acquire()
        except TimeoutError:
            self.refused_count += 1
            raise _refusal(503, "SEARCH_BUSY", "the search waited too long for its turn") from None


def _refusal(status: int, reason: str, message: str) -> HttpError:
    return HttpError(status, reason, message, {"Retry-After": str(RETRY_AFTER_S)})
