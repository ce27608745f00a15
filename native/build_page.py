"""The cffi build script of jird_native._page (API mode); setup.py names `ffibuilder`."""

from pathlib import Path

from cffi import FFI

NATIVE = Path(__file__).resolve().parent
SOURCES = sorted(f"native/page/{path.name}" for path in (NATIVE / "page").glob("*.c"))

ffibuilder = FFI()
ffibuilder.cdef((NATIVE / "page" / "page_api.h").read_text())
ffibuilder.set_source(
    "jird_native._page",
    '#include <stddef.h>\n#include <stdint.h>\n#include "page_api.h"\n',
    sources=SOURCES,
    include_dirs=["native/page", "native/qix"],
    extra_compile_args=["-std=c11", "-O3", "-Wall", "-Wextra", "-Wshadow", "-Wconversion"],
)
