"""A WebSocket peer that can say what no library would: every bit of a frame is the caller's."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

TEXT: Final = 1
BINARY: Final = 2
CLOSE: Final = 8
PING: Final = 9
PONG: Final = 10
HANDSHAKE: Final = (
    b"GET /ws HTTP/1.1\r\nHost: camre\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
_LONGEST_ANSWER_BYTES: Final = 1 << 22


class Gone(Exception):
    """The server has closed the connection."""


def frame(
    opcode: int, payload: bytes, *, fin: bool = True, masked: bool = True, reserved: int = 0, claimed: int | None = None
) -> bytes:
    """`claimed` is the length that the header states, where it lies."""
    length = len(payload) if claimed is None else claimed
    mask_bit = 0x80 if masked else 0
    first = (0x80 if fin else 0) | reserved << 4 | opcode
    if length < 126:
        head = struct.pack("!BB", first, mask_bit | length)
    elif length < 1 << 16:
        head = struct.pack("!BBH", first, mask_bit | 126, length)
    else:
        head = struct.pack("!BBQ", first, mask_bit | 127, length)
    return head + (bytes(4) if masked else b"") + payload  # a mask of zeros leaves the payload as it is


@dataclass
class Peer:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, data: bytes) -> None:
        if self.writer.is_closing():
            raise Gone
        self.writer.write(data)

    def say(self, text: str) -> None:
        self.send(frame(TEXT, text.encode()))

    async def hear(self, seconds: float = 60.0) -> bytes:
        """The next message; pings in between are answered."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    first, second = await self.reader.readexactly(2)
                    length = second & 0x7F
                    if length == 126:
                        (length,) = struct.unpack("!H", await self.reader.readexactly(2))
                    elif length == 127:
                        (length,) = struct.unpack("!Q", await self.reader.readexactly(8))
                    assert length < _LONGEST_ANSWER_BYTES
                    payload = await self.reader.readexactly(length)
                    match first & 0x0F:
                        case 9:
                            self.send(frame(PONG, payload))
                        case 8:
                            raise Gone(payload)
                        case 10:
                            pass
                        case _:
                            return payload
        except (asyncio.IncompleteReadError, ConnectionError) as gone:
            raise Gone from gone

    async def ask(self, text: str) -> bytes:
        self.say(text)
        return await self.hear()

    def vanish(self) -> None:
        """Gone without a word, as when a process is killed."""
        self.writer.transport.abort()


@asynccontextmanager
async def peer(port: int, receive_buffer_bytes: int | None = None) -> AsyncIterator[Peer]:
    raw = socket.socket()
    if receive_buffer_bytes is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
    raw.setblocking(False)
    await asyncio.get_running_loop().sock_connect(raw, ("127.0.0.1", port))
    reader, writer = await asyncio.open_connection(sock=raw, limit=_LONGEST_ANSWER_BYTES)
    try:
        writer.write(HANDSHAKE)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101"), head
        yield Peer(reader, writer)
    finally:
        writer.transport.abort()
        with suppress(ConnectionError):
            await writer.wait_closed()
