"""Which questions a case asks, and which fields each of them yields: decided by the outline alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from TokenOptEnv.config import Difficulty
from TokenOptEnv.models import Slot
from TokenOptEnv.task_defs.generation import Outline
from TokenOptEnv.task_defs.incident.vocabulary import FAULT_CLASS, REMEDIATION, SERVICE, TRIGGER

REQUEST_ID: Final = "request_id"
PEER: Final = "peer"
HOST: Final = "host"


class Manner(Enum):
    TRACE = auto()
    """Find the request behind the page's sample."""
    LOCATE = auto()
    """Find the address it failed at."""
    SERVICE = auto()
    """Find who is at fault, beginning from who was called."""
    SURVEY = auto()
    """The same, by comparing every host."""
    CAUSE = auto()
    """Anything about class, trigger and remedy."""


@dataclass(frozen=True, slots=True)
class Ask:
    subtask_id: str
    manner: Manner
    fields: tuple[str, ...]
    slot: Slot | None = None
    phase: int = 0


def plan_asks(outline: Outline) -> tuple[Ask, ...]:
    asks = _marathon(outline) if outline.difficulty is Difficulty.MARATHON else _one_sitting(outline)
    if len(asks) != outline.questions:
        raise ValueError(f"{outline.scenario_id}: {len(asks)} questions planned, {outline.questions} wanted")
    return asks


def _one_sitting(outline: Outline) -> tuple[Ask, ...]:
    first, slot = _opening(outline)
    fields = [name for name in (SERVICE, FAULT_CLASS, TRIGGER, REMEDIATION) if name not in first.fields]
    groups = _shared_out(fields, outline.questions - 1)
    rest = [_about(group, slot if place == 0 else None) for place, group in enumerate(groups)]
    return (first, *rest)


def _opening(outline: Outline) -> tuple[Ask, Slot | None]:
    survey = outline.wide_facts is not None
    if survey:
        fields = (HOST, SERVICE) if outline.slot else (SERVICE,)
        return Ask("survey", Manner.SURVEY, fields), Slot(name=HOST, from_subtask_id="survey") if outline.slot else None
    if outline.slot:
        fields = (REQUEST_ID, SERVICE) if outline.questions == 2 else (REQUEST_ID,)
        return Ask("trace", Manner.TRACE, fields), Slot(name=REQUEST_ID, from_subtask_id="trace")
    fields = (SERVICE, FAULT_CLASS) if outline.questions == 2 else (SERVICE,)
    return Ask("culprit", Manner.SERVICE, fields), None


_SHARES = {1: (0,), 2: (0, 2), 3: (0, 1, 3), 4: (0, 1, 2, 3)}
"""Where the groups of four fields begin, by how many questions share them."""


def _shared_out(fields: list[str], questions: int) -> list[tuple[str, ...]]:
    """In order. Of four fields the middle ones go together, of three the first ones."""
    starts = _SHARES[questions] if len(fields) == 4 else (0, 2, 3)[:questions] if questions < 3 else (0, 1, 2)
    ends = (*starts[1:], len(fields))
    return [tuple(fields[start:end]) for start, end in zip(starts, ends, strict=True)]


def _about(fields: tuple[str, ...], slot: Slot | None, phase: int = 0) -> Ask:
    if fields[0] == SERVICE:
        return Ask("culprit", Manner.SERVICE, fields, slot, phase)
    names = {FAULT_CLASS: "cause", TRIGGER: "origin", REMEDIATION: "next"}
    return Ask(names[fields[0]], Manner.CAUSE, fields, slot, phase)


def _marathon(outline: Outline) -> tuple[Ask, ...]:
    """Three legs; what is found in the first is needed in the last."""
    manner = Manner.SERVICE if outline.wide_facts is None else Manner.SURVEY
    peer = Slot(name=PEER, from_subtask_id="locate")
    next_step = _about((REMEDIATION,), peer, 2)
    if outline.questions == 4:
        locate = Ask("locate", Manner.LOCATE, (PEER,))
        culprit = Ask("culprit", manner, (SERVICE,), None, 1)
        return locate, culprit, _about((FAULT_CLASS, TRIGGER), None, 1), next_step
    if outline.questions == 5:
        locate = Ask("locate", Manner.LOCATE, (PEER,))
        culprit = Ask("culprit", manner, (SERVICE,), None, 1)
        return locate, culprit, _about((FAULT_CLASS,), None, 1), _about((TRIGGER,), None, 2), next_step
    request = Slot(name=REQUEST_ID, from_subtask_id="trace")
    return (
        Ask("trace", Manner.TRACE, (REQUEST_ID,)),
        Ask("locate", Manner.LOCATE, (PEER,), request),
        Ask("culprit", manner, (SERVICE,), None, 1),
        _about((FAULT_CLASS,), None, 1),
        _about((TRIGGER,), None, 2),
        next_step,
    )
