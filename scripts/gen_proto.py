"""Generate the Python code of proto/jird/v1 beside the .proto files (ignored by git)."""

import sys
from importlib import resources
from pathlib import Path

from grpc_tools import protoc

PROTO_ROOT = Path(__file__).resolve().parent.parent / "proto"


def main() -> int:
    """Run protoc over every file of the contract; with mypy-protobuf installed, write type stubs too."""
    files = sorted(str(path) for path in (PROTO_ROOT / "jird" / "v1").glob("*.proto"))
    well_known = str(resources.files("grpc_tools") / "_proto")
    args = ["protoc", f"-I{PROTO_ROOT}", f"-I{well_known}", f"--python_out={PROTO_ROOT}", f"--pyi_out={PROTO_ROOT}"]
    return int(protoc.main([*args, f"--grpc_python_out={PROTO_ROOT}", *files]))


if __name__ == "__main__":
    sys.exit(main())
