"""What running the mutants of a package showed, kept so that a case can be written without running anything.

A case generated twice must be the same bytes, on a machine with another Python too; so reports and verdicts are
recorded once, by `recording`, with the interpreter that the records name. `checking` runs them again.
"""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from TokenOptEnv.errors import UnknownName
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.task_defs.bugfix.generator.library import packages
from TokenOptEnv.task_defs.bugfix.generator.mutation import Mutation
from TokenOptEnv.task_defs.execution_report import ReportedTest

SUFFIX = ".json.gz"


class Mutant(Frozen):
    """A mutation that the hidden tests notice."""

    mutant_id: str
    mutation: Mutation
    failing: tuple[ReportedTest, ...]
    """The visible tests that it fails; none where only the hidden ones notice it."""
    stays: tuple[str, ...] = ()
    """Mutants of other functions whose harm, done on top of it, was run and repairs nothing."""


class Verified(Frozen):
    python: str
    """The minor version that the reports were recorded with, as pytest prints it."""
    tests: tuple[tuple[str, str], ...]
    """Module and name of every visible test, in the order of a run."""
    expected: tuple[tuple[str, ...], ...]
    """What each hidden call gives on the correct package."""
    mutants: tuple[Mutant, ...]

    def mutant(self, mutant_id: str) -> Mutant:
        return next(mutant for mutant in self.mutants if mutant.mutant_id == mutant_id)


@cache
def verified(package: str) -> Verified:
    entry = folder() / f"{package}{SUFFIX}"
    if not entry.is_file():
        raise UnknownName("package with verified mutants", package, packages(), "task_defs/bugfix/generator/lore")
    return Verified.model_validate_json(gzip.decompress(entry.read_bytes()))


def folder() -> Traversable:
    return files("TokenOptEnv.task_defs.bugfix.generator") / "records"
