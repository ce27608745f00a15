"""What pyproject.toml cannot say: the C extensions, and generated code before anything is collected."""

import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build import build

ROOT = Path(__file__).resolve().parent


class BuildWithProto(build):
    """The usual build, after the protobuf code has been generated beside the .proto files."""

    def run(self) -> None:
        subprocess.run([sys.executable, str(ROOT / "scripts" / "gen_proto.py")], check=True)
        super().run()


setup(
    cffi_modules=["native/build_qix.py:ffibuilder", "native/build_page.py:ffibuilder"],
    cmdclass={"build": BuildWithProto},
)
