"""Crawl many origins with a delay each, and read in the server's access log whether it was kept and made use of.

Small pages; each origin answers at its own speed, up to a third of a second. First one run over all origins, then ten
at once over the same ones. The server runs in a process of its own; the first seconds, with robots.txt and connections,
do not count for the share, but their gaps do.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "tests")]

from measure import RESULTS, report  # noqa: E402
from stores.parameters import Number, read_parameters  # noqa: E402
from testkit import toml  # noqa: E402
from testkit.daemon import Daemon  # noqa: E402
from testkit.delays import judge_delays  # noqa: E402
from testkit.origin import Exchange, Origin, Reply  # noqa: E402

DELAY_S = 1.0
ANSWERS_S = (0.0, 0.01, 0.05, 0.1, 0.2, 0.35)
RUNS = 10
WARM_S = 5.0
MUST_SHARE = 0.95
_SERVE = "serve"


def hosts_of(count: int) -> list[str]:
    """Names of the origins."""
    return [f"h{number}.fault.test" for number in range(count)]


def serve(folder: Path, count: int) -> None:
    """Serve until a line comes, then print what the log shows for the time that it names, until told to end."""
    hosts = hosts_of(count)
    places = {host: number for number, host in enumerate(hosts)}

    async def answer(exchange: Exchange) -> None:
        await asyncio.sleep(ANSWERS_S[places[exchange.access.host] % len(ANSWERS_S)])
        number = exchange.path.rpartition("/")[2]
        links = "".join(f'<a href="{exchange.path}{page}">{page}</a> ' for page in range(10)) if len(number) < 3 else ""
        await exchange.send(Reply.html(f"<title>{exchange.access.host} {number}</title><p>Page {number}</p>{links}"))

    with Origin(folder, tls=False) as origin:
        for host in hosts:
            origin.add_host(host)
        for number in range(RUNS):
            for page in (f"{number}", *(f"{number}{first}" for first in range(10))):
                origin.add(f"/p{page}", answer)
                for last in range(10):
                    origin.add(f"/p{page}{last}", answer)
        print(json.dumps({"settings": origin.settings(), "port": origin.port}), flush=True)
        for line in sys.stdin:
            from_s, until_s = map(float, line.split())
            kept = judge_delays(origin.log, hosts, DELAY_S, from_s, until_s)
            figures = {"requests": kept.requests, "share_of_allowed": kept.share, "broken_delays": kept.broken}
            print(json.dumps({**figures, "shortest_gap_s": kept.shortest_gap_s}), flush=True)


def crawl(folder: Path, count: int, seconds: int, runs: int) -> dict[str, float]:
    """Crawl with so many runs at once for a time; returns what the server saw."""
    command = [sys.executable, __file__, _SERVE, str(folder / "origin"), str(count)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        told = json.loads(server.stdout.readline())
        settings: toml.Tables = {
            "crawl": {"delay_ms": round(1000 * DELAY_S), "connections": 512, "schemes": ["http", "https"]},
            "hosts": [{"match": "*", "adaptive": False, "connections": 1}],
            "log": {"level": "warning"},
        }
        with Daemon(folder / "jird", told["settings"], settings) as daemon:
            for number in range(runs):
                seeds = [f"http://{host}:{told['port']}/p{number}" for host in hosts_of(count)]
                daemon.start_crawl(*seeds, max_depth=3, max_pages=100_000)
            from_s = time.monotonic() + WARM_S
            time.sleep(WARM_S + seconds)
            server.stdin.write(f"{from_s} {from_s + seconds}\n")
            server.stdin.flush()
            found: dict[str, float] = json.loads(server.stdout.readline())
        server.stdin.close()
    return found


def main() -> int:
    """Measure and report; 1 if a delay was broken or too little was asked."""
    if sys.argv[1:2] == [_SERVE]:
        serve(Path(sys.argv[2]), int(sys.argv[3]))
        return 0
    given = read_parameters(__doc__, ORIGINS=Number(300, "origins"), SECONDS=Number(40, "of each part"))
    RESULTS.mkdir(parents=True, exist_ok=True)
    figures: dict[str, float] = {}
    is_met = True
    for name, runs in (("one_run", 1), ("ten_runs", RUNS)):
        with tempfile.TemporaryDirectory(dir=RESULTS, prefix="politeness-") as folder:
            found = crawl(Path(folder), given["ORIGINS"], given["SECONDS"], runs)
        figures |= {f"{name}_{key}": value for key, value in found.items()}
        is_met &= not found["broken_delays"] and found["share_of_allowed"] >= MUST_SHARE
    report("politeness", {**given, "delay_s": DELAY_S}, {**figures, "share_of_allowed_must": MUST_SHARE})
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
