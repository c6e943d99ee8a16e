"""What a bare interpreter needs to run: its program, its standard library, and the shared objects that both load.

Listed file by file, so that nothing else of the machine is in the sandbox. Above all no installed packages: among
them is this project, and with it the packages as they should be.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from TokenOptEnv.errors import SandboxUnavailable

_TIME_LIMIT_S: Final = 30.0
_LIST_FILES: Final = """
import ctypes, importlib, json, os, sys
from pathlib import Path

library = Path(os.__file__).parent
for folder in sys.path:
    for file in sorted(Path(folder).glob("*.so")):
        name = file.name.partition(".")[0]
        if not name.startswith(("_test", "_ctypes_test", "_tkinter", "_xx", "xx")):
            try:
                importlib.import_module(name)
            except ImportError:
                pass


class Info(ctypes.Structure):
    _fields_ = [("address", ctypes.c_void_p), ("name", ctypes.c_char_p)]


found = []


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Info), ctypes.c_size_t, ctypes.c_void_p)
def seen(info, size, data):
    found.append(os.fsdecode(info.contents.name or b""))
    return 0


ctypes.CDLL(None).dl_iterate_phdr(seen, None)
folders = [str(library), *(path for path in sys.path if Path(path).is_dir())]
print(json.dumps({"folders": folders, "objects": [name for name in found if name.startswith("/")]}))
"""
"""Every extension module is loaded once, and then the loader is asked what it has loaded, under which names."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    program: str
    folders: tuple[str, ...]
    """Of the standard library."""
    objects: tuple[str, ...]
    """Shared objects outside those folders, as the loader looks for them."""


@cache
def bare_interpreter() -> Interpreter:
    program = os.path.realpath(sys.executable)
    command = [program, "-I", "-S", "-B", "-c", _LIST_FILES]
    try:
        done = subprocess.run(
            command, env={}, capture_output=True, encoding="utf-8", timeout=_TIME_LIMIT_S, check=False
        )
        listed = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        raise SandboxUnavailable(f"{Path(program).name} cannot say which files it needs") from None
    folders = _outermost(listed["folders"])
    objects = [
        name for name in dict.fromkeys(listed["objects"]) if not name.startswith(tuple(f"{f}/" for f in folders))
    ]
    return Interpreter(program=program, folders=folders, objects=tuple(objects))


def _outermost(folders: list[str]) -> tuple[str, ...]:
    """Without those that lie in another."""
    each = sorted(set(folders))
    return tuple(one for one in each if not any(one.startswith(f"{other}/") for other in each))
