"""Errands that scripted policies run: look something up, load it, ask about it. Each sees to room and money first."""

from __future__ import annotations

from collections.abc import Iterable

from TokenOptEnv.config import (
    FINDING_CAP_TOKENS,
    FULL_READ_CAP_TOKENS,
    PREVIEW_CAP_TOKENS,
    ROUTE_MAX_HANDLES,
    SEARCH_HIT_CAP_TOKENS,
    Profile,
)
from TokenOptEnv.models import (
    ActionType,
    ArtifactHandle,
    CachePayload,
    Effort,
    MemoryItem,
    ModelCard,
    ReadPayload,
    RoutePayload,
    SearchPayload,
    Subtask,
    TokenOptEnvAction,
    TokenOptEnvObservation,
)
from TokenOptEnv.policies import desk, menu
from TokenOptEnv.policies.script import Steps
from TokenOptEnv.simulators import terms

HEADER_TOKENS = 24
"""What the header over a loaded segment takes at most."""


def make_room(observation: TokenOptEnvObservation, tokens: int) -> Steps:
    """Drop as little as makes so much fit, at once: listings, then replaced findings, then evidence from the oldest."""
    short = tokens - desk.room_tokens(observation)
    dropped: list[MemoryItem] = []
    for item in desk.dispensable(observation):
        if short <= 0:
            break
        dropped.append(item)
        short -= item.tokens
    purge = desk.purge(observation, dropped)
    return observation if purge is None else (yield purge)


def look_up(observation: TokenOptEnvObservation, query: str, top_k: int) -> Steps:
    """A search; in profile v1, which has none, the artifact not yet opened whose title says most of the query."""
    if observation.task.profile is Profile.V1:
        artifact = _nearest(observation, query)
        if artifact is None:
            return observation
        return (yield TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id=artifact.artifact_id))
    observation = yield from make_room(observation, SEARCH_HIT_CAP_TOKENS * top_k)
    top_k = min(top_k, desk.room_tokens(observation) // SEARCH_HIT_CAP_TOKENS)
    if top_k < 1 or not query.strip():
        return observation
    return (yield TokenOptEnvAction(action_type=ActionType.SEARCH_ARTIFACTS, query=query, top_k=top_k))


def read(observation: TokenOptEnvObservation, artifact: ArtifactHandle, page: int = 1) -> Steps:
    """A small artifact whole, or a page of a large one; nothing where that does not fit beside what is held."""
    tokens = read_tokens(artifact)
    observation = yield from make_room(observation, tokens)
    if desk.room_tokens(observation) < tokens or is_held(observation, artifact):
        return observation
    return (
        yield TokenOptEnvAction(
            action_type=ActionType.READ_ARTIFACT, artifact_id=artifact.artifact_id, page=None if page == 1 else page
        )
    )


def load(observation: TokenOptEnvObservation, wanted: Iterable[str], spare_tokens: int = 0) -> Steps:
    """Of these segments, those not held, in order, while they fit and `spare_tokens` stay free."""
    held = held_ids(observation)
    sizes = {handle.segment_id: handle.tokens + HEADER_TOKENS for handle in observation.surfaced}
    room = desk.room_tokens(observation) - spare_tokens
    chosen: list[str] = []
    for name in dict.fromkeys(wanted):
        if name in sizes and name not in held and sizes[name] <= room:
            chosen.append(name)
            room -= sizes[name]
    if not chosen or observation.task.profile is Profile.V1:
        return observation
    return (yield TokenOptEnvAction(action_type=ActionType.HYDRATE_SEGMENTS, context_segment_ids=tuple(chosen)))


def loaded_tokens(observation: TokenOptEnvObservation, segment_ids: Iterable[str]) -> int:
    """What these take of memory when they are loaded; those already held take nothing more."""
    held = held_ids(observation)
    sizes = {handle.segment_id: handle.tokens + HEADER_TOKENS for handle in observation.surfaced}
    return sum(sizes.get(name, 0) for name in dict.fromkeys(segment_ids) if name not in held)


def query_cache(observation: TokenOptEnvObservation, query: str) -> Steps:
    return (yield TokenOptEnvAction(action_type=ActionType.QUERY_CACHE, query=query))


def ask(
    observation: TokenOptEnvObservation,
    subtask: Subtask,
    card: ModelCard,
    effort: Effort,
    wanted: Iterable[str],
    nano_usd: int,
) -> Steps:
    """Hand over what is held of `wanted`, and of the rest as many handles as are allowed.

    Somebody cheaper is asked where the money does not reach, and nobody where it reaches for none.
    """
    names = tuple(dict.fromkeys(wanted))
    observation = yield from make_room(observation, FINDING_CAP_TOKENS)
    context = handed_over(observation, names)
    offer = menu.affordable(observation, card, effort, context_tokens(observation, context), nano_usd)
    if offer is None or desk.room_tokens(observation) < FINDING_CAP_TOKENS:
        return observation
    return (
        yield TokenOptEnvAction(
            action_type=ActionType.ROUTE_SUBTASK,
            subtask_id=subtask.subtask_id,
            model_id=offer.model_id,
            effort=offer.effort.value,
            context_segment_ids=context,
        )
    )


def ask_stronger(
    observation: TokenOptEnvObservation, asked: RoutePayload, card: ModelCard, effort: Effort, nano_usd: int
) -> Steps:
    """The same question and context for a stronger model, which builds on the first reply where the profile lets it."""
    record = next(each for each in observation.routing.routes if each.route_id == asked.route_id)
    size = context_tokens(observation, record.context_ids)
    if menu.price_nano_usd(card, effort, size) > nano_usd:
        return observation
    if observation.task.profile is Profile.V1:
        return (
            yield TokenOptEnvAction(
                action_type=ActionType.ROUTE_SUBTASK,
                subtask_id=record.subtask_id,
                model_id=card.model_id,
                effort=effort.value,
                context_segment_ids=record.context_ids,
            )
        )
    observation = yield from make_room(observation, FINDING_CAP_TOKENS)
    if desk.room_tokens(observation) < FINDING_CAP_TOKENS:
        return observation
    return (
        yield TokenOptEnvAction(
            action_type=ActionType.ESCALATE_ROUTE,
            route_id=record.route_id,
            model_id=card.model_id,
            effort=effort.value,
        )
    )


def found(observation: TokenOptEnvObservation) -> tuple[str, ...]:
    """The segments that the last look-up named, the best first."""
    last = observation.last_tool_result
    match last.payload if last is not None else None:
        case SearchPayload(hits=hits):
            return tuple(hit.segment_id for hit in hits)
        case ReadPayload(preview_segment_ids=segment_ids):
            return segment_ids
        case _:
            return ()


def reply(observation: TokenOptEnvObservation, subtask: Subtask) -> RoutePayload | None:
    """What the last action was told about this question, if it asked a model about it."""
    last = observation.last_tool_result
    payload = last.payload if last is not None else None
    is_reply = isinstance(payload, RoutePayload) and payload.subtask_id == subtask.subtask_id
    return payload if is_reply and isinstance(payload, RoutePayload) else None


def cached(observation: TokenOptEnvObservation) -> CachePayload | None:
    last = observation.last_tool_result
    return last.payload if last is not None and isinstance(last.payload, CachePayload) else None


def handed_over(observation: TokenOptEnvObservation, wanted: Iterable[str]) -> tuple[str, ...]:
    """Of `wanted`, all that is held, and of what was only shown as much as may be named by handle."""
    held = held_ids(observation)
    shown = {handle.segment_id for handle in observation.surfaced}
    left = ROUTE_MAX_HANDLES[observation.task.profile]
    chosen: list[str] = []
    for name in dict.fromkeys(wanted):
        if name in held:
            chosen.append(name)
        elif name in shown and left > 0:
            chosen.append(name)
            left -= 1
    return tuple(chosen)


def held_ids(observation: TokenOptEnvObservation) -> frozenset[str]:
    return frozenset(item.item_id for item in observation.working_memory.items)


def artifact_of(observation: TokenOptEnvObservation, segment_id: str) -> ArtifactHandle | None:
    """A segment is named after its artifact."""
    name = segment_id.rpartition("-s")[0]
    return next((artifact for artifact in observation.artifacts if artifact.artifact_id == name), None)


def is_small(artifact: ArtifactHandle) -> bool:
    """Small artifacts are read whole, large ones by pages."""
    return artifact.tokens <= FULL_READ_CAP_TOKENS


def is_held(observation: TokenOptEnvObservation, artifact: ArtifactHandle) -> bool:
    return held_ids(observation).issuperset(segment_ids(artifact))


def segment_ids(artifact: ArtifactHandle) -> tuple[str, ...]:
    return tuple(f"{artifact.artifact_id}-s{number}" for number in range(1, artifact.segments + 1))


def read_tokens(artifact: ArtifactHandle) -> int:
    """What reading it takes of memory, at most."""
    return artifact.tokens + HEADER_TOKENS * artifact.segments if is_small(artifact) else PREVIEW_CAP_TOKENS


def _nearest(observation: TokenOptEnvObservation, query: str) -> ArtifactHandle | None:
    words = set(terms.distinct(query))
    opened = {handle.segment_id.rpartition("-s")[0] for handle in observation.surfaced}
    unopened = [each for each in observation.artifacts if each.artifact_id not in opened]
    large = [each for each in observation.artifacts if not is_held(observation, each)]
    return max(
        unopened or large,
        key=lambda each: (len(words.intersection(terms.terms(each.title))), -each.alias),
        default=None,
    )


def context_tokens(observation: TokenOptEnvObservation, context: Iterable[str]) -> int:
    sizes = {handle.segment_id: handle.tokens for handle in observation.surfaced}
    sizes.update((item.item_id, item.tokens) for item in observation.working_memory.items)
    return sum(sizes.get(name, 0) for name in context)
