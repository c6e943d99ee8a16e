"""Does a scenario keep its contract? Every check runs, so that one run names every fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from TokenOptEnv.evaluation.checks import (
    cache,
    evidence,
    execution,
    identity,
    mutations,
    offers,
    plans,
    questions,
    slots,
    texts,
)
from TokenOptEnv.evaluation.faults import Fault, Level
from TokenOptEnv.scenario import Scenario

Check = Callable[[Scenario], Iterator[Fault]]

CHECKS: tuple[Check, ...] = (
    identity.check,
    texts.check,
    evidence.check,
    questions.check,
    slots.check,
    cache.check,
    offers.check,
)


def validate(scenario: Scenario, *, execute: bool = False, mutated_plans: int = 0) -> tuple[Fault, ...]:
    """Plans are tried, and claims run again, only on a scenario without fault: another could fail in any way."""
    faults = tuple(fault for check in CHECKS for fault in check(scenario))
    if any(fault.level is Level.ERROR for fault in faults):
        return faults
    ran = execution.check(scenario) if execute else ()
    return (*faults, *plans.check(scenario), *mutations.check(scenario, mutated_plans), *ran)
