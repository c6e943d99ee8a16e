"""Actions as whole numbers: one slot for each thing that can be chosen, whatever the verb.

Slots that a verb does not take are ignored by it, so each slot can be masked by itself: whatever the mask leaves open
in every slot is an action that names only what exists. It may still be refused: for want of memory or money, or because
two choices do not go together, such as a question and a stronger model than the one that answered it.

    verb        the action type, in the order of the profile
    artifact    READ_ARTIFACT: its next page
    subtask     ROUTE_SUBTASK, and the question that SEARCH, QUERY_CACHE and COMPRESS look for
    query       SEARCH, QUERY_CACHE: the subtask's question, or the task's brief
    model       ROUTE_SUBTASK; an escalation goes to the next stronger
    effort      ROUTE_SUBTASK, ESCALATE_ROUTE
    method      COMPRESS_CONTEXT
    ratio       COMPRESS_CONTEXT
    route       ESCALATE_ROUTE
    checkpoint  RESTORE_CHECKPOINT
    item_N      memory items for PURGE, COMPRESS, ROUTE, WRITE_CHECKPOINT; 0 is none
    handle_N    surfaced segments for HYDRATE, ROUTE; 0 is none

A verb that needs a thing and was given none takes the newest that it can take. SUBMIT_ANSWER hands in the latest
finding held to each question, and WRITE_CHECKPOINT keeps those: what is not believed is dropped first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, assert_never

import numpy as np
from numpy.typing import NDArray

from TokenOptEnv.adapters.gym_env.board import (
    ARTIFACTS,
    CHECKPOINTS,
    HANDLES,
    ITEMS,
    MODELS,
    ROUTES,
    SUBTASKS,
    Board,
    Notes,
)
from TokenOptEnv.config import ROUTE_MAX_HANDLES, TEXT_CAP_CHARACTERS, Profile
from TokenOptEnv.models import V1_ACTIONS, V2_ACTIONS, ActionType, Effort, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies.submission import latest_findings, submit
from TokenOptEnv.questions import wording
from TokenOptEnv.simulators.compression import methods

RATIOS: Final = (0.25, 0.5, 0.75)
QUERIES: Final = ("question", "brief")
ITEM_PICKS: Final = 4
_EFFORTS: Final = tuple(Effort)


@dataclass(frozen=True, slots=True)
class Chosen:
    """An action's numbers, by slot."""

    items: tuple[int, ...]
    handles: tuple[int, ...]
    verb: int
    artifact: int
    subtask: int
    query: int
    model: int
    effort: int
    method: int
    ratio: int
    route: int
    checkpoint: int


class Slots:
    """The slots of one profile."""

    def __init__(self, profile: Profile) -> None:
        self.verbs = V1_ACTIONS if profile is Profile.V1 else V2_ACTIONS
        self._methods = tuple(methods())
        self._singles = {
            "verb": len(self.verbs),
            "artifact": ARTIFACTS,
            "subtask": SUBTASKS,
            "query": len(QUERIES),
            "model": MODELS,
            "effort": len(_EFFORTS),
            "method": len(self._methods),
            "ratio": len(RATIOS),
            "route": ROUTES,
            "checkpoint": CHECKPOINTS,
        }
        self._handle_picks = ROUTE_MAX_HANDLES[profile]
        self.sizes: dict[str, int] = {
            **self._singles,
            **{f"item_{number}": 1 + ITEMS for number in range(1, ITEM_PICKS + 1)},
            **{f"handle_{number}": 1 + HANDLES for number in range(1, self._handle_picks + 1)},
        }
        self._ends = np.cumsum([0, *self.sizes.values()])

    def mask(self, seen: TokenOptEnvObservation, board: Board) -> NDArray[np.int8]:
        """1 for what may be chosen, slot after slot. Never all 0 in a slot: where nothing exists, its first is open."""
        legal = {form.action_type for form in seen.legal_actions.actions}
        if not board.items:
            legal.discard(ActionType.WRITE_CHECKPOINT)
        offered = {name: frozenset(names) for name, names in seen.legal_actions.choices.items()}
        none: frozenset[str] = frozenset()
        items = [True, *[True] * len(board.items)]
        handles = [True, *[True] * len(board.handles)]
        rows = [
            [verb in legal for verb in self.verbs],
            [artifact.artifact_id in offered.get("artifacts", none) for artifact in board.artifacts],
            [subtask.subtask_id in offered.get("subtasks", none) for subtask in board.subtasks],
            [True] * len(QUERIES),
            [True] * len(board.models),
            [True] * len(_EFFORTS),
            [True] * len(self._methods),
            [True] * len(RATIOS),
            [route.route_id in offered.get("routes", none) for route in board.routes],
            [checkpoint.checkpoint_id in offered.get("checkpoints", none) for checkpoint in board.checkpoints],
            *[items] * ITEM_PICKS,
            *[handles] * self._handle_picks,
        ]
        flat = np.zeros(int(self._ends[-1]), dtype=np.int8)
        for start, row in zip(self._ends, rows, strict=False):
            flat[start : start + len(row)] = row
            if not any(row):
                flat[start] = 1
        return flat

    def by_slot(self, mask: NDArray[np.int8]) -> tuple[NDArray[np.int8], ...]:
        """The form that `action_space.sample(mask=...)` takes."""
        return tuple(mask[start:end] for start, end in pairwise(self._ends))

    def chosen(self, numbers: Sequence[int]) -> Chosen:
        picks = numbers[len(self._singles) :]
        singles = dict(zip(self._singles, numbers, strict=False))
        return Chosen(items=tuple(picks[:ITEM_PICKS]), handles=tuple(picks[ITEM_PICKS:]), **singles)

    def action(self, chosen: Chosen, seen: TokenOptEnvObservation, board: Board, notes: Notes) -> TokenOptEnvAction:
        """What the numbers say. A number that stands for nothing now becomes a field left out, which is refused."""
        kind = self.verbs[chosen.verb]
        items = _picked([item.item_id for item in board.items], chosen.items)
        handles = _picked([handle.segment_id for handle in board.handles], chosen.handles)
        subtask = board.subtasks[chosen.subtask] if chosen.subtask < len(board.subtasks) else None
        question = wording(seen, subtask) if subtask is not None else seen.task.brief
        match kind:
            case ActionType.READ_ARTIFACT:
                artifact_id = _at([artifact.artifact_id for artifact in board.artifacts], chosen.artifact)
                page = notes.next_page(artifact_id) if artifact_id is not None else None
                return TokenOptEnvAction(action_type=kind, artifact_id=artifact_id, page=page)
            case ActionType.QUERY_CACHE | ActionType.SEARCH_ARTIFACTS:
                query = question if QUERIES[chosen.query] == "question" else seen.task.brief
                return TokenOptEnvAction(action_type=kind, query=query[:TEXT_CAP_CHARACTERS])
            case ActionType.COMPRESS_CONTEXT:
                return TokenOptEnvAction(
                    action_type=kind,
                    context_segment_ids=_fitting(items, seen, "compressible"),
                    method=self._methods[chosen.method],
                    target_ratio=RATIOS[chosen.ratio],
                    query=question[:TEXT_CAP_CHARACTERS],
                )
            case ActionType.ROUTE_SUBTASK:
                return TokenOptEnvAction(
                    action_type=kind,
                    subtask_id=subtask.subtask_id if subtask is not None else None,
                    model_id=_at([card.model_id for card in board.models], chosen.model),
                    context_segment_ids=(*items, *handles),
                    effort=_EFFORTS[chosen.effort].value,
                )
            case ActionType.SUBMIT_ANSWER:
                return submit(seen)
            case ActionType.HYDRATE_SEGMENTS:
                return TokenOptEnvAction(action_type=kind, context_segment_ids=_fitting(handles, seen, "surfaced"))
            case ActionType.PURGE_MEMORY:
                return TokenOptEnvAction(action_type=kind, context_segment_ids=_fitting(items, seen, "items"))
            case ActionType.WRITE_CHECKPOINT:
                finding_ids = tuple(finding.finding_id for finding in latest_findings(seen))
                kept = items if items or finding_ids else _fitting(items, seen, "items")
                return TokenOptEnvAction(action_type=kind, finding_ids=finding_ids, context_segment_ids=kept)
            case ActionType.RESTORE_CHECKPOINT:
                saved = [checkpoint.checkpoint_id for checkpoint in board.checkpoints]
                return TokenOptEnvAction(action_type=kind, checkpoint_id=_at(saved, chosen.checkpoint))
            case ActionType.ESCALATE_ROUTE:
                routes = [route.route_id for route in board.routes]
                return TokenOptEnvAction(
                    action_type=kind, route_id=_at(routes, chosen.route), effort=_EFFORTS[chosen.effort].value
                )
            case ActionType.MALFORMED:
                raise AssertionError("no slot stands for it")
            case _ as never:
                assert_never(never)


def _at(names: Sequence[str], number: int) -> str | None:
    return names[number] if number < len(names) else None


def _picked(names: Sequence[str], picks: tuple[int, ...]) -> tuple[str, ...]:
    """Each once, in the order of the picks; 0 is none."""
    return tuple(dict.fromkeys(names[pick - 1] for pick in picks if 0 < pick <= len(names)))


def _fitting(names: tuple[str, ...], seen: TokenOptEnvObservation, offered: str) -> tuple[str, ...]:
    """Those that the verb can take; without any, the newest that it can."""
    choices = seen.legal_actions.choices.get(offered, ())
    return tuple(name for name in names if name in choices) or choices[-1:]
