"""`jirdctl index` and `jirdctl content`: maintenance of what is stored."""

from typing import TYPE_CHECKING, Any

import click

from jird_cli.failure import FailureError
from jird_cli.invocation import Invocation, json_option, pass_invocation
from jird_cli.progress import show_progress

if TYPE_CHECKING:
    from jird.v1.index_service_pb2 import IndexProgress, IndexState
    from jird_client.channel import Client


@click.group()
def index() -> None:
    """Checkpoint, compact, verify or rebuild the index."""


@index.command()
@json_option
@pass_invocation
def checkpoint(invocation: Invocation) -> None:
    """Make everything that can be found durable now."""
    from jird.v1.index_service_pb2 import CheckpointRequest
    from jird_client.channel import WORK_TIMEOUT_S

    with invocation.daemon() as client:
        state = client.call(client.stubs.index.Checkpoint, CheckpointRequest(), WORK_TIMEOUT_S)
        invocation.answer_message(state, _state(state))


@index.command()
@json_option
@pass_invocation
def compact(invocation: Invocation) -> None:
    """Rewrite all segments into one. Searches go on meanwhile."""
    from jird.v1.index_service_pb2 import CompactRequest

    with invocation.daemon() as client:
        _work(invocation, client, client.stubs.index.Compact, CompactRequest())


@index.command()
@json_option
@pass_invocation
def verify(invocation: Invocation) -> None:
    """Read every byte of the index and report damage; exit code 1 when there is any."""
    from jird.v1.index_service_pb2 import VerifyRequest

    with invocation.daemon() as client:
        _work(invocation, client, client.stubs.index.Verify, VerifyRequest(), done="no damage")


@index.command()
@json_option
@pass_invocation
def rebuild(invocation: Invocation) -> None:
    """Derive the index again from the stored pages, beside the one in use."""
    from jird.v1.index_service_pb2 import RebuildRequest

    with invocation.daemon() as client:
        _work(invocation, client, client.stubs.index.Rebuild, RebuildRequest())


def _work(invocation: Invocation, client: "Client", method: Any, request: Any, done: str = "") -> None:
    from jird_client.errors import DamagedDataError

    last: IndexProgress | None = None
    damage = ""
    try:
        with show_progress(invocation.as_json) as update:
            for last in client.stream(method, request):
                update(last.stage, last.done_count, last.total_count)
    except DamagedDataError as error:
        damage = error.message
    except KeyboardInterrupt:
        raise FailureError("cancelled; the index is as it was", "CANCELLED") from None
    if last is None or not last.done:
        raise FailureError(damage or "the daemon ended the work before it was done", "INCOMPLETE")
    faults = "\n".join(last.faults)
    head = faults or ("" if damage else done)
    invocation.answer_message(last, f"{head}\n{_state(last.state)}" if head else _state(last.state))
    if damage or faults:
        raise FailureError(damage or f"{len(last.faults)} faults were found", "INDEX_DAMAGED")


def _state(state: "IndexState") -> str:
    documents = "document" if state.document_count == 1 else "documents"
    segments = "segment" if state.segment_count == 1 else "segments"
    return (
        f"{state.document_count:,} {documents} in {state.segment_count} {segments}; "
        f"generation {state.generation}, durable up to {state.checkpoint_generation}"
    )


@click.group()
def content() -> None:
    """Look after the stored page bodies."""


@content.command()
@json_option
@pass_invocation
def gc(invocation: Invocation) -> None:
    """Remove stored content that no page refers to. Refused while a crawl runs."""
    from jird.v1.index_service_pb2 import CollectGarbageRequest
    from jird_client.channel import WORK_TIMEOUT_S
    from jird_client.text import size

    with invocation.daemon() as client:
        answer = client.call(client.stubs.index.CollectGarbage, CollectGarbageRequest(), WORK_TIMEOUT_S)
        invocation.answer_message(answer, f"removed {answer.blob_count:,} blobs, {size(answer.freed_bytes)} freed")
