"""Cases of the ci family without end, each a pure function of its outline."""

from __future__ import annotations

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.task_defs.ci.generator.case import write
from TokenOptEnv.task_defs.generation import Outline

_ATTEMPTS = 12


def generate(outline: Outline) -> Scenario:
    """A drawn case that fails its own checks is drawn anew, under another key."""
    reason = ""
    for attempt in range(_ATTEMPTS):
        try:
            return write(outline, attempt)
        except ScenarioInvalid as fault:
            reason = str(fault)
    raise ScenarioInvalid(f"{outline.scenario_id}: no draw of {_ATTEMPTS} held; the last one: {reason}")
