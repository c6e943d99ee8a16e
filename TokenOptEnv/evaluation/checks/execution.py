"""What a scenario claims to have run, run again: its content is made anew, and its patches meet the hidden tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.evaluation.faults import Fault, Level
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.scenario_store.imported import is_imported
from TokenOptEnv.scenario_store.splits import case_named, generate
from TokenOptEnv.task_defs.bugfix.generator import verify_scenario
from TokenOptEnv.task_defs.family import families

PYTHON = (3, 11)
"""Reports of runs are the same bytes within one minor version; this is the one that shipped content was made with."""


def check(scenario: Scenario) -> Iterator[Fault]:
    """Designed cases judge their patches as they are built, and histories run their tests; so building is running.

    Generated bug fixes play from records, and their verdicts are run apart.
    """
    yield from _made_anew(scenario)
    if scenario.hidden.verdicts and case_named(scenario.scenario_id) is not None:
        for line in verify_scenario(scenario):
            yield Fault(
                scenario_id=scenario.scenario_id,
                place="verdicts",
                cause=line.removeprefix(f"{scenario.scenario_id}: "),
                remedy="record its package anew",
            )


def _made_anew(scenario: Scenario) -> Iterator[Fault]:
    if is_imported(scenario.scenario_id):
        return  # it claims to have run nothing, and what it was made of is its owner's
    if sys.version_info[:2] != PYTHON:
        running, wanted = (".".join(map(str, each)) for each in (sys.version_info[:2], PYTHON))
        yield Fault(
            scenario_id=scenario.scenario_id,
            place="content",
            cause=f"cannot be made again by Python {running}",
            remedy=f"run this with Python {wanted}",
            level=Level.WARNING,
        )
        return
    try:
        made = _build(scenario)
    except ScenarioInvalid as fault:
        yield Fault(
            scenario_id=scenario.scenario_id, place="content", cause=str(fault), remedy="mend the case's own code"
        )
        return
    if made is None or made.content_hash != scenario.content_hash:
        yield Fault(
            scenario_id=scenario.scenario_id,
            place="content",
            cause="is nobody's any more" if made is None else f"made again it is {made.content_hash[:12]}",
            remedy="rebuild it: camre scenarios build",
        )


def _build(scenario: Scenario) -> Scenario | None:
    case = case_named(scenario.scenario_id)
    if case is not None:
        return generate(case)
    family = families().get(scenario.public.family)
    if family is None or scenario.scenario_id not in family.designed:
        return None
    return family.design(scenario.scenario_id)
