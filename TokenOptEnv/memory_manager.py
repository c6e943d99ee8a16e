"""Working memory: an ordered list of immutable items. Everything here returns a new state."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from TokenOptEnv.config import YARDSTICK
from TokenOptEnv.episode_state import EpisodeState, PromptPiece, evolve
from TokenOptEnv.models import ItemKind, MemoryItem, ModelCard, SegmentHandle
from TokenOptEnv.prompt import item_header
from TokenOptEnv.simulators import tokens
from TokenOptEnv.world import SegmentView, VisibleWorld, model_tokens, text_tokens

COMPRESSIBLE = (ItemKind.SEGMENT, ItemKind.PREVIEW, ItemKind.SEARCH, ItemKind.COMPRESSED)
"""Findings and checkpoints are short already, and must stay what they are."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An item before it has a number."""

    kind: ItemKind
    label: str
    text: str
    source_ids: tuple[str, ...] = ()
    finding_ids: tuple[str, ...] = ()


def room_tokens(state: EpisodeState, visible: VisibleWorld) -> int | None:
    """What still fits, or None where memory is unbounded."""
    bound = visible.limits.memory_tokens
    return None if bound is None else bound - state.memory_tokens


def next_alias(state: EpisodeState) -> int:
    return len(state.aliases) + 1


def surface(state: EpisodeState, views: Iterable[SegmentView]) -> EpisodeState:
    """Give each segment a number, if it has none, and make it askable."""
    fresh = [view for view in views if view.segment_id not in state.surfaced]
    if not fresh:
        return state
    aliases = dict(state.aliases)
    surfaced = dict(state.surfaced)
    for view in fresh:
        alias = aliases.setdefault(view.segment_id, len(aliases) + 1)
        surfaced[view.segment_id] = SegmentHandle.trusted(segment_id=view.segment_id, alias=alias, tokens=view.tokens)
    return evolve(state, aliases=aliases, surfaced=surfaced)


def hydrating_tokens(state: EpisodeState, views: Sequence[SegmentView]) -> int:
    """What hydrating these would take: their texts and the headers over them, with the numbers they will have."""
    total, number = 0, next_alias(state)
    for view in views:
        alias = state.aliases.get(view.segment_id)
        if alias is None:
            alias, number = number, number + 1
        total += _segment_item_tokens(view, alias)
    return total


def _segment_item_tokens(view: SegmentView, alias: int) -> int:
    return view.tokens + tokens.count(YARDSTICK, item_header(alias, view.label))


def hydrate(
    state: EpisodeState, views: Sequence[SegmentView], visible: VisibleWorld
) -> tuple[EpisodeState, tuple[MemoryItem, ...]]:
    """Load whole segments; an item of a segment carries the segment's own id."""
    state = surface(state, views)
    items = tuple(
        MemoryItem.trusted(
            item_id=view.segment_id,
            alias=state.aliases[view.segment_id],
            kind=ItemKind.SEGMENT,
            label=view.label,
            text=view.text,
            tokens=_segment_item_tokens(view, state.aliases[view.segment_id]),
            source_ids=(view.segment_id,),
        )
        for view in views
    )
    state = evolve(state, read_ids=state.read_ids.union(item.item_id for item in items))
    return _holding(state, state.memory + items, state.memory_pieces + _pieces(items, visible)), items


def add(state: EpisodeState, draft: Draft, visible: VisibleWorld) -> tuple[EpisodeState, MemoryItem]:
    state, item = _numbered(state, draft)
    return _holding(state, (*state.memory, item), state.memory_pieces + _pieces((item,), visible)), item


def without(state: EpisodeState, item_ids: Collection[str]) -> EpisodeState:
    return _holding(
        state,
        tuple(item for item in state.memory if item.item_id not in item_ids),
        tuple(piece for piece in state.memory_pieces if piece.key not in item_ids),
    )


def rewrite(
    state: EpisodeState, old: Sequence[MemoryItem], draft: Draft, visible: VisibleWorld
) -> tuple[EpisodeState, MemoryItem]:
    """Put one new item where the first of the old ones was."""
    state, item = _numbered(state, draft)
    (new_piece,) = _pieces((item,), visible)
    first, gone = old[0].item_id, {before.item_id for before in old}
    memory = [item if held.item_id == first else held for held in state.memory]
    pieces = [new_piece if piece.key == first else piece for piece in state.memory_pieces]
    return (
        _holding(
            state,
            tuple(held for held in memory if held.item_id not in gone),
            tuple(piece for piece in pieces if piece.key not in gone),
        ),
        item,
    )


def emptied(state: EpisodeState) -> EpisodeState:
    return _holding(state, (), ())


def item_tokens(item: MemoryItem, visible: VisibleWorld, card: ModelCard) -> int:
    """The item as this model counts it."""
    header = item_header(item.alias, item.label)
    if item.kind is ItemKind.SEGMENT:
        return text_tokens(card, header) + model_tokens(card, visible.segment_tokens(card.vocabulary, item.item_id))
    return text_tokens(card, header + item.text)


def draft_tokens(state: EpisodeState, draft: Draft) -> int:
    return tokens.count(YARDSTICK, item_header(next_alias(state), draft.label) + draft.text)


def _numbered(state: EpisodeState, draft: Draft) -> tuple[EpisodeState, MemoryItem]:
    alias = next_alias(state)
    item = MemoryItem.trusted(
        item_id=f"{draft.kind.value}-{alias}",
        alias=alias,
        kind=draft.kind,
        label=draft.label,
        text=draft.text,
        tokens=draft_tokens(state, draft),
        source_ids=draft.source_ids,
        finding_ids=draft.finding_ids,
    )
    return evolve(state, aliases={**state.aliases, item.item_id: alias}), item


def _holding(state: EpisodeState, memory: tuple[MemoryItem, ...], pieces: tuple[PromptPiece, ...]) -> EpisodeState:
    tokens_held = sum(item.tokens for item in memory)
    return evolve(state, memory=memory, memory_pieces=pieces, memory_tokens=tokens_held)


def _pieces(items: Iterable[MemoryItem], visible: VisibleWorld) -> tuple[PromptPiece, ...]:
    return tuple(PromptPiece(item.item_id, item_tokens(item, visible, visible.controller)) for item in items)
