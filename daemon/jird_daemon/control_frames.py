"""Frames of the channel between serve and ingest, over a connected Unix stream socket.

A frame is a length (u32, big-endian) and a MessagePack map; control.py says what is in it. Whoever breaks the framing
ends the channel: serve then replaces ingest, and ingest stops, since it can no longer be told to.
"""

import asyncio
import contextlib
import socket
from typing import TypeVar

import msgspec

from jird_daemon.control import FRAME_BYTES_MAX, Event, Message

CALLS_MAX = 64  # in flight at a time; people and scripts make a few, and each may hold a thread
BACKLOG_BYTES = 1024 * 1024  # unsent bytes beyond which progress and heartbeats are left out: serve is not reading

T = TypeVar("T")

MESSAGES = msgspec.msgpack.Decoder(Message)
EVENTS = msgspec.msgpack.Decoder(Event)
_encoder = msgspec.msgpack.Encoder()


class ChannelError(Exception):
    """A frame is too large or does not decode."""


class Frames:
    """Length-prefixed frames over a connected stream socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def over(cls, sock: socket.socket) -> "Frames":
        """Speak through a connected stream socket, which then belongs to the frames."""
        reader, writer = await asyncio.open_connection(sock=sock)
        return cls(reader, writer)

    async def read(self) -> bytes | None:
        """The next frame; None when the other end is gone."""
        try:
            size = int.from_bytes(await self._reader.readexactly(4), "big")
            if size > FRAME_BYTES_MAX:
                raise ChannelError(f"frame of {size} bytes, at most {FRAME_BYTES_MAX}")
            return await self._reader.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    def write(self, message: Message | Event) -> None:
        """Send a message; nothing happens when the other end is gone. Raises ChannelError when it is too large."""
        data = _encoder.encode(message)
        if len(data) > FRAME_BYTES_MAX:
            raise ChannelError(f"frame of {len(data)} bytes, at most {FRAME_BYTES_MAX}")
        if not self._writer.is_closing():
            self._writer.write(len(data).to_bytes(4, "big") + data)

    @property
    def is_backed_up(self) -> bool:
        """Whether so much is unsent that what can be left out should be."""
        return self._writer.transport.get_write_buffer_size() > BACKLOG_BYTES

    async def flush(self) -> None:
        """Wait until the other end has taken what was written, or is gone."""
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    async def close(self) -> None:
        """Give the socket back."""
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()


def decode(decoder: "msgspec.msgpack.Decoder[T]", data: bytes) -> T:
    """Decode the bytes of a frame; ChannelError when they are not what is expected."""
    try:
        return decoder.decode(data)
    except msgspec.DecodeError as error:
        raise ChannelError(f"frame of {len(data)} bytes does not decode: {error}") from error
