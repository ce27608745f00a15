"""`jirdctl export`: pages to a file."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from gzip import GzipFile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from jird_cli.failure import FailureError
from jird_cli.invocation import Invocation, json_option, pass_invocation
from jird_cli.progress import show_progress
from jird_cli.values import Since

if TYPE_CHECKING:
    from jird_cli.archive.lines_out import LinesWriter
    from jird_cli.archive.warc_out import WarcWriter

_GZIP_LEVEL = 6


@click.command("export")
@click.option(
    "--format", "file_format", type=click.Choice(["auto", "jsonl", "warc"]), default="auto", show_default=True,
    help="By default the name of the file tells; without one it is jsonl.",
)  # fmt: skip
@click.option("--host", default="", help="Only pages of this host.")
@click.option("--since", type=Since(), help="Only pages whose content came, or that went, since: 2h, 7d, 2026-11-30.")
@click.option("-o", "--output", "path", default="-", metavar="FILE", help="Where to; .gz is compressed. Else stdout.")
@json_option
@pass_invocation
def export(invocation: Invocation, file_format: str, host: str, since: datetime | None, path: str) -> None:
    """Write what is stored to a file: text and facts as JSON Lines, or the fetched bytes as WARC.

    JSON Lines have an object a page with a stable id, a tombstone for each page that can no longer be found, and a last
    line with the number of records and a digest of their content. A file appears under its name when it is complete.

    \b
    Examples:
      jirdctl export -o pages.jsonl.gz
      jirdctl export --host docs.example.org --since 7d | jq .title
      jirdctl export -o pages.warc.gz
    """
    from jird.v1.archive_service_pb2 import ExportPagesRequest

    if file_format == "auto":
        file_format = "warc" if path.removesuffix(".gz").endswith(".warc") else "jsonl"
    if file_format == "warc" and path == "-" and sys.stdout.isatty():
        raise FailureError("WARC is nothing for a terminal; name a file with -o", "USAGE")
    request = ExportPagesRequest(host=host)
    if since is not None:
        request.since_time.FromDatetime(since)
    with _open_target(path) as stream, invocation.daemon() as client:
        writer = _writer(file_format, stream, path)
        request.with_text, request.with_content = writer.needs_text, writer.needs_content
        with show_progress(invocation.as_json) as update:
            for block in client.stream(client.stubs.archive.ExportPages, request):
                for page in block.pages:
                    writer.write(page)
                update("exporting pages", block.done_count, block.total_count)
        writer.end()
    _tell(invocation, writer, path)


def _writer(file_format: str, stream: BinaryIO, path: str) -> "LinesWriter | WarcWriter":
    is_compressed = path.endswith(".gz")
    if file_format == "warc":
        from jird_cli.archive.warc_out import WarcWriter

        return WarcWriter(stream, is_compressed=is_compressed)
    from jird_cli.archive.lines_out import LinesWriter

    return LinesWriter(stream)


def _tell(invocation: Invocation, writer: "LinesWriter | WarcWriter", path: str) -> None:
    """Say what was written; not on a stdout that has the export itself."""
    words = ", ".join(f"{count:,} {name}" for name, count in writer.counts.items())
    if path != "-":
        invocation.answer({name.replace(" ", "_"): count for name, count in writer.counts.items()}, words)
    elif not invocation.as_json:
        click.echo(words, err=True)


@contextmanager
def _open_target(path: str) -> Iterator[BinaryIO]:
    """A file that gets its name when it is complete, or stdout.

    Raises:
        FailureError: It cannot be written.
    """
    if path == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    partial = Path(f"{path}.partial")
    try:
        with open(partial, "wb") as raw:
            if path.endswith(".gz") and not path.endswith(".warc.gz"):
                with GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=raw) as packed:
                    yield cast("BinaryIO", packed)
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        partial.replace(path)
    except OSError as error:
        raise FailureError(f"{path}: {error.strerror or error}", "FILE_UNWRITABLE") from None
    finally:
        partial.unlink(missing_ok=True)
