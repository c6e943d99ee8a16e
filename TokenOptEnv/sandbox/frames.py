"""How both sides of the wall speak: four bytes of length, then as many bytes.

Runs inside as well as outside, so it imports the standard library alone.
"""

from __future__ import annotations

import os
import select
import struct
import time
from typing import Final

HEADER: Final = struct.Struct(">I")
_CHUNK_BYTES: Final = 65_536


class FrameLate(Exception):
    pass


class FrameCut(Exception):
    """The other side went away in the middle, or before it said anything, or speaks of more than it may send."""


def framed(payload: bytes) -> bytes:
    return HEADER.pack(len(payload)) + payload


def read_frame(source: int, most_bytes: int, ends_at: float | None = None) -> bytes:
    """The next frame and not a byte more: what follows belongs to whoever reads next."""
    (length,) = HEADER.unpack(_read(source, HEADER.size, ends_at))
    if length > most_bytes:
        raise FrameCut
    return _read(source, length, ends_at)


def write_all(target: int, data: bytes, ends_at: float | None = None) -> None:
    """With a deadline, on the monotonic clock, the descriptor must not block: whoever should read may have stopped."""
    left = memoryview(data)
    while left:
        _wait(target, select.POLLOUT, ends_at)
        try:
            left = left[os.write(target, left[:_CHUNK_BYTES]) :]
        except BlockingIOError:
            continue
        except BrokenPipeError:
            raise FrameCut from None


def _read(source: int, length: int, ends_at: float | None) -> bytes:
    pieces: list[bytes] = []
    while length:
        _wait(source, select.POLLIN, ends_at)
        piece = os.read(source, min(length, _CHUNK_BYTES))
        if not piece:
            raise FrameCut
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def _wait(descriptor: int, event: int, ends_at: float | None) -> None:
    if ends_at is None:
        return
    poll = select.poll()
    poll.register(descriptor, event)
    left_ms = (ends_at - time.monotonic()) * 1_000
    if left_ms <= 0 or not poll.poll(left_ms):
        raise FrameLate
