"""What every benchmark shares: its result file, its table, and how memory and CPU time are read.

Memory is RssAnon plus RssShmem: mapped files belong to the page cache. CPU time is user plus system time of a process
and of the children it has waited for.
"""

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(os.environ.get("JIRD_BENCH_RESULTS") or ROOT / "build" / "bench").resolve()
"""Where result files go, and what is made from the checkout's own extension."""
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def percentile(values: Iterable[float], share: float) -> float:
    """The value below which `share` (0 to 1) of `values` lie, by nearest rank; values must not be empty."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def process_tree(root_pid: int) -> list[int]:
    """Pids of a process and all its descendants that exist now."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        fields = _stat_fields(int(folder.name))
        if fields:
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    tree, todo = [], [root_pid]
    while todo:
        pid = todo.pop()
        tree.append(pid)
        todo.extend(children.get(pid, ()))
    return tree


def _stat_fields(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the state on, so that a name with blanks does not shift them; empty if gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def memory_bytes(pids: Iterable[int]) -> int:
    """RssAnon plus RssShmem of the processes that still exist."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
    return total


def cpu_s(pids: Iterable[int]) -> float:
    """CPU seconds used so far by the processes and by children they have waited for."""
    total = 0
    for pid in pids:
        fields = _stat_fields(pid)
        if fields:
            total += sum(int(ticks) for ticks in fields[11:15])
    return total / _TICKS_PER_S


def keep(name: str, parameters: Mapping[str, object], figures: Mapping[str, float]) -> None:
    """Write build/bench/NAME.json. The machine's load is that of the last five minutes: the benchmark's own is 1."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    result = {
        "name": name,
        "parameters": dict(parameters),
        "figures": dict(figures),
        "commit": commit,
        "machine": f"{platform.machine()}, {os.cpu_count()} CPUs, {_cpu_model()}, load {os.getloadavg()[1]:.1f}",
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=2) + "\n")


def table(name: str, parameters: Mapping[str, object], figures: Mapping[str, float]) -> str:
    """Name and parameters, and below them a figure a line."""
    width = max(map(len, figures), default=0)
    lines = [f"{name}  ({', '.join(f'{key} {value}' for key, value in parameters.items())})"]
    for key, value in figures.items():
        lines.append(f"  {key:<{width}}  {value:,.3f}" if isinstance(value, float) else f"  {key:<{width}}  {value:,}")
    return "\n".join(lines)


def report(name: str, parameters: Mapping[str, object], figures: Mapping[str, float]) -> None:
    """Print the figures as a table and write build/bench/NAME.json."""
    keep(name, parameters, figures)
    print(table(name, parameters, figures))


def _cpu_model() -> str:
    """The processor's name where Linux tells it."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"
