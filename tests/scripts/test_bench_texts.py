"""Texts, queries and the exhaustive scorer of the benchmarks: seeds repeat, and what is right is right."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from testkit.oracle import Oracle, OracleDocument

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts" / "bench"))
sys.path.append(str(ROOT / "scripts"))

import performance_docs  # noqa: E402
from engines.comparison import is_right  # noqa: E402
from engines.processes import ENGINES  # noqa: E402
from engines.qix import query_tree  # noqa: E402
from texts import debian, real  # noqa: E402
from texts.flat import Exact, FlatText, TextError, flatten  # noqa: E402
from texts.generated import make_generated  # noqa: E402
from texts.queries import CLASSES, DrawnQuery, draw_queries, read_queries, write_queries  # noqa: E402


@pytest.fixture(autouse=True)
def data(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is made in the checkout; programs are compiled once."""
    monkeypatch.setenv("JIRD_BENCH_DATA", str(tmp_path_factory.getbasetemp() / "bench-texts"))


def generated(folder: Path, documents: int, seed: int = 1) -> Path:
    """A generated text."""
    path = folder / f"{documents}-{seed}.txt"
    make_generated(path, documents, seed)
    return path


@pytest.fixture
def flat(tmp_path: Path) -> FlatText:
    """Arrays of 400 generated documents."""
    return flatten(generated(tmp_path, 400))


def test_generated_text_follows_from_its_seed(tmp_path: Path) -> None:
    """The same seed gives the same bytes, a longer text begins with the shorter one, another seed gives another."""
    short = generated(tmp_path / "a", 50).read_bytes()
    assert generated(tmp_path / "b", 50).read_bytes() == short
    assert generated(tmp_path, 80).read_bytes().startswith(short)
    assert generated(tmp_path, 50, seed=2).read_bytes() != short
    assert short.count(b"\n") == 50


def test_generated_words_fall_off_as_their_ranks_do(flat: FlatText) -> None:
    """Zipf and Mandelbrot: the commonest word is in most documents, most words are in few."""
    dfs = sorted((flat.df(term) for term in range(len(flat.terms))), reverse=True)
    assert dfs[0] > 200
    assert dfs[len(dfs) // 2] <= 3


@pytest.mark.parametrize(("documents", "seed"), [(0, 1), (5, -1)])
def test_generator_refuses_numbers_out_of_range(tmp_path: Path, documents: int, seed: int) -> None:
    with pytest.raises(TextError, match="must be"):
        make_generated(tmp_path / "x.txt", documents, seed)


def test_queries_follow_from_their_seed(flat: FlatText) -> None:
    assert draw_queries(flat, 3, 10) == draw_queries(flat, 3, 10)
    assert draw_queries(flat, 3, 10) != draw_queries(flat, 4, 10)


def test_words_of_a_query_come_from_one_document(flat: FlatText) -> None:
    """So conjunctions and phrases find something; every class has as many words as it says."""
    queries = draw_queries(flat, 3, 10)
    found = flat.score([("phrase" if each.kind == "phrase" else "and", each.words) for each in queries], 1, "byte")
    for query, exact in zip(queries, found, strict=True):
        least, most = CLASSES[query.query_class]
        assert least <= len(query.words) <= most
        assert exact.match_count > 0, query


def test_queries_round_trip_through_their_file(flat: FlatText, tmp_path: Path) -> None:
    queries = draw_queries(flat, 3, 3)
    write_queries(tmp_path / "q.tsv", queries)
    expected = [(each.identity, each.query_class, " ".join(each.words)) for each in queries]
    assert read_queries(tmp_path / "q.tsv") == expected


@pytest.mark.parametrize("content", ["", "\n\n", "   \n"])
def test_text_without_tokens_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "empty.txt").write_text(content)
    with pytest.raises(TextError, match="no tokens"):
        flatten(tmp_path / "empty.txt")


def test_text_too_small_for_queries_is_refused(tmp_path: Path) -> None:
    (tmp_path / "small.txt").write_text("one two three\n" * 30)
    with pytest.raises(TextError, match="too small"):
        draw_queries(flatten(tmp_path / "small.txt"), 1, 1)


def oracle_of(path: Path) -> Oracle:
    """The tests' own slow scorer of the same text, with weights of 1."""
    documents = [
        OracleDocument(number, [(4, at, word, True) for at, word in enumerate(line.split())])
        for number, line in enumerate(path.read_text().splitlines())
    ]
    return Oracle(documents, (1, 1, 1, 1, 1))


def test_exhaustive_scorer_agrees_with_the_oracle_to_the_last_bit(flat: FlatText, tmp_path: Path) -> None:
    """Two scorers that share no code; what the benchmark calls exact is exact, for every kind of query."""
    oracle = oracle_of(tmp_path / "400-1.txt")
    queries = draw_queries(flat, 3, 6)
    kinds = ["or" if each.kind == "term" else each.kind for each in queries]
    found = flat.score(list(zip(kinds, (each.words for each in queries), strict=True)), 10, "byte")
    for query, exact in zip(queries, found, strict=True):
        ids, scores, count = oracle.search(query_tree(query.kind, query.words), 10)
        assert exact.hits == list(zip(ids, scores, strict=True)), query
        assert exact.match_count == count


def test_words_that_are_nowhere_match_nothing(flat: FlatText) -> None:
    counts = [
        each.match_count for each in flat.score([("or", ["xx"]), ("and", ["ba", "xx"]), ("phrase", ["xx"])], 3, "byte")
    ]
    assert counts == [0, 0, 0]


def test_hits_in_another_order_are_wrong_for_jird_and_right_for_others_only_in_a_tie() -> None:
    exact = Exact(4, [(5, 2.0), (2, 1.0), (9, 1.0)], {5: 2.0, 2: 1.0, 9: 1.0, 11: 1.0})
    ours, theirs = ENGINES["qix"], ENGINES["bm25s"]
    assert is_right(ours, [(5, 2.0), (2, 1.0), (9, 1.0)], exact, 3)
    assert not is_right(ours, [(5, 2.0), (9, 1.0), (2, 1.0)], exact, 3)
    assert is_right(theirs, [(5, 2.0), (11, 1.0), (2, 1.0)], exact, 3)
    for kind in (ours, theirs):
        assert not is_right(kind, [(5, 2.0), (2, 1.0)], exact, 3)
        assert not is_right(kind, [(5, 2.0), (2, 1.0), (7, 1.0)], exact, 3)
        assert not is_right(kind, [(5, 2.0), (2, 1.1), (9, 1.0)], exact, 3)
        assert not is_right(kind, [(5, 2.0), (2, 1.0), (2, 1.0)], exact, 3)


def make_package(folder: Path, files: dict[str, bytes]) -> Path:
    """A real Debian package with these files."""
    root = folder / "root"
    (root / "DEBIAN").mkdir(parents=True)
    control = "Package: some-doc\nVersion: 1\nArchitecture: all\nMaintainer: no <no@jird.test>\nDescription: x\n"
    (root / "DEBIAN" / "control").write_text(control)
    for name, body in files.items():
        path = root / "usr/share/doc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    package = folder / "some-doc_1_all.deb"
    subprocess.run(["dpkg-deb", "-Znone", "--build", str(root), str(package)], check=True, capture_output=True)
    return package


PAGE = b"<html><title>A Page</title><body><script>hidden()</script><p>Some words that are read here.</p></body></html>"


def test_pages_of_a_package_are_its_html_files(tmp_path: Path) -> None:
    """Compressed ones too; damaged and other files are left out."""
    files = {"a.html": PAGE, "b.HTM.gz": gzip.compress(PAGE), "c.html.gz": b"no gzip", "d.txt": PAGE, "e.xhtml": PAGE}
    found = dict(debian.pages(make_package(tmp_path, files)))
    assert set(found) == {f"/usr/share/doc/{name}" for name in ("a.html", "b.HTM.gz", "e.xhtml")}
    assert set(found.values()) == {PAGE}


def test_file_that_is_no_package_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.deb").write_bytes(b"nothing")
    with pytest.raises(TextError, match=r"bad\.deb"):
        list(debian.pages(tmp_path / "bad.deb"))


def test_tokens_of_a_page_are_those_that_jird_indexes() -> None:
    assert real.page_tokens("/a.html", PAGE) == "a page some words that are read here"
    assert real.page_tokens("/a.html", b"<p>too short</p>") == ""


def test_real_text_leaves_out_duplicates_and_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupted run goes on: a package that was read is not opened a second time."""
    files = {"a.html": PAGE, "b.html": PAGE, "c.html": PAGE.replace(b"words", b"things")}
    package = make_package(tmp_path, files)
    (tmp_path / "list.txt").write_text("some-doc # a comment\n\n")
    monkeypatch.setattr(real, "download", lambda names, folder: folder.mkdir() or dict.fromkeys(names, package))
    made = real.make_real(tmp_path, tmp_path / "list.txt", processes=1)
    assert (made.pages, made.documents, made.duplicates) == (3, 2, 1)
    text = (tmp_path / "documents.txt").read_text()
    assert text.count("\n") == 2
    assert json.loads((tmp_path / "documents.json").read_text())["packages"] == {"some-doc": "1"}
    package.write_bytes(b"gone")
    monkeypatch.setattr(real, "download", lambda names, folder: dict.fromkeys(names, package))
    assert real.make_real(tmp_path, tmp_path / "list.txt", processes=1) == made


def result(name: str, figures: dict[str, Any], **parameters: object) -> performance_docs.Result:
    """A result as benchmarks write it."""
    return performance_docs.Result(name, parameters, figures, "abc1234", "a machine")


BLOCK = "before\n<!-- figures: {} -->\nold\n<!-- end of figures -->\nafter\n"


def test_performance_document_is_filled_from_results_alone() -> None:
    """Text around stays; a benchmark without a result keeps what is there; filling in twice changes nothing."""
    text = BLOCK.format("update") + BLOCK.format("capacity")
    filled = performance_docs.fill_in(text, {"update": result("update", {"quiet_p99_ms": 1.25, "views": 3}, rate=200)})
    assert "| quiet_p99_ms | 1.2 |" in filled
    assert "Commit abc1234; a machine; rate 200." in filled
    assert filled.endswith(BLOCK.format("capacity"))
    assert filled.startswith("before\n")
    results = {"update": result("update", {"quiet_p99_ms": 1.25, "views": 3}, rate=200)}
    assert performance_docs.fill_in(filled, results) == filled


def test_missed_figures_stand_out_in_the_document() -> None:
    figures = {
        f"real_k10_term_{engine}_{name}_us": 10.0
        for engine in ("qix", "tantivy")
        for name in ("mean", "p50", "p95", "p99")
    }
    figures |= {"real_k10_term_part_mean": 0.05, "real_k10_term_part_p99": 0.5, "real_k10_exact_qix": 1.0}
    filled = performance_docs.fill_in(BLOCK.format("query"), {"query": result("query", figures, real_documents=5)})
    assert (
        "| term | 10.0 / 10.0 / 10.0 / 10.0 | 10.0 / 10.0 / 10.0 / 10.0 | 0.050 | 0.100 | 0.080 | **0.500** | 0.120 |"
        in filled
    )
    assert "qix 100.0 %" in filled
    assert "jird has the lowest mean in every class" in filled


def test_document_says_where_others_are_faster() -> None:
    figures = {"real_k10_or2_qix_mean_us": 30.0, "real_k10_or2_bm25s_mean_us": 20.0, "real_k10_term_qix_mean_us": 1.0}
    filled = performance_docs.fill_in(BLOCK.format("query"), {"query": result("query", figures, real_documents=5)})
    assert "jird is slower than bm25s in or2 (1.50 times its mean)." in filled


def test_every_benchmark_has_its_place_in_the_document() -> None:
    text = performance_docs.DOCUMENT.read_text()
    programs = {path.stem.replace("_", "-") for path in (ROOT / "scripts" / "bench").glob("*.py")}
    for name in programs - {"run-all", "measure", "corpus"}:
        assert f"<!-- figures: {name} -->" in text


def test_drawn_query_knows_its_kind() -> None:
    assert [DrawnQuery("0", name, ("a",)).kind for name in CLASSES] == ["term", "or", "or", "and", "and", "phrase"]
