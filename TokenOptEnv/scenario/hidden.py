"""The hidden half of a scenario: truth, and what the simulated models would say."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from TokenOptEnv.models.base import Frozen


class Place(Frozen):
    """An exact span of one segment's text."""

    segment_id: str
    text: str


class Fact(Frozen):
    """What a conclusion rests on. Any one of its places shows it."""

    fact_id: str
    places: tuple[Place, ...]
    why: str


class Decoy(Frozen):
    """What supports a wrong conclusion. Any one of its places shows it."""

    decoy_id: str
    places: tuple[Place, ...]
    why: str


class QuestionKind(StrEnum):
    """What a question asks of a model; each kind has its own ceiling per model."""

    LOOKUP = "lookup"
    """Find a stated value."""
    CAUSAL = "causal"
    """Join several facts into a cause."""
    CODE = "code"
    """Locate or repair code."""


class Candidate(Frozen):
    """An answer a model may give to a subtask: the right one or a plausible wrong one.

    A wrong candidate with decoys is given only when one of them is in the context it read;
    without decoys it is always possible.
    """

    candidate_id: str
    values: dict[str, str]
    text: str
    right: bool
    decoy_ids: tuple[str, ...] = ()


class SubtaskTruth(Frozen):
    subtask_id: str
    kind: QuestionKind
    lexical: bool
    """Does the question share its words with the facts? Then long contexts hurt far less."""
    needs: tuple[str, ...]
    """Fact ids."""
    candidates: tuple[Candidate, ...]
    slot_value: str | None = None
    """What an earlier finding must have put into the slot for the question to be answerable."""


class FieldTruth(Frozen):
    name: str
    accepted: tuple[str, ...]
    path: tuple[str, ...]
    """Fact ids that the cited evidence must cover."""


class CacheValidity(StrEnum):
    VALID = "valid"
    STALE = "stale"
    WRONG_VERSION = "wrong_version"


class HiddenScenario(Frozen):
    facts: tuple[Fact, ...]
    decoys: tuple[Decoy, ...]
    subtasks: tuple[SubtaskTruth, ...]
    fields: tuple[FieldTruth, ...]
    cache: dict[str, CacheValidity]
    verdicts: dict[str, bool] = Field(default_factory=dict)
    """By candidate patch text: did the hidden tests pass when it was run?"""
