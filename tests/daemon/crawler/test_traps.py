"""Guards against parts of a site that have no end, and the sites that only look like one."""

from collections.abc import Iterable
from itertools import product
from pathlib import Path

import pytest

from jird_daemon.crawler.admission import NO_RULES, Admission, Newcomers, Question, RunAdmission, make_url_policy
from jird_daemon.frontier.runs import RunScope
from jird_daemon.frontier.trail import Trails
from jird_daemon.rpc.explain import Explainer
from jird_daemon.store import Store
from jird_settings import load
from testkit.crawling import crawling, html, make_settings, site
from testkit.origin import Exchange, Origin, Reply

SITE = "https://www.site.test"
SMALL = {"JIRD_MAX_PARAMETER_SETS": "5", "JIRD_MAX_PARAMETER_COMBINATIONS": "30", "JIRD_MAX_CALENDAR_PAGES": "20",
         "JIRD_MAX_DOMAIN_HOSTS": "8"}  # fmt: skip


def rules(environment: dict[str, str] | None = None) -> RunAdmission:
    settings = load(None, environment or {})
    return Admission(make_url_policy(settings), settings.crawl).make(RunScope.open(), NO_RULES, 3)


def let_in(store: Store, urls: Iterable[str], environment: dict[str, str] | None = None) -> tuple[int, dict[str, int]]:
    """Meet URLs one after the other in run 1, each in a transaction of its own kind; how many entered, and refusals."""
    admission = rules(environment)
    with store.write() as txn:
        newcomers: Newcomers = admission.newcomers(Trails(txn, 1), SITE, 1)
        return sum(map(newcomers.admit, urls)), newcomers.refused


@pytest.fixture
def store(tmp_path: Path) -> Iterable[Store]:
    with Store.open(tmp_path / "s", map_bytes=1 << 30) as opened:
        yield opened


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("/a/a/a/a/", "repeated_parts"),
        ("/x/a/a/a/a", "repeated_parts"),
        ("/shop/cart/" * 4, "repeated_parts"),
        ("/en" + "/a/b/c" * 4, "repeated_parts"),
        ("/a//////b", "repeated_parts"),
        ("/" + "".join(f"up/{number}/" for number in range(7)), "repeated_parts"),
        ("/p?" + "&".join(["next=1"] * 4), "repeated_parts"),
        ("/" + "/".join(map(str, range(25))), "path_parts"),
    ],
)
def test_endless_paths_are_refused(store: Store, path: str, rule: str) -> None:
    """F41: parts in a row, groups of parts, one part between others, a parameter; and paths that only grow."""
    assert let_in(store, [SITE + path]) == (0, {rule: 1})
    found = rules().refuse(Question(SITE + path, SITE, SITE, 1))
    assert found is not None
    assert found[0].name == rule
    assert rules().refuse(Question(SITE + path, SITE, SITE, 0, is_named=True)) is None, "a person named it"


@pytest.mark.parametrize(
    "path",
    [
        "/en/docs/en/",
        "/a/a/a",
        "/2011/11/11/",
        "/tiles/0/0/0.png",
        "/api/v1/users/users/users.html",
        "/docs/org/project/module/submodule/org/project/module/",
        "/pkg/github.com/owner/name/internal/pkg/name/v2/internal/name/",
        "/list?tag=a&tag=b&tag=c&tag=d&tag=e",
        "/" + "/".join(f"level-{number}" for number in range(23)),
        "/wiki/A_(disambiguation)",
    ],
)
def test_paths_of_ordinary_sites_are_followed(store: Store, path: str) -> None:
    """F41: repeated parts are no spiral by themselves."""
    assert let_in(store, [SITE + path]) == (1, {})


@pytest.mark.parametrize(
    "shape",
    ["/p;jsessionid={}", "/p?PHPSESSID={}", "/p?a=1&sid={}", "/p?ASPSESSIONIDQABCDEFG={}", "/(S({}))/p.aspx"],
)
def test_one_url_of_each_page_enters_whatever_the_session(store: Store, shape: str) -> None:
    """A site that puts the visit into each link is crawled once."""
    urls = [SITE + shape.format(f"{number:032x}") for number in range(9)]
    assert let_in(store, urls) == (1, {"session_ids": 8})


def test_short_parameters_that_are_no_digest_are_no_session(store: Store) -> None:
    """`s` is a search and `sid` a story elsewhere."""
    assert let_in(store, [f"{SITE}/?s=word{number}" for number in range(9)])[0] == 9
    assert let_in(store, [f"{SITE}/story?sid={number}" for number in range(9)])[0] == 9


def test_the_order_of_parameters_makes_no_new_page(store: Store) -> None:
    """F43."""
    urls = [f"{SITE}/p?a=1&b=2&c=3", f"{SITE}/p?c=3&a=1&b=2", f"{SITE}/p?b=2&c=3&a=1", f"{SITE}/p?a=2&b=2&c=3"]
    assert let_in(store, urls) == (2, {"parameters": 2})


def test_sets_of_parameters_for_one_path_are_bounded(store: Store) -> None:
    """F43: filters that each add a parameter; another path has its own."""
    sets = ["&".join(f"{name}=1" for name, is_on in zip("abcdef", bits, strict=True) if is_on)
            for bits in product((0, 1), repeat=6)]  # fmt: skip
    urls = [f"{SITE}/filter?{query}" for query in sets if query]
    assert let_in(store, urls, SMALL) == (5, {"parameters": len(urls) - 5})
    assert let_in(store, [f"{SITE}/other?a=1&b=1"], SMALL)[0] == 1


def test_several_pagers_on_one_page_are_bounded(store: Store) -> None:
    """F43: `?page_n10=2` times `?page_c5=3`; every value is still met once."""
    urls = [f"{SITE}/list?page_n10={one}&page_c5={two}" for one, two in product(range(60), repeat=2)]
    entered, refused = let_in(store, urls)
    assert entered == 119 + 10 * 119
    assert refused == {"parameters": 3_600 - entered}


def test_a_forum_is_no_trap(store: Store) -> None:
    """F43: thousands of topics, each with some pages, under one path and one set of parameters."""
    topics = [f"{SITE}/viewtopic.php?f={topic % 7}&t={topic}" for topic in range(3_000)]
    pages = [f"{url}&start={start}" for url in topics for start in (15, 30, 45)]
    assert let_in(store, topics + pages) == (12_000, {})


def test_a_wiki_is_no_trap(store: Store) -> None:
    """F43: some actions for each of many titles."""
    urls = [
        f"{SITE}/index.php?title=Page_{number}&action={action}"
        for number in range(2_000)
        for action in ("edit", "history")
    ]
    assert let_in(store, urls) == (4_000, {})


@pytest.mark.parametrize(
    "shape",
    ["/cal/{0}-{1:02}-{2:02}", "/cal/{0}/{1}/{2}/", "/cal?year={0}&month={1}&day={2}", "/cal?date={0}{1:02}{2:02}"],
)
def test_calendars_are_bounded(store: Store, shape: str) -> None:
    """A page for each day, before and behind, without end."""
    days = product(range(2024, 2029), range(1, 13), range(1, 29))
    urls = [SITE + shape.format(*day) for day in days]
    assert let_in(store, urls) == (500, {"calendar": len(urls) - 500})


def test_articles_with_a_date_are_no_calendar(store: Store) -> None:
    """Twenty years of news by month, and an article for each day."""
    months = [f"{SITE}/{year}/{month:02}/" for year, month in product(range(2004, 2024), range(1, 13))]
    days = product(range(2004, 2008), range(1, 13), range(1, 29))
    articles = [f"{SITE}/{year}/{month:02}/{day:02}/what-happened-{year}{month}{day}a" for year, month, day in days]
    assert let_in(store, months + articles) == (240 + 1_344, {})


def test_numbers_are_no_dates(store: Store) -> None:
    assert let_in(store, [f"{SITE}/item/{number}" for number in range(19_000_000, 19_002_000)])[0] == 2_000
    assert let_in(store, [f"{SITE}/rfc/rfc{number}" for number in range(1_000, 3_000)])[0] == 2_000


@pytest.mark.parametrize("name", ["d", "m", "week"])
def test_the_number_of_a_topic_is_no_day_and_no_month(store: Store, name: str) -> None:
    """F41: /show?d=4711, as forums write it."""
    assert let_in(store, [f"{SITE}/show?{name}={number}" for number in range(1, 2_001)]) == (2_000, {})


def test_hosts_of_one_domain_are_bounded_and_those_of_others_are_not(store: Store) -> None:
    """Names made up by a wildcard in DNS; sites below a public suffix belong to different people."""
    urls = [f"https://h{number}.site.test/" for number in range(20)]
    assert let_in(store, urls, SMALL) == (8, {"domain_hosts": 12})
    assert let_in(store, urls[:8], SMALL)[0] == 8
    assert let_in(store, [f"https://h{number}.github.io/" for number in range(20)], SMALL)[0] == 20


def test_counts_are_on_disk_and_those_of_a_run(tmp_path: Path) -> None:
    """A restart goes on counting where it was."""
    days = [f"{SITE}/cal/2024-05-{day:02}" for day in range(1, 29)]
    for part in (days[:15], days[15:]):
        with Store.open(tmp_path / "s", map_bytes=1 << 30) as store:
            entered, refused = let_in(store, part, SMALL)
    assert (entered, refused) == (5, {"calendar": 8})
    with Store.open(tmp_path / "s", map_bytes=1 << 30) as store, store.write() as txn:
        another_run = rules(SMALL).newcomers(Trails(txn, 2), SITE, 1)
        assert another_run.admit(days[-1])


def test_every_guard_can_be_switched_off(store: Store) -> None:
    off = dict.fromkeys([*SMALL, "JIRD_MAX_PATH_PARTS", "JIRD_MAX_PATH_REPEATS"], "0")
    urls = [
        SITE + "/a" * 40,
        *(f"{SITE}/cal/2024-05-{day:02}" for day in range(1, 29)),
        *(f"{SITE}/p?{name}=1" for name in "abcdefgh"),
        *(f"https://h{number}.site.test/" for number in range(20)),
    ]
    assert let_in(store, urls, off) == (len(urls), {})


async def test_a_crawl_ends_in_a_spiral_and_says_what_it_left_out(origin: Origin, tmp_path: Path) -> None:
    """F41, F43: counted for the run by the rule's name, told by `debug url`, and the rest of the site is crawled."""

    async def lists(exchange: Exchange) -> None:
        one, two = int(exchange.query.get("n", 0)), int(exchange.query.get("c", 0))
        await exchange.send(
            Reply.html(html(f"{one} {two}", f"/list?n={one + 1}&c={two}", f"/list?c={two + 1}&n={one}"))
        )

    for depth in range(12):
        origin.add("/" + "a/" * depth, Reply.html(html(f"Level {depth}", "a/", "/list", "/last")))
    origin.add("/list", lists)
    site(origin, {"/last": ()})
    small = {"crawl": {"max_parameter_combinations": 5, "max_parameter_sets": 2}}
    settings = make_settings(origin, tmp_path, small)
    async with crawling(origin, tmp_path, small) as crawl:
        run = await crawl.run("/", max_depth=12)
        assert origin.url("/last") in crawl.indexed()
        explainer = Explainer(Admission(make_url_policy(settings), settings.crawl), settings.crawl, "", 0.0)
        with crawl.store.read() as txn:
            explained = explainer.explain(txn, origin.url("/" + "a/" * 4), 1).verdicts
        verdicts = {verdict.rule: verdict.reason for verdict in explained}
    targets = origin.log.targets()
    assert "/a/a/a/" in targets
    assert "/a/a/a/a/" not in targets
    assert run.counts.refused["repeated_parts"] == 1
    assert run.counts.refused["parameters"] > 10
    assert verdicts["repeated_parts"] == "URL_REPEATS"


async def test_a_redirect_may_lead_where_a_link_may_not(origin: Origin, tmp_path: Path) -> None:
    """F43, F61: a site that sorts its parameters by redirects is crawled."""

    async def sort(exchange: Exchange) -> None:
        target = exchange.access.target
        await exchange.send(Reply.redirect("/p?a=1&b=2") if target == "/p?b=2&a=1" else Reply.html(html("Sorted")))

    origin.add("/p", sort)
    site(origin, {"/": ("/p?b=2&a=1", "/p?a=1&b=2")})
    async with crawling(origin, tmp_path) as crawl:
        run = await crawl.run("/")
        assert origin.url("/p?a=1&b=2") in crawl.indexed()
    assert run.counts.refused == {"parameters": 1}
