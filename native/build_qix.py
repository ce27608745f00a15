"""The cffi build script of jird_native._qix (API mode); setup.py names `ffibuilder`."""

from pathlib import Path

from cffi import FFI

NATIVE = Path(__file__).resolve().parent
SOURCES = sorted(f"native/qix/{path.name}" for path in (NATIVE / "qix").glob("*.c"))

ffibuilder = FFI()
ffibuilder.cdef((NATIVE / "qix" / "qix_api.h").read_text())
ffibuilder.set_source(
    "jird_native._qix",
    '#include "qix_api.h"',
    sources=SOURCES,
    include_dirs=["native/qix"],
    extra_compile_args=["-std=c11", "-O3", "-Wall", "-Wextra", "-Wshadow", "-Wconversion"],
)
