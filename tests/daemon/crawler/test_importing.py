"""Documents of a file as the daemon takes them: parsed, judged, stored in one step, and passed over the second time."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from jird_daemon.clock import SystemClock
from jird_daemon.control import ImportedDocument, ImportOutcome
from jird_daemon.crawler.importing import DOCUMENTS_MAX, Importer
from jird_daemon.crawler.reindex import Reindexer, read_state
from jird_daemon.errors import InvalidArgumentError, ParserFailedError
from jird_daemon.extract.document import ParsedDocument, ParseJob
from jird_daemon.extract.page import parse_page
from jird_daemon.store import Store
from jird_daemon.store.pages import INDEX_GENERATION, get_page
from jird_daemon.store.tables import GENERATIONS, Page
from jird_settings import Content, Settings, load
from testkit import toml

NOW_S = 1_796_000_000.0
PLAIN = "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"
STORED, UNCHANGED, OLDER, RETIRED = (
    ImportOutcome.STORED, ImportOutcome.UNCHANGED, ImportOutcome.OLDER, ImportOutcome.RETIRED
)  # fmt: skip


class Clock:
    """Stands still until it is moved."""

    now = NOW_S

    def now_s(self) -> float:
        return self.now

    def monotonic_s(self) -> float:
        return self.now


class Parser:
    """Reads in process; the page with the URL `held` waits for `gate`."""

    def __init__(self) -> None:
        self.parsed: list[str] = []
        self.held = ""
        self.failing = ""
        self.gate = asyncio.Event()

    async def parse(self, job: ParseJob) -> ParsedDocument:
        self.parsed.append(job.url)
        if job.url == self.held:
            await self.gate.wait()
        if job.url == self.failing:
            raise ParserFailedError("killed", "CRASHED")
        return parse_page(job, NOW_S)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "state") as opened:
        yield opened


@pytest.fixture
def parser() -> Parser:
    return Parser()


def settings(directory: Path, tables: toml.Tables | None = None) -> Settings:
    path = directory / "jird.toml"
    path.write_text(toml.dump(tables or {}))
    return load(path, {})


@pytest.fixture
def importer(store: Store, parser: Parser, tmp_path: Path) -> Importer:
    return make_importer(store, parser, tmp_path)


def make_importer(
    store: Store, parser: Parser, directory: Path, tables: toml.Tables | None = None, clock: Clock | None = None
) -> Importer:
    return Importer(store, parser, settings(directory, tables), clock or Clock(), lambda: None)


def text(url: str, words: str, **fields: object) -> ImportedDocument:
    return ImportedDocument(url, words.encode(), PLAIN, **fields)  # type: ignore[arg-type]


def page(store: Store, url: str) -> Page:
    with store.read() as txn:
        found = get_page(txn, url)
    assert found is not None
    return found[1]


async def outcomes(importer: Importer, *documents: ImportedDocument) -> list[ImportOutcome]:
    _, results = await importer.run(documents)
    return [result.outcome for result in results]


async def test_a_batch_is_one_step_of_the_generation(store: Store, importer: Importer) -> None:
    """J37."""
    with store.read() as txn:
        before = txn.number(INDEX_GENERATION)
    generation, results = await importer.run([text(f"https://a.test/{n}", f"text {n}") for n in range(20)])
    assert [result.outcome for result in results] == [STORED] * 20
    assert generation == before + 1
    assert all(page(store, f"https://a.test/{n}").is_indexable for n in range(20))


async def test_what_is_stored_is_passed_over_without_parsing(store: Store, parser: Parser, importer: Importer) -> None:
    documents = [text("https://a.test/1", "one"), ImportedDocument("https://a.test/2", b"<p>two", HTML)]
    assert await outcomes(importer, *documents) == [STORED, STORED]
    generation, results = await importer.run([*documents, text("https://a.test/3", "three")])
    assert [result.outcome for result in results] == [UNCHANGED, UNCHANGED, STORED]
    assert parser.parsed == ["https://a.test/1", "https://a.test/2", "https://a.test/3"]
    assert (await importer.run(documents))[0] == generation, "nothing that can be found has changed"
    changed = text("https://a.test/1", "one", title="a title now")
    assert await outcomes(importer, changed) == [STORED]
    assert page(store, "https://a.test/1").title == "a title now"


async def test_what_a_line_says_stands_before_what_the_bytes_say_also_after_a_reindex(
    store: Store, parser: Parser, importer: Importer
) -> None:
    body = b"<html lang=en><title>of the page</title><meta name=date content=2001-01-01><p>words"
    given = {"title": " Of  the\x00line ", "language": "de-AT", "published_s": 1_000_000_000.0}
    await outcomes(
        importer,
        ImportedDocument("https://a.test/1", body, HTML, **given),  # type: ignore[arg-type]
        ImportedDocument("https://a.test/2", body + b" more", HTML),
        text("https://a.test/3", "words", **given),
    )
    before = [page(store, f"https://a.test/{n}") for n in (1, 2, 3)]
    assert [(p.title, p.language, p.published_s) for p in (before[0], before[2])] == [
        ("Of the line", "de", 1_000_000_000.0)
    ] * 2
    assert (before[1].title, before[1].language) == ("of the page", "en")
    work = Reindexer(store, parser, Content(), SystemClock(), lambda: None, "jird")
    await work.start("", 0.0)
    async with asyncio.timeout(20):
        while work.is_running:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    with store.read() as txn:
        state = read_state(txn)
    assert state is not None
    assert (state.derived, state.changed) == (3, 0)
    assert [page(store, f"https://a.test/{n}") for n in (1, 2, 3)] == before


@pytest.mark.parametrize(
    ("document", "outcome", "message"),
    [
        (text("ftp://a.test/", "x"), ImportOutcome.REFUSED, "scheme"),
        (text("https://a.test/a b", "x"), ImportOutcome.REFUSED, "white space"),
        (text("no url", "x"), ImportOutcome.REFUSED, ""),
        (text("https://a.test/" + "a" * 5_000, "x"), ImportOutcome.REFUSED, "4096"),
        (text("https://a.test/big", "x" * 2_000), ImportOutcome.REFUSED, "at most 1024"),
        (text("https://a.test/login?next", "x"), ImportOutcome.EXCLUDED, "skip_url_patterns"),
        (ImportedDocument("https://a.test/i", b"\x89PNG\r\n\x1a\n", "image/png"), ImportOutcome.NOT_READ, "image/png"),
        (text("https://a.test/lost", "x"), ImportOutcome.FAILED, "killed"),
        (ImportedDocument("https://a.test/r", same_as_url="https://a.test/none"), ImportOutcome.NOT_READ, "not here"),
    ],
)
async def test_what_cannot_be_taken_says_why_and_the_rest_goes_on(
    store: Store, parser: Parser, tmp_path: Path, document: ImportedDocument, outcome: ImportOutcome, message: str
) -> None:
    """The configuration's patterns hold for imports too; what may be connected to does not matter to them."""
    tables: toml.Tables = {"crawl": {"skip_url_patterns": ["*/login*"], "max_body_bytes": 1_024}}
    parser.failing = "https://a.test/lost"
    _, results = await make_importer(store, parser, tmp_path, tables).run(
        [document, text("http://wiki:8080/page", "stored")]
    )
    assert results[0].outcome is outcome
    assert message in results[0].message
    assert results[1].outcome is STORED
    assert page(store, "http://wiki:8080/page").is_indexable


async def test_times_that_cannot_be_are_left_out(store: Store, importer: Importer) -> None:
    await outcomes(
        importer,
        text("https://a.test/1", "x", published_s=-62_135_596_800.0, time_s=253_402_300_799.0),
        text("https://a.test/2", "x", published_s=253_402_300_799.0, language="not a language"),
    )
    assert page(store, "https://a.test/1").published_s is None
    assert page(store, "https://a.test/1").fetch_time_s == NOW_S
    assert (page(store, "https://a.test/2").published_s, page(store, "https://a.test/2").language) == (None, "")


async def test_an_older_version_does_not_take_the_place_of_a_newer_one(store: Store, importer: Importer) -> None:
    url = "https://a.test/"
    versions = [text(url, words, time_s=NOW_S - age_s) for words, age_s in (("b", 50), ("a", 100), ("c", 10))]
    assert await outcomes(importer, *versions) == [STORED, OLDER, STORED]
    with store.read() as txn:
        found = get_page(txn, url)
        assert found is not None
        generations = [each for _, each in txn.scan(GENERATIONS, (found[0], 0), (found[0] + 1, 0))]
    assert [(each.first_seen_s, each.confirmed_end_s) for each in generations] == [
        (NOW_S - 50, NOW_S - 10), (NOW_S - 10, None)
    ]  # fmt: skip


async def test_a_tombstone_retires_a_page_and_is_no_news_the_second_time(store: Store, importer: Importer) -> None:
    url = "https://a.test/"
    await outcomes(importer, text(url, "words", time_s=NOW_S - 100))
    gone = ImportedDocument(url, time_s=NOW_S - 50, is_gone=True)
    assert await outcomes(importer, ImportedDocument(url, time_s=NOW_S - 500, is_gone=True)) == [OLDER]
    assert await outcomes(importer, gone) == [RETIRED]
    assert page(store, url).not_indexable_reason == "gone"
    assert await outcomes(importer, gone, ImportedDocument("https://b.test/", is_gone=True)) == [UNCHANGED, UNCHANGED]
    assert await outcomes(importer, text(url, "words")) == [STORED]
    assert page(store, url).is_indexable


async def test_a_revisit_stands_for_bytes_that_are_here(store: Store, importer: Importer) -> None:
    first = text("https://a.test/1", "the words", time_s=NOW_S - 100)
    await outcomes(importer, first)
    again = ImportedDocument("https://a.test/1", time_s=NOW_S - 50, same_as_url="https://a.test/1")
    other = ImportedDocument("https://a.test/2", time_s=NOW_S - 40, same_as_url="https://a.test/1")
    assert await outcomes(importer, again, other) == [UNCHANGED, STORED]
    assert page(store, "https://a.test/1").fetch_time_s == NOW_S - 50
    assert page(store, "https://a.test/2").pile_digest == page(store, "https://a.test/1").pile_digest


async def test_noindex_and_canonical_are_honoured(store: Store, importer: Importer) -> None:
    """A page that names another one stands back only where that one is here (J147)."""
    link = b'<link rel=canonical href="https://a.test/main"><p>words '
    await outcomes(
        importer,
        ImportedDocument("https://a.test/early", link + b"early", HTML),
        ImportedDocument("https://a.test/main", b"<p>words", HTML),
        ImportedDocument("https://a.test/late", link + b"late", HTML),
        ImportedDocument("https://a.test/hidden", b"<p>words", HTML, robots_headers=("noindex",)),
    )
    reasons = {name: page(store, f"https://a.test/{name}").not_indexable_reason for name in ("early", "late", "hidden")}
    assert reasons == {"early": "", "late": "not canonical", "hidden": "noindex"}


async def test_a_page_that_stood_back_comes_forward_when_the_other_one_goes(store: Store, importer: Importer) -> None:
    """F25: never neither."""
    main, variant = "https://a.test/main", "https://a.test/variant"
    link = f"<link rel=canonical href={main}><p>words of the variant".encode()
    await outcomes(importer, ImportedDocument(main, b"<p>words", HTML), ImportedDocument(variant, link, HTML))
    assert page(store, variant).not_indexable_reason == "not canonical"
    assert await outcomes(importer, ImportedDocument(main, is_gone=True)) == [RETIRED]
    assert page(store, variant).is_indexable
    assert await outcomes(importer, ImportedDocument(main, b"<meta name=robots content=noindex><p>x", HTML)) == [STORED]
    assert page(store, variant).is_indexable


async def test_batches_are_written_in_the_order_in_which_they_came(
    store: Store, parser: Parser, importer: Importer
) -> None:
    parser.held = "https://a.test/slow"
    first = asyncio.create_task(importer.run([text(parser.held, "x"), text("https://a.test/1", "first")]))
    second = asyncio.create_task(importer.run([text("https://a.test/1", "second", title="second")]))
    while len(parser.parsed) < 3:  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    assert not second.done()
    parser.gate.set()
    assert (await first)[0] < (await second)[0]
    assert page(store, "https://a.test/1").title == "second"


async def test_a_batch_has_a_bound(importer: Importer) -> None:
    with pytest.raises(InvalidArgumentError):
        await importer.run([text("https://a.test/", "x")] * (DOCUMENTS_MAX + 1))
