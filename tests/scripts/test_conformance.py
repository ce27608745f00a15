"""scripts/conformance.py, which runs test cases of others on jird."""

import base64
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "conformance.py"
ROBOTS = "User-agent: *\nDisallow: /a\n"
TREE = '#document\n| <!DOCTYPE html>\n| <html>\n|   <head>\n|   <body>\n|     <p>\n|       "x"'
CYRILLIC = base64.b64encode("<meta charset=koi8-r>Тест".encode("koi8-r")).decode()

GOOD: dict[str, dict[str, Any]] = {
    "url": {"input": "../b", "base": "https://h.org/a/c", "href": "https://h.org/b"},
    "robots": {"id": "r1", "robots": ROBOTS, "agent": "jird", "url": "https://h.org/a/b", "allowed": False},
    "html": {"input": "<!doctype html><p>x", "tree": TREE},
    "charset": {"content_type": "text/html", "expected": "KOI8-R", "bytes_b64": CYRILLIC},
    "sitemap": {"url": "https://h.org/s", "content": "https://h.org/a", "counts": [1], "locs": ["https://h.org/a"]},
}
BAD: dict[str, dict[str, Any]] = {
    "url": {"input": "https://h.org/", "base": None, "failure": True},
    "robots": {**GOOD["robots"], "id": "r2", "allowed": True},
    "html": {"input": "<!doctype html><b>x", "tree": TREE},
    "charset": {**GOOD["charset"], "expected": "UTF-8"},
    "sitemap": {**GOOD["sitemap"], "locs": ["https://h.org/b"]},
}


def run(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def write(path: Path, *cases: object) -> Path:
    if path.stem == "url":
        path.write_text(json.dumps(cases))
    else:
        path.write_text("".join(json.dumps(case) + "\n" for case in cases))
    return path


@pytest.mark.parametrize("kind", GOOD)
def test_cases_that_hold_pass(kind: str, tmp_path: Path) -> None:
    done = run(kind, write(tmp_path / kind, GOOD[kind]))
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 passed, 0 failed, 0 skipped\n", "")


@pytest.mark.parametrize("kind", BAD)
def test_cases_that_do_not_hold_are_shown(kind: str, tmp_path: Path) -> None:
    done = run(kind, write(tmp_path / kind, GOOD[kind], BAD[kind]))
    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert lines[0].startswith("failed: ")
    assert "expected" in done.stdout
    assert lines[-1] == "1 passed, 1 failed, 0 skipped"


def test_url_array_has_comments_and_lone_surrogates(tmp_path: Path) -> None:
    case = {"input": "https://h.org/\ud800", "base": None, "href": "https://h.org/%EF%BF%BD"}
    done = run("url", write(tmp_path / "url", "a comment", case))
    assert done.stdout == "1 passed, 0 failed, 0 skipped\n"


def test_robots_cases_of_other_kinds_and_groups_are_skipped(tmp_path: Path) -> None:
    raw = {**GOOD["robots"], "robots_b64": base64.b64encode(ROBOTS.encode()).decode()}
    del raw["robots"]
    cases = [raw, {"kind": "line-count"}, {**BAD["robots"], "group": "Other_A"}, {**BAD["robots"], "url": "ftp://h/"}]
    done = run("robots", write(tmp_path / "robots", *cases), "--skip-group", "Other_")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "skipped 1: asks for line-count",
        "skipped 1: group Other_*",
        "skipped 1: URL is never asked for: URL_SCHEME",
        "1 passed, 0 failed, 3 skipped",
    ]


def test_html_tree_shows_namespaces_templates_and_comments(tmp_path: Path) -> None:
    markup = (
        "<!-- a --><svg viewbox=1 xlink:href=q><desc><p></p></desc></svg><math><mi><b></b></mi></math>"
        "<template><i></i><template>t</template></template>"
    )
    tree = """#document
| <!--  a  -->
| <html>
|   <head>
|   <body>
|     <svg svg>
|       viewBox="1"
|       xlink href="q"
|       <svg desc>
|         <p>
|     <math math>
|       <math mi>
|         <b>
|     <template>
|       content
|         <i>
|         <template>
|           content
|             "t\""""
    done = run("html", write(tmp_path / "html", {"input": markup, "tree": tree}))
    assert done.stdout == "1 passed, 0 failed, 0 skipped\n"


def test_html_cases_that_jird_cannot_judge_are_skipped(tmp_path: Path) -> None:
    doctype = TREE.replace("<!DOCTYPE html>", '<!DOCTYPE html "a" "">')
    cases = [
        {**BAD["html"], "fragment_context": "td"},
        {**BAD["html"], "scripted": True},
        {**BAD["html"], "tree": doctype},
    ]
    done = run("html", write(tmp_path / "html", *cases))
    assert done.returncode == 0
    assert done.stdout.endswith("0 passed, 0 failed, 3 skipped\n")


def test_compressed_charset_cases_leave_what_nothing_declares(tmp_path: Path) -> None:
    plain = {"content_type": "text/html", "expected": "windows-1252", "bytes_b64": base64.b64encode(b"ab").decode()}
    not_utf32 = {**plain, "expected": "not UTF-32 (UTF-8 or the default)"}
    path = tmp_path / "charset.jsonl.gz"
    path.write_bytes(gzip.compress(write(tmp_path / "charset", plain, not_utf32).read_bytes()))
    done = run("charset", path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0].startswith("skipped 1: no valid declaration")
    assert done.stdout.endswith("1 passed, 0 failed, 1 skipped\n")


@pytest.mark.parametrize("content", ["{", "[]", '{"input": "a"}', '{"input": 1, "tree": ""}'])
def test_file_in_another_layout_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(content)
    done = run("html", path)
    assert done.returncode == 2
    assert "line 1" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_cannot_be_run_is_said(tmp_path: Path) -> None:
    assert run("html", tmp_path / "none").returncode == 2
    assert run("url", tmp_path / "none", "--skip-group", "A").returncode == 2
    sitemaps = run("sitemap", tmp_path / "none")
    assert sitemaps.returncode == 2
    assert sitemaps.stderr.count("\n") == 1


def test_sitemap_cases_have_their_files_in_a_folder_beside_them(tmp_path: Path) -> None:
    files = tmp_path / "files"
    (files / "of-a-site").mkdir(parents=True)
    (files / "of-a-site" / "a.xml").write_text("<urlset><url><loc>https://h.org/a</loc></url></urlset>")
    there = {**GOOD["sitemap"], "file": "a.xml"}
    del there["content"]
    not_there = {**there, "file": "b.xml"}
    words = {"scenario": "a sitemap that lists itself"}
    refused = {**GOOD["sitemap"], "content": "<!DOCTYPE urlset>", "throws": True, "counts": [], "locs": []}
    path = write(tmp_path / "cases.jsonl", there, not_there, words, refused)
    for argument in (path, tmp_path, files):
        done = run("sitemap", argument)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[-1] == "2 passed, 0 failed, 2 skipped"


def test_an_exception_that_holds_no_longer_is_a_failure(tmp_path: Path) -> None:
    """J109, J110, J114: what jird decides otherwise than others is listed with a reason; the list cannot grow old."""
    listed = {**BAD["robots"], "id": "google-robotstxt-89"}
    done = run("robots", write(tmp_path / "robots", listed))
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "0 passed, 0 failed, 1 skipped")
    assert "index.html" in done.stdout
    done = run("robots", write(tmp_path / "robots", {**listed, "allowed": False}))
    assert done.returncode == 1


def test_own_cases_pass() -> None:
    """J109, J110, J114, J115, J122, J125, J141, J144: what continuous integration runs without published cases."""
    everything = SCRIPT.with_name("conformance_all.py")
    cases = Path(__file__).resolve().parents[1] / "conformance"
    done = subprocess.run([sys.executable, everything, cases], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("-- ") == 5
    assert "0 passed" not in done.stdout


def test_html_cases_that_the_standard_has_overtaken_are_skipped_with_the_reason(tmp_path: Path) -> None:
    """A listed case that expects what the parser does today is an error of the list."""
    start = "#document\n| <html>\n|   <head>\n|   <body>"
    cases = [
        {"input": "<select><keygen>", "tree": f"{start}\n|     <select>\n|     <keygen>"},
        {"input": "<?COMMENT?>", "tree": start.replace("\n", "\n| <!-- ?COMMENT? -->\n", 1)},
    ]
    done = run("html", write(tmp_path / "html", *cases))
    assert done.returncode == 0
    assert sorted(done.stdout.splitlines()) == [
        "0 passed, 0 failed, 2 skipped",
        "skipped 1: a processing instruction: a node of its own in today's standard, a comment before",
        "skipped 1: content of select: kept since the standard lets pages style select elements, dropped before",
    ]
    passing = {"input": "<select><keygen>", "tree": f"{start}\n|     <select>\n|       <keygen>"}
    done = run("html", write(tmp_path / "html", passing))
    assert done.returncode == 1
    assert "listed as an exception" in done.stdout
