"""Every class of fault there is, one file each: how it goes wrong, and in whose words it is told.

Four classes are held out: they happen only in the test split, and their lines stand nowhere else, not even as
decoys. The other classes have wordings of their own for test. Discovery finds each module that defines `KIND`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from TokenOptEnv.task_defs.generation import Split
from TokenOptEnv.task_defs.incident.generator.faults.kind import FaultKind
from TokenOptEnv.task_defs.incident.vocabulary import FaultClass

HELD_OUT = (FaultClass.CLOCK_SKEW, FaultClass.DEADLOCK, FaultClass.DNS, FaultClass.NOISY_NEIGHBOUR)


@cache
def kinds() -> dict[FaultClass, FaultKind]:
    """Every kind of fault, planned exercises included (their class is `no_fault`), in alphabetical order."""
    found: dict[FaultClass, FaultKind] = {}
    for module in iter_modules(__path__):
        kind = getattr(import_module(f"{__name__}.{module.name}"), "KIND", None)
        if isinstance(kind, FaultKind):
            found[kind.fault_class] = kind
    return dict(sorted(found.items()))


def faults_of(split: Split) -> tuple[FaultKind, ...]:
    """The kinds of fault that may happen in a split."""
    return tuple(
        kind
        for fault_class, kind in kinds().items()
        if fault_class is not FaultClass.NO_FAULT and (split is Split.TEST or fault_class not in HELD_OUT)
    )
