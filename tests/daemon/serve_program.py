"""`jird serve` with the stub in ingest's place: python serve_program.py serve --config FILE."""

import sys
from pathlib import Path

from jird_daemon import __main__, serve, supervise

serve.INGEST_COMMAND = (sys.executable, str(Path(__file__).with_name("stub_ingest.py")))
supervise.READY_WAIT_S = 1.0

if __name__ == "__main__":
    sys.exit(__main__.main())
