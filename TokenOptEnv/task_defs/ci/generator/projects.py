"""The packages that histories are told of, and the slips that are known to break exactly what they say.

Packages and slips are those of the bug-fix family, held out alike. Which slip fails which tests was recorded there,
and is found out again in every case that uses one.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from TokenOptEnv.task_defs.bugfix.generator.library import lore, packages_of
from TokenOptEnv.task_defs.bugfix.generator.verified import Mutant, verified
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.ci.generator.slip import Slip, placed
from TokenOptEnv.task_defs.generation import Split

_MOST_FAILING = 3
"""Test functions: a slip that breaks more is seen at a glance."""
_LONGEST_ID = 66
"""A longer id is cut in the summary of a report."""
_MOST_NAMES = 7


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


def _slips(name: str) -> tuple[KnownSlip, ...]:
    found = (_known(name, mutant) for mutant in verified(name).mutants if mutant.failing)
    return tuple(known for known in found if known is not None)


def _known(name: str, mutant: Mutant) -> KnownSlip | None:
    """A mutant as a slip, if a history can be told of it: a line is added, and single tests fail."""
    mutation = mutant.mutation
    failing = tuple(test.test_id for test in mutant.failing)
    functions = {test_id.partition("[")[0] for test_id in failing}
    plain = len(functions) == len(failing) <= _MOST_FAILING and max(map(len, failing)) <= _LONGEST_ID
    if not plain or all(line in mutation.right for line in mutation.wrong):
        return None
    text = package_files(name)[mutation.path]
    function = mutation.function.rpartition(".")[2]
    slip = placed(mutation.path, function, text, mutation.line, mutation.right, mutation.wrong)
    return KnownSlip(slip, failing) if slip is not None else None


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
