"""What every benchmark ends with: a table for people, and build/bench/NAME.json for programs."""

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "build" / "bench"


def report(name: str, parameters: Mapping[str, object], figures: Mapping[str, float]) -> Path:
    """Print the figures and write them; returns the file.

    Args:
        name: Name of the benchmark, which is its file's name without ".py".
        parameters: What it was run with.
        figures: Name (with its unit, e.g. "search_p99_ms") to value.
    """
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.json"
    content = {
        "name": name,
        "parameters": dict(parameters),
        "figures": dict(figures),
        "commit": commit(),
        "machine": machine(),
    }
    path.write_text(json.dumps(content, indent=2, default=str) + "\n")
    width = max((len(figure) for figure in figures), default=0)
    print(f"{name} ({', '.join(f'{key}={value}' for key, value in parameters.items())})")
    for figure, value in figures.items():
        print(f"  {figure:<{width}}  {value:>14,.3f}".rstrip("0").rstrip("."))
    return path


def commit() -> str:
    """The commit that is checked out, with "+" for changes on top; empty outside a repository."""
    command = ["git", "describe", "--always", "--abbrev=12", "--dirty=+"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def machine() -> str:
    """Processor, number of processors that may be used, kernel, Python."""
    model = platform.processor()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    processors = len(os.sched_getaffinity(0))
    return f"{model}, {processors} processors, Linux {platform.release()}, Python {platform.python_version()}"
