"""The committed mix of the engine bench: a script in which each of the eleven actions occurs about as often as any.

Every action is built from what the observation shows, so the script runs on any scenario. Each episode plays one round
of all actions, then some of them once more: which ones depends on the variant, so that over the variants each action
is timed early and late in an episode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from TokenOptEnv import questions
from TokenOptEnv.models import ActionType, ItemKind, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies.submission import submit

_AGAIN = 4
"""Actions of the second round: with these an episode stays within the steps of a medium scenario."""
_LOADED = 2
_HANDED_OVER = 3
_LISTINGS = (ItemKind.PREVIEW, ItemKind.SEARCH, ItemKind.CHECKPOINT)
_COMPRESSIBLE = (ItemKind.SEGMENT, ItemKind.COMPRESSED, ItemKind.PREVIEW, ItemKind.SEARCH)


@dataclass(frozen=True, slots=True)
class Turn:
    action: TokenOptEnvAction
    is_late: bool
    """It is of the second round."""


def _read(seen: TokenOptEnvObservation, variant: int) -> TokenOptEnvAction:
    largest = sorted(seen.artifacts, key=lambda each: (-each.tokens, each.alias))
    artifact = largest[(variant + seen.step) % min(3, len(largest))]
    return TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id=artifact.artifact_id)


def _search(seen: TokenOptEnvObservation, variant: int) -> TokenOptEnvAction:
    return TokenOptEnvAction(action_type=ActionType.SEARCH_ARTIFACTS, query=_question(seen, variant), top_k=4)


def _cache(seen: TokenOptEnvObservation, variant: int) -> TokenOptEnvAction:
    return TokenOptEnvAction(action_type=ActionType.QUERY_CACHE, query=_question(seen, variant))


def _hydrate(seen: TokenOptEnvObservation, variant: int) -> TokenOptEnvAction:
    held = {item.item_id for item in seen.working_memory.items}
    free = sorted((each for each in seen.surfaced if each.segment_id not in held), key=lambda each: each.tokens)
    chosen = tuple(each.segment_id for each in free[:_LOADED])
    return TokenOptEnvAction(action_type=ActionType.HYDRATE_SEGMENTS, context_segment_ids=chosen)


def _compress(seen: TokenOptEnvObservation, variant: int) -> TokenOptEnvAction:
    methods = seen.legal_actions.choices["methods"]
    items = [item for kind in _COMPRESSIBLE for item in seen.working_memory.items if item.kind is kind]
    return TokenOptEnvAction(
        action_type=ActionType.COMPRESS_CONTEXT,
        context_segment_ids=tuple(item.item_id for item in items[:_LOADED]),
        method=methods[variant % len(methods)],
    )


def _route(seen: TokenOptEnvObservation, variant: int) -> TokenOptEnvAction:
    """The cheapest model, so that there is a stronger one to escalate to and money for it."""
    held = {item.item_id for item in seen.working_memory.items}
    open_ones = questions.askable(seen, ())
    handles = [each.segment_id for each in seen.surfaced if each.segment_id not in held]
    return TokenOptEnvAction(
        action_type=ActionType.ROUTE_SUBTASK,
        subtask_id=open_ones[(variant + seen.step) % len(open_ones)].subtask_id,
        model_id=min(seen.models, key=lambda card: (card.input_pico_usd, card.model_id)).model_id,
        context_segment_ids=tuple(handles[:_HANDED_OVER]),
    )


def _escalate(seen: TokenOptEnvObservation, variant: int) -> TokenOptEnvAction:
    return TokenOptEnvAction(action_type=ActionType.ESCALATE_ROUTE, route_id=seen.legal_actions.choices["routes"][0])


def _note(seen: TokenOptEnvObservation, variant: int) -> TokenOptEnvAction:
    return TokenOptEnvAction(action_type=ActionType.WRITE_CHECKPOINT, note=f"so far, at step {seen.step}")


def _restore(seen: TokenOptEnvObservation, variant: int) -> TokenOptEnvAction:
    """The latest: an earlier one may be held still."""
    latest = seen.legal_actions.choices["checkpoints"][-1]
    return TokenOptEnvAction(action_type=ActionType.RESTORE_CHECKPOINT, checkpoint_id=latest)


def _purge(seen: TokenOptEnvObservation, variant: int) -> TokenOptEnvAction:
    items = seen.working_memory.items
    idle = [item.item_id for item in items if item.kind in _LISTINGS] or [items[0].item_id]
    return TokenOptEnvAction(action_type=ActionType.PURGE_MEMORY, context_segment_ids=tuple(idle))


_ROUND: tuple[Callable[[TokenOptEnvObservation, int], TokenOptEnvAction], ...] = (
    _read,
    _search,
    _cache,
    _route,
    _note,
    _hydrate,
    _escalate,
    _compress,
    _restore,
    _purge,
)
VARIANTS = len(_ROUND)
"""After so many every action has been in a second round equally often."""


class Script:
    """One episode of the mix: asked for the next turn until it has submitted.

    Its number gives its variant, and a word for its queries that no other episode has asked in: the engine keeps what
    was asked before, and that is not what is timed.
    """

    def __init__(self, number: int) -> None:
        self._variant = number % VARIANTS
        self._unheard = f"z{number}q"
        again = [(self._variant + place) % len(_ROUND) for place in range(_AGAIN)]
        self._turns: Iterator[tuple[int, bool]] = iter(
            [*((place, False) for place in range(len(_ROUND))), *((place, True) for place in sorted(again))]
        )

    def next(self, seen: TokenOptEnvObservation) -> Turn:
        turn = next(self._turns, None)
        if turn is None:
            return Turn(submit(seen), is_late=False)
        place, is_late = turn
        action = _ROUND[place](seen, self._variant)
        if action.query is not None:
            action = action.model_copy(update={"query": f"{action.query} {self._unheard}"})
        return Turn(action, is_late)


def _question(seen: TokenOptEnvObservation, variant: int) -> str:
    """Another one at each step."""
    subtasks = seen.task.subtasks
    subtask = subtasks[(variant + seen.step) % len(subtasks)]
    return questions.wording(seen, subtask)
