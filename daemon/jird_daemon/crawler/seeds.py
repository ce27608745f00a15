"""Whether a run may begin with these URLs; refused at once, with the rule by name, not failing later (J43, J44)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from jird_daemon.crawler.admission import Admission
from jird_daemon.crawler.resolver import Resolved
from jird_daemon.errors import InvalidArgumentError, InvalidUrlError
from jird_daemon.outcome import ExitCode
from jird_daemon.url.canonical import canonicalize, split

SEEDS_MAX = 1_000
# A seed whose name takes longer to find is not refused; its run will tell.
LOOK_UP_S = 3.0


class SeedChecker:
    """Belongs to one event loop."""

    def __init__(self, admission: Admission, resolve: Callable[[str, int], Awaitable[Resolved]]) -> None:
        """Take the rules, and how hosts are found."""
        self._admission = admission
        self._resolve = resolve

    async def check(self, seeds: Sequence[str]) -> tuple[str, ...]:
        """Give the canonical form of seeds, in order, without repetition.

        Raises:
            InvalidUrlError: One is refused; message and reason say which rule and why.
            InvalidArgumentError: There is none, or there are too many.
        """
        if not 1 <= len(seeds) <= SEEDS_MAX:
            raise InvalidArgumentError(f"{len(seeds)} seeds; it must be 1 to {SEEDS_MAX}", "SEED_COUNT")
        urls = tuple(dict.fromkeys(self._canonical(seed) for seed in seeds))
        places = {(parts.host, parts.port): url for url in urls for parts in [split(url)]}
        await self._check_addresses(places)
        return urls

    def _canonical(self, seed: str) -> str:
        try:
            url = canonicalize(seed)
        except InvalidUrlError as error:
            raise InvalidUrlError(f"seed {seed[:200]}: {error.message}", error.reason) from None
        refusal = self._admission.refusal(url)
        if refusal is not None:
            raise InvalidUrlError(f"seed {url[:200]}: {refusal.message}", refusal.reason)
        return url

    async def _check_addresses(self, places: dict[tuple[str, int], str]) -> None:
        tasks = {asyncio.ensure_future(self._resolve(*place)): url for place, url in places.items()}
        done, late = await asyncio.wait(tasks, timeout=LOOK_UP_S)
        for task in late:
            task.cancel()
        for task in done:
            found = task.result()
            if found.failure is ExitCode.BLOCKED_ORIGIN_BY_LOCAL_POLICY:
                reason, _, message = found.message.partition(": ")
                raise InvalidUrlError(f"seed {tasks[task][:200]}: {message}", reason)
