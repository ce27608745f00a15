"""What people run by hand on the index alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from jird_native import FORMAT_VERSION, And, Or, Term, phrase_of
from testkit.oracle import Oracle, OracleDocument

ROOT = Path(__file__).parents[2]


def run(*command: str | Path) -> str:
    done = subprocess.run([sys.executable, *command], check=True, capture_output=True, text=True, cwd=ROOT)
    return done.stdout


def test_example_indexes_a_folder_and_finds_the_file(tmp_path: Path) -> None:
    (tmp_path / "cats.txt").write_text("All about cats.")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "dogs.md").write_text("All about dogs, and a cat.")
    (tmp_path / "image.png").write_bytes(b"cats")
    found = run("examples/index_folder.py", tmp_path, "dogs").split()
    assert found[1:] == [str(tmp_path / "deep" / "dogs.md")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [([], "usage: "), (["docs"], "usage: "), (["no-such-folder", "dogs"], "usage: "), (["docs", "..."], "no word")],
)
def test_example_says_what_it_wants_instead_of_a_traceback(arguments: list[str], said: str) -> None:
    command = [sys.executable, "examples/index_folder.py", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


TEXTS = ("cat dog", "dog dog bird", "bird cat cat fish", "fish")
QUERIES = {
    "7": ("term", "cat", Term("cat")),
    "8": ("or2", "cat fish", Or((Term("cat"), Term("fish")))),
    "9": ("and2", "bird cat", And((Term("bird"), Term("cat")))),
    "10": ("phrase", "dog bird", phrase_of(["dog", "bird"])),
}


def as_json(number: int, text: str) -> str:
    title, _, rest = text.partition(" ")
    return json.dumps({"id": number, "title": title, "text": rest})


@pytest.mark.parametrize("kind", ["txt", "jsonl"])
def test_query_benchmark_writes_hits_and_times_in_the_fixed_layout(kind: str, tmp_path: Path) -> None:
    """The layout of scripts/bench/query.py is a contract; title and text count alike; hits are those of the oracle."""
    corpus, queries, result = tmp_path / f"corpus.{kind}", tmp_path / "queries.tsv", tmp_path / "out.json"
    rows = TEXTS if kind == "txt" else [as_json(number, text) for number, text in enumerate(TEXTS)]
    corpus.write_text("".join(f"{row}\n" for row in rows))
    queries.write_text("".join(f"{key}\t{name}\t{words}\n" for key, (name, words, _) in QUERIES.items()))
    files = ("--corpus", corpus, "--queries", queries, "--json", result)
    run("scripts/bench/query.py", *files, "--k", "3", "--tokens", "whitespace")
    out = json.loads(result.read_text())
    assert (out["engine"], out["version"], out["k"]) == ("qix", str(FORMAT_VERSION), 3)
    assert out["open_ms"] > 0
    assert {key: len(ns) for key, ns in out["ns"].items()} == dict.fromkeys(QUERIES, 5)
    documents = [
        OracleDocument(number, [(4, at, word, True) for at, word in enumerate(text.split())])
        for number, text in enumerate(TEXTS)
    ]
    oracle = Oracle(documents, (1, 1, 1, 1, 1))
    for key, (_, _, query) in QUERIES.items():
        pages, scores, _ = oracle.search(query, 3)
        assert out["hits"][key] == [[page, score] for page, score in zip(pages, scores, strict=True)]
