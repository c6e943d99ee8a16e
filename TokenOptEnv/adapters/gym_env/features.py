"""Observations as numbers: fixed tables, every entry between 0 and 1, rows in the order that actions point into.

A row of zeros is an empty place. Nothing here is more than `TokenOptEnvObservation` shows; texts are told only by
how many of each question's terms stand in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from math import log1p
from typing import Any, Final

import numpy as np
from gymnasium import spaces
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
    asked_terms,
)
from TokenOptEnv.config import SEGMENT_CAP_TOKENS, SIZES
from TokenOptEnv.models import ActionType, ArtifactKind, Budget, ItemKind, ModelCard, Tier, TokenOptEnvObservation

Features = dict[str, Any]
"""Tables of numbers by name; Gymnasium's own type of a `Dict` says no more."""

_OVERLAPS: Final = tuple(f"overlap_{number}" for number in range(1, SUBTASKS + 1))

COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "episode": (
        "tokens_left",
        "usd_left",
        "steps_left",
        "latency_left",
        "memory_used",
        "must_submit",
        "phase",
        "last_refused",
        *(f"last_{kind.value.lower()}" for kind in ActionType),
    ),
    "artifacts": ("there", "size", "share_read", "readable", *(f"is_{kind.value}" for kind in ArtifactKind)),
    "subtasks": ("there", "askable", "findings", "latest_confidence", "best_confidence", "routes"),
    "models": ("there", "input_price", "output_price", *(f"is_{tier.value}" for tier in Tier)),
    "items": ("there", "size", "confidence", *(f"is_{kind.value}" for kind in ItemKind), *_OVERLAPS),
    "handles": ("there", "size", *_OVERLAPS),
    "routes": ("there", "escalatable", "subtask", "model", "confidence", "answered"),
    "checkpoints": ("there", "size", "findings", "phase"),
}
"""What each column of each table says. Sizes and prices are logarithmic, numbers of others are shares of the most."""

_ROWS: Final = {
    "artifacts": ARTIFACTS,
    "subtasks": SUBTASKS,
    "models": MODELS,
    "items": ITEMS,
    "handles": HANDLES,
    "routes": ROUTES,
    "checkpoints": CHECKPOINTS,
}
_MOST_ARTIFACT_TOKENS: Final = 250_000
_MOST_USD_PER_MILLION: Final = 100.0
_MANY: Final = 4
_LARGEST_MEMORY_TOKENS: Final = max(sizes.memory_tokens for sizes in SIZES.values())


def space() -> spaces.Space[Features]:
    return spaces.Dict({name: spaces.Box(0.0, 1.0, _shape(name), np.float32) for name in COLUMNS})


def features(seen: TokenOptEnvObservation, board: Board, notes: Notes) -> Features:
    asked = asked_terms(seen, board)
    return {
        "episode": np.asarray(list(_episode(seen)), dtype=np.float32),
        "artifacts": _table("artifacts", _artifacts(seen, board, notes)),
        "subtasks": _table("subtasks", _subtasks(seen, board)),
        "models": _table("models", [_model(card) for card in board.models]),
        "items": _table("items", _items(seen, board, notes, asked)),
        "handles": _table("handles", _handles(board, notes, asked)),
        "routes": _table("routes", _routes(seen, board)),
        "checkpoints": _table("checkpoints", _checkpoints(seen, board)),
    }


def _shape(name: str) -> tuple[int, ...]:
    columns = len(COLUMNS[name])
    return (_ROWS[name], columns) if name in _ROWS else (columns,)


def _table(name: str, rows: Iterable[Sequence[float]]) -> NDArray[np.float32]:
    table = np.zeros(_shape(name), dtype=np.float32)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return np.clip(table, 0.0, 1.0, out=table)


def _episode(seen: TokenOptEnvObservation) -> Iterable[float]:
    budgets, memory, last = seen.budgets, seen.working_memory, seen.last_tool_result
    yield from map(_left, (budgets.tokens, budgets.nano_usd, budgets.steps, budgets.latency_ms))
    yield min(1.0, memory.token_budget_used / (memory.token_budget or _LARGEST_MEMORY_TOKENS))
    yield float(seen.must_submit)
    yield seen.task.phase / seen.task.phases
    yield float(last is not None and last.refusal is not None)
    yield from _one_of(last.action_type if last is not None else None, ActionType)


def _artifacts(seen: TokenOptEnvObservation, board: Board, notes: Notes) -> Iterable[Sequence[float]]:
    readable = seen.legal_actions.choices.get("artifacts", ())
    for artifact in board.artifacts:
        yield [
            1.0,
            _log_share(artifact.tokens, _MOST_ARTIFACT_TOKENS),
            notes.share_read(artifact.artifact_id),
            float(artifact.artifact_id in readable),
            *_one_of(artifact.kind, ArtifactKind),
        ]


def _subtasks(seen: TokenOptEnvObservation, board: Board) -> Iterable[Sequence[float]]:
    askable = seen.legal_actions.choices.get("subtasks", ())
    for subtask in board.subtasks:
        found = [finding.confidence for finding in seen.findings if finding.subtask_id == subtask.subtask_id]
        routes = sum(route.subtask_id == subtask.subtask_id for route in seen.routing.routes)
        yield [
            1.0,
            float(subtask.subtask_id in askable),
            len(found) / _MANY,
            found[-1] if found else 0.0,
            max(found, default=0.0),
            routes / _MANY,
        ]


def _model(card: ModelCard) -> Sequence[float]:
    prices = [card.input_pico_usd / 1e6, card.output_pico_usd / 1e6]
    return [1.0, *(_log_share(price, _MOST_USD_PER_MILLION) for price in prices), *_one_of(card.tier, Tier)]


def _items(
    seen: TokenOptEnvObservation, board: Board, notes: Notes, asked: Sequence[frozenset[str]]
) -> Iterable[Sequence[float]]:
    confidences = {finding.finding_id: finding.confidence for finding in seen.findings}
    for item in board.items:
        yield [
            1.0,
            _log_share(item.tokens, _LARGEST_MEMORY_TOKENS),
            max((confidences.get(finding_id, 0.0) for finding_id in item.finding_ids), default=0.0),
            *_one_of(item.kind, ItemKind),
            *(notes.overlap(each, item.item_id) for each in asked),
        ]


def _handles(board: Board, notes: Notes, asked: Sequence[frozenset[str]]) -> Iterable[Sequence[float]]:
    for handle in board.handles:
        overlaps = (notes.overlap(each, handle.segment_id) for each in asked)
        yield [1.0, handle.tokens / SEGMENT_CAP_TOKENS, *overlaps]


def _routes(seen: TokenOptEnvObservation, board: Board) -> Iterable[Sequence[float]]:
    escalatable = seen.legal_actions.choices.get("routes", ())
    subtasks = [subtask.subtask_id for subtask in board.subtasks]
    models = [card.model_id for card in board.models]
    for route in board.routes:
        yield [
            1.0,
            float(route.route_id in escalatable),
            _place(route.subtask_id, subtasks, SUBTASKS),
            _place(route.model_id, models, MODELS),
            route.confidence,
            float(route.finding_id is not None),
        ]


def _checkpoints(seen: TokenOptEnvObservation, board: Board) -> Iterable[Sequence[float]]:
    for saved in board.checkpoints:
        yield [
            1.0,
            _log_share(saved.tokens, _LARGEST_MEMORY_TOKENS),
            len(saved.finding_ids) / _MANY,
            saved.phase / seen.task.phases,
        ]


def _left(budget: Budget) -> float:
    return max(0.0, budget.left / budget.limit)


def _log_share(value: float, most: float) -> float:
    return log1p(value) / log1p(most)


def _place(name: str, names: Sequence[str], most: int) -> float:
    """From 1 on, as a share of the most; 0 where it is not on the board any more."""
    return (names.index(name) + 1) / most if name in names else 0.0


def _one_of(value: StrEnum | None, kinds: type[StrEnum]) -> list[float]:
    return [float(value is kind) for kind in kinds]
