"""Which questions a case asks, in which order, and what each yields."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.scenario import QuestionKind
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.generation import Outline

SURVEY, SINCE, LOCATE, LINE, REPAIR, FIX = "survey", "since", "locate", "line", "repair", "fix"
BEGIN, RUN, LATER = "begin", "run", "later"
"""Asked in marathons alone: the same as a survey of two nights, the last good run, and what came after."""
COMMIT = "commit"

_KINDS = {
    SURVEY: QuestionKind.CAUSAL,
    SINCE: QuestionKind.LOOKUP,
    LOCATE: QuestionKind.CAUSAL,
    LINE: QuestionKind.CODE,
    REPAIR: QuestionKind.CODE,
    FIX: QuestionKind.CODE,
    BEGIN: QuestionKind.LOOKUP,
    RUN: QuestionKind.LOOKUP,
    LATER: QuestionKind.LOOKUP,
}


@dataclass(frozen=True, slots=True)
class Item:
    name: str
    fields: tuple[str, ...]
    needs_commit: bool = False
    """Its question has a blank for the commit that the first question finds."""

    @property
    def kind(self) -> QuestionKind:
        return _KINDS[self.name]


def agenda(outline: Outline, draw: Stream) -> tuple[Item, ...]:
    beginning = Item(SURVEY if outline.wide_facts is not None else SINCE, (COMMIT,))
    dated = outline.slot or outline.wide_facts is not None
    if outline.questions == 2:
        if dated:
            return (beginning, Item(FIX, ("file", "function", "line", "patch"), outline.slot))
        return (Item(LOCATE, ("file", "function")), Item(REPAIR, ("line", "patch")))
    locate = Item(LOCATE, ("file", "function"), outline.slot)
    apart = (Item(LINE, ("line",)), Item(REPAIR, ("patch",)))
    if outline.questions == 3:
        if dated or draw.chance(0.5):
            return (beginning, locate, Item(REPAIR, ("line", "patch")))
        return (locate, *apart)
    return (beginning, locate, *apart)


def marathon_agenda(outline: Outline) -> tuple[tuple[Item, ...], ...]:
    """By phase: nights, code, history. What the first finds is asked for by name in the last."""
    nights = [Item(SURVEY if outline.wide_facts is not None else BEGIN, (COMMIT,))]
    history = [Item(REPAIR, ("patch",), needs_commit=True)]
    if outline.questions >= 5:
        nights.append(Item(RUN, ("run",)))
    if outline.questions >= 6:
        history.append(Item(LATER, ("later",), needs_commit=True))
    return tuple(nights), (Item(LOCATE, ("file", "function")), Item(LINE, ("line",))), tuple(history)
