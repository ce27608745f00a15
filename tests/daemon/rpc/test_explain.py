"""Why a URL is, or is not, crawled: told by the rules that decide."""

from pathlib import Path

import pytest

from jird_daemon.control import CrawlPolicy, CrawlRules
from jird_daemon.crawler.admission import Admission, make_url_policy
from jird_daemon.errors import NotFoundError
from jird_daemon.frontier.runs import RunScope
from jird_daemon.rpc.convert import explanation_message
from jird_daemon.rpc.explain import Explainer, Explanation
from jird_settings import Settings
from testkit.crawling import Crawl, crawling, make_settings, site
from testkit.origin import Origin, Reply

RULES = CrawlRules("policy", do_not_crawl=(CrawlPolicy("the tracker", {"url": {"path": {"has_prefix": "/issues"}}}),))


def explain(crawl: Crawl, settings: Settings, url: str, run_id: int = 0, guard: str = "") -> Explanation:
    explainer = Explainer(
        Admission(make_url_policy(settings), settings.crawl), settings.crawl, guard, crawl.clock.now_s()
    )
    with crawl.store.read() as txn:
        return explainer.explain(txn, url, run_id)


def says(found: Explanation) -> dict[str, str]:
    return {verdict.rule: verdict.outcome for verdict in found.verdicts}


async def test_every_rule_is_told_in_the_order_in_which_it_is_asked(origin: Origin, tmp_path: Path) -> None:
    """The names are those of the crawl's own list; what the crawl did is what they say."""
    origin.set_robots(Reply.text("User-agent: *\nDisallow: /private\n"))
    site(origin, {"/": ("/issues/1", "/private/x", "/a?b=c", "/deep"), "/deep": ("/deeper",)})
    settings = make_settings(origin, tmp_path)
    async with crawling(origin, tmp_path) as crawl:
        run_id = await crawl.start("/", max_depth=1, rules=RULES)
        await crawl.ended(run_id)
        expected = {
            "/issues/1": ("do_not_crawl", "URL_DO_NOT_CRAWL"),
            "/private/x": ("robots", "URL_ROBOTS"),
            "/a?b=c": ("query", "URL_QUERY"),
            f"https://elsewhere.example:{origin.port}/": ("scope", "URL_SCOPE"),
            "http://127.0.0.1/": ("address", "URL_SCHEME"),
            "/deep": ("run", "NOT_RUNNING"),
            "mailto:x@y": ("url", "URL_SCHEME"),
            "/never-linked": ("run", "NOT_RUNNING"),
        }
        for path, (rule, reason) in expected.items():
            found = explain(crawl, settings, path if ":" in path else origin.url(path), run_id)
            assert found.deciding is not None, path
            assert (found.deciding.rule, found.deciding.reason) == (rule, reason), path
        found = explain(crawl, settings, origin.url("/deep"), run_id)
        names = [verdict.rule for verdict in found.verdicts]
        rules = [rule.name for rule in crawl.crawler.admission.make(RunScope.open(), RULES, 1).rules]
        assert names == ["url", *rules, "guard", "run", "frontier", "origin"]
        assert "robots.txt as of" in next(v.message for v in found.verdicts if v.rule == "robots")
        assert found.page is not None
        assert explanation_message(found).http_status == 200


async def test_without_a_run_a_url_is_judged_as_a_seed(origin: Origin, tmp_path: Path) -> None:
    settings = make_settings(origin, tmp_path)
    async with crawling(origin, tmp_path) as crawl:
        found = explain(crawl, settings, origin.url("/a?b=c"))
        assert (found.run_id, found.deciding) == (0, None)
        assert says(found)["robots"] == "unknown"
        with pytest.raises(NotFoundError):
            explain(crawl, settings, origin.url("/"), 7)


async def test_what_waits_says_until_when(origin: Origin, tmp_path: Path) -> None:
    """J149, F1, U110: a retry, a robots.txt that cannot be had, a guard, the next round."""
    settings = make_settings(origin, tmp_path)
    origin.add("/503", Reply.html("later", status=503))
    slow = {"crawl": {"retry_base_ms": 60_000, "retry_max_ms": 60_000}}
    async with crawling(origin, tmp_path, slow) as crawl:
        run_id = await crawl.start("/503", "/ok", recrawl_interval_s=604_800)
        await crawl.until(lambda: crawl.get_run(run_id).counts.waiting == 1)
        found = explain(crawl, settings, origin.url("/503"))
        assert (found.run_id, says(found)["frontier"]) == (run_id, "waiting")
        assert found.next_time_s is not None
        assert 30 < found.next_time_s - crawl.clock.now_s() < 70
        assert says(explain(crawl, settings, origin.url("/503"), guard="disk"))["guard"] == "waiting"
        await crawl.crawler.runs.stop(run_id)
    async with crawling(origin, tmp_path, ahead_s=7_200) as crawl:
        assert await crawl.start("/ok", recrawl_interval_s=604_800) != run_id
        await crawl.until(lambda: bool(crawl.crawler.runs.next_due_s()))
        found = explain(crawl, settings, origin.url("/ok"))
        assert says(found)["run"] == says(found)["due"] == "waiting"
        assert found.next_time_s is not None
        assert found.next_time_s > crawl.clock.now_s() + 600_000
    host = "robots-503.test"
    async with crawling(origin, tmp_path, slow) as crawl:
        run_id = await crawl.start(origin.url("/ok", host=host))
        await crawl.until(lambda: crawl.get_run(run_id).counts.waiting == 1)
        found = explain(crawl, settings, origin.url("/ok", host=host))
        assert found.deciding is not None
        assert (found.deciding.rule, found.deciding.reason) == ("robots", "ROBOTS_UNAVAILABLE")
