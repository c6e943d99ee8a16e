"""Evidence that lies in more segments than can be named by handle: load it in batches, keep the lines asked about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from TokenOptEnv.config import FINDING_CAP_TOKENS, PREVIEW_PAGE_SEGMENTS, ROUTE_MAX_HANDLES, Profile
from TokenOptEnv.models import (
    ActionType,
    ArtifactHandle,
    ArtifactKind,
    ItemKind,
    TokenOptEnvAction,
    TokenOptEnvObservation,
)
from TokenOptEnv.policies import desk, errands
from TokenOptEnv.policies.script import Steps

_SHARE_OF_HITS = 0.8
_LEAST_HITS = 5
"""Hits in one artifact from which a question asks for all of it, though it does not say so."""
_MOST_SEGMENTS = 24
TABLES = (ArtifactKind.METRICS, ArtifactKind.TEST_REPORT)
"""What is read as a whole; many hits in a log or a list of changes are no reason to read all of it."""
_RATIO = 0.4


def spread_out(observation: TokenOptEnvObservation, hits: Sequence[str], about_all: bool) -> ArtifactHandle | None:
    """The one table, of more segments than may be handed over, that is asked about: it has most of the hits, or where
    the question says that it is about all of something, more of them than any other."""
    counts = Counter(hit.rpartition("-s")[0] for hit in hits)
    wide = tables(observation)
    artifact = max(wide, key=lambda each: (counts[each.artifact_id], -each.alias), default=None)
    if artifact is None or observation.task.profile is Profile.V1:
        return None
    least = max(_LEAST_HITS, _SHARE_OF_HITS * len(hits))
    return artifact if about_all or counts[artifact.artifact_id] >= least else None


def tables(observation: TokenOptEnvObservation) -> tuple[ArtifactHandle, ...]:
    """Those of more segments than may be handed over, and not too many to go through."""
    return tuple(
        artifact
        for artifact in observation.artifacts
        if artifact.kind in TABLES and ROUTE_MAX_HANDLES[observation.task.profile] < artifact.segments <= _MOST_SEGMENTS
    )


def gather(observation: TokenOptEnvObservation, artifact: ArtifactHandle, query: str) -> Steps:
    """Show all of it, then load and squeeze what the handles leave over."""
    for page in range(1, -(-artifact.segments // PREVIEW_PAGE_SEGMENTS) + 1):
        first = (page - 1) * PREVIEW_PAGE_SEGMENTS
        shown = {handle.segment_id for handle in observation.surfaced}
        if not shown.issuperset(errands.segment_ids(artifact)[first : first + PREVIEW_PAGE_SEGMENTS]):
            observation = yield from errands.read(observation, artifact, page)
    to_load = list(errands.segment_ids(artifact)[ROUTE_MAX_HANDLES[observation.task.profile] :])
    drop = desk.clear(observation)
    if drop is not None:
        observation = yield drop
    while to_load:
        observation = yield from errands.load(observation, to_load, FINDING_CAP_TOKENS)
        items = [
            item
            for item in observation.working_memory.items
            if item.kind is ItemKind.SEGMENT and item.item_id in to_load
        ]
        if not items:
            break
        to_load = [name for name in to_load if name not in {item.item_id for item in items}]
        observation = yield TokenOptEnvAction(
            action_type=ActionType.COMPRESS_CONTEXT,
            context_segment_ids=tuple(item.item_id for item in items),
            method="extract",
            target_ratio=_RATIO,
            query=query,
        )
    return observation


def gathered(observation: TokenOptEnvObservation, artifact: ArtifactHandle) -> tuple[str, ...]:
    """What is held of it, then as many handles as it takes."""
    ids = errands.segment_ids(artifact)
    held = [
        item.item_id
        for item in observation.working_memory.items
        if item.kind in (ItemKind.SEGMENT, ItemKind.COMPRESSED) and set(item.source_ids).intersection(ids)
    ]
    return (*held, *ids[: ROUTE_MAX_HANDLES[observation.task.profile]])
