"""Reading GGUF, the container that small open models are shipped in: typed settings, then aligned tensors.

Only what a Llama-shaped model in 4- or 8-bit blocks needs. A tensor is stored as rows of blocks of 32 weights; each
block carries its own scale (and, for `Q4_1`, its own minimum), so a weight is `scale * integer + minimum`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from TokenOptEnv.errors import BadInput

Setting = bool | int | float | str | list[Any]

_MAGIC = b"GGUF"
_DEFAULT_ALIGNMENT = 32
_BLOCK = 32
_TEXT, _ARRAY = 8, 9
_NUMBERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}


class Quantization(IntEnum):
    F32 = 0
    F16 = 1
    Q4_1 = 3
    Q8_0 = 8


_BYTES_PER_BLOCK = {
    Quantization.F32: 4 * _BLOCK,
    Quantization.F16: 2 * _BLOCK,
    Quantization.Q4_1: 2 + 2 + _BLOCK // 2,
    Quantization.Q8_0: 2 + _BLOCK,
}


@dataclass(frozen=True, slots=True)
class TensorPlace:
    name: str
    shape: tuple[int, ...]
    """Rows first, as numpy and torch have it; the file has it the other way round."""
    kind: int
    offset: int


@dataclass(frozen=True, slots=True)
class Gguf:
    settings: dict[str, Setting]
    places: tuple[TensorPlace, ...]
    data: NDArray[np.uint8]
    """The part of the file that holds the tensors."""

    def number(self, name: str) -> float:
        value = self._setting(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BadInput(f"GGUF setting {name!r} is not a number; convert another file")
        return value

    def whole_number(self, name: str) -> int:
        return int(self.number(name))

    def text(self, name: str) -> str:
        return str(self._setting(name))

    def texts(self, name: str) -> list[str]:
        value = self._setting(name)
        if not isinstance(value, list):
            raise BadInput(f"GGUF setting {name!r} is not a list; convert another file")
        return [str(each) for each in value]

    def _setting(self, name: str) -> Setting:
        if name not in self.settings:
            raise BadInput(f"GGUF setting {name!r} is missing; only Llama-shaped models can be converted")
        return self.settings[name]

    def tensors(self) -> Iterator[tuple[str, NDArray[np.float32]]]:
        for place in self.places:
            yield place.name, self._weights(place)

    def _weights(self, place: TensorPlace) -> NDArray[np.float32]:
        try:
            kind = Quantization(place.kind)
        except ValueError:
            known = ", ".join(each.name for each in Quantization)
            raise BadInput(f"tensor {place.name!r} is stored as type {place.kind}; known are {known}") from None
        weights = int(np.prod(place.shape))
        size = -(-weights // _BLOCK) * _BYTES_PER_BLOCK[kind]
        raw = self.data[place.offset : place.offset + size]
        return _expanded(raw, kind)[:weights].reshape(place.shape)


def read(file: Path) -> Gguf:
    source = np.fromfile(file, dtype=np.uint8)
    reader = _Reader(source.tobytes())
    if reader.raw(4) != _MAGIC:
        raise BadInput(f"{file.name!r} is not a GGUF file")
    reader.number("<I")
    tensor_count, setting_count = reader.number("<Q"), reader.number("<Q")
    settings: dict[str, Setting] = {}
    for _ in range(setting_count):
        name = reader.text()
        settings[name] = reader.value(reader.number("<I"))
    places = tuple(_place(reader) for _ in range(tensor_count))
    alignment = settings.get("general.alignment", _DEFAULT_ALIGNMENT)
    assert isinstance(alignment, int)
    start = -(-reader.position // alignment) * alignment
    return Gguf(settings, places, source[start:])


class _Reader:
    def __init__(self, source: bytes) -> None:
        self._source = source
        self.position = 0

    def raw(self, size: int) -> bytes:
        self.position += size
        return self._source[self.position - size : self.position]

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.raw(struct.calcsize(form)))[0]

    def text(self) -> str:
        return self.raw(self.number("<Q")).decode()

    def value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self.text()
        if kind == _ARRAY:
            inner, length = self.number("<I"), self.number("<Q")
            return [self.value(inner) for _ in range(length)]
        return self.number(_NUMBERS[kind])


def _place(reader: _Reader) -> TensorPlace:
    name = reader.text()
    columns_first = [reader.number("<Q") for _ in range(reader.number("<I"))]
    return TensorPlace(name, tuple(reversed(columns_first)), reader.number("<I"), reader.number("<Q"))


def _expanded(raw: NDArray[np.uint8], kind: Quantization) -> NDArray[np.float32]:
    blocks = raw.reshape(-1, _BYTES_PER_BLOCK[kind])
    match kind:
        case Quantization.F32:
            return raw.view(np.float32)
        case Quantization.F16:
            return raw.view(np.float16).astype(np.float32)
        case Quantization.Q8_0:
            scales, integers = _halves(blocks, 0), blocks[:, 2:].copy().view(np.int8)
            return np.asarray(scales * integers, dtype=np.float32).reshape(-1)
        case Quantization.Q4_1:
            scales, minima, nibbles = _halves(blocks, 0), _halves(blocks, 1), blocks[:, 4:]
            integers = np.hstack([nibbles & 0x0F, nibbles >> 4])
            """The low halves of the sixteen bytes are the first sixteen weights, the high halves the others."""
            return np.asarray(scales * integers + minima, dtype=np.float32).reshape(-1)


def _halves(blocks: NDArray[np.uint8], place: int) -> NDArray[np.float32]:
    """The half-precision number at this place of each block's head, as a column."""
    return blocks[:, 2 * place : 2 * place + 2].copy().view(np.float16).astype(np.float32)
