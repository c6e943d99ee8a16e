"""May this be read? READ_ARTIFACT, SEARCH_ARTIFACTS, QUERY_CACHE, HYDRATE_SEGMENTS."""

from __future__ import annotations

from TokenOptEnv.action_rules.refusals import missing, refuse
from TokenOptEnv.action_rules.room import memory_refusal
from TokenOptEnv.config import (
    CACHE_MAX_HITS,
    FINDING_CAP_TOKENS,
    FULL_READ_CAP_TOKENS,
    PREVIEW_CAP_TOKENS,
    PREVIEW_PAGE_SEGMENTS,
    SEARCH_HIT_CAP_TOKENS,
    SEARCH_MAX_TOP_K,
    TEXT_CAP_CHARACTERS,
)
from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.memory_manager import hydrating_tokens
from TokenOptEnv.models import Refusal, RefusalReason, TokenOptEnvAction
from TokenOptEnv.moves import Hydrate, Preview, QueryCache, ReadWhole, Search
from TokenOptEnv.world import VisibleWorld

_DEFAULT_TOP_K = 4


def read(state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld) -> ReadWhole | Preview | Refusal:
    phase = visible.phases[state.phase]
    if action.artifact_id is None:
        return missing("artifact_id", "name one of the artifacts")
    artifact = phase.artifacts.get(action.artifact_id)
    if artifact is None:
        return refuse(RefusalReason.UNKNOWN_ID, "artifact_id", action.artifact_id, "name an artifact of this phase")
    page = 1 if action.page is None else action.page
    if artifact.tokens <= FULL_READ_CAP_TOKENS:
        if page != 1:
            return refuse(RefusalReason.OUT_OF_RANGE, "page", page, "it is read whole, as page 1")
        held = {item.item_id for item in state.memory}
        absent = tuple(view for view in artifact.segments if view.segment_id not in held)
        if not absent:
            return refuse(
                RefusalReason.ALREADY_IN_MEMORY,
                "artifact_id",
                action.artifact_id,
                "read something else, or purge it first",
            )
        return memory_refusal(state, visible, hydrating_tokens(state, absent)) or ReadWhole(artifact, absent)
    pages = -(-len(artifact.segments) // PREVIEW_PAGE_SEGMENTS)
    if not 1 <= page <= pages:
        return refuse(RefusalReason.OUT_OF_RANGE, "page", page, f"pages go from 1 to {pages}")
    start = (page - 1) * PREVIEW_PAGE_SEGMENTS
    segments = artifact.segments[start : start + PREVIEW_PAGE_SEGMENTS]
    return memory_refusal(state, visible, PREVIEW_CAP_TOKENS) or Preview(artifact, page, pages, segments)


def search(state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld) -> Search | Refusal:
    query = _query(action)
    if isinstance(query, Refusal):
        return query
    top_k = _DEFAULT_TOP_K if action.top_k is None else action.top_k
    if not 1 <= top_k <= SEARCH_MAX_TOP_K:
        return refuse(RefusalReason.OUT_OF_RANGE, "top_k", top_k, f"take 1 to {SEARCH_MAX_TOP_K}")
    return memory_refusal(state, visible, SEARCH_HIT_CAP_TOKENS * top_k) or Search(query, top_k)


def query_cache(state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld) -> QueryCache | Refusal:
    query = _query(action)
    if isinstance(query, Refusal):
        return query
    return memory_refusal(state, visible, CACHE_MAX_HITS * FINDING_CAP_TOKENS) or QueryCache(query)


def hydrate(state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld) -> Hydrate | Refusal:
    ids = tuple(dict.fromkeys(action.context_segment_ids))
    if not ids:
        return missing("context_segment_ids", "name surfaced segments")
    held = {item.item_id for item in state.memory}
    for segment_id in ids:
        if segment_id not in state.surfaced:
            return refuse(
                RefusalReason.NOT_SURFACED,
                "context_segment_ids",
                segment_id,
                "preview or search first, then use its id",
            )
        if segment_id in held:
            return refuse(RefusalReason.ALREADY_IN_MEMORY, "context_segment_ids", segment_id, "leave it out")
    views = visible.phases[state.phase].segments
    segments = tuple([views[segment_id] for segment_id in ids])
    return memory_refusal(state, visible, hydrating_tokens(state, segments)) or Hydrate(segments)


def _query(action: TokenOptEnvAction) -> str | Refusal:
    query = (action.query or "").strip()
    if not query:
        return missing("query", "say what to look for")
    if len(query) > TEXT_CAP_CHARACTERS:
        return refuse(RefusalReason.TOO_LONG, "query", query, f"at most {TEXT_CAP_CHARACTERS} characters")
    return query
