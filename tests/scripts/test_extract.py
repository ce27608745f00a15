"""scripts/extract.py, the tool for a person who asks what jird sees in a page."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "extract.py"
PAGE = """<!doctype html><html lang=en><title>T</title><nav><a href=/menu>menu</a></nav>
<main><h1>Head</h1><p>Text with <a href=b rel=nofollow>a link</a>.<img src=i.png alt=cat></main>"""


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False)


def test_page_is_printed_for_people_and_programs(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(PAGE)
    plain = run(str(page), "--url", "https://h.org/x/")
    assert plain.returncode == 0
    assert "title:       T" in plain.stdout
    assert "(not followed) https://h.org/x/b  a link\n    document in in_main in_paragraph rel=nofollow" in plain.stdout
    assert "language:    en (stated)" in plain.stdout
    assert "--- main text (22 of 27 characters)\nHead\nText with a link.\n" in plain.stdout
    assert "heading_1        5-9       Head" in plain.stdout
    found = json.loads(run(str(page), "--json").stdout)
    assert found["title"] == "T"
    assert found["language"] == "en"
    assert found["headings"] == ["Head"]
    assert found["links"][0]["location"] == ["in_nav"]
    assert found["images"] == [{"url": "https://example.org/i.png", "alt": "cat"}]
    assert run(str(page), "--main").stdout == "Head\nText with a link.\n"


def test_dates_and_the_reason_for_the_language_are_shown(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    text = "Morgen werden wir noch einmal mit dem Auto in die Stadt fahren, wenn das Wetter nicht zu schlecht wird."
    dates = "<meta name=date content=2020-05-06><meta name=lastmod content=2021-05-06>"
    page.write_text(f"<html lang=en>{dates}<p>{text}<p>{text}")
    plain = run(str(page)).stdout
    assert "language:    de (en is stated; the text shows another)" in plain
    assert "published:   2020-05-06T00:00:00Z\nchanged:     2021-05-06T00:00:00Z" in plain
    page.write_text(f"<p>{text}<p>{text}")
    assert "language:    de (none is stated; the text shows it)" in run(str(page)).stdout
    page.write_text("<p>x")
    assert "language:    not known: " in run(str(page)).stdout


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    missing = run(str(tmp_path / "none.html"))
    assert missing.returncode == 1
    assert "none.html" in missing.stderr
    page = tmp_path / "page.html"
    page.write_text(PAGE)
    assert run(str(page), "--type", "image/png").returncode == 1
    assert run(str(page), "--json", "--main").returncode == 2
