"""What a family is: a name, what it asks, and its cases. Discovery finds each folder that defines `FAMILY`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from TokenOptEnv import task_defs
from TokenOptEnv.config import Difficulty
from TokenOptEnv.errors import BadInput
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.generation import Outline, Split
from TokenOptEnv.task_defs.offers import offer
from TokenOptEnv.task_defs.pointers import point

_LED_THROUGHOUT = (Difficulty.EASY, Difficulty.MEDIUM)
"""Of designed cases: here every question leads to its evidence; harder ones ask in words of their own."""


@dataclass(frozen=True)
class Family:
    name: str
    asks: str
    """One line: what the agent must find out."""
    designed: Mapping[str, Callable[[], Scenario]]
    """The cases designed by hand, by scenario id."""
    generate: Callable[[Outline], Scenario] | None = None
    """Writes the case an outline asks for."""

    def design(self, scenario_id: str) -> Scenario:
        """A case designed by hand, its questions led to their evidence as those of generated cases are."""
        scenario = self.designed[scenario_id]()
        if scenario.public.difficulty in _LED_THROUGHOUT:
            scenario = _in_their_words(scenario)
        return point(scenario, Split.TRAIN, Stream("designed", scenario_id, "pointers"))


def _in_their_words(scenario: Scenario) -> Scenario:
    """The same case, every question of it to be put in words of its facts."""
    truths = tuple(truth.model_copy(update={"lexical": True}) for truth in scenario.hidden.subtasks)
    return replace(scenario, hidden=scenario.hidden.model_copy(update={"subtasks": truths}))


@cache
def families() -> dict[str, Family]:
    """Every family there is, in alphabetical order."""
    found: dict[str, Family] = {}
    for module in iter_modules(task_defs.__path__):
        if module.ispkg:
            family = getattr(import_module(f"{task_defs.__name__}.{module.name}"), "FAMILY", None)
            if isinstance(family, Family):
                found[family.name] = family
    return dict(sorted(found.items()))


def write_case(outline: Outline) -> Scenario:
    """The case that an outline asks for, finished the same way whichever family told its story."""
    generate = families()[outline.family].generate
    if generate is None:
        raise BadInput(f"family {outline.family!r} has designed cases only; generate of {', '.join(families())}")
    return offer(point(generate(outline), outline.split, outline.stream("pointers")), outline)
