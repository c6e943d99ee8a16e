"""What played: a hash of every file that an episode can depend on. Results of different code are never mixed."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from TokenOptEnv import policies

_SURFACES = ("adapters", "calibration", "cli", "client.py", "server", "studio")
"""Rooms that no episode passes through."""
_NOT_SOURCES = ("__pycache__",)


def fingerprint(policy_names: Iterable[str]) -> str:
    """Of this package and of the modules that the guests among these policies come from."""
    guests = sorted({name.partition(":")[0] for name in policy_names if policies.info(name).is_guest})
    whole = sha256(_package().encode())
    for module in guests:
        source = inspect.getsourcefile(sys.modules[module])
        whole.update(module.encode() + (Path(source).read_bytes() if source else b""))
    return whole.hexdigest()[:16]


@lru_cache(maxsize=1)
def _package() -> str:
    whole = sha256()
    for name, file in _walk(files("TokenOptEnv"), ""):
        whole.update(f"{name}\0".encode() + sha256(file.read_bytes()).digest())
    return whole.hexdigest()


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.name in _NOT_SOURCES or (not prefix and entry.name in _SURFACES):
            continue
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry
