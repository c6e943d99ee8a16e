"""Working memory: an ordered list of immutable items. Everything here returns a new state."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from TokenOptEnv.config import YARDSTICK
from TokenOptEnv.episode_state import EpisodeState, PromptPiece, evolve
from TokenOptEnv.models import Finding, ItemKind, MemoryItem, ModelCard, SegmentHandle
from TokenOptEnv.models.base import trusted
from TokenOptEnv.prompt import item_header
from TokenOptEnv.simulators import tokens
from TokenOptEnv.world import SegmentView, VisibleWorld, counted_tokens, text_tokens

COMPRESSIBLE = frozenset({ItemKind.SEGMENT, ItemKind.PREVIEW, ItemKind.SEARCH, ItemKind.COMPRESSED})
"""Findings and checkpoints are short already, and must stay what they are."""


class Draft(NamedTuple):
    """An item before it has a number."""

    kind: ItemKind
    label: str
    text: str
    source_ids: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


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
        surfaced[view.segment_id] = _handle(view.segment_id, alias, view.tokens)
    return evolve(state, aliases=aliases, surfaced=surfaced)


@lru_cache(maxsize=65_536)
def _handle(segment_id: str, alias: int, tokens: int) -> SegmentHandle:
    """Shared by all episodes in which the segment has this number."""
    return trusted(SegmentHandle, segment_id=segment_id, alias=alias, tokens=tokens)


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
    items = tuple([_segment_item(view, state.aliases[view.segment_id]) for view in views])
    pieces = [PromptPiece(item.item_id, item_tokens(item, visible, visible.controller)) for item in items]
    return evolve(
        state,
        read_ids=state.read_ids.union([item.item_id for item in items]),
        memory=state.memory + items,
        memory_pieces=(*state.memory_pieces, *pieces),
        memory_tokens=state.memory_tokens + sum([item.tokens for item in items]),
    ), items


@lru_cache(maxsize=65_536)
def _segment_item(view: SegmentView, alias: int) -> MemoryItem:
    """Shared by all episodes in which the segment has this number."""
    return trusted(
        MemoryItem,
        item_id=view.segment_id,
        alias=alias,
        kind=ItemKind.SEGMENT,
        label=view.label,
        text=view.text,
        tokens=_segment_item_tokens(view, alias),
        source_ids=(view.segment_id,),
        finding_ids=(),
    )


def add(state: EpisodeState, draft: Draft, visible: VisibleWorld, **also: Any) -> tuple[EpisodeState, MemoryItem]:
    """`also` are fields of the state that change with it."""
    item, piece = _numbered(draft, next_alias(state), visible.controller)
    findings, held_findings = state.findings, state.held_findings
    if draft.findings:
        brought = {finding.finding_id: finding for finding in draft.findings}
        findings = {**findings, **brought}
        held_findings = tuple({**{finding.finding_id: finding for finding in held_findings}, **brought}.values())
    return evolve(
        state,
        aliases={**state.aliases, item.item_id: item.alias},
        memory=(*state.memory, item),
        memory_pieces=(*state.memory_pieces, piece),
        memory_tokens=state.memory_tokens + item.tokens,
        findings=findings,
        held_findings=held_findings,
        **also,
    ), item


def purge(state: EpisodeState, item_ids: Collection[str]) -> EpisodeState:
    memory = tuple([item for item in state.memory if item.item_id not in item_ids])
    return evolve(
        state,
        memory=memory,
        memory_pieces=tuple([piece for piece in state.memory_pieces if piece.key not in item_ids]),
        memory_tokens=sum([item.tokens for item in memory]),
        held_findings=_held_findings(state, memory) if state.held_findings else (),
        purged_ids=state.purged_ids.union(item_ids),
    )


def rewrite(
    state: EpisodeState, old: Sequence[MemoryItem], draft: Draft, visible: VisibleWorld
) -> tuple[EpisodeState, MemoryItem]:
    """Put one new item where the first of the old ones was."""
    item, piece = _numbered(draft, next_alias(state), visible.controller)
    first, gone = old[0].item_id, {each.item_id for each in old}
    memory: list[MemoryItem] = []
    pieces: list[PromptPiece] = []
    for held, held_piece in zip(state.memory, state.memory_pieces, strict=True):
        if held.item_id == first:
            memory.append(item)
            pieces.append(piece)
        elif held.item_id not in gone:
            memory.append(held)
            pieces.append(held_piece)
    return evolve(
        state,
        aliases={**state.aliases, item.item_id: item.alias},
        memory=tuple(memory),
        memory_pieces=tuple(pieces),
        memory_tokens=sum([held.tokens for held in memory]),
    ), item


def emptied(state: EpisodeState) -> EpisodeState:
    return evolve(state, memory=(), memory_pieces=(), memory_tokens=0, held_findings=())


def item_tokens(item: MemoryItem, visible: VisibleWorld, card: ModelCard) -> int:
    """The item as this model counts it."""
    header = item_header(item.alias, item.label)
    if item.kind is ItemKind.SEGMENT:
        return text_tokens(card, header) + visible.segments_counted_by(card)[item.item_id]
    return text_tokens(card, header + item.text)


def _held_findings(state: EpisodeState, memory: Iterable[MemoryItem]) -> tuple[Finding, ...]:
    held_ids = dict.fromkeys([finding_id for item in memory for finding_id in item.finding_ids])
    return tuple([state.findings[finding_id] for finding_id in held_ids])


def draft_tokens(state: EpisodeState, draft: Draft) -> int:
    return tokens.count(YARDSTICK, item_header(next_alias(state), draft.label) + draft.text)


def _numbered(draft: Draft, alias: int, card: ModelCard) -> tuple[MemoryItem, PromptPiece]:
    """The draft with its number, as an item and as a piece of a prompt to this model."""
    finding_ids = tuple([finding.finding_id for finding in draft.findings])
    way = (card.vocabulary, card.vocabulary_permille)
    return _kept_item(draft.kind, draft.label, draft.text, draft.source_ids, finding_ids, alias, way)


@lru_cache(maxsize=8_192)
def _kept_item(
    kind: ItemKind,
    label: str,
    text: str,
    source_ids: tuple[str, ...],
    finding_ids: tuple[str, ...],
    alias: int,
    way: tuple[str, int],
) -> tuple[MemoryItem, PromptPiece]:
    """Shared by all episodes in which the same is told under the same number; `way` is how a model counts."""
    whole = item_header(alias, label) + text
    item = trusted(
        MemoryItem,
        item_id=f"{kind}-{alias}",
        alias=alias,
        kind=kind,
        label=label,
        text=text,
        tokens=tokens.count(YARDSTICK, whole),
        source_ids=source_ids,
        finding_ids=finding_ids,
    )
    return item, PromptPiece(item.item_id, counted_tokens(*way, whole))
