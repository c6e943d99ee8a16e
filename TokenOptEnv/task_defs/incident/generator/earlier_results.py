"""The cache of a case: perhaps one result that still holds, always some that do not, told apart by version and age."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from TokenOptEnv.scenario import CacheValidity
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply
from TokenOptEnv.task_defs.incident.generator.asks import Ask, Manner
from TokenOptEnv.task_defs.incident.generator.evidence import Evidence
from TokenOptEnv.task_defs.incident.generator.story import Story

_YOUNG_HOURS = (1, 3)
_STALE_HOURS = (20, 90)
_FOREIGN_HOURS = (1, 400)
_MOST_CITES = 4


@dataclass(frozen=True, slots=True)
class Asked:
    ask: Ask
    question: str
    needs: tuple[str, ...]
    paths: dict[str, tuple[str, ...]]
    lexical: bool
    right: Reply
    wrong: tuple[Reply, ...]

    @property
    def decisive(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(clue for name in self.ask.fields for clue in self.paths[name]))


def version_of(story: Story, back: int = 0) -> str:
    stream = story.streams("version")
    number = stream.integer(12, 48)
    return f"{story.domain.name}-{story.clock.year}.{number - back}"


def add_earlier_results(case: CaseBuilder, story: Story, asked: tuple[Asked, ...], legs: Sequence[Evidence]) -> None:
    stream = story.streams("cache")
    validity = [CacheValidity.STALE, CacheValidity.WRONG_VERSION]
    validity += [stream.choice((CacheValidity.STALE, CacheValidity.WRONG_VERSION))]
    if story.outline.valid_cache:
        validity.append(CacheValidity.VALID)
    elif stream.chance(0.5):
        validity.append(CacheValidity.WRONG_VERSION)
    number, first = stream.integer(110, 880), stream.integer(0, 5)
    later = [each for each in asked if each.ask.manner not in (Manner.TRACE, Manner.LOCATE)]
    for place, kind in enumerate(stream.shuffled(validity)):
        number += stream.integer(2, 17)
        entry_id = f"cache-{number}"
        if kind is CacheValidity.VALID:
            target = _dearest(asked)
            quotes = legs[target.ask.phase].quotes
            cites = [quote for clue in target.decisive for quote in quotes[clue][:1]]
            reply, version, hours = target.right, version_of(story), stream.integer(*_YOUNG_HOURS)
        else:
            target = later[(first + place) % len(later)]
            reply = stream.choice([each for each in target.wrong if each.decoys] or list(target.wrong))
            cites = [legs[target.ask.phase].quotes[clue][0] for clue in reply.decoys[:1]]
            stale = kind is CacheValidity.STALE
            version = version_of(story) if stale else version_of(story, stream.integer(1, 6))
            hours = stream.integer(*(_STALE_HOURS if stale else _FOREIGN_HOURS))
        case.cached(
            entry_id,
            target.ask.subtask_id,
            _paraphrase(story, target, place),
            reply.values,
            reply.text,
            version,
            hours,
            _citable(cites),
            kind,
        )


def _dearest(asked: tuple[Asked, ...]) -> Asked:
    """The survey if there is one; else what needs most and is hardest to find."""
    return max(asked, key=lambda each: (each.ask.manner is Manner.SURVEY, len(each.needs), not each.lexical))


def _paraphrase(story: Story, target: Asked, place: int) -> str:
    """The same question, as somebody else put it some other day."""
    room = story.material.phrases.questions
    asks = " and ".join(room.asks[name] for name in target.ask.fields)
    how = room.earlier_survey if target.ask.manner is Manner.SURVEY else room.earlier
    text = how[place % len(how)].format(asks=asks, unit=story.domain.unit, cell=story.topology.cell)
    return text[0].upper() + text[1:]


def _citable(cites: list[Quote]) -> list[Quote]:
    return cites[:_MOST_CITES]
