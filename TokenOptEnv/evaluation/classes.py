"""What kind of case a scenario is: the fault of an incident, the failure of a build, the package a bug is in.

For an incident or a build the class is part of the answer, so it is looked up when results are grouped and never
written beside an episode: a result file of the test split would tell the truth of each case.
"""

from __future__ import annotations

from functools import lru_cache

from TokenOptEnv import scenario_store
from TokenOptEnv.scenario import Scenario

_CLASS_ENDING = "_class"
_FILE_FIELD = "file"
_HELD_OUT_MARK = " (held out)"


@lru_cache(maxsize=8_192)
def class_of(scenario_id: str) -> str:
    """A label such as `incident: dns (held out)`: a class is held out where it is tested and never trained on."""
    scenario = scenario_store.load(scenario_id)
    name = _name(scenario)
    mark = _HELD_OUT_MARK if _held_out(scenario, name) else ""
    return f"{scenario.public.family}: {name}{mark}"


def _name(scenario: Scenario) -> str:
    truths = {field.name: field.accepted[0] for field in scenario.hidden.fields}
    for name, truth in truths.items():
        if name.endswith(_CLASS_ENDING):
            return truth
    for field in scenario.public.answer_fields:
        if field.name == _FILE_FIELD and field.choices:
            return field.choices[0].split("/", 1)[0]
    return "other"


def _held_out(scenario: Scenario, name: str) -> bool:
    from TokenOptEnv.task_defs.bugfix.generator.library import lore, packages
    from TokenOptEnv.task_defs.incident.generator.faults import HELD_OUT

    if scenario.public.family == "incident":
        return name in {fault.value for fault in HELD_OUT}
    return scenario.public.family == "bugfix" and name in packages() and lore(name).held_out
