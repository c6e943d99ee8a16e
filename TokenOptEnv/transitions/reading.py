"""Reading: whole artifacts, previews, search, cache, hydration. Each result becomes a memory item."""

from __future__ import annotations

from functools import lru_cache

from TokenOptEnv import memory_manager
from TokenOptEnv.config import (
    FINDING_CAP_TOKENS,
    PREVIEW_CAP_TOKENS,
    PREVIEW_PAGE_SEGMENTS,
    SEARCH_HIT_CAP_TOKENS,
    YARDSTICK,
)
from TokenOptEnv.episode_state import EpisodeState, evolve
from TokenOptEnv.findings import finding_text
from TokenOptEnv.memory_manager import Draft
from TokenOptEnv.models import (
    CacheHit,
    CachePayload,
    Finding,
    HydratePayload,
    ItemKind,
    OutlineLine,
    ReadPayload,
    SearchHit,
    SearchPayload,
)
from TokenOptEnv.models.base import trusted
from TokenOptEnv.moves import Hydrate, Preview, QueryCache, ReadWhole, Search
from TokenOptEnv.simulators import tokens
from TokenOptEnv.transitions.effect import Effect
from TokenOptEnv.world import SegmentView, VisibleWorld

_LINE_OVERHEAD_TOKENS = 14
"""Numbers, separators and the share of the item's header that a line of an outline or a hit takes."""
TITLE_CAP_TOKENS = PREVIEW_CAP_TOKENS // PREVIEW_PAGE_SEGMENTS - _LINE_OVERHEAD_TOKENS
SNIPPET_CAP_TOKENS = SEARCH_HIT_CAP_TOKENS - 2 * _LINE_OVERHEAD_TOKENS


def read_whole(state: EpisodeState, move: ReadWhole, visible: VisibleWorld) -> Effect:
    state, items = memory_manager.hydrate(state, move.missing, visible)
    state = evolve(state, seen_requests=_seen(state, f"read {move.artifact.artifact.artifact_id} 1"))
    payload = trusted(
        ReadPayload,
        kind="read",
        artifact_id=move.artifact.artifact.artifact_id,
        access_mode="full",
        page=1,
        pages=1,
        artifact_tokens=move.artifact.tokens,
        preview_segment_ids=tuple([view.segment_id for view in move.artifact.segments]),
        outline=(),
        item_ids=tuple([item.item_id for item in items]),
    )
    return Effect(state, payload)


def preview(state: EpisodeState, move: Preview, visible: VisibleWorld) -> Effect:
    state = memory_manager.surface(state, move.segments)
    outline, text = _outline(move.segments, tuple([state.aliases[view.segment_id] for view in move.segments]))
    artifact_id = move.artifact.artifact.artifact_id
    label = f"A{move.artifact.number} page {move.page}/{move.pages}"
    seen = _seen(state, f"read {artifact_id} {move.page}")
    state, item = memory_manager.add(state, Draft(ItemKind.PREVIEW, label, text), visible, seen_requests=seen)
    payload = trusted(
        ReadPayload,
        kind="read",
        artifact_id=artifact_id,
        access_mode="preview",
        page=move.page,
        pages=move.pages,
        artifact_tokens=move.artifact.tokens,
        preview_segment_ids=tuple([view.segment_id for view in move.segments]),
        outline=outline,
        item_ids=(item.item_id,),
    )
    return Effect(state, payload)


@lru_cache(maxsize=16_384)
def _outline(segments: tuple[SegmentView, ...], aliases: tuple[int, ...]) -> tuple[tuple[OutlineLine, ...], str]:
    """The lines of a page and its text, shared by all episodes in which its segments have these numbers."""
    outline = tuple(
        OutlineLine(
            segment_id=view.segment_id,
            alias=alias,
            tokens=view.tokens,
            title=tokens.clip(YARDSTICK, view.title, TITLE_CAP_TOKENS),
        )
        for view, alias in zip(segments, aliases, strict=True)
    )
    return outline, "".join(f"{line.alias} {line.tokens}t {line.title}\n" for line in outline)


def search(state: EpisodeState, move: Search, visible: VisibleWorld) -> Effect:
    phase = visible.phases[state.phase]
    found = phase.search(move.query, move.top_k)
    views = [phase.segments[hit.segment_id] for hit in found]
    state = memory_manager.surface(state, views)
    hits = tuple(
        [
            trusted(
                SearchHit,
                segment_id=hit.segment_id,
                alias=state.aliases[hit.segment_id],
                tokens=view.tokens,
                score=hit.score,
                snippet=tokens.clip(YARDSTICK, hit.snippet, SNIPPET_CAP_TOKENS),
            )
            for hit, view in zip(found, views, strict=True)
        ]
    )
    lines = [f"{hit.alias} {view.label} {hit.tokens}t {hit.snippet}" for hit, view in zip(hits, views, strict=True)]
    text = "\n".join(lines or ["no hit"]) + "\n"
    seen = _seen(state, f"search {' '.join(move.query.lower().split())}")
    draft = Draft(ItemKind.SEARCH, ItemKind.SEARCH.value, text)
    state, item = memory_manager.add(state, draft, visible, seen_requests=seen)
    return Effect(state, trusted(SearchPayload, kind="search", query=move.query, hits=hits, item_ids=(item.item_id,)))


def query_cache(state: EpisodeState, move: QueryCache, visible: VisibleWorld) -> Effect:
    """A hit becomes a finding whose citations are surfaced; it grounds only what is read again here."""
    phase = visible.phases[state.phase]
    held = {finding.entry_id: finding for finding in state.held_findings if finding.entry_id is not None}
    hits: list[CacheHit] = []
    item_ids: list[str] = []
    for match in phase.nearest(move.query):
        entry = match.entry
        finding = held.get(entry.entry_id)
        if finding is None:
            state = memory_manager.surface(
                state, [phase.segments[cite] for cite in entry.cites if cite in phase.segments]
            )
            finding = trusted(
                Finding,
                finding_id=f"finding-{len(state.findings) + 1}",
                source="cache",
                subtask_id=entry.subtask_id,
                values=entry.values,
                text=entry.text,
                confidence=match.similarity,
                cites=entry.cites,
                model_id=None,
                route_id=None,
                entry_id=entry.entry_id,
                version=entry.version,
                age_hours=entry.age_hours,
            )
            text = finding_text(finding, phase, state.aliases, FINDING_CAP_TOKENS)
            draft = Draft(ItemKind.CACHE, ItemKind.CACHE.value, text, findings=(finding,))
            state, item = memory_manager.add(state, draft, visible)
            item_ids.append(item.item_id)
        hits.append(
            trusted(
                CacheHit,
                entry_id=entry.entry_id,
                finding_id=finding.finding_id,
                subtask_id=entry.subtask_id,
                question=entry.question,
                similarity=match.similarity,
                version=entry.version,
                age_hours=entry.age_hours,
                cites=entry.cites,
            )
        )
    state = evolve(
        state,
        cache_queries=state.cache_queries + 1,
        cache_hits=state.cache_hits + len(hits),
        seen_requests=_seen(state, f"cache {' '.join(move.query.lower().split())}"),
    )
    return Effect(
        state, trusted(CachePayload, kind="cache", query=move.query, hits=tuple(hits), item_ids=tuple(item_ids))
    )


def hydrate(state: EpisodeState, move: Hydrate, visible: VisibleWorld) -> Effect:
    state, items = memory_manager.hydrate(state, move.segments, visible)
    payload = trusted(
        HydratePayload,
        kind="hydrate",
        item_ids=tuple([item.item_id for item in items]),
        tokens_added=sum([item.tokens for item in items]),
    )
    return Effect(state, payload)


def _seen(state: EpisodeState, request: str) -> dict[str, int]:
    """How often each was asked for, this time included."""
    seen = state.seen_requests
    return {**seen, request: seen.get(request, 0) + 1}
