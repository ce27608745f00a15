"""The cffi build script of jird_native._qix (API mode); setup.py names `ffibuilder`."""

from pathlib import Path

from cffi import FFI

NATIVE = Path(__file__).resolve().parent
APIS = ("qix_api.h", "qix_text_api.h")
SOURCES = sorted(f"native/qix/{path.name}" for path in (NATIVE / "qix").glob("*.c"))

ffibuilder = FFI()
for api in APIS:
    ffibuilder.cdef((NATIVE / "qix" / api).read_text())
ffibuilder.set_source(
    "jird_native._qix",
    "#include <stddef.h>\n#include <stdint.h>\n" + "".join(f'#include "{api}"\n' for api in APIS),
    sources=SOURCES,
    include_dirs=["native/qix"],
    extra_compile_args=["-std=c11", "-O3", "-ffp-contract=off", "-Wall", "-Wextra", "-Wshadow", "-Wconversion"],
)
