"""Bug fixes without end: a package from the shelf, a recorded slip, and the story of a red night around it.

    plot -> past -> exhibits -> questions -> case

A case is a pure function of its outline: nothing is run here, because what running shows was recorded beforehand.
"""

from __future__ import annotations

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.task_defs.bugfix.generator.case import write
from TokenOptEnv.task_defs.bugfix.generator.checking import verify_scenario
from TokenOptEnv.task_defs.generation import Outline

__all__ = ["generate", "verify_scenario"]

_ATTEMPTS = 16


def generate(outline: Outline) -> Scenario:
    """A draw that breaks a rule (a quote cut in two, an answer too long) is drawn again, a bounded number of times."""
    reasons: list[str] = []
    for attempt in range(_ATTEMPTS):
        try:
            return write(outline, attempt)
        except ScenarioInvalid as fault:
            reasons.append(str(fault))
    raise ScenarioInvalid(f"{outline.scenario_id}: no draw of {_ATTEMPTS} kept its rules; the last: {reasons[-1]}")
