"""The root of `jirdctl`: global options, and the one place where failures become messages and exit codes."""

import sys
from collections.abc import Sequence
from importlib.metadata import version as installed_version
from pathlib import Path

import click

from jird_cli.archive.export_command import export
from jird_cli.archive.import_command import import_
from jird_cli.crawl import crawl
from jird_cli.failure import EXIT_DONE, EXIT_FAILED, EXIT_USAGE, FailureError, report
from jird_cli.index import content, index
from jird_cli.invocation import Invocation
from jird_cli.log import log
from jird_cli.page import page
from jird_cli.reindex import reindex
from jird_cli.search import search
from jird_cli.status import debug, status


def _print_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        click.echo(f"jirdctl {installed_version('jird')}")
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="The service's configuration file.")
@click.option("--run-dir", type=click.Path(path_type=Path), help="Folder of the daemon's sockets.")
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print it.")
@click.pass_context
def cli(context: click.Context, config: Path | None, run_dir: Path | None) -> None:
    """Operate a jird search engine.

    The daemon is looked for in --run-dir, the configuration's run_dir when --config is given, $JIRD_RUN_DIR,
    /run/jird, and ./data/run, in this order.

    \b
    Exit codes: 0 done, 1 failed or refused, 2 wrong usage,
    3 a crawl ended before its planned scope, 4 the daemon cannot be reached.

    \b
    Examples:
      jirdctl status
      jirdctl crawl start https://docs.example.org/ --wait
      jirdctl search desert rodents
      jirdctl log query --exit-code connection_failed --since 1d
    """
    invocation = context.ensure_object(Invocation)
    invocation.config, invocation.run_dir = config, run_dir


for command in (status, crawl, search, page, index, reindex, import_, export, content, log, debug):
    cli.add_command(command)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return the exit code; never raises for what a person can cause."""
    invocation = Invocation(as_json="--json" in arguments)  # so that errors of usage know it too
    try:
        code = cli.main(list(arguments), prog_name="jirdctl", standalone_mode=False, obj=invocation)
    except FailureError as failure:
        report(failure, invocation.as_json)
        return failure.exit_code
    except UnicodeEncodeError:
        report(FailureError("an argument is not valid UTF-8 text", "USAGE", EXIT_USAGE), invocation.as_json)
        return EXIT_USAGE
    except click.UsageError as error:
        return _usage(error, invocation)
    except click.ClickException as error:
        report(FailureError(error.format_message(), "FAILED"), invocation.as_json)
        return EXIT_FAILED
    except (click.Abort, KeyboardInterrupt):
        report(FailureError("interrupted", "INTERRUPTED"), invocation.as_json)
        return EXIT_FAILED
    return code if isinstance(code, int) else EXIT_DONE


def _usage(error: click.UsageError, invocation: Invocation) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return EXIT_USAGE
    where = f" (see `{error.ctx.command_path} --help`)" if error.ctx is not None else ""
    report(FailureError(error.format_message() + where, "USAGE", EXIT_USAGE), invocation.as_json)
    return EXIT_USAGE


def main() -> None:
    """Run the program."""
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, less) has seen enough; what is still buffered has nowhere to go.
        sys.stdout = None
        code = EXIT_FAILED
    sys.exit(code)


if __name__ == "__main__":
    main()
