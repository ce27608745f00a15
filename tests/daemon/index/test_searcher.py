"""What a search gives: order, pages, snippets, pictures; and that views change under it without a trace."""

import gc
import os
import shutil
import threading
from pathlib import Path

import pytest

from jird_daemon.control import SegmentRef, View
from jird_daemon.errors import InvalidQueryError, NotReadyError
from jird_daemon.index.documents import IMAGE_WORDS_CHARS_MAX, image_words
from jird_daemon.index.searcher import Searcher
from jird_daemon.store import Store
from jird_daemon.store.garbage import collect_garbage
from jird_daemon.store.pages import retire_page, store_page
from jird_daemon.store.retention import Retention, apply_retention
from jird_daemon.store.tables import Image
from testkit.pages import TIMEOUT_S, IndexedStore, make_page, page_url


def test_ranking_is_by_score_then_page_and_the_same_each_time(tmp_path: Path) -> None:
    """J74, J24: deterministic, ties by the page's number."""
    with IndexedStore(tmp_path) as index:
        index.put_texts({1: "pears and plums", 2: "apples", 3: "apples apples apples", 4: "apples"})
        urls = index.find("apples")
        assert urls == [page_url(3), page_url(2), page_url(4)]
        assert all(index.find("apples") == urls for _ in range(5))
        hits = index.searcher.search("apples", 10, 0, show_duplicates=True).hits
        assert hits[0].score > hits[1].score == hits[2].score > 0


def test_explained_hits_are_the_hits_of_the_search_with_their_scores(tmp_path: Path) -> None:
    with IndexedStore(tmp_path) as index:
        index.put_texts({1: "pears and plums", 2: "apples", 3: "apples apples pears", 4: "figs"})
        searched = index.searcher.search("apples pears", 10, 0, show_duplicates=True)
        found = index.searcher.explain("apples pears", 10)
        assert [(page, why.score) for page, why in found.hits] == [(hit.page_id, hit.score) for hit in searched.hits]
        assert [(node.text, node.df, node.counts) for node in found.nodes] == [
            ("any of", 0, False), ("apples", 2, True), ("pears", 2, True)
        ]  # fmt: skip
        assert found.result.plan == "or"
        ((_, missed),) = index.searcher.explain("apples pears", 10, page_id=4).hits
        assert (missed.matches, missed.score) == (False, 0.0)
        assert not index.searcher.explain("---", 10).nodes
        nothing = index.searcher.explain("quinces intitle:apples site:docs.test", 10)
        assert [node.text for node in nothing.nodes if node.is_term and not node.df] == ["quinces", "site docs.test"]


def test_pages_of_a_ranking_follow_each_other_and_the_last_says_so(tmp_path: Path) -> None:
    """J76, F111: the next link is right on the last page, on an empty one, and for no results."""
    with IndexedStore(tmp_path) as index:
        index.put_texts(dict.fromkeys(range(1, 8), "apples"))
        pages = [index.searcher.search("apples", 3, offset, show_duplicates=True) for offset in (0, 3, 6, 9)]
        assert [[hit.url for hit in page.hits] for page in pages] == [
            [page_url(number) for number in numbers] for numbers in ((1, 2, 3), (4, 5, 6), (7,), ())
        ]
        assert [page.has_more for page in pages] == [True, True, False, False]
        assert {page.match_count for page in pages} == {7}
        exact = index.searcher.search("apples", 7, 0, show_duplicates=True)
        assert (len(exact.hits), exact.has_more) == (7, False)
        nothing = index.searcher.search("plums", 3, 0)
        assert (nothing.hits, nothing.has_more, nothing.match_count) == ([], False, 0)


def test_pages_that_vanished_since_the_view_do_not_make_the_page_short(tmp_path: Path) -> None:
    """J34: rows are read after the ranking; the store may be ahead of it."""
    with IndexedStore(tmp_path) as index:
        index.put_texts(dict.fromkeys(range(1, 60), "apples"))
        with index.store.write() as txn:
            for number in range(1, 51):
                retire_page(txn, page_url(number), 2000.0, http_status=404)
        page = index.searcher.search("apples", 5, 0, show_duplicates=True)
        assert [hit.url for hit in page.hits] == [page_url(number) for number in range(51, 56)]
        assert page.has_more


def test_hit_tells_what_is_known_of_its_page(tmp_path: Path) -> None:
    with IndexedStore(tmp_path) as index:
        index.put(make_page(page_url(1), "before\nripe apples\nafter", title="Fruit", description="of trees"))
        (hit,) = index.searcher.search("ripe", 10, 0).hits
        assert (hit.url, hit.page.title, hit.page.description) == (page_url(1), "Fruit", "of trees")
        assert hit.generation is not None
        assert hit.generation.first_seen_s == 1000.0
        ((start, end),) = hit.snippet.highlights
        assert hit.snippet.text[start:end] == "ripe"


def test_query_that_is_too_long_or_not_text_is_refused(tmp_path: Path) -> None:
    with IndexedStore(tmp_path) as index:
        for query, reason in (("x" * 2_000, "QUERY_TOO_LONG"), ("a\x00b", "QUERY_NOT_TEXT")):
            with pytest.raises(InvalidQueryError) as caught:
                index.searcher.search(query, 10, 0)
            assert caught.value.reason == reason
        assert index.searcher.search("", 10, 0).hits == []


def test_query_before_there_is_a_view_is_told_to_wait(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        searcher = Searcher(store, tmp_path / "index")
        assert searcher.open_published() is None
        assert searcher.status().query_engine == "empty"
        with pytest.raises(NotReadyError):
            searcher.search("apples", 10, 0)


def test_pictures_come_in_the_order_of_their_pages_each_once_and_some_of_each(tmp_path: Path) -> None:
    """Pictures of matching pages, at most so many of one page."""
    many = tuple(Image(f"https://example.org/{number}.png", f"picture {number}") for number in range(30))
    with IndexedStore(tmp_path) as index:
        index.put(
            make_page(page_url(1), "apples", images=(many[1], Image("https://example.org/x.png"))),
            make_page(page_url(2), "apples apples apples", images=many, title="Apples"),
            make_page(page_url(3), "pears", images=(Image("https://example.org/pear.png"),)),
        )
        first = index.searcher.search_images("apples", 15, 0)
        rest = index.searcher.search_images("apples", 15, 15)
        assert [hit.image.url for hit in first.images + rest.images] == [
            *(image.url for image in many[:20]),
            "https://example.org/x.png",
        ]
        assert (first.has_more, rest.has_more) == (True, False)
        assert (first.images[0].page_url, first.images[0].page_title) == (page_url(2), "Apples")


def test_picture_is_found_by_its_own_words_and_before_others_of_its_page(tmp_path: Path) -> None:
    """S30, S31: words that only a picture has lead to its page, in both searches; the bound leaves the best."""
    plain = tuple(Image(f"https://example.org/{number}.png", "logo") for number in range(30))
    gerbil = Image("https://example.org/z.png", "A gerbil asleep")
    with IndexedStore(tmp_path) as index:
        index.put(make_page(page_url(1), "Of small animals", images=(*plain, gerbil)))
        found = index.searcher.search_images("gerbils asleep", 40, 0)
        assert [hit.image.url for hit in found.images] == [gerbil.url, *(image.url for image in plain[:19])]
        assert [hit.url for hit in index.searcher.search("gerbil", 10, 0).hits] == [page_url(1)]
        index.put(make_page(page_url(1), "Of small animals", images=plain))
        assert index.searcher.search_images("gerbil", 40, 0).images == []


def test_words_of_pictures_count_once_and_up_to_a_limit() -> None:
    images = [Image(f"https://example.org/{number}.png", f"caption {number // 2}") for number in range(4_000)]
    words = image_words([Image("https://example.org/x"), *images])
    assert words.startswith("caption 0\ncaption 1\ncaption 2\n")
    assert len(words) == IMAGE_WORDS_CHARS_MAX


def test_suggestions_come_from_all_segments_most_frequent_first(tmp_path: Path) -> None:
    with IndexedStore(tmp_path) as index:
        index.put_texts({1: "apple applet"})
        index.put_texts({2: "applet apply"})
        assert index.searcher.suggest("red appl", 2) == ["red applet", "red apple"]


def test_thin_answer_says_what_a_mistyped_query_may_have_meant(tmp_path: Path) -> None:
    """The commonest near word over all segments; what is found, rare but right, short, or a number stays as it is."""
    with IndexedStore(tmp_path) as index:
        index.put_texts({1: "configuration of the crawler", 2: "configurable", 9: "word serial 20261"})
        index.put_texts(dict.fromkeys(range(3, 9), "configuration of the server"))
        notices = {
            text: index.searcher.search(text, 10, 0).notices
            for text in ("Confguration cralwer", "crawler", "configuration", "tha", "20262", '"sreial word"', "zebra")
        }
        later_page = index.searcher.search("cralwer", 10, 10).notices
    assert notices == {
        "Confguration cralwer": ("did you mean: configuration crawler",),
        '"sreial word"': ('did you mean: "serial word"',),
    } | dict.fromkeys(("crawler", "configuration", "tha", "20262", "zebra"), ())
    assert later_page == ()


def test_kind_of_view_says_what_it_is_made_of(tmp_path: Path) -> None:
    """J22: core, mapped and hybrid give the same answers, and status names the one in use."""
    with IndexedStore(tmp_path) as index:
        kinds = [index.searcher.status().query_engine]
        index.put_texts({1: "apples", 2: "apples"})
        kinds.append(index.searcher.status().query_engine)
        answers = [index.find("apples")]
        index.writer.checkpoint()
        kinds.append(index.searcher.status().query_engine)
        answers.append(index.find("apples"))
        index.put_texts({3: "pears"})
        kinds.append(index.searcher.status().query_engine)
        answers.append(index.find("apples"))
    assert kinds == ["empty", "core", "mapped", "hybrid"]
    assert answers == [answers[0]] * 3


def test_status_counts_documents_exactly_and_says_when_terms_are_a_bound(tmp_path: Path) -> None:
    """J80, J7: the number of documents is exact; terms are while one segment holds them all."""
    with IndexedStore(tmp_path) as index:
        index.put_texts({1: "apples", 2: "apples pears"})
        status = index.searcher.status()
        assert (status.document_count, status.term_count_exact, status.segment_count) == (2, True, 1)
        length = status.total_length
        index.put_texts({1: "plums plums plums plums"})
        status = index.searcher.status()
        assert (status.document_count, status.term_count_exact, status.volatile_segment_count) == (2, False, 2)
        assert status.total_length > length
        compacted = index.writer.compact()
        status = index.searcher.status()
        assert (status.document_count, status.term_count_exact, status.segment_count) == (2, True, 1)
        assert status.view == compacted


def test_search_goes_on_with_its_view_while_newer_ones_come(tmp_path: Path) -> None:
    """J32, J33: no query sees half a publication, and none waits for one."""
    with IndexedStore(tmp_path) as index:
        index.put_texts({number: f"apples round0 number{number}" for number in range(20)})
        stop, faults = threading.Event(), list[str]()

        def search() -> None:
            while not stop.is_set():
                hits = index.searcher.search("apples", 100, 0, show_duplicates=True).hits
                if len(hits) != 20 or len({hit.url for hit in hits}) != 20:
                    faults.append(f"{len(hits)} hits")

        threads = [threading.Thread(target=search) for _ in range(2)]
        for thread in threads:
            thread.start()
        for round_number in range(1, 12):
            index.put_texts({number: f"apples round{round_number} number{number}" for number in range(0, 20, 3)})
            if round_number % 4 == 0:
                index.writer.compact()
        stop.set()
        for thread in threads:
            thread.join(TIMEOUT_S)
        assert faults == []


def test_closed_searcher_maps_nothing(tmp_path: Path) -> None:
    """J35: no mapping of the index is left in the process."""
    index = IndexedStore(tmp_path)
    index.put_texts({1: "apples"})
    mapped = f"{index.index_dir}/"
    assert mapped in Path("/proc/self/maps").read_text()
    index.close()
    del index
    gc.collect()
    assert mapped not in Path("/proc/self/maps").read_text()


def test_published_index_answers_before_the_writer_is_there(tmp_path: Path) -> None:
    """Searches are answered from the start, also while the writer still recovers."""
    with IndexedStore(tmp_path) as index:
        index.put_texts({1: "apples"})
    with Store.open(tmp_path) as store:
        searcher = Searcher(store, tmp_path / "index")
        view = searcher.open_published()
        assert view is not None
        assert (view.generation, view.checkpoint_generation) == (1, 1)
        assert [hit.url for hit in searcher.search("apples", 10, 0).hits] == [page_url(1)]
        searcher.close()


def test_damaged_published_index_is_left_to_the_writer(tmp_path: Path) -> None:
    """J14: what cannot be trusted is not used, and the opening of serve does not fail."""
    with IndexedStore(tmp_path) as index:
        index.put_texts({1: "apples"})
    segment = next((tmp_path / "index").glob("*.qix"))
    os.truncate(segment, 100)
    damage: list[str] = []
    with Store.open(tmp_path) as store:
        searcher = Searcher(store, tmp_path / "index", on_damage=lambda name, reason: damage.append(name))
        searcher.open_published()
        assert damage == [segment.name]
        assert searcher.search("apples", 10, 0).hits == []
        segment.unlink()
        assert Searcher(store, tmp_path / "index").open_published() is None
        (tmp_path / "index" / "MANIFEST").write_bytes(b"?")
        assert Searcher(store, tmp_path / "index").open_published() is None


def test_view_of_a_writer_that_is_gone_leaves_the_old_one_in_use(tmp_path: Path) -> None:
    with IndexedStore(tmp_path) as index:
        view = index.put_texts({1: "apples"})
        late = View(view.sequence + 1, 9, 0, (SegmentRef("gone-00000001.qix", is_volatile=True),))
        with pytest.raises(NotReadyError) as caught:
            index.searcher.set_view(late)
        assert caught.value.reason == "VIEW_GONE"
        assert index.found("apples") == {1}
        assert index.damage == []


def test_reader_in_another_process_follows_views_without_the_writer_lock(tmp_path: Path) -> None:
    """serve opens the store read-only and sees what ingest has committed."""
    with IndexedStore(tmp_path / "state") as index:
        index.put_texts({1: "apples"})
        index.writer.checkpoint()
        shutil.copytree(tmp_path / "state", tmp_path / "serve")
    with Store.open(tmp_path / "serve", readonly=True) as store:
        searcher = Searcher(store, tmp_path / "serve" / "index")
        searcher.open_published()
        assert [hit.url for hit in searcher.search("apples", 10, 0).hits] == [page_url(1)]
        searcher.close()


def test_snippet_survives_a_garbage_collection_that_moves_its_text(tmp_path: Path) -> None:
    """J93: a volume is rewritten under a reader that has it open."""
    with IndexedStore(tmp_path) as index:
        dead = [os.urandom(5_000).hex() for _ in range(20)]
        with index.store.write() as txn:
            for number, text in enumerate(dead):
                store_page(txn, make_page(page_url(number), text))
            store_page(txn, make_page(page_url(99), "ripe apples"))
        index.settle()
        assert index.searcher.search("ripe", 1, 0).hits[0].snippet.text == "ripe apples"
        index.put_texts(dict.fromkeys(range(20), "short"))
        apply_retention(index.store, Retention(0), 3_000.0)
        report = collect_garbage(index.store)
        assert report.blobs == 20
        assert report.freed_bytes > 50_000
        assert index.searcher.search("ripe", 1, 0).hits[0].snippet.text == "ripe apples"
