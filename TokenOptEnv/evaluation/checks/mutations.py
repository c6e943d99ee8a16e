"""Mutated plans: one that still solves undercuts no bound.

The bound is computed without the planner and claims to hold for every way of playing. Nothing proves that but
trying: neighbours of good plans are where a way below it would be.
"""

from __future__ import annotations

from collections.abc import Iterator

from TokenOptEnv.config import DEFAULT_WORLDS
from TokenOptEnv.errors import PlanNotFound
from TokenOptEnv.evaluation.faults import Fault
from TokenOptEnv.evaluation.mutated_plans import Mutant, mutants
from TokenOptEnv.scenario import Scenario


def check(scenario: Scenario, count: int) -> Iterator[Fault]:
    """`count` mutated plans, shared out among the worlds."""
    for index in range(DEFAULT_WORLDS):
        share = (count + index) // DEFAULT_WORLDS
        for number, mutant in enumerate(_mutants(scenario, index, share)):
            if mutant.breaks_bound:
                yield Fault(
                    scenario_id=scenario.scenario_id,
                    place=f"world {index}, mutation {number}",
                    cause=f"solved for {mutant.nano_usd} nano-dollars, below the bound of {mutant.bound_nano_usd}",
                    remedy="the bound is wrong: find what it charges and this does not pay",
                )


def _mutants(scenario: Scenario, index: int, count: int) -> Iterator[Mutant]:
    """None of a world without a plan: another check tells of that."""
    try:
        yield from mutants(scenario, index, count)
    except PlanNotFound:
        return
