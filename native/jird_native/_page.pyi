"""The types of the extension, which cffi builds from native/page/page_api.h."""

from typing import Any, Final

CData = Any

class _Ffi:
    NULL: Final[CData]
    def new(self, cdecl: str, init: object = ...) -> CData: ...
    def gc(self, cdata: CData, destructor: object) -> CData: ...
    def cast(self, cdecl: str, value: object) -> CData: ...
    def from_buffer(self, cdecl: str, python_buffer: object) -> CData: ...
    def buffer(self, cdata: CData, size: int = ...) -> Any: ...
    def unpack(self, cdata: CData, length: int) -> Any: ...

class _Lib:
    PAGE_FULL_NODES: Final[int]
    PAGE_FULL_DEPTH: Final[int]
    PAGE_FULL_TEXT: Final[int]
    PAGE_FULL_LINKS: Final[int]
    PAGE_ROOT: Final[int]
    def __getattr__(self, name: str) -> Any: ...

ffi: Final[_Ffi]
lib: Final[_Lib]
