"""Slips: what a hand that cannot add up does now and then, for a warm start that teaches how to go on from there.

A heuristic counts tokens and handles without a mistake, so its traces hold no refusal; a small model makes one, has
never seen what comes after, and says the same again until its steps are gone. A slip spoils the action that the
heuristic is about to take so that the rules refuse it. A refusal changes nothing but the bill, so the heuristic's own
action is right at once after it: that is what is learned, and never the slip. A tutor knows how to go on from anywhere,
so for it a slip may also be an action that goes through, such as a question put with the wrong segments, or something
else altogether.
"""

from __future__ import annotations

from itertools import takewhile

from TokenOptEnv.models import ActionType, Effort, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.streams import Stream
from TokenOptEnv.text_actions import Numbering
from TokenOptEnv.text_actions import write as short_form

_MOST_NAMED = 9
"""A slip names no more things than fit what a policy may write."""
_MISNUMBERED_SHARE = 0.4
"""Of slips: the commonest, whatever the action."""
_ASTRAY_SHARE = 0.4
"""Of the others: what has nothing to do with the action that it stands for."""
_NUMBERED = (
    ActionType.READ_ARTIFACT,
    ActionType.HYDRATE_SEGMENTS,
    ActionType.COMPRESS_CONTEXT,
    ActionType.PURGE_MEMORY,
    ActionType.ROUTE_SUBTASK,
    ActionType.SUBMIT_ANSWER,
)


def slip(
    action: TokenOptEnvAction, observation: TokenOptEnvObservation, draw: Stream, may_go_through: bool = False
) -> str | None:
    """What a small model might say instead; None where nothing of the kind comes to mind."""
    if draw.chance(_MISNUMBERED_SHARE):
        return _misnumbered(action, observation, draw)
    if may_go_through and draw.chance(_ASTRAY_SHARE):
        return _astray(observation, draw)
    match action.action_type:
        case ActionType.ROUTE_SUBTASK if may_go_through and draw.chance(0.6):
            return _with_others(action, observation, draw)
        case ActionType.HYDRATE_SEGMENTS if draw.chance(0.5):
            return _with_made_up(action, observation, draw)
        case ActionType.HYDRATE_SEGMENTS | ActionType.ROUTE_SUBTASK:
            return _with_more(action, observation, draw)
        case ActionType.SUBMIT_ANSWER:
            return _with_no_findings(observation, draw)
        case _:
            return None


def _misnumbered(action: TokenOptEnvAction, observation: TokenOptEnvObservation, draw: Stream) -> str | None:
    """One of its numbers is another's, or nobody's."""
    numbering = Numbering.of(observation)
    verb, *words = short_form(action, numbering).split()
    numbers = list(takewhile(str.isdigit, words)) if action.action_type in _NUMBERED else []
    if not numbers:
        return None
    last = max([*numbering.things.values(), *numbering.artifacts.values()], default=0)
    place = draw.integer(0, len(numbers) - 1)
    words[place] = draw.choice([str(number) for number in range(1, last + 5) if str(number) != words[place]])
    return " ".join([verb, *words])


def _astray(observation: TokenOptEnvObservation, draw: Stream) -> str:
    """Verbs that are seldom right, with numbers that may be anybody's: who tries them must know how to go on."""
    things = sorted(Numbering.of(observation).things.values())
    thing = draw.integer(1, max(things, default=0) + 2)
    model = draw.integer(1, len(observation.models) + 2)
    effort = draw.choice([each.value for each in Effort])
    return draw.choice(
        (
            f"up {thing} {model} {effort}",
            f"up {thing} {model}",
            f"up {thing}",
            f"ask {draw.integer(1, len(observation.task.subtasks) + 1)} {model} {thing} {effort}",
            f"read {draw.integer(1, len(observation.artifacts) + 2)}",
            f"load {thing}",
            f"drop {thing}",
            f"submit {thing}",
            f"recall {thing}",
            f"squeeze {thing} extract 0.4",
        )
    )


def _with_more(action: TokenOptEnvAction, observation: TokenOptEnvObservation, draw: Stream) -> str | None:
    """Named besides: what does not fit any more, is too many, or is there already."""
    named = action.context_segment_ids
    others = [handle.segment_id for handle in observation.surfaced if handle.segment_id not in named]
    more = draw.shuffled(others)[: max(0, _MOST_NAMED - len(named))]
    if not more:
        return None
    spoiled = action.model_copy(update={"context_segment_ids": (*named, *more)})
    return short_form(spoiled, Numbering.of(observation))


def _with_others(action: TokenOptEnvAction, observation: TokenOptEnvObservation, draw: Stream) -> str | None:
    """The question is right, what is handed over is not."""
    others = [each.segment_id for each in observation.surfaced if each.segment_id not in action.context_segment_ids]
    some = draw.shuffled([*others, *action.context_segment_ids[1:]])[: draw.integer(1, 3)]
    if not some:
        return None
    return short_form(action.model_copy(update={"context_segment_ids": tuple(some)}), Numbering.of(observation))


def _with_made_up(action: TokenOptEnvAction, observation: TokenOptEnvObservation, draw: Stream) -> str:
    """Counted on beyond what was shown."""
    numbering = Numbering.of(observation)
    last = max(numbering.things.values(), default=0)
    made_up = range(last + 1, last + 1 + draw.integer(1, 4))
    return " ".join([short_form(action, numbering), *map(str, made_up)])


def _with_no_findings(observation: TokenOptEnvObservation, draw: Stream) -> str | None:
    """Handed in: numbers of items that are no findings."""
    numbers = [item.alias for item in observation.working_memory.items if not item.finding_ids]
    return " ".join(["submit", *map(str, draw.shuffled(numbers)[:2])]) if numbers else None
