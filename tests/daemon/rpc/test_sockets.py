"""Claiming and publishing the sockets, on a real file system."""

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jird_daemon.errors import SocketInUseError
from jird_daemon.rpc.sockets import ADMIN_SOCKET, SEARCH_SOCKET, SocketFolder, SocketPathError, check_path


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
        yield made


def bind(listener: socket.socket, path: str) -> None:
    listener.bind(path)
    listener.listen()


def test_socket_has_its_mode_from_the_start(tmp_path: Path, listener: socket.socket) -> None:
    """F121: 0660 when the socket is bound, before it has its public name; the umask is put back."""
    seen: list[int] = []

    def bind_and_look(path: str) -> None:
        bind(listener, path)
        seen.append(stat.S_IMODE(os.stat(path).st_mode))
        assert not (tmp_path / SEARCH_SOCKET).exists()

    before = os.umask(0o022)
    folder = SocketFolder.claim(tmp_path)
    path = folder.publish(SEARCH_SOCKET, bind_and_look)
    assert seen == [0o660]
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    assert os.umask(before) == 0o022
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    folder.close()
    assert not path.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to give a folder another group")
def test_socket_belongs_to_the_group_of_its_folder(tmp_path: Path, listener: socket.socket) -> None:
    """F121: search.sock is for the frontend's group, without chown."""
    group_folder = tmp_path / "search.d"
    group_folder.mkdir()
    os.chown(group_folder, -1, 12_345)
    group_folder.chmod(0o2750)
    folder = SocketFolder.claim(tmp_path)
    path = folder.publish(SEARCH_SOCKET, lambda bound: bind(listener, bound))
    assert path == tmp_path / SEARCH_SOCKET
    assert path.stat().st_gid == 12_345
    folder.close()


def test_second_claim_is_refused_and_leaves_the_first_alone(tmp_path: Path, listener: socket.socket) -> None:
    """F119."""
    folder = SocketFolder.claim(tmp_path)
    path = folder.publish(SEARCH_SOCKET, lambda bound: bind(listener, bound))
    with pytest.raises(SocketInUseError, match="another process serves"):
        SocketFolder.claim(tmp_path)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    folder.close()


def test_live_socket_of_a_server_without_our_lock_is_not_taken(tmp_path: Path, listener: socket.socket) -> None:
    """F119: never unlink a live socket."""
    bind(listener, str(tmp_path / ADMIN_SOCKET))
    with pytest.raises(SocketInUseError, match=r"admin\.sock"):
        SocketFolder.claim(tmp_path)
    assert (tmp_path / ADMIN_SOCKET).exists()


def test_sockets_left_by_a_killed_process_are_replaced(tmp_path: Path, listener: socket.socket) -> None:
    """F97, F119: what a dead process left is taken over."""
    script = (
        "import os, socket, sys; from pathlib import Path; from jird_daemon.rpc.sockets import SocketFolder\n"
        "folder = SocketFolder.claim(Path(sys.argv[1]))\n"
        "s = socket.socket(socket.AF_UNIX); folder.publish('search.sock', lambda p: (s.bind(p), s.listen()))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False).returncode == -9
    assert (tmp_path / SEARCH_SOCKET).is_socket()
    folder = SocketFolder.claim(tmp_path)
    path = folder.publish(SEARCH_SOCKET, lambda bound: bind(listener, bound))
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    folder.close()


def test_other_file_in_the_place_of_a_socket_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / SEARCH_SOCKET).write_text("precious")
    with pytest.raises(SocketInUseError, match="is not a socket"):
        SocketFolder.claim(tmp_path)
    assert (tmp_path / SEARCH_SOCKET).read_text() == "precious"


def test_path_that_is_too_long_is_refused_with_its_length() -> None:
    long = Path("/" + "r" * 96)
    check_path(Path("/" + "r" * 94))
    with pytest.raises(SocketPathError, match=r"109 bytes, and a socket's path has at most 107"):
        check_path(long)


def test_claim_may_be_given_back_twice(tmp_path: Path) -> None:
    folder = SocketFolder.claim(tmp_path / "run")
    folder.close()
    folder.close()
    SocketFolder.claim(tmp_path / "run").close()
