"""`jirdctl import`: documents from a file."""

from typing import TYPE_CHECKING, Any

import click

from jird_cli.archive.found import END
from jird_cli.failure import EXIT_FAILED, EXIT_UNREACHABLE, FailureError
from jird_cli.invocation import Invocation, json_option, pass_invocation
from jird_cli.progress import Update, show_progress

if TYPE_CHECKING:
    from jird_cli.archive.batches import BatchSender, Tally
    from jird_cli.archive.source import Source

# Faults that are written out one by one; more are counted.
FAULTS_SHOWN = 100
# Reasons and kinds that the summary names.
_REASONS_SHOWN = 10
_PROGRESS_EVERY = 100


@click.command("import")
@click.argument("path", metavar="FILE")
@click.option(
    "--format", "file_format", type=click.Choice(["auto", "jsonl", "warc"]), default="auto", show_default=True,
    help="What the file is; by default its first bytes tell.",
)  # fmt: skip
@json_option
@pass_invocation
def import_(invocation: Invocation, path: str, file_format: str) -> None:
    """Take documents from a file, or from stdin with -, without a request to anyone.

    JSON Lines: an object a line with "url", "title", and "text" or "html"; optionally "language" and "date". WARC: what
    wget, Heritrix or jird itself has written. Both may be compressed with gzip. Everything can be found when the
    command ends. What is stored already is passed over, so a broken-off import is simply run again.

    Lines that are not understood are reported with number and reason, the rest goes on, and the exit code is 1.

    \b
    Examples:
      jirdctl import articles.jsonl
      zcat dump.jsonl.gz | jirdctl import -
      jirdctl import --json crawl-2026.warc.gz
    """
    from jird_cli.archive.batches import BatchSender, Tally
    from jird_cli.archive.source import open_source
    from jird_client.errors import ClientError, DaemonUnreachableError

    tally, faults = Tally(), _Faults(path, invocation.as_json)
    with open_source(path) as source, invocation.daemon() as client:
        sender = BatchSender(client, tally, faults)
        try:
            with show_progress(invocation.as_json) as update:
                _read(source, file_format, sender, tally, update)
        except KeyboardInterrupt:
            raise FailureError(f"interrupted {_so_far(tally)}", "INTERRUPTED") from None
        except ClientError as error:
            code = EXIT_UNREACHABLE if isinstance(error, DaemonUnreachableError) else EXIT_FAILED
            raise FailureError(f"{error.message}; this ended it {_so_far(tally)}", error.reason, code) from None
    invocation.answer(_plain(tally, faults), _words(tally))
    if tally.faults:
        raise FailureError(f"{tally.faults:,} of the file's records could not be imported", "IMPORT_INCOMPLETE")


def _read(source: "Source", file_format: str, sender: "BatchSender", tally: "Tally", update: Update) -> None:
    for number, found in enumerate(source.reader(file_format)):
        sender.add(found)
        if number % _PROGRESS_EVERY == 0:
            update(f"{tally.documents:,} documents answered; percent of the file read:", source.percent, 100)
    sender.finish()


def _so_far(tally: "Tally") -> str:
    return f"after {tally.documents:,} documents, which are stored; run it again to go on"


class _Faults:
    """Tells of what is wrong, and keeps it for --json."""

    def __init__(self, path: str, as_json: bool) -> None:
        self._path = path
        self._as_json = as_json
        self.shown: list[dict[str, str]] = []

    def __call__(self, place: str, reason: str) -> None:
        from jird_client.text import plain

        if len(self.shown) == FAULTS_SHOWN:
            return
        self.shown.append({"place": place, "reason": reason})
        if not self._as_json:
            click.echo(f"{self._path}: {place}: {plain(reason)}", err=True)
            if len(self.shown) == FAULTS_SHOWN:
                click.echo("more of them are counted, and not shown", err=True)


def _plain(tally: "Tally", faults: _Faults) -> dict[str, Any]:
    return {
        "document_count": tally.documents,
        "outcomes": dict(tally.outcomes),
        "reasons": dict(tally.reasons.most_common(_REASONS_SHOWN)),
        "passed_over": dict(tally.passed_over),
        "fault_count": tally.faults,
        "faults": faults.shown,
        "generation": tally.generation,
    }


def _words(tally: "Tally") -> str:
    from jird_client.text import plain

    outcomes = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in tally.outcomes.most_common())
    documents = "document" if tally.documents == 1 else "documents"
    lines = [f"{tally.documents:,} {documents}" + (f": {outcomes}" if outcomes else "")]
    lines += [f"  {count:,}: {plain(reason)}" for reason, count in tally.reasons.most_common(_REASONS_SHOWN)]
    passed_over = [(kind, count) for kind, count in tally.passed_over.most_common(_REASONS_SHOWN) if kind != END]
    if passed_over:
        kinds = ", ".join(f"{count:,} {plain(kind)}" for kind, count in passed_over)
        lines.append(f"records passed over: {kinds}")
    return "\n".join(lines)
