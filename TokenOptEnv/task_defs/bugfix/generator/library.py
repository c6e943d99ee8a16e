"""The shelf of packages that generated cases are about, and what is known of each besides its code.

A package is real code under `packages/`. Its lore says what it is for, what a repaired copy must do (calls that no
agent sees) and which bugs of more than a token were written for it by hand.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from TokenOptEnv.models.base import Frozen
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.generation import Split

_SUFFIX = ".toml.txt"


class WrittenBug(Frozen):
    """A bug of several lines; `why` is what somebody who saw through it would say."""

    path: str
    before: str
    after: str
    why: str


class Lore(Frozen):
    about: str
    """`slotline books meeting rooms`: the first words of every brief."""
    hidden: tuple[str, ...]
    """Calls, in the notation of `hidden_calls`."""
    bugs: tuple[WrittenBug, ...]
    held_out: bool = False
    """In test alone: neither its code nor its bugs are ever trained on."""


@cache
def lore(name: str) -> Lore:
    return Lore.model_validate(tomllib.loads((_folder() / f"{name}{_SUFFIX}").read_text(encoding="utf-8")))


@cache
def packages() -> tuple[str, ...]:
    """Every package that cases are generated from, by name."""
    found = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in found if name.endswith(_SUFFIX)))


@cache
def packages_of(split: Split) -> tuple[str, ...]:
    """Validation shares its packages with train, test shares them with nobody."""
    return tuple(name for name in packages() if lore(name).held_out is (split is Split.TEST))


@cache
def modules(name: str) -> tuple[str, ...]:
    """The paths of a package's own modules, its front door left out: that holds nothing but names."""
    return tuple(
        path for path in package_files(name) if path.startswith(f"{name}/") and not path.endswith("__init__.py")
    )


@cache
def test_modules(name: str) -> tuple[str, ...]:
    return tuple(path for path in package_files(name) if path.startswith("tests/"))


def _folder() -> Traversable:
    return files("TokenOptEnv.task_defs.bugfix.generator") / "lore"
