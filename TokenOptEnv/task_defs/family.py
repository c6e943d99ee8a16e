"""What a family is: a name, what it asks, and its cases. Discovery finds each folder that defines `FAMILY`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from TokenOptEnv import task_defs
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.task_defs.generation import Outline


@dataclass(frozen=True)
class Family:
    name: str
    asks: str
    """One line: what the agent must find out."""
    designed: Mapping[str, Callable[[], Scenario]]
    """The cases designed by hand, by scenario id."""
    generate: Callable[[Outline], Scenario] | None = None
    """Writes the case an outline asks for."""


@cache
def families() -> dict[str, Family]:
    """Every family there is, in alphabetical order."""
    found: dict[str, Family] = {}
    for module in iter_modules(task_defs.__path__):
        if module.ispkg:
            family = getattr(import_module(f"{task_defs.__name__}.{module.name}"), "FAMILY", None)
            if isinstance(family, Family):
                found[family.name] = family
    return dict(sorted(found.items()))
