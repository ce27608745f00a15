"""Run test cases of others on jird: python scripts/conformance.py KIND PATH [--skip-group PREFIX].

Prints the cases that fail, why cases are skipped, and a last line `N passed, N failed, N skipped`. The exit code is 0,
1 if any failed, 2 if the cases cannot be read. The layout of each kind stands in its module in conformance_kinds/.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from conformance_kinds import charset_cases, html_cases, robots_cases, sitemap_cases, url_cases
from conformance_kinds.cases import BadCaseError, Case, Outcome, read_json_array, read_json_lines

Judge = Callable[[Case], Outcome]
Reader = Callable[[Path], Iterator[tuple[str, Case]]]
KINDS = ("url", "robots", "html", "charset", "sitemap")


def main() -> int:
    """Read, judge, print."""
    parser = argparse.ArgumentParser(prog="conformance.py", description="Run test cases of others on jird.")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("path", type=Path, metavar="PATH", help="the file of cases; sitemap: or its folder")
    parser.add_argument(
        "--skip-group", action="append", default=[], metavar="PREFIX", help="robots: skip groups of this prefix"
    )
    arguments = parser.parse_args()
    if arguments.skip_group and arguments.kind != "robots":
        parser.error("--skip-group is for robots alone")
    judges: dict[str, Judge] = {
        "url": url_cases.judge,
        "robots": partial(robots_cases.judge, skipped_groups=arguments.skip_group),
        "html": html_cases.judge,
        "charset": charset_cases.judge,
        "sitemap": sitemap_cases.judge,
    }
    readers: dict[str, Reader] = {"url": read_json_array, "sitemap": sitemap_cases.read_folder}
    read = readers.get(arguments.kind, read_json_lines)
    try:
        return _run(read(arguments.path), judges[arguments.kind])
    except (OSError, EOFError, BadCaseError) as error:
        print(f"conformance.py: {error}", file=sys.stderr)
        return 2


def _run(cases: Iterator[tuple[str, Case]], judge: Judge) -> int:
    passed = failed = 0
    skipped: Counter[str] = Counter()
    for name, case in cases:
        outcome = _judged(name, case, judge)
        if outcome.skip_reason:
            skipped[outcome.skip_reason] += 1
        elif outcome.fault:
            failed += 1
            print(f"failed: {name}: {_printable(outcome.fault)}")
        else:
            passed += 1
    for reason, count in skipped.most_common():
        print(f"skipped {count}: {reason}")
    print(f"{passed} passed, {failed} failed, {skipped.total()} skipped")
    return 1 if failed else 0


def _judged(name: str, case: Case, judge: Judge) -> Outcome:
    try:
        return judge(case)
    except (KeyError, TypeError, AttributeError) as error:
        raise BadCaseError(f"{name}: not in the layout of this kind: {error!r}") from error


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


if __name__ == "__main__":
    sys.exit(main())
