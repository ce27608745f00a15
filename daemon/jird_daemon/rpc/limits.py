"""Every named limit and its value in effect, for the status (J80-J81, J119, J127, J153, J157-J163)."""

from collections.abc import Mapping

from jird_daemon.index import query, query_words, searcher, snippet
from jird_daemon.rpc import crawl_log, crawl_service, search_service
from jird_daemon.url import canonical, robots
from jird_settings import Settings
from jird_settings.declare import settings_of
from jird_settings.kinds import Integer
from jird_settings.load import TABLES

# Fixed ones, under the names of the requirements; each is the number that the code itself uses.
FIXED: Mapping[str, int] = {
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
    "seed_count": crawl_service.SEEDS_MAX,
    "log_scan": crawl_log.SCAN_MAX,
}


def limits_in_effect(settings: Settings) -> dict[str, int]:
    """Fixed limits, and every whole-number setting as `table_key`, e.g. crawl_max_attempts."""
    found = dict(FIXED)
    for name, table in TABLES.items():
        values = getattr(settings, name)
        for declared in settings_of(table):
            value = getattr(values, declared.name)
            if isinstance(declared.kind, Integer) and value is not None:
                found[f"{name}_{declared.name}"] = value
    return found
