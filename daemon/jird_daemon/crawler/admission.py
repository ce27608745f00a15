"""Which URLs may enter a run's frontier, and which of those in it may still be asked for. Pure.

The checks that need no network: scheme, port, host, query string, skip patterns, and the run's scope. They are made
when a URL is found and again when it is its turn, because the configuration may have changed in between (S36).
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from jird_daemon.frontier.runs import RunScope
from jird_daemon.url.canonical import URL_CHARS_MAX, origin_of
from jird_daemon.url.policy import UrlPolicy
from jird_daemon.url.refusal import Refusal
from jird_settings import Crawl, glob_expression

# Verdicts on origins that are remembered; the links of a site name few.
ORIGINS_REMEMBERED = 8_192


class Admission:
    """Immutable but for its memory; threads may share it."""

    def __init__(self, policy: UrlPolicy, crawl: Crawl) -> None:
        """Take the safety rules and the operator's wishes."""
        self._policy = policy
        self._allows_queries = crawl.query_urls == "allow"
        self._skip = _any_of(crawl.skip_url_patterns)
        self._origin_refusal = lru_cache(maxsize=ORIGINS_REMEMBERED)(lambda origin: policy.check(origin + "/"))

    def refusal(self, url: str, *, is_seed: bool = False) -> Refusal | None:
        """Say why a canonical URL may not be asked for, in whatever run; None when it may.

        A seed may have a query string whatever the setting: a person has written it.
        """
        if len(url) > URL_CHARS_MAX:
            return Refusal("URL_TOO_LONG", f"URL has {len(url)} characters; at most {URL_CHARS_MAX}")
        refusal = self._origin_refusal(origin_of(url))
        if refusal is not None:
            return refusal
        if not self._allows_queries and not is_seed and "?" in url:
            return Refusal("URL_QUERY", "URLs with a query string are not crawled (crawl.query_urls)")
        if self._skip is not None and self._skip.fullmatch(url):
            return Refusal("URL_SKIPPED", "the URL matches crawl.skip_url_patterns")
        return None

    def select(self, scope: RunScope, from_origin: str, urls: Iterable[str]) -> list[str]:
        """Keep the URLs that a run may discover on a page.

        Args:
            scope: The run's.
            from_origin: Origin of the page.
            urls: Canonical http or https URLs.
        """
        verdicts: dict[str, bool] = {}
        kept = []
        for url in urls:
            origin = origin_of(url)
            verdict = verdicts.get(origin)
            if verdict is None:
                verdict = scope.includes(origin, from_origin) and self._origin_refusal(origin) is None
                verdicts[origin] = verdict
            if not verdict:
                continue
            if "?" in url and not self._allows_queries:
                continue
            if len(url) <= URL_CHARS_MAX:
                kept.append(url)
        return kept


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str] | None:
    """One expression for all globs; * and ? as in the settings."""
    if not patterns:
        return None
    return re.compile("|".join(f"(?:{glob_expression(glob)})" for glob in patterns), re.DOTALL)
