"""The committed character tables are what their generator makes."""

import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from jird_native import UNICODE_VERSION

GENERATOR = Path(__file__).resolve().parents[2] / "scripts" / "gen_unicode_tables.py"


@pytest.mark.skipif(
    unicodedata.unidata_version != UNICODE_VERSION,
    reason="this interpreter knows another Unicode version than the committed tables",
)
def test_tables_are_what_the_generator_makes() -> None:
    assert subprocess.run([sys.executable, str(GENERATOR), "--check"], check=False).returncode == 0
