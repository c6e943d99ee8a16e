"""Why an action was refused: data, never an exception."""

from __future__ import annotations

from enum import StrEnum

from TokenOptEnv.models.base import Frozen


class RefusalReason(StrEnum):
    MALFORMED = "MALFORMED"
    NOT_IN_PROFILE = "NOT_IN_PROFILE"
    MISSING_FIELD = "MISSING_FIELD"
    UNKNOWN_ID = "UNKNOWN_ID"
    NOT_SURFACED = "NOT_SURFACED"
    NOT_IN_MEMORY = "NOT_IN_MEMORY"
    ALREADY_IN_MEMORY = "ALREADY_IN_MEMORY"
    OUT_OF_RANGE = "OUT_OF_RANGE"
    TOO_LONG = "TOO_LONG"
    TOO_MANY = "TOO_MANY"
    MEMORY_FULL = "MEMORY_FULL"
    OVER_BUDGET = "OVER_BUDGET"
    CONTEXT_WINDOW = "CONTEXT_WINDOW"
    SLOT_EMPTY = "SLOT_EMPTY"
    NOT_COMPRESSIBLE = "NOT_COMPRESSIBLE"
    NO_STRONGER_MODEL = "NO_STRONGER_MODEL"
    ALREADY_ANSWERED = "ALREADY_ANSWERED"
    EMPTY_ANSWER = "EMPTY_ANSWER"
    SANDBOX_UNAVAILABLE = "SANDBOX_UNAVAILABLE"


class Refusal(Frozen):
    """`message` names the field, the value and the remedy in one line."""

    reason: RefusalReason
    field: str
    value: str
    message: str
    needed: int | None = None
    left: int | None = None
