"""The splits of generated cases: which case stands at which place.

A place gives a number, and the number belongs to one split alone, so ids are disjoint by construction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from TokenOptEnv.config import Difficulty
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.task_defs.family import write_case
from TokenOptEnv.task_defs.generation import GENERATED_FAMILIES, NUMBERS, Split, kind_at, outline

SPLITS = ("core", *(split.value for split in Split))
_SIZES = {Split.TRAIN: len(NUMBERS[Split.TRAIN]), Split.VALIDATION: 300, Split.TEST: 600}
_NAME = re.compile(r"([a-z]+)-(easy|medium|hard|marathon)-g(\d{6})")


@dataclass(frozen=True, slots=True)
class Case:
    family: str
    difficulty: Difficulty
    number: int

    @property
    def scenario_id(self) -> str:
        return f"{self.family}-{self.difficulty.value}-g{self.number:06d}"


def split_size(split: Split) -> int:
    return _SIZES[split]


def case_at(split: Split, place: int) -> Case:
    number = NUMBERS[split][place]
    family, difficulty = kind_at(number)
    return Case(family, difficulty, number)


def case_named(scenario_id: str) -> Case | None:
    """The generated case of this id; None where the id is not of that form."""
    match = _NAME.fullmatch(scenario_id)
    if match is None or match[1] not in GENERATED_FAMILIES:
        return None
    return Case(match[1], Difficulty(match[2]), int(match[3]))


def generate(case: Case) -> Scenario:
    return write_case(outline(case.family, case.difficulty, case.number))
