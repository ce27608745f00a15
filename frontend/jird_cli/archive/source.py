"""Opening what is to be imported: a file or stdin, compressed or not, in the format that its first bytes show."""

import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from jird_cli.archive.found import Reader
from jird_cli.failure import FailureError

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_BUFFER_BYTES = 1 << 18


class _Gunzip(io.RawIOBase):
    """What is in the members of a gzip file, one after the other; a file that breaks off gives all that it has first.

    The library's GzipFile fills whole buffers, and what it has read is lost when the end is missing.
    """

    def __init__(self, packed: "io.BufferedReader[io.RawIOBase]") -> None:
        self._packed = packed
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]
        while True:
            data = self._rest or self._packed.read1(_BUFFER_BYTES)
            if self._member.eof:
                data = data.lstrip(b"\0")  # padding, as tapes have it
                if not data:
                    return 0
                self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            elif not data:
                raise EOFError("the compressed file ends too early")
            try:
                piece = self._member.decompress(data, len(buffer))
            except zlib.error as error:
                raise OSError(f"the compressed file is damaged: {error}") from None
            self._rest = self._member.unconsumed_tail or self._member.unused_data
            if piece:
                buffer[: len(piece)] = piece
                return len(piece)


class Source:
    """A stream that is being read.

    Attributes:
        stream: Its bytes, decompressed.
    """

    def __init__(self, raw: BinaryIO, total_bytes: int) -> None:
        """Take a stream and the file's size, 0 for a pipe; whether it is compressed shows in its first bytes."""
        self._total_bytes = total_bytes
        self._raw = io.BufferedReader(cast("io.RawIOBase", raw), _BUFFER_BYTES)
        head = self._raw.peek(4)[:4]
        if head == _ZSTD:
            raise FailureError("a file compressed with zstd; decompress it into a pipe: zstd -dc FILE | ...", "FORMAT")
        is_gzip = head.startswith(_GZIP)
        self.stream = io.BufferedReader(_Gunzip(self._raw), _BUFFER_BYTES) if is_gzip else self._raw

    @property
    def percent(self) -> int:
        """How much of the file was read; 0 for a pipe, of which nobody knows."""
        return 100 * self._raw.tell() // self._total_bytes if self._total_bytes else 0

    def reader(self, file_format: str) -> Reader:
        """The reader for "jsonl" or "warc", or for what the first bytes show."""
        try:
            head = self.stream.peek(5)[:5]
        except (EOFError, OSError) as error:
            raise FailureError(f"it cannot be decompressed: {error}", "FORMAT") from None
        if file_format == "warc" or (file_format == "auto" and head.startswith(b"WARC/")):
            from jird_cli.archive.warc_in import WarcReader

            return WarcReader(self.stream)
        from jird_cli.archive.lines_in import LinesReader

        return LinesReader(self.stream)


@contextmanager
def open_source(path: str) -> Iterator[Source]:
    """Open a file, or stdin for "-".

    Raises:
        FailureError: It cannot be read.
    """
    try:
        if path == "-":
            # Beneath its own buffer, which would wait until it is full.
            yield Source(getattr(sys.stdin.buffer, "raw", sys.stdin.buffer), 0)
            return
        with open(path, "rb", buffering=0) as raw:
            yield Source(cast("BinaryIO", raw), Path(path).stat().st_size)
    except OSError as error:
        raise FailureError(f"{path}: {error.strerror or error}", "FILE_UNREADABLE") from None
