"""The types of the extension, which cffi builds from native/qix/qix_api.h and qix_text_api.h."""

from typing import Any, Final

CData = Any

class _Ffi:
    NULL: Final[CData]
    def new(self, cdecl: str, init: object = ...) -> CData: ...
    def release(self, cdata: CData) -> None: ...
    def gc(self, cdata: CData, destructor: object) -> CData: ...
    def cast(self, cdecl: str, source: object) -> CData: ...
    def from_buffer(self, cdecl: str, python_buffer: object) -> CData: ...
    def buffer(self, cdata: CData, size: int = ...) -> Any: ...
    def string(self, cdata: CData, maxlen: int = ...) -> bytes: ...
    def unpack(self, cdata: CData, length: int) -> Any: ...

class _Lib:
    QIX_FORMAT_VERSION: Final[int]
    QIX_FIELD_COUNT: Final[int]
    QIX_TOP_K_MAX: Final[int]
    QIX_SEARCH_FIGURES: Final[int]
    QIX_QUERY_NODES_MAX: Final[int]
    QIX_QUERY_DEPTH_MAX: Final[int]
    QIX_PHRASE_TERMS_MAX: Final[int]
    QIX_PARTS_MAX: Final[int]
    QIX_LIST_TERMS_MAX: Final[int]
    QIX_ORDER_ORIGIN: Final[int]
    QIX_ORDER_GIVEN: Final[int]
    QIX_OK: Final[int]
    QIX_ERR_CORRUPT: Final[int]
    QIX_ERR_VERSION: Final[int]
    QIX_ERR_MEMORY: Final[int]
    QIX_ERR_IO: Final[int]
    QIX_ERR_ARGUMENT: Final[int]
    QIX_ERR_LIMIT: Final[int]
    QIX_ERR_STOPPED: Final[int]
    def __getattr__(self, name: str) -> Any: ...

ffi: Final[_Ffi]
lib: Final[_Lib]
