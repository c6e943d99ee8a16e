"""The splits of generated cases: which case stands at which place.

A place gives a number, and the number belongs to one split alone, so ids are disjoint by construction.
Families take turns; difficulties are mixed in fixed shares, exactly so in every block of places.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from TokenOptEnv.config import Difficulty
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.family import write_case
from TokenOptEnv.task_defs.generation import (
    GENERATOR_VERSION,
    TEST_NUMBERS,
    TRAIN_NUMBERS,
    VALIDATION_NUMBERS,
    Split,
    outline,
)

SPLITS = ("core", *(split.value for split in Split))
GENERATED_FAMILIES = ("bugfix", "ci", "incident")
_NUMBERS = {Split.TRAIN: TRAIN_NUMBERS, Split.VALIDATION: VALIDATION_NUMBERS, Split.TEST: TEST_NUMBERS}
_SIZES = {Split.TRAIN: len(TRAIN_NUMBERS), Split.VALIDATION: 300, Split.TEST: 600}
_MIX = {Difficulty.EASY: 7, Difficulty.MEDIUM: 8, Difficulty.HARD: 4, Difficulty.MARATHON: 1}
"""Of every twenty cases of a family."""
_BLOCK = sum(_MIX.values()) * len(GENERATED_FAMILIES)
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
    family, difficulty = _block(split, place // _BLOCK)[place % _BLOCK]
    return Case(family, difficulty, _NUMBERS[split][place])


def case_named(scenario_id: str) -> Case | None:
    """The generated case of this id; None where the id is not of that form."""
    match = _NAME.fullmatch(scenario_id)
    if match is None or match[1] not in GENERATED_FAMILIES:
        return None
    return Case(match[1], Difficulty(match[2]), int(match[3]))


def generate(case: Case) -> Scenario:
    return write_case(outline(case.family, case.difficulty, case.number))


@lru_cache(maxsize=4_096)
def _block(split: Split, number: int) -> tuple[tuple[str, Difficulty], ...]:
    kinds = [
        (family, difficulty)
        for family in GENERATED_FAMILIES
        for difficulty, share in _MIX.items()
        for _ in range(share)
    ]
    return tuple(Stream("split", GENERATOR_VERSION, split.value, number).shuffled(kinds))
