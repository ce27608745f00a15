"""Every named limit and its value in effect, for the status (J80-J81, J119, J127, J153, J157-J163)."""

from collections.abc import Mapping

from jird_daemon.extract.limits import LIMITS as EXTRACT_LIMITS
from jird_daemon.index import analysis, query, query_words, searcher, snippet
from jird_daemon.rpc import crawl_log, search_service, start_crawl
from jird_daemon.url import canonical, robots
from jird_settings import Settings
from jird_settings.declare import settings_of
from jird_settings.kinds import Integer
from jird_settings.load import TABLES

# Fixed ones, under the names of the requirements; each is the number that the code itself uses.
FIXED: Mapping[str, int] = {
    **EXTRACT_LIMITS,
    "document_tokens": analysis.INDEXED_TOKENS_MAX,
    "query_chars": query.QUERY_CHARS_MAX,
    "query_terms": query_words.QUERY_TERMS_MAX,
    "query_token_scan": query_words.QUERY_TOKENS_MAX,
    "search_limit": search_service.LIMIT_MAX,
    "search_offset": search_service.OFFSET_MAX,
    "search_page_window": searcher.SEARCH_WINDOW,
    "snippet_scan_chars": snippet.SNIPPET_SCAN_CHARS,
    "snippet_terms": snippet.SNIPPET_TERMS_MAX,
    "url_chars": canonical.URL_CHARS_MAX,
    "robots_body_bytes": robots.BODY_BYTES_MAX,
    "robots_rule_limit": robots.RULES_MAX,
    "robots_agent_group_limit": robots.GROUP_AGENTS_MAX,
    "robots_line_chars": robots.LINE_CHARS_MAX,
    "seed_count": start_crawl.SEEDS_MAX,
    "seed_chars": start_crawl.SEED_CHARS_MAX,
    "log_scan": crawl_log.SCAN_MAX,
}
# Numbers of parts that serve does not load: the crawler and the engine. A test compares them with theirs.
OF_OTHERS: Mapping[str, int] = {"term_chars": 128, "frontier_error_chars": 4_096, "robots_cache_capacity": 128}

_NO_LIMITS = frozenset({"web_port"})


def limits_in_effect(settings: Settings) -> dict[str, int]:
    """Fixed limits, and every whole-number setting as `table_key`, e.g. crawl_max_attempts."""
    found = {**FIXED, **OF_OTHERS, "page_body_bytes": settings.crawl.max_body_bytes}
    for name, table in TABLES.items():
        values = getattr(settings, name)
        for declared in settings_of(table):
            key, value = f"{name}_{declared.name}", getattr(values, declared.name)
            if isinstance(declared.kind, Integer) and value is not None and key not in _NO_LIMITS:
                found[key] = value
    return found
