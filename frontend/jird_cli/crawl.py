"""`jirdctl crawl`: start, stop, list, show and watch runs."""

from pathlib import Path
from typing import Any

import click

from jird_cli.failure import EXIT_DONE, EXIT_FAILED
from jird_cli.invocation import Invocation, json_option, pass_invocation
from jird_cli.values import Amount
from jird_client.text import json_text

SCOPES = ("same-origin", "seeds", "open")
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def crawl() -> None:
    """Start, stop and watch crawls."""


@crawl.command()
@click.argument("seeds", metavar="[URL]...", nargs=-1)
@click.option("--file", "-f", "crawl_file", type=FILE, help="A crawl file: seeds, limits, policies (see jirdctl(1)).")
@click.option("--policy-file", "policy_files", type=FILE, multiple=True, help="A file with further policies.")
@click.option("--wait", is_flag=True, help="Show progress until the run ends; the exit code tells how it ended.")
@click.option("--max-depth", type=click.IntRange(0, 32), help="Links to follow from a seed; 0 fetches only the seeds.")
@click.option(
    "--max-pages", "--max-commands", "max_pages", type=click.IntRange(0, 10_000_000), help="Budget of page requests."
)
@click.option("--scope", type=click.Choice(SCOPES), help="Which links belong to the run.  [default: same-origin]")
@click.option("--delay", type=Amount(), help="Least time between requests to one origin, e.g. 500ms, 2s, 0.")
@click.option("--name", default="", help="A name for people.")
@click.option("--recrawl-interval", metavar="WORDS", help='Crawl pages again by itself at this age, e.g. "4 weeks".')
@click.option("--force-recrawl", is_flag=True, help="Ask for pages too that were crawled within the interval.")
@click.option("--user-agent", help="Name of the crawler in this crawl.")
@click.option("--ignore-db-name-from-config", is_flag=True, help="Do not look at database_file of the crawl file.")
@json_option
@pass_invocation
def start(invocation: Invocation, /, wait: bool, **options: Any) -> int:
    """Crawl from one or more URLs, or from a crawl file.

    URLs and options win over what the file says. A paused run with the same seeds is resumed.

    With --wait the exit code is 0 when the planned scope was reached,
    3 when the run ended before it (budget spent, stopped, paused by a guard), and 1 when it stored nothing.

    \b
    Examples:
      jirdctl crawl start https://docs.example.org/
      jirdctl crawl start https://example.org/ --max-depth 2 --max-pages 500 --wait
      jirdctl crawl start https://a.example/ https://b.example/ --scope seeds --delay 1s --name "two sites"
      jirdctl crawl start --file crawl.toml --policy-file shared-policies.toml --wait
    """
    from jird_cli.crawl_report import run_report
    from jird_cli.crawl_start import StartOptions, start_request
    from jird_cli.crawl_watch import watch_to_end

    request = start_request(
        StartOptions(
            options["seeds"], options["crawl_file"], options["policy_files"], options["max_depth"],
            options["max_pages"], options["scope"], options["delay"], options["name"], options["recrawl_interval"],
            options["force_recrawl"], options["user_agent"], options["ignore_db_name_from_config"],
        )
    )  # fmt: skip
    with invocation.daemon() as client:
        run = client.call(client.stubs.crawl.StartCrawl, request)
        if wait:
            return watch_to_end(invocation, client, run)
        again = " to watch it" if not invocation.as_json else ""
        invocation.answer_message(run, f"{run_report(run)}\n\n`jirdctl crawl watch {run.run_id}`{again}")
    return EXIT_DONE


@crawl.command()
@click.argument("run_id", metavar="[RUN]", type=click.IntRange(min=1), required=False)
@click.option("--all", "all_runs", is_flag=True, help="Stop every running run.")
@json_option
@pass_invocation
def stop(invocation: Invocation, run_id: int | None, all_runs: bool) -> None:
    """Pause a run, or all of them, and wait until no request of theirs is in flight.

    \b
    Examples:
      jirdctl crawl stop 4
      jirdctl crawl stop --all
    """
    if (run_id is None) != all_runs:
        raise click.UsageError("name one RUN, or say --all")
    from jird.v1.crawl_service_pb2 import StopCrawlRequest
    from jird_client.channel import WORK_TIMEOUT_S

    with invocation.daemon() as client:
        answer = client.call(client.stubs.crawl.StopCrawl, StopCrawlRequest(run_id=run_id or 0), WORK_TIMEOUT_S)
        stopped = ", ".join(str(run.run_id) for run in answer.runs)
        invocation.answer_message(answer, f"stopped: {stopped}" if stopped else "nothing was running")


@crawl.command("list")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="How many runs.")
@json_option
@pass_invocation
def list_runs(invocation: Invocation, limit: int) -> None:
    """List runs, newest first."""
    from jird.v1.crawl_service_pb2 import ListCrawlRunsRequest
    from jird_cli.crawl_report import runs_table

    with invocation.daemon() as client:
        answer = client.call(client.stubs.crawl.ListCrawlRuns, ListCrawlRunsRequest(page_size=limit))
        text = runs_table(answer.runs) if answer.runs else "there are no runs yet; `jirdctl crawl start URL` makes one"
        invocation.answer_message(answer, text)


@crawl.command()
@click.argument("run_id", metavar="RUN", type=click.IntRange(min=1))
@json_option
@pass_invocation
def show(invocation: Invocation, run_id: int) -> None:
    """Show one run: its state, its counts, and how its requests ended."""
    from jird.v1.crawl_service_pb2 import GetCrawlRunRequest
    from jird_cli.crawl_report import run_report

    with invocation.daemon() as client:
        run = client.call(client.stubs.crawl.GetCrawlRun, GetCrawlRunRequest(run_id=run_id))
        invocation.answer_message(run, run_report(run))


@crawl.command()
@click.argument("run_id", metavar="RUN", type=click.IntRange(min=1))
@json_option
@pass_invocation
def watch(invocation: Invocation, run_id: int) -> int:
    """Watch a run until it ends. Ctrl-C stops the watching, not the run.

    Shown are pace, budget, how requests ended, and which origins wait and why; at the end a report, which says whether
    the planned scope was reached. Without a terminal it is a line every few seconds; with --json each look at the run
    is one line.
    """
    from jird.v1.crawl_service_pb2 import GetCrawlRunRequest
    from jird_cli.crawl_watch import watch_to_end
    from jird_client.plain_data import to_plain

    def print_line(look: object) -> None:
        click.echo(json_text(to_plain(look)))  # type: ignore[arg-type]

    with invocation.daemon() as client:
        run = client.call(client.stubs.crawl.GetCrawlRun, GetCrawlRunRequest(run_id=run_id))
        code = watch_to_end(invocation, client, run, each_look=print_line if invocation.as_json else None)
    return EXIT_DONE if code == EXIT_FAILED else code
