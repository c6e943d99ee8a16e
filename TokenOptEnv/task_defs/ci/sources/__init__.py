"""Small packages written for these cases, kept as text: they are run in a fresh interpreter, never imported here."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from TokenOptEnv.errors import UnknownName

_SUFFIX = ".txt"


@cache
def load(name: str) -> dict[str, str]:
    """The files of package `name` as they stood before its history begins, by path, in path order."""
    root = files(__name__)
    packages = sorted(entry.name for entry in root.iterdir() if entry.is_dir() and entry.name != "__pycache__")
    if name not in packages:
        raise UnknownName("source package", name, packages, "TokenOptEnv/task_defs/ci/sources")
    return dict(sorted(_walk(root / name, "")))


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(_SUFFIX):
            found.append((prefix + entry.name.removesuffix(_SUFFIX), entry.read_text(encoding="utf-8")))
    return found
