"""The scenario's name, and a brief that is short and gives nothing away."""

from __future__ import annotations

import re
from collections.abc import Iterator

from TokenOptEnv.config import YARDSTICK
from TokenOptEnv.evaluation.faults import Fault
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.simulators import tokens

BRIEF_CAP_TOKENS = 120
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def check(scenario: Scenario) -> Iterator[Fault]:
    name = scenario.scenario_id
    prefix = f"{scenario.public.family}-{scenario.public.difficulty.value}-"
    if not name.startswith(prefix) or not _SLUG.fullmatch(name.removeprefix(prefix)):
        yield Fault(
            scenario_id=name,
            place="scenario_id",
            cause="is not family-difficulty-slug",
            remedy=f"begin with {prefix!r} and go on in lower case, digits and single hyphens",
        )
    for place, brief in _briefs(scenario).items():
        yield from _short(name, place, brief)
        yield from _silent(scenario, place, brief)


def _briefs(scenario: Scenario) -> dict[str, str]:
    phases = {f"phase {phase.phase_id} brief": phase.brief for phase in scenario.public.phases}
    return {"brief": scenario.public.brief, **phases}


def _short(name: str, place: str, brief: str) -> Iterator[Fault]:
    size = tokens.count(YARDSTICK, brief)
    if size > BRIEF_CAP_TOKENS:
        yield Fault(
            scenario_id=name,
            place=place,
            cause=f"takes {size} tokens of {BRIEF_CAP_TOKENS}",
            remedy="say less: it is billed at every step",
        )


def _silent(scenario: Scenario, place: str, brief: str) -> Iterator[Fault]:
    """A value counts as said where it stands as a word of its own: `46` is not said by `1460`."""
    for truth in scenario.hidden.fields:
        for value in truth.accepted:
            if re.search(rf"(?<!\w){re.escape(value.casefold())}(?!\w)", brief.casefold()):
                yield Fault(
                    scenario_id=scenario.scenario_id,
                    place=place,
                    cause=f"says the answer to {truth.name}: {value[:60]!r}",
                    remedy="describe the symptom without it",
                )
