"""Text out of files as they lie around: packed or not, in whatever encoding, of any size, in bounded memory.

A file is read in blocks of whole lines and never held. Both passes of an import read the same blocks with the same
offsets, so a place found in the first is found again in the second.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Final

from TokenOptEnv.errors import BadInput

BLOCK_BYTES: Final = 1 << 20
_LONGEST_REST: Final = 1 << 16
"""After a block's worth without a line break, so much more is read in search of one; then the line is broken."""
_HEAD_BYTES: Final = 1 << 12
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WIDE_SHARE: Final = 0.3
"""Text in two bytes a character has so many zero bytes at even or at odd places, and hardly any at the others."""
_ZSTD_MODULE: Final = "compression.zstd"
_ESCAPE: Final = rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\^_])"
"""Colours, cursor moves and titles for terminals."""
_ESCAPE_BYTES: Final = re.compile(_ESCAPE)
_ESCAPE_TEXT: Final = re.compile(_ESCAPE.decode())
_CONTROLS: Final = bytes([*range(1, 9), 11, 12, *range(14, 32), 127])
_CONTROLS_OF_TEXT: Final = dict.fromkeys(_CONTROLS)


_Unpacker = Callable[[IO[bytes]], io.BufferedIOBase]


class NotText(BadInput):
    """A file that holds no text. One found in a folder is passed over; one that was named is an error."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines, each with its line break."""

    text: str
    first_line: int
    offset: int
    """In characters, from the beginning of the text."""
    windows_1252_lines: int = 0
    """How many of them are no UTF-8 and were read as the other common encoding."""

    @property
    def end(self) -> int:
        return self.offset + len(self.text)


def file_blocks(path: Path, name: str, encoding: str | None = None) -> Iterator[Block]:
    """The text of one file. `name` is what an error calls it; `encoding` None is UTF-8, a stray line Windows-1252."""
    try:
        with path.open("rb") as raw:
            packed = _unpacker(raw.read(_HEAD_BYTES), name)
            raw.seek(0)
            stream = io.BufferedReader(packed(raw), BLOCK_BYTES) if packed is not None else raw
            chosen = encoding or _encoding(stream.peek(_HEAD_BYTES)[:_HEAD_BYTES], name)
            pieces = _mixed(stream, name) if chosen is None else _one_encoding(stream, chosen, name)
            yield from _numbered(pieces, name)
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as fault:
        raise BadInput(f"{name}: cannot be unpacked ({fault}); it is damaged or cut short: unpack it by hand") from None
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise BadInput(f"{name}: cannot be read ({reason}); check the file and its rights") from None


def text_blocks(text: str) -> Iterator[Block]:
    """A text that is in memory already, in the same form."""
    if text:
        yield Block(text if text.endswith("\n") else text + "\n", 1, 0)


def _numbered(pieces: Iterator[tuple[str, int]], name: str) -> Iterator[Block]:
    line, offset = 1, 0
    for piece, strays in pieces:
        text = piece.replace("\r\n", "\n")
        if "\0" in text:
            raise NotText(f"{name}: is binary (a zero byte after line {line}); leave it out, or give its text")
        if not text.endswith("\n"):
            text += "\n"
        block = Block(text, line, offset, strays)
        yield block
        line, offset = line + text.count("\n"), block.end


def plain(text: str) -> str:
    """As a terminal shows it: that is where quotes are copied from, and where the text is shown again."""
    return (_ESCAPE_TEXT.sub("", text) if "\x1b" in text else text).translate(_CONTROLS_OF_TEXT)


def _plain_bytes(piece: bytes) -> bytes:
    """The same before it is decoded, which is far quicker; these bytes are part of no other character."""
    return (_ESCAPE_BYTES.sub(b"", piece) if b"\x1b" in piece else piece).translate(None, _CONTROLS)


def _unpacker(head: bytes, name: str) -> _Unpacker | None:
    """By the file's first bytes: names lie."""
    if head.startswith(b"\x1f\x8b"):
        return lambda raw: gzip.GzipFile(fileobj=raw)
    if head.startswith(b"BZh"):
        return bz2.BZ2File
    if head.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMAFile
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return _zstd(name)
    if head.startswith(b"PK\x03\x04") or head[257:262] == b"ustar":
        raise NotText(f"{name}: is an archive of files; unpack it, and give the folder")
    return None


def _zstd(name: str) -> _Unpacker:
    """Part of the standard library from Python 3.14 on."""
    if find_spec(_ZSTD_MODULE.partition(".")[0]) is None:
        raise NotText(f"{name}: is packed with zstd, which this Python cannot read; unpack it first: zstd -d")
    opened: _Unpacker = import_module(_ZSTD_MODULE).ZstdFile
    return opened


def _encoding(head: bytes, name: str) -> str | None:
    """What the first bytes say; None where they say nothing against UTF-8."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    if b"\0" not in head:
        return None
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        here, there = head[first::2].count(0), head[1 - first :: 2].count(0)
        if here > _WIDE_SHARE * len(head) / 2 and there == 0:
            return encoding
    raise NotText(f"{name}: is binary (zero bytes near its beginning); leave it out, or give its text")


def _one_encoding(stream: IO[bytes], encoding: str, name: str) -> Iterator[tuple[str, int]]:
    text = io.TextIOWrapper(stream, encoding=encoding, newline="\n")
    line = 1
    try:
        while piece := text.read(BLOCK_BYTES):
            whole = piece if piece.endswith("\n") else piece + text.readline(_LONGEST_REST)
            yield plain(whole), 0
            line += whole.count("\n")
    except UnicodeError as fault:
        reason = getattr(fault, "reason", fault)
        raise BadInput(f"{name}: is not {encoding} after line {line} ({reason}); give its own: --encoding") from None
    finally:
        text.detach()


def _mixed(stream: IO[bytes], name: str) -> Iterator[tuple[str, int]]:
    line, held = 1, b""
    while piece := held + stream.read(BLOCK_BYTES):
        held = b""
        if not piece.endswith(b"\n"):
            piece += stream.readline(_LONGEST_REST)
            if not piece.endswith(b"\n") and len(piece) > BLOCK_BYTES:
                cut = _character_start(piece)
                piece, held = piece[:cut], piece[cut:]
        text, strays = _decoded(_plain_bytes(piece), line, name)
        yield text, strays
        line += text.count("\n")


def _character_start(piece: bytes) -> int:
    """Where the last character may begin: a line broken for its length is not broken inside a character."""
    for back in range(1, 5):
        if piece[-back] >= 0xC0:
            return len(piece) - back
        if piece[-back] < 0x80:
            break
    return len(piece)


def _decoded(piece: bytes, first_line: int, name: str) -> tuple[str, int]:
    """Logs of several programs in one file differ by lines, so each line has an encoding of its own."""
    try:
        return piece.decode("utf-8"), 0
    except UnicodeDecodeError:
        pass
    texts, strays = [], 0
    for number, line in enumerate(piece.split(b"\n"), start=first_line):
        try:
            texts.append(line.decode("utf-8"))
        except UnicodeDecodeError:
            strays += 1
            try:
                texts.append(line.decode("cp1252"))
            except UnicodeDecodeError:
                kind = NotText if b"\0" in line else BadInput
                raise kind(
                    f"{name}:{number}: is neither UTF-8 nor Windows-1252; name its encoding: --encoding"
                ) from None
    return "\n".join(texts), strays
