"""Run jird on a small internet of its own: `make demo`, for trying everything without a network.

The sites of scripts/test_internet.py are served and crawled, with data in data/demo; everything else is scripts/run.py.
"""

import os
import subprocess
import sys
from pathlib import Path

import run

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "data" / "demo"
INTERNET = DATA / "internet"
EXAMPLES = ("rhubarb", "Felsen der Loreley", "温泉", "озеро нерпа", "metal that melts in the hand")


def main() -> int:
    """Serve the sites, run jird with a configuration that allows them, and crawl them."""
    INTERNET.mkdir(parents=True, exist_ok=True)
    config = INTERNET / "jird.toml"
    environment = {
        **run.local_environment(DATA),
        "JIRD_CONFIG": str(config),
        "JIRD_STATE_DIR": str(DATA / "state"),
        "JIRD_RUN_DIR": str(ROOT / "data" / "run"),
        "JIRD_ADMIN": "local",
        "JIRD_LOG_LEVEL": os.environ.get("JIRD_LOG_LEVEL", "warning"),  # the address must not scroll away
    }

    def start(launcher: run.Launcher) -> bool:
        sites = {"sites": [str(ROOT / "scripts" / "test_internet.py"), "--directory", str(INTERNET)]}
        if not (launcher.start(environment, sites) and launcher.start(environment, run.JIRD)):
            return False
        seeds = (INTERNET / "seeds.txt").read_text().split()
        command = [sys.executable, "-m", "jird_cli", "crawl", "start", *seeds]
        subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=True)
        run.say(f"open {run.web_address(environment)} in a browser; Ctrl-C stops")
        run.say("search for: " + ", ".join(EXAMPLES))
        return True

    return run.serve(start)


if __name__ == "__main__":
    sys.exit(main())
