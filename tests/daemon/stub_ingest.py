"""An ingest process for the supervisor's tests: the real channel and arguments, no crawl.

StopCrawl is its remote control: 1 dies, 2 hangs, 3 breaks the channel, 4 asks for another release, 5 reports its state.
STUB_MODE=silent never sends a heartbeat; stubborn never stops; faulty stops with a fault; viewless shows no view;
outdated asks for another release at once.
"""

import asyncio
import os
import socket
import sys
import time

from jird_daemon.child import IngestArguments, die_with_parent
from jird_daemon.control import AcknowledgeView, Answer, Heartbeat, Reload, Shutdown, StopCrawl, View
from jird_daemon.control_server import ControlServer

MODE = os.environ.get("STUB_MODE", "")


class Stub:
    """Answers the two requests that the tests send."""

    def __init__(self, arguments: IngestArguments) -> None:
        self.arguments = arguments
        self.is_done = asyncio.Event()

    async def stop_crawl(self, request: StopCrawl) -> Answer:
        if request.run_id == 1:
            os._exit(1)
        if request.run_id == 2:
            time.sleep(3_600)  # noqa: ASYNC251 - the loop must hang
        if request.run_id == 3:
            os.write(self.arguments.control_fd, b"\xff\xff\xff\xff")
        if request.run_id == 4:
            os._exit(42)
        is_group_leader = os.getpgid(0) == os.getpid()
        return Answer(
            run_ids=(int(self.arguments.is_restart), os.getpid(), int(is_group_leader), self.arguments.lock_fd)
        )

    async def shutdown(self, request: Shutdown) -> Answer:
        if MODE == "stubborn":
            await asyncio.Event().wait()
        self.is_done.set()
        return Answer(faults=("checkpoint: disk full",) if MODE == "faulty" else ())

    async def acknowledge_view(self, request: AcknowledgeView) -> Answer:
        return Answer()

    async def reload(self, request: Reload) -> Answer:
        sys.stderr.write("stub: reload\n")
        return Answer()


async def main() -> None:
    arguments = IngestArguments.parse(sys.argv[1:])
    die_with_parent(arguments.parent_pid)
    os.fstat(arguments.lock_fd)
    stub = Stub(arguments)
    server = await ControlServer.connect(socket.socket(fileno=os.dup(arguments.control_fd)), stub)  # type: ignore[arg-type]
    running = asyncio.create_task(server.run())
    if MODE == "outdated":
        os._exit(42)
    if MODE != "viewless":
        server.publish_view(View(sequence=1, generation=0, checkpoint_generation=0))
    while not stub.is_done.is_set() and not running.done():
        if MODE != "silent":
            server.send_heartbeat(Heartbeat(in_flight=7))
        await asyncio.wait(
            {running, asyncio.create_task(stub.is_done.wait())}, timeout=0.05, return_when="FIRST_COMPLETED"
        )
    await server.close()


asyncio.run(main())
