"""The packages that carry the bugs: correct, tested code, kept as data and never imported by this project.

Each file is stored with `.txt` after its name, so that no tool takes it for a module of this package.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType

_SUFFIX = ".txt"


@cache
def package_files(name: str) -> MappingProxyType[str, str]:
    """Path to text, in path order: the package as its maintainers mean it to be, tests included."""
    folder = files("TokenOptEnv.task_defs.bugfix") / "packages" / name
    return MappingProxyType(dict(sorted(_walk(folder, ""))))


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for entry in folder.iterdir():
        path = f"{prefix}{entry.name}"
        if entry.is_dir():
            found += _walk(entry, f"{path}/")
        elif path.endswith(_SUFFIX):
            found.append((path.removesuffix(_SUFFIX), entry.read_text(encoding="utf-8")))
    return found
