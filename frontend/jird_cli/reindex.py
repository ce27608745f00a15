"""`jirdctl reindex`: parse the stored pages again."""

import time
from datetime import datetime
from typing import TYPE_CHECKING

import click

from jird_cli.invocation import Invocation, json_option, pass_invocation
from jird_cli.progress import show_progress
from jird_cli.values import Since

if TYPE_CHECKING:
    from jird.v1.index_service_pb2 import Reindex
    from jird_client.channel import Client

LOOK_INTERVAL_S = 0.5


@click.command()
@click.option("--host", default="", help="Only pages of this host.")
@click.option("--since", type=Since(), help="Only pages whose content came since: 2h, 7d, 2026-11-30.")
@click.option("--no-wait", is_flag=True, help="Return at once; --status shows how far it is.")
@click.option("--status", "only_status", is_flag=True, help="Show where the latest one stands.")
@click.option("--stop", is_flag=True, help="End the one that is running; what was done stays.")
@json_option
@pass_invocation
def reindex(
    invocation: Invocation, host: str, since: datetime | None, no_wait: bool, only_status: bool, stop: bool
) -> None:
    """Parse the stored bytes again with today's code and settings, without a request to anyone.

    Searches go on meanwhile. Ctrl-C stops the watching, not the work, and a restart of the daemon goes on with it.

    \b
    Examples:
      jirdctl reindex
      jirdctl reindex --host docs.example.org --since 7d
    """
    from jird.v1.index_service_pb2 import GetReindexRequest, StartReindexRequest, StopReindexRequest
    from jird_client.channel import WORK_TIMEOUT_S

    with invocation.daemon() as client:
        if only_status:
            state = client.call(client.stubs.index.GetReindex, GetReindexRequest())
        elif stop:
            state = client.call(client.stubs.index.StopReindex, StopReindexRequest(), WORK_TIMEOUT_S)
        else:
            request = StartReindexRequest(host=host)
            if since is not None:
                request.since_time.FromDatetime(since)
            state = client.call(client.stubs.index.StartReindex, request, WORK_TIMEOUT_S)
            if not no_wait:
                state = _watch(invocation, client, state)
        invocation.answer_message(state, _words(state))


def _watch(invocation: Invocation, client: "Client", state: "Reindex") -> "Reindex":
    from jird.v1.index_service_pb2 import GetReindexRequest

    with show_progress(invocation.as_json) as update:
        while not state.HasField("end_time"):
            update("parsing stored pages", state.done_count, max(state.total_count, state.done_count))
            time.sleep(LOOK_INTERVAL_S)
            state = client.call(client.stubs.index.GetReindex, GetReindexRequest())
    return state


def _words(state: "Reindex") -> str:
    if not state.HasField("end_time"):
        head = f"going on: {state.done_count:,} of {state.total_count:,} pages"
    else:
        head = "stopped" if state.is_stopped else "done"
    return (
        f"{head}; {state.derived_count:,} parsed again, {state.changed_count:,} changed, "
        f"{state.failed_count:,} failed, {state.skipped_count:,} without stored bytes or not asked for"
    )
