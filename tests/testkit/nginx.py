"""nginx as a server of test sites, and as the reverse proxy that jird is run behind."""

import os
import shutil
import socket
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from testkit.processes import wait_until
from testkit.web_server import Reply

MIME = "types { text/html html; }\ndefault_type text/html;"
MAIN = """\
daemon off;
worker_processes 1;
pid {directory}/nginx.pid;
error_log {directory}/error.log;
{user}
events {{ worker_connections 512; }}
http {{
    access_log {directory}/access.log;
    {temp_paths}
    server_tokens off;
    absolute_redirect off;
    gzip on;
    gzip_min_length 200;
    keepalive_requests 10000;
    {mime}
    {servers}
}}
"""
TEMP_PATHS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@dataclass(frozen=True, slots=True)
class VirtualHost:
    """One site of nginx: resources by path, or the files below a document root."""

    host: str
    address: str
    port: int
    resources: Mapping[str, Reply] = field(default_factory=dict)
    document_root: Path | None = None
    is_compressed: bool = True


class Nginx:
    """A running nginx with files, configuration and logs below one folder."""

    def __init__(self, directory: Path, hosts: Sequence[VirtualHost], pem: Path | None) -> None:
        """Write files and configuration; `pem` holds certificate and key for all hosts, None: they speak plain HTTP."""
        self.directory = directory
        self.config_file = directory / "nginx.conf"
        self._hosts = hosts
        self._process: subprocess.Popen[bytes] | None = None
        directory.mkdir(parents=True, exist_ok=True)
        servers = "".join(server_block(host, directory, pem, pem) for host in hosts)
        user = "user root;" if os.geteuid() == 0 else ""  # else the worker may not read a private folder
        self.config_file.write_text(main_config(directory, servers, user=user))

    def start(self) -> None:
        """Start it and wait until it accepts connections.

        Raises:
            RuntimeError: It ended at once; the message holds its error log.
        """
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        command = [program, "-c", str(self.config_file), "-p", str(self.directory)]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._accepts, f"nginx of {self.directory}")

    def _accepts(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise RuntimeError(f"nginx ended: {(self.directory / 'error.log').read_text()}")
        try:
            for host in self._hosts:
                socket.create_connection((host.address, host.port), 1).close()
        except OSError:
            return False
        return True

    def stop(self) -> None:
        """Stop it; harmless when it is not running."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)
            self._process = None


def main_config(directory: Path, servers: str, *, user: str = "") -> str:
    """A whole configuration that keeps everything nginx writes below `directory`."""
    temp_paths = " ".join(f"{name}_temp_path {directory}/{name};" for name in TEMP_PATHS)
    return MAIN.format(directory=directory, user=user, temp_paths=temp_paths, mime=MIME, servers=servers)


def server_block(
    host: VirtualHost, directory: Path, certificate: Path | None, key: Path | None, *, seen_as: Path | None = None
) -> str:
    """Write the host's bodies below `directory` and return its server block; without a certificate it is plain HTTP.

    `seen_as` is the path of `directory` as nginx will see it, in another machine for example.
    """
    (directory / host.host).mkdir(parents=True, exist_ok=True)
    locations = []
    for number, (path, reply) in enumerate(host.resources.items()):
        if 300 <= reply.status < 400:
            target = dict(reply.headers)["Location"]
            locations.append(f'location = "{_decoded(path)}" {{ return {reply.status} "{target}"; }}')
        else:
            (directory / host.host / f"{number}.body").write_bytes(reply.body)
            locations.append(_file_location(_decoded(path), number, reply))
    body = "\n        ".join(locations)
    rest = f"root {host.document_root}; index index.html;" if host.document_root else "return 404;"
    tls = f"ssl_certificate {certificate}; ssl_certificate_key {key};" if certificate else ""
    return f"""
    server {{
        listen {host.address}:{host.port}{" ssl http2" if tls else ""};
        server_name {host.host};
        {tls}
        {"" if host.is_compressed else "gzip off;"}
        root {(seen_as or directory) / host.host};
        {body}
        location / {{ {rest} }}
    }}
"""


def _file_location(path: str, number: int, reply: Reply) -> str:
    kinds = [value for name, value in reply.headers if name.lower() == "content-type"]
    extra = [f'add_header {name} "{value}" always;' for name, value in reply.headers if name.lower() != "content-type"]
    kind = f'types {{ }} default_type "{kinds[0]}";' if kinds else ""
    # `return` would end the body's way through a file, so an error status is an error page of its own.
    serve = f"try_files /{number}.body =404;"
    if reply.status != 200:
        return (
            f'location = "{path}" {{ error_page {reply.status} @{number}; return {reply.status}; }}\n        '
            f"location @{number} {{ {kind} {' '.join(extra)} {serve} }}"
        )
    return f'location = "{path}" {{ {kind} {" ".join(extra)} {serve} }}'


def _decoded(path: str) -> str:
    return unquote(path)
