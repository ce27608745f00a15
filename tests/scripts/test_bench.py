"""The benchmark programs, run as a person runs them on tiny texts: contracts, seeds, what is said of bad input."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "scripts" / "bench"

# J41: every benchmark and its parameters.
BENCHES = {
    "bench": ("N",),
    "core-query-bench": ("N", "ABSENT_ROUNDS", "COMMON_ROUNDS"),
    "query-terms-bench": ("ROUNDS", "REPEATED"),
    "link-replacement-bench": ("LINKS", "ROUNDS"),
    "frontier-enqueue-bench": ("URLS", "ROUNDS"),
    "restart-bench": ("N",),
    "segment-bench": ("N",),
    "mmap-bench": ("N",),
    "mmap-capacity-bench": ("CAPACITY_N", "CAPACITY_ROUNDS"),
    "ranking-bench": ("N", "ROUNDS", "LIMIT"),
    "concurrency-bench": ("N", "WORKERS", "QUERIES"),
    "hydration-bench": ("N", "LIMIT", "ROUNDS"),
    "search-page-bench": ("N", "LIMIT", "OFFSET", "ROUNDS", "BODY_PREFIX"),
    "document-frequency-bench": ("N", "OVERRIDES", "ROUNDS"),
    "ingest-transaction-bench": ("N",),
    "memory-scaling-bench": ("MODE", "N"),
}


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables that keep what benchmarks make out of the checkout; programs are compiled once."""
    above = tmp_path_factory.mktemp("bench")
    return {"JIRD_BENCH_DATA": str(above / "data"), "JIRD_BENCH_RESULTS": str(above / "results")}


def run(program: str, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program of scripts/bench."""
    return subprocess.run(
        [sys.executable, str(BENCH / program), *map(str, arguments)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def good(program: str, *arguments: object, **variables: str) -> str:
    """The same, when it must end with 0; gives its output."""
    done = run(program, *arguments, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def result_of(folders: dict[str, str], name: str) -> Any:
    """A result file."""
    return json.loads((Path(folders["JIRD_BENCH_RESULTS"]) / f"{name}.json").read_text())


@pytest.fixture(scope="session")
def text(folders: dict[str, str]) -> Path:
    """A generated text of 600 documents."""
    good("corpus.py", "generated", "--documents", 600, "--seed", 5, **folders)
    return Path(folders["JIRD_BENCH_DATA"]) / "generated" / "600-5.txt"


class Alone:
    """query.py on a corpus and queries of one's own."""

    def __init__(self, folder: Path, folders: dict[str, str]) -> None:
        self._folder = folder
        self._folders = folders
        self.out = folder / "out.json"

    def run(self, corpus: str, queries: str, *options: object, name: str = "c.jsonl") -> Any:
        """Write both, run, give the completed process."""
        (self._folder / name).write_text(corpus)
        (self._folder / "q.tsv").write_text(queries)
        files = ("--corpus", self._folder / name, "--queries", self._folder / "q.tsv", "--json", self.out)
        return run("query.py", *files, *options, **self._folders)

    def result(self, corpus: str, queries: str, *options: object, name: str = "c.jsonl") -> Any:
        """The result, when all is well."""
        done = self.run(corpus, queries, *options, name=name)
        assert done.returncode == 0, done.stderr
        return json.loads(self.out.read_text())


@pytest.fixture
def alone(tmp_path: Path, folders: dict[str, str]) -> Alone:
    """For one test."""
    return Alone(tmp_path, folders)


CATS = '{"id": 7, "title": "Cats", "text": "all about cats"}\n{"id": 3, "title": "Dogs", "text": "dogs chase cats"}\n'


def test_query_writes_the_result_that_outsiders_read(alone: Alone) -> None:
    """DESIGN.md section 5: engine, version, k, open_ms, ns and hits."""
    queries = "a\tterm\tcats\nb\tand2\tdogs cats\nc\tphrase\tall about\nd\tor2\tall chase\n"
    result = alone.result(CATS, queries, "--k", 5, "--repeats", 3)
    assert {"engine", "version", "k", "open_ms", "ns", "hits"} <= result.keys()
    assert (result["engine"], result["k"]) == ("qix", 5)
    assert {name: len(ns) for name, ns in result["ns"].items()} == dict.fromkeys("abcd", 3)
    assert all(ns > 0 for row in result["ns"].values() for ns in row)
    ids = {name: [identity for identity, _ in hits] for name, hits in result["hits"].items()}
    assert ids == {"a": [7, 3], "b": [3], "c": [7], "d": [3, 7]}  # of d both score alike: ties by id
    assert all(score > 0 for hits in result["hits"].values() for _, score in hits)


def test_text_file_counts_lines_from_zero_and_takes_tokens_as_they_are(alone: Alone) -> None:
    """Tokens that jird's tokenizer would split or fold stay whole; title and text count alike."""
    result = alone.result(
        "Foo-Bar x\n\nx x\n", "1\tterm1\tFoo-Bar\n2\torx\tx\n", "--tokens", "whitespace", name="c.txt"
    )
    assert [identity for identity, _ in result["hits"]["1"]] == [0]
    assert {identity for identity, _ in result["hits"]["2"]} == {0, 2}
    rows = '{"id": 1, "title": "A", "text": "b b"}\n{"id": 2, "title": "b", "text": "A b"}\n'
    scores = alone.result(rows, "q\tterm\tb\n", "--tokens", "whitespace")["hits"]["q"]
    assert scores[0][1] == scores[1][1]


def test_index_is_kept_until_the_corpus_changes(alone: Alone) -> None:
    first = alone.result(CATS, "a\tterm\tcats\n")
    assert alone.result(CATS, "a\tterm\tcats\n")["figures"] == first["figures"]
    assert len(alone.result(CATS.replace("cats", "cows"), "a\tterm\tcows\n")["hits"]["a"]) == 2


@pytest.mark.parametrize(
    ("corpus", "queries", "message"),
    [
        ("", "a\tterm\tcats\n", "no documents"),
        (CATS + CATS, "a\tterm\tcats\n", "c.jsonl:3: id 7 is there twice"),
        ('{"id": 1}\nnonsense\n', "a\tterm\tcats\n", "c.jsonl:2:"),
        ('{"id": -1}\n', "a\tterm\tcats\n", "c.jsonl:1: id must be a number from 0"),
        ('{"title": "x"}\n', "a\tterm\tcats\n", "c.jsonl:1: a line must be an object with id"),
        ('{"id": [1], "text": "x"}\n', "a\tterm\tcats\n", "c.jsonl:1:"),
        ('{"id": 1, "text": 5}\n', "a\tterm\tcats\n", "title and text must be strings"),
        (CATS, "a\tterm\n", "q.tsv:1: 2 fields"),
        (CATS, "a\tterm\tcats\nb\tor2\tcats\tdogs\n", "q.tsv:2: 4 fields"),
        (CATS, "a\tnear\tcats dogs\n", "q.tsv:1: class 'near' is unknown"),
        (CATS, "a\tterm\t \n", "q.tsv:1: no words"),
        (CATS, "a\tterm\tcats\na\tterm\tdogs\n", "q.tsv:2: id 'a' is there twice"),
        (CATS, "\n", "no queries"),
    ],
)
def test_bad_corpus_or_query_is_named_with_its_line(alone: Alone, corpus: str, queries: str, message: str) -> None:
    """Exit code 1, the file and line, no trace, and no result."""
    done = alone.run(corpus, queries)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not alone.out.exists()


@pytest.mark.parametrize("arguments", [("--corpus", "x.txt"), ("--k", "0"), ("--engines", "none"), ("--repeats", "0")])
def test_wrong_usage_ends_with_two(arguments: tuple[str, ...]) -> None:
    assert run("query.py", *arguments).returncode == 2


def test_missing_files_are_named(tmp_path: Path, folders: dict[str, str]) -> None:
    (tmp_path / "q.tsv").write_text("a\tterm\tcats\n")
    for files in (("absent.txt", tmp_path / "q.tsv"), (tmp_path / "q.tsv", "absent.tsv")):
        done = run("query.py", "--corpus", files[0], "--queries", files[1], "--json", tmp_path / "o.json", **folders)
        assert done.returncode == 1
        assert "absent" in done.stderr
        assert "Traceback" not in done.stderr


def test_comparison_checks_hits_and_writes_every_figure(text: Path, folders: dict[str, str]) -> None:
    """Engines in turns on the same queries; the seed that was given is among the parameters."""
    options = ("--text", text, "--engines", "qix", "sqlite", "--per-class", 5, "--check", 5, "--repeats", 2, "--k", 3)
    said = good("query.py", *options, "--seed", 9, **folders)
    assert "seed 9" in said
    result = result_of(folders, "query")
    assert result.keys() == {"name", "parameters", "figures", "commit", "machine"}
    assert (result["name"], result["parameters"]["seed"], result["parameters"]["own_documents"]) == ("query", 9, 600)
    figures = result["figures"]
    assert (figures["own_k3_exact_qix"], figures["own_k3_exact_sqlite"]) == (1.0, 1.0)
    for query_class in ("term", "or2", "or35", "and2", "and3", "phrase"):
        for statistic in ("mean", "p50", "p95", "p99"):
            assert figures[f"own_k3_{query_class}_qix_{statistic}_us"] > 0


def test_build_tells_rate_memory_size_and_sections(text: Path, folders: dict[str, str]) -> None:
    good("build.py", "--text", text, "--engines", "qix", "sqlite", "--rounds", 1, **folders)
    figures = result_of(folders, "build")["figures"]
    for engine in ("qix", "sqlite"):
        for figure in ("documents_per_cpu_second", "peak_memory_mb", "index_mb", "open_ms"):
            assert figures[f"{engine}_{figure}"] > 0
    assert 0 < figures["qix_mb_postings"] < figures["qix_index_mb"]


def test_capacity_builds_from_a_pipe_and_asks(folders: dict[str, str]) -> None:
    good("capacity.py", "--documents", 2_000, "--tokens", 40, "--repeats", 1, "--seed", 3, **folders)
    result = result_of(folders, "capacity")
    assert (result["parameters"]["documents"], result["parameters"]["seed"]) == (2_000, 3)
    assert {"open_ms", "p50_ms", "p99_ms", "anonymous_memory_mb", "build_wall_s"} <= result["figures"].keys()


def test_update_replaces_pages_while_queries_run(folders: dict[str, str]) -> None:
    """Through the index writer: views come, and everything that was replaced is counted."""
    times = ("--seconds", 1.5, "--quiet-seconds", 0.4)
    good("update.py", "--documents", 150, "--rate", 100, *times, **folders)
    figures = result_of(folders, "update")["figures"]
    assert figures["views"] > 0
    assert figures["segments_max"] >= 1
    assert figures["replaced_per_second"] > 0
    assert figures["busy_p99_ms"] >= figures["busy_p50_ms"] > 0


@pytest.mark.parametrize("name", sorted(BENCHES))
def test_every_bench_has_its_parameters(name: str) -> None:
    """J41: the program is there, reads each parameter, and reports under its name."""
    source = (BENCH / f"{name.replace('-', '_')}.py").read_text()
    assert f'report("{name}"' in source
    for parameter in BENCHES[name]:
        assert f"{parameter}=Number(" in source or f'os.environ.get("{parameter}")' in source


def test_parameters_come_from_options_or_variables(folders: dict[str, str]) -> None:
    """J41: `make bench BENCH=document-frequency N=300` and `--n 300` say the same; an option wins."""
    good("document_frequency_bench.py", "--rounds", 5, N="200", OVERRIDES="20", ROUNDS="7", **folders)
    result = result_of(folders, "document-frequency-bench")
    assert result["parameters"] == {"N": 200, "OVERRIDES": 20, "ROUNDS": 5}
    assert result["figures"]["live_documents"] == 200


@pytest.mark.parametrize(("variables", "message"), [({"N": "many"}, "N is 'many'"), ({"N": "0"}, "N is 0")])
def test_bad_parameter_is_named(variables: dict[str, str], message: str) -> None:
    done = run("ranking_bench.py", **variables)
    assert done.returncode == 2
    assert message in done.stderr


def test_beginning_of_a_name_picks_a_benchmark_and_an_unknown_one_is_refused(folders: dict[str, str]) -> None:
    said = good("run_all.py", "mmap", "--", "--n", "100", **folders)
    assert "== mmap-bench" in said
    done = run("run_all.py", "no-such")
    assert done.returncode == 2
    assert "core-query-bench" in done.stderr
