"""Cases of sitemaps: a JSON Lines of expectations, and their files below its folder.

A case has its `file` (found by name) or the sitemap itself as `content` or `content_b64`; `url`, `content_type` (may be
null), `counts` (how many locations there are), `locs` (URLs among them), and `throws` (a strict reader must refuse; a
lenient one, which jird is, must do so when nothing is to be found). Which origin a location is on is not judged here.
"""

import base64
from collections.abc import Iterator
from pathlib import Path

from conformance_kinds.cases import PASSED, BadCaseError, Case, Outcome, compare, read_json_lines
from jird_daemon.extract.sitemap import read_sitemap
from jird_daemon.url.canonical import canonicalize

_FOLDER = "folder"


def read_folder(path: Path) -> Iterator[tuple[str, Case]]:
    """Give each case of PATH: a file of expectations, or a folder with such files in it or beside it.

    Raises:
        OSError: Something cannot be read.
        BadCaseError: There are no expectations, or a line is no JSON object.
    """
    files = [path]
    if path.is_dir():
        files = sorted(path.glob("*.jsonl")) or sorted(path.parent.glob("*.jsonl"))
        if not files:
            raise BadCaseError(f"{path}: no .jsonl of expectations in it or beside it")
    for file in files:
        for name, case in read_json_lines(file):
            yield f"{file.name} {name}", {**case, _FOLDER: file.parent}


def judge(case: Case) -> Outcome:
    """Compare what is found with what is expected."""
    body = _body(case)
    if body is None:
        return Outcome(skip_reason="its file is not there" if "file" in case else "described in words")
    found = read_sitemap(body, canonicalize(case["url"]), case.get("content_type") or "", is_own_origin=False)
    urls = {location.url for location in found.locations}
    counts = case.get("counts") or []
    if case.get("throws") and not counts:
        return PASSED if not urls else Outcome(fault=f"expected a refusal, found {len(urls)} locations")
    missing = [url for url in case.get("locs", []) if canonicalize(url) not in urls]
    if missing:
        return Outcome(fault=f"expected {missing}, found {sorted(urls)[:10]}")
    return compare(counts[-1], len(urls)) if counts else PASSED


def _body(case: Case) -> bytes | None:
    if "content_b64" in case:
        return base64.b64decode(case["content_b64"])
    if "content" in case:
        return str(case["content"]).encode("utf-8", "surrogatepass")
    if "file" not in case:
        return None
    name = Path(case["file"]).name
    files = sorted(case[_FOLDER].rglob(name))
    return files[0].read_bytes() if files else None
