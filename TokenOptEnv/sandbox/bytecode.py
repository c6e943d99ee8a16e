"""Modules compiled beforehand: compiling takes longer than running the hidden tests does."""

from __future__ import annotations

import importlib.util
import marshal
import struct
from typing import Final

from TokenOptEnv.sandbox.zygote import FOLDER

_NEVER_COMPARED: Final = struct.pack("<Iq", 1, 0)
"""A byte-code file that stands for its source without being compared with it."""


def file_of(path: str) -> str:
    """Where the interpreter looks for the byte code of a module."""
    return importlib.util.cache_from_source(path)


def compiled(path: str, text: str) -> bytes:
    code = compile(text, f"{FOLDER}/{path}", "exec", dont_inherit=True)
    return importlib.util.MAGIC_NUMBER + _NEVER_COMPARED + marshal.dumps(code)
