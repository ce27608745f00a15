"""The test internet as a program."""

import socket
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "test_internet.py"


def test_address_in_use_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.1.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, str(SCRIPT), "--directory", str(tmp_path), "--port", port, "--own-server"]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert ended.stderr == f"cannot serve the test internet on ports {port} and 8444: Address already in use\n"
