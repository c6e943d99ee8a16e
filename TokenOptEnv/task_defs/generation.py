"""What a generated case must be like, drawn the same way for every family.

A case is a number. The number says which split it belongs to, and named streams keyed by it give everything
else, so the same number is the same case in any process and in any order. Families turn an outline into a
story; they do not decide how many questions there are, whether there is a fault, or what the cache holds,
so that no family can be told by such habits.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from TokenOptEnv.config import BUGFIX_HARD_ARTIFACT_TOKENS, SIZES, Difficulty
from TokenOptEnv.errors import BadInput
from TokenOptEnv.streams import Stream

GENERATOR_VERSION = 5
"""Bumped when any generated case changes."""

VALIDATION_NUMBERS = range(50_000)
TEST_NUMBERS = range(50_000, 100_000)
TRAIN_NUMBERS = range(100_000, 1_000_000)

GENERATED_FAMILIES = ("bugfix", "ci", "incident")
_MIX = {Difficulty.EASY: 7, Difficulty.MEDIUM: 8, Difficulty.HARD: 4, Difficulty.MARATHON: 1}
"""Of every twenty cases of a family."""
_BLOCK = sum(_MIX.values()) * len(GENERATED_FAMILIES)
_NO_FAULT = (3, 4)
"""Of every twenty cases of a family, one or the other."""
_NO_FAULT_SHARE = 0.175
"""Of cases of another kind than stands at their number, which no split holds."""
_WIDE_SHARE = 0.55
_SLOT_SHARE = {Difficulty.EASY: 0.2, Difficulty.MEDIUM: 0.3, Difficulty.HARD: 0.4, Difficulty.MARATHON: 1.0}
_LEXICAL_SHARE = {Difficulty.EASY: 0.98, Difficulty.MEDIUM: 0.98, Difficulty.HARD: 0.97, Difficulty.MARATHON: 0.97}
_QUESTIONS = {Difficulty.EASY: (2, 2), Difficulty.MEDIUM: (2, 2), Difficulty.HARD: (2, 3), Difficulty.MARATHON: (4, 5)}
_FACTS = {Difficulty.EASY: (1, 2), Difficulty.MEDIUM: (1, 2), Difficulty.HARD: (1, 2), Difficulty.MARATHON: (1, 2)}
_WIDE_FACTS = {
    Difficulty.EASY: (10, 10),
    Difficulty.MEDIUM: (16, 16),
    Difficulty.HARD: (21, 22),
    Difficulty.MARATHON: (6, 8),
}
_NEVER_WIDE = (("ci", Difficulty.EASY), ("ci", Difficulty.MEDIUM))
"""The logs of enough runs to outgrow memory and handles would not fit an easy case, and crowd a medium one out."""
_VALID_CACHE_SHARE = 0.5
_VALID_CACHE_SHARE_IF_WIDE = 0.35
"""Less: with an earlier result at hand, a wide question need not be gathered, and gathering is to matter too."""


class Split(StrEnum):
    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


NUMBERS = {Split.TRAIN: TRAIN_NUMBERS, Split.VALIDATION: VALIDATION_NUMBERS, Split.TEST: TEST_NUMBERS}


@dataclass(frozen=True, slots=True)
class Outline:
    """What a family is asked to write."""

    family: str
    difficulty: Difficulty
    number: int
    split: Split
    no_fault: bool
    """Nothing is broken, or the premise is stale: the answer says so and cites what rules the suspects out."""
    questions: int
    """How many subtasks, a slot's included."""
    slot: bool
    """One subtask finds an id that a later one's question needs."""
    facts: tuple[int, int]
    """How many segments a question's facts stand in: at least, at most."""
    wide_facts: int | None
    """If set, one question's facts stand in this many segments: more than fits beside four handles uncompressed."""
    lexical_share: float
    """The share of questions that use the words of their facts."""
    valid_cache: bool
    """A valid earlier result answers the dearest question; stale and wrong-version ones are always there."""
    artifact_tokens: tuple[int, int]

    @property
    def scenario_id(self) -> str:
        return f"{self.family}-{self.difficulty.value}-g{self.number:06d}"

    def stream(self, *purpose: str | int) -> Stream:
        return Stream("generate", GENERATOR_VERSION, self.family, self.difficulty.value, self.number, *purpose)


def split_of(number: int) -> Split:
    for split, numbers in (
        (Split.VALIDATION, VALIDATION_NUMBERS),
        (Split.TEST, TEST_NUMBERS),
        (Split.TRAIN, TRAIN_NUMBERS),
    ):
        if number in numbers:
            return split
    raise BadInput(f"case number {number} is in no split; numbers go from 0 to {TRAIN_NUMBERS.stop - 1}")


def kind_at(number: int) -> tuple[str, Difficulty]:
    """The family and difficulty that stand at a number: mixed in fixed shares, exactly so in every block."""
    split = split_of(number)
    block, place = divmod(number - NUMBERS[split].start, _BLOCK)
    return _block(split, block)[place]


@lru_cache(maxsize=4_096)
def _block(split: Split, block: int) -> tuple[tuple[str, Difficulty], ...]:
    kinds = [
        (family, difficulty)
        for family in GENERATED_FAMILIES
        for difficulty, share in _MIX.items()
        for _ in range(share)
    ]
    return tuple(Stream("split", GENERATOR_VERSION, split.value, block).shuffled(kinds))


def _has_no_fault(family: str, difficulty: Difficulty, number: int, draw: Stream) -> bool:
    """Exact in every block of a family, so that no split has more or fewer by chance."""
    split = split_of(number)
    block, place = divmod(number - NUMBERS[split].start, _BLOCK)
    kinds = _block(split, block)
    if kinds[place] != (family, difficulty):
        return draw.chance(_NO_FAULT_SHARE)
    mine = [each for each, (name, _) in enumerate(kinds) if name == family]
    chosen = Stream("no fault", GENERATOR_VERSION, family, split.value, block).shuffled(mine)
    return place in chosen[: _NO_FAULT[block % len(_NO_FAULT)]]


def outline(family: str, difficulty: Difficulty, number: int) -> Outline:
    draw = Stream("outline", GENERATOR_VERSION, family, difficulty.value, number)
    wide = draw.chance(_WIDE_SHARE) and (family, difficulty) not in _NEVER_WIDE
    sizes = SIZES[difficulty].artifact_tokens
    if family == "bugfix" and difficulty is Difficulty.HARD:
        sizes = BUGFIX_HARD_ARTIFACT_TOKENS
    return Outline(
        family=family,
        difficulty=difficulty,
        number=number,
        split=split_of(number),
        no_fault=_has_no_fault(family, difficulty, number, draw),
        questions=draw.integer(*_QUESTIONS[difficulty]),
        slot=draw.chance(_SLOT_SHARE[difficulty]),
        facts=_FACTS[difficulty],
        wide_facts=draw.integer(*_WIDE_FACTS[difficulty]) if wide else None,
        lexical_share=_LEXICAL_SHARE[difficulty],
        valid_cache=draw.chance(_VALID_CACHE_SHARE_IF_WIDE if wide else _VALID_CACHE_SHARE),
        artifact_tokens=sizes,
    )
