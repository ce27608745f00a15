"""Run every file of test cases below some folders: python scripts/conformance_all.py FOLDER...

A folder holds url/urltestdata.json, robots/*.jsonl, html/*.jsonl[.gz], charset/*.jsonl[.gz] and sitemaps/; what it does
not hold is passed over. tests/conformance has cases of jird's own; published ones are no part of jird. The exit code
is 0, 1 if any case failed, 2 if a folder has no cases.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SCRIPT = Path(__file__).with_name("conformance.py")


def main(folders: list[str]) -> int:
    """Run one kind after the other, and say which file it was."""
    worst = 0
    for folder in map(Path, folders):
        found = list(_files(folder))
        if not found:
            print(f"conformance_all.py: {folder} holds no cases", file=sys.stderr)
            return 2
        for kind, path in found:
            print(f"-- {kind} {path}", flush=True)
            code = subprocess.run([sys.executable, str(SCRIPT), kind, str(path)], check=False).returncode
            worst = max(worst, code)
    return worst


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    yield from (("url", path) for path in sorted(folder.glob("url/urltestdata.json")))
    for kind in ("robots", "html", "charset"):
        yield from (
            (kind, path) for path in sorted([*folder.glob(f"{kind}/*.jsonl"), *folder.glob(f"{kind}/*.jsonl.gz")])
        )
    yield from (("sitemap", path.parent) for path in sorted(folder.glob("sitemaps/*.jsonl"))[:1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
