"""Real documentation, crawled over TLS into one index, and searched as people search."""

from collections.abc import Iterator

import pytest

from jird.v1 import crawl_service_pb2 as crawl_pb
from testkit.daemon import Daemon
from testkit.documentation import DocumentationSites, RelevanceQuery, load_queries

CRAWL_TIMEOUT_S = 150.0
QUERIES = load_queries()


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocumentationSites]:
    with DocumentationSites(tmp_path_factory.mktemp("sites")) as running:
        yield running


@pytest.fixture(scope="module")
def daemon(sites: DocumentationSites, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("daemon"), sites.settings()) as running:
        yield running


@pytest.fixture(scope="module")
def run(sites: DocumentationSites, daemon: Daemon) -> crawl_pb.CrawlRun:
    return daemon.crawl(*sites.seeds(), timeout_s=CRAWL_TIMEOUT_S, max_depth=sites.depth, max_pages=10_000)


@pytest.mark.slow
def test_every_linked_page_is_crawled(run: crawl_pb.CrawlRun, sites: DocumentationSites) -> None:
    """Two pages of the sets have no link to them; each site has a front page of its own."""
    assert run.scope_reached
    assert run.counts.ingested_count == sites.page_count - 2 + len(sites.roots), run.counts


@pytest.mark.slow
@pytest.mark.parametrize("query", QUERIES, ids=[f"{query.language}-{i}" for i, query in enumerate(QUERIES)])
def test_expected_page_comes_first_or_second(
    query: RelevanceQuery, run: crawl_pb.CrawlRun, daemon: Daemon, sites: DocumentationSites
) -> None:
    found = [hit.document.url for hit in daemon.search(query.text, limit=2).hits]
    assert {sites.page_url(page) for page in query.pages} & set(found), found


@pytest.mark.slow
def test_what_matched_is_highlighted(run: crawl_pb.CrawlRun, daemon: Daemon) -> None:
    """F105."""
    for text, wanted in (("点字", "点字"), ("Bagpipe", "bagpipe"), ("шагающих", "шагающих"), ("ﾊﾞｸﾞﾊﾟｲﾌﾟ", "バグパイプ")):
        snippet = daemon.search(text, limit=1).hits[0].snippet
        marked = {snippet.text[mark.start : mark.end].casefold() for mark in snippet.highlights}
        assert wanted in marked, snippet
