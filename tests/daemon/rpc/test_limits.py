"""The limits that status shows are those that the parts keep."""

import jird_native
from jird_daemon.crawler import crawl_log, robots_cache, run_control, seeds
from jird_daemon.rpc import start_crawl
from jird_daemon.rpc.limits import OF_OTHERS, limits_in_effect
from jird_settings import Crawl, Settings


def test_numbers_of_parts_that_serve_does_not_load_are_theirs() -> None:
    """J117, J153, J157."""
    assert OF_OTHERS == {
        "term_chars": jird_native.TERM_CHARS_MAX,
        "frontier_error_chars": crawl_log.MESSAGE_CHARS_MAX,
        "robots_cache_capacity": robots_cache.CAPACITY,
    }


def test_caps_of_a_start_are_the_same_on_both_sides_of_the_channel() -> None:
    """J55, J56, J57."""
    assert start_crawl.MAX_DEPTH_MAX == run_control.DEPTH_MAX
    assert start_crawl.MAX_PAGES_MAX == run_control.PAGES_MAX
    assert start_crawl.DELAY_MS_MAX == run_control.DELAY_MS_MAX
    assert start_crawl.NAME_CHARS_MAX == run_control.NAME_CHARS_MAX
    assert start_crawl.SEEDS_MAX == seeds.SEEDS_MAX


def test_limits_follow_the_settings() -> None:
    """J127."""
    limits = limits_in_effect(Settings(crawl=Crawl(max_body_bytes=5_000)))
    assert limits["page_body_bytes"] == limits["crawl_max_body_bytes"] == 5_000
    assert "web_port" not in limits
