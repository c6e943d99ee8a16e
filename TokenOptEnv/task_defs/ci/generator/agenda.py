"""Which questions a case asks, what each yields, and which of them needs the other."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.scenario import QuestionKind
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.answers import CULPRIT, FAILING_TEST, FAILURE_CLASS
from TokenOptEnv.task_defs.ci.generator.evidence import Ask
from TokenOptEnv.task_defs.generation import Outline

FIRST_RED = "first_red_run"
TESTED_SHA = "tested_sha"
LAST_GOOD_RUN = "last_good_run"
LIBRARY_VERSION = "library_version"
CULPRIT_FILE = "culprit_file"
FIELDS = {
    Ask.SYMPTOM: FAILING_TEST,
    Ask.NATURE: FAILURE_CLASS,
    Ask.ORIGIN: CULPRIT,
    Ask.ONSET: FIRST_RED,
    Ask.TESTED: TESTED_SHA,
    Ask.LAST_GOOD: LAST_GOOD_RUN,
    Ask.VERSION: LIBRARY_VERSION,
    Ask.FILE: CULPRIT_FILE,
}
_KINDS = {
    Ask.SYMPTOM: QuestionKind.LOOKUP,
    Ask.NATURE: QuestionKind.CAUSAL,
    Ask.ORIGIN: QuestionKind.CODE,
    Ask.ONSET: QuestionKind.LOOKUP,
    Ask.TESTED: QuestionKind.LOOKUP,
    Ask.LAST_GOOD: QuestionKind.LOOKUP,
    Ask.VERSION: QuestionKind.LOOKUP,
    Ask.FILE: QuestionKind.CODE,
}


@dataclass(frozen=True, slots=True)
class Item:
    """One question."""

    name: str
    asks: tuple[Ask, ...]
    kind: QuestionKind
    lexical: bool
    """Is it meant to be put in the words of its facts?"""
    is_survey: bool = False
    slot: Ask | None = None
    """What an earlier question must have found."""
    leg: int = 0
    """Of a marathon."""

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(FIELDS[ask] for ask in self.asks)


_LEGS: tuple[tuple[Ask, int, int], ...] = (
    (Ask.LAST_GOOD, 0, 4),
    (Ask.VERSION, 0, 5),
    (Ask.SYMPTOM, 1, 4),
    (Ask.NATURE, 1, 4),
    (Ask.FILE, 2, 6),
    (Ask.ORIGIN, 2, 4),
)
"""A marathon's questions: which leg each belongs to, and how many there must be for it to be asked."""


def marathon_agenda(outline: Outline, draw: Stream) -> tuple[Item, ...]:
    asked = [(ask, leg) for ask, leg, least in _LEGS if outline.questions >= least]
    registers = _registers(len(asked), outline.lexical_share, draw)
    return tuple(
        Item(
            name=ask.value,
            asks=(ask,),
            kind=_KINDS[ask],
            lexical=lexical,
            is_survey=ask is Ask.LAST_GOOD and outline.wide_facts is not None,
            slot=Ask.LAST_GOOD if ask is Ask.ORIGIN else None,
            leg=leg,
        )
        for (ask, leg), lexical in zip(asked, registers, strict=True)
    )


def agenda(outline: Outline, draw: Stream) -> tuple[Item, ...]:
    slot = draw.choice((Ask.ONSET, Ask.TESTED)) if outline.slot else None
    asked = _asked(outline, slot, draw)
    last = asked[-1]
    survey: tuple[Ask, ...] | None = None
    if outline.wide_facts:
        survey = next((asks for asks in asked if asks in ((Ask.ONSET,), (Ask.LAST_GOOD,))), last)
    registers = _registers(len(asked), outline.lexical_share, draw)
    return tuple(
        Item(
            name="-and-".join(ask.value for ask in asks),
            asks=asks,
            kind=_KINDS[asks[0]],
            lexical=lexical,
            is_survey=asks == survey,
            slot=slot if asks == last else None,
        )
        for asks, lexical in zip(asked, registers, strict=True)
    )


def _asked(outline: Outline, slot: Ask | None, draw: Stream) -> list[tuple[Ask, ...]]:
    """From the first to the last; what looks for the culprit comes last, and has the slot where there is one."""
    joint = (Ask.ORIGIN, Ask.NATURE)
    match outline.questions, slot:
        case 2, None:
            return draw.choice(([(Ask.SYMPTOM,), joint], [(Ask.SYMPTOM, Ask.NATURE), (Ask.ORIGIN,)]))
        case 2, found:
            assert found is not None
            return [(found, Ask.SYMPTOM), joint]
        case 3, None:
            return [*draw.shuffled(((Ask.SYMPTOM,), (Ask.NATURE,))), (Ask.ORIGIN,)]
        case 3, found:
            assert found is not None
            return draw.choice(
                ([(found,), (Ask.SYMPTOM,), joint], [(found,), (Ask.SYMPTOM, Ask.NATURE), (Ask.ORIGIN,)])
            )
        case 4, found:
            return [(found or Ask.LAST_GOOD,), *draw.shuffled(((Ask.SYMPTOM,), (Ask.NATURE,))), (Ask.ORIGIN,)]
        case number, _:
            raise ScenarioInvalid(f"no agenda of {number} questions; give 2 to 4")


def _registers(count: int, share: float, draw: Stream) -> list[bool]:
    """As evenly as whole questions allow, on average the wanted share."""
    expected = share * count
    wanted = int(expected) + draw.chance(expected % 1)
    return draw.shuffled([place < wanted for place in range(count)])
