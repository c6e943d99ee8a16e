"""What the cache holds: perhaps one result that still counts, and always some that do not, told apart by sight."""

from __future__ import annotations

from collections.abc import Sequence

from TokenOptEnv.scenario import CacheValidity
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import Quote, Reply
from TokenOptEnv.task_defs.bugfix.generator import agenda as items
from TokenOptEnv.task_defs.bugfix.generator.asks import wordings
from TokenOptEnv.task_defs.bugfix.generator.evidence import Clue
from TokenOptEnv.task_defs.bugfix.generator.plot import Plot
from TokenOptEnv.task_defs.bugfix.generator.questions import Asked
from TokenOptEnv.task_defs.bugfix.generator.sheet import Sheet

_DEAREST = (
    items.SURVEY,
    items.FIX,
    items.REPAIR,
    items.LOCATE,
    items.LINE,
    items.SINCE,
    items.BEGIN,
    items.RUN,
    items.LATER,
)


def remember(plot: Plot, sheet: Sheet, asked: Sequence[Asked], attempt: int) -> None:
    draw = plot.outline.stream("cache", attempt)
    dearest = min(asked, key=lambda each: _DEAREST.index(each.item.name))
    others = [each for each in asked if each is not dearest]
    plans = [(dearest, CacheValidity.STALE), (draw.choice(others), CacheValidity.WRONG_VERSION)]
    plans.append((dearest, CacheValidity.VALID) if plot.outline.valid_cache else (dearest, CacheValidity.STALE))
    if draw.chance(0.5):
        plans.append((draw.choice(others), draw.choice((CacheValidity.STALE, CacheValidity.WRONG_VERSION))))
    numbers = draw.shuffled(list(range(draw.integer(10, 60), 240, draw.integer(7, 19))))
    used: dict[str, int] = {}
    given: list[Reply] = []
    for number, (question, validity) in zip(numbers, draw.shuffled(plans), strict=False):
        place = used[question.item.name] = used.get(question.item.name, -1) + 1
        ways = wordings(plot.outline.split, question.item.name).again
        reply, cites = _remembered(question, validity, given, draw)
        given.append(reply)
        sheet.builder.cached(
            entry_id=f"cache-{number}",
            subtask_id=question.item.name,
            question=ways[place % len(ways)],
            values=dict(reply.values),
            text=reply.text,
            version=plot.earlier_version if validity is CacheValidity.WRONG_VERSION else plot.version,
            age_hours=_age(plot, validity, draw),
            cites=cites,
            validity=validity,
        )


def _remembered(
    question: Asked, validity: CacheValidity, given: Sequence[Reply], draw: Stream
) -> tuple[Reply, tuple[Quote, ...]]:
    """A wrong result is remembered once, as long as there are others."""
    if validity is CacheValidity.VALID:
        return question.right, tuple(clue.quotes[0] for clue in question.decisive)
    tempting = [reply for reply in question.wrong if reply.decoys]
    reply = draw.choice([reply for reply in tempting if reply not in given] or tempting)
    return reply, tuple(_within(question, question.clues[decoy_id]) for decoy_id in reply.decoys)


def _within(question: Asked, clue: Clue) -> Quote:
    """A place of the question's own phase, where the clue has one."""
    return next((quote for quote in clue.quotes if quote.artifact_id in question.artifacts), clue.quotes[0])


def _age(plot: Plot, validity: CacheValidity, draw: Stream) -> int:
    """A valid result is younger than the code, a stale one older; one of another version may be any age."""
    hours = plot.unchanged_hours
    match validity:
        case CacheValidity.VALID:
            return draw.integer(1, hours - 1)
        case CacheValidity.STALE:
            return draw.integer(hours + 2, hours + 90)
        case CacheValidity.WRONG_VERSION:
            return draw.integer(hours + 100, hours + 900)
