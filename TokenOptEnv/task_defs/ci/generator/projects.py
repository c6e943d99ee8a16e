"""The packages that histories are told of, and the slips that are known to break exactly what they say.

The packages are those of the bug-fix family, held out alike. Which slip fails which tests was found out by running
it (`slip_table`), and is found out again in every case that uses one.
"""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from TokenOptEnv.task_defs.bugfix.generator.library import lore, packages_of
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.ci.generator.mutation import Slip
from TokenOptEnv.task_defs.generation import Split

_LEAST_NAMES, _MOST_NAMES = 3, 7


@dataclass(frozen=True, slots=True)
class KnownSlip:
    slip: Slip
    failing: tuple[str, ...]
    """Test ids, as the whole suite of the package reports them."""


@dataclass(frozen=True, slots=True)
class Project:
    name: str
    about: str
    files: MappingProxyType[str, str]
    slips: tuple[KnownSlip, ...]
    module: str
    """A module whose public names the planted tests go over."""
    names: tuple[str, ...]


def projects(split: Split) -> tuple[str, ...]:
    return packages_of(split)


@cache
def project(name: str) -> Project:
    sources = package_files(name)
    module, names = _richest_module(name, sources)
    return Project(name, lore(name).about, sources, _slips(name), module, names)


@cache
def _table() -> dict[str, list[dict[str, list[str] | str]]]:
    text = (files(__package__ or "") / "data" / "slips.json").read_text(encoding="utf-8")
    table: dict[str, list[dict[str, list[str] | str]]] = json.loads(text)
    return table


def _slips(name: str) -> tuple[KnownSlip, ...]:
    return tuple(
        KnownSlip(
            Slip(str(row["path"]), str(row["function"]), str(row["old"]), str(row["new"])), tuple(row["failing"])
        )
        for row in _table().get(name, [])
    )


def _richest_module(name: str, sources: MappingProxyType[str, str]) -> tuple[str, tuple[str, ...]]:
    """The module with the most public names; not one that the package's front door hides behind a name of its own."""
    door = [node for node in ast.parse(sources[f"{name}/__init__.py"]).body if isinstance(node, ast.ImportFrom)]
    hidden = [alias.asname or alias.name for node in door for alias in node.names]
    found: dict[str, tuple[str, ...]] = {}
    for path, text in sources.items():
        module = path.removeprefix(f"{name}/").removesuffix(".py")
        if not path.startswith(f"{name}/") or "/" in module or module in ("__init__", *hidden):
            continue
        bound = [
            node.name
            for node in ast.parse(text).body
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
        ]
        imported = [
            alias.asname or alias.name
            for node in ast.parse(text).body
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(name)
            for alias in node.names
        ]
        found[module] = tuple(dict.fromkeys([*bound, *imported]))[:_MOST_NAMES]
    module = max(found, key=lambda each: (len(found[each]), each))
    return module, found[module]
