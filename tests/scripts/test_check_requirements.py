"""The table of requirements cannot claim what no test shows."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import check_requirements

TESTS = '''"""Tests (J7)."""

# J1: said above.
def test_above() -> None:
    pass


class TestGroup:
    def test_inside(self) -> None:
        """J20-J22 hold."""


def test_silent() -> None:
    pass
'''


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project with ids and one file of tests."""
    folder = tmp_path / "docs" / "requirements.d"
    folder.mkdir(parents=True)
    (folder / "ids.txt").write_text("# J: Small things\nJ1\nJ2\nJ7\nJ21\n")
    (tmp_path / "test_small.py").write_text(TESTS)
    monkeypatch.setattr(check_requirements, "ROOT", tmp_path)
    monkeypatch.setattr(check_requirements, "FOLDER", folder)
    monkeypatch.setattr(check_requirements, "TABLE", tmp_path / "docs" / "requirements.md")
    monkeypatch.setattr(sys, "argv", ["check_requirements.py"])
    check_requirements.test_source.cache_clear()
    return tmp_path


def run(project: Path, rows: str, *, write: bool = True) -> int:
    (project / "docs" / "requirements.d" / "part.tsv").write_text(rows)
    if write:
        sys.argv.append("--write")
    return check_requirements.main()


@pytest.mark.parametrize(
    "row",
    [
        "J1\tdone\ttest_small.py\ttest_small.py::test_above\tcited in the comment above",
        "J21\tdone\t-\ttest_small.py::TestGroup::test_inside\tcited within a range",
        "J7\tdone\t-\ttest_small.py::test_silent\tcited by the module",
        "J2\topen\t-\t-",
        "J2\tpart\ttest_small.py\t-\tno test yet",
    ],
)
def test_claim_that_a_test_supports_is_accepted(project: Path, row: str) -> None:
    assert run(project, row) == 0


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("J2\tdone\t-\t-", "without a test"),
        ("J2\tdone\t-\ttest_small.py::test_missing", "no such test"),
        ("J2\tdone\t-\tmissing.py::test_above", "no such file"),
        ("J2\tdone\t-\ttest_small.py::test_silent", "does not cite J2"),
        ("J2\tdone\tmissing.py\ttest_small.py::test_above", "does not exist"),
        ("J9\topen\t-\t-", "there is no id J9"),
        ("J2\tfinished\t-\t-", "state 'finished'"),
        ("J2\topen", "expected id, state"),
        ("J2\topen\t-\t-\nJ2\topen\t-\t-", "claimed already"),
    ],
)
def test_claim_without_support_is_refused(
    project: Path, row: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(project, row) == 1
    assert complaint in capsys.readouterr().err


def test_unclaimed_id_is_open_and_a_stale_table_is_refused(project: Path) -> None:
    row = "J1\tdone\ttest_small.py\ttest_small.py::test_above"
    assert run(project, row) == 0
    table = (project / "docs" / "requirements.md").read_text()
    assert "1 done, 0 part, 3 open, 0 n/a, of 4." in table
    assert "| J2 | open |" in table
    sys.argv.remove("--write")
    assert run(project, row, write=False) == 0
    assert run(project, row + "\nJ2\tn/a\t-\t-", write=False) == 1
