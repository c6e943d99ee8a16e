"""A range of segments to load: `load 5-20`, without adding up how many of them fit.

Which segments a policy wants is its decision; how many of them memory has room for is a sum that is the same whoever
does it, and that small language models get wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from TokenOptEnv.config import ITEM_HEADER_TOKENS
from TokenOptEnv.models import TokenOptEnvObservation


def meant(observation: TokenOptEnvObservation, first: int, last: int) -> tuple[str, ...]:
    """Of the segments with these numbers: those that are not held, whole or shortened, as far as each still fits."""
    memory = observation.working_memory
    held = {name for item in memory.items for name in (item.item_id, *item.source_ids)}
    room_tokens = None if memory.token_budget is None else memory.token_budget - memory.token_budget_used
    names: list[str] = []
    for handle in sorted(observation.surfaced, key=lambda each: each.alias):
        tokens = handle.tokens + ITEM_HEADER_TOKENS
        if not first <= handle.alias <= last or handle.segment_id in held:
            continue
        if room_tokens is None or tokens <= room_tokens:
            names.append(handle.segment_id)
            room_tokens = None if room_tokens is None else room_tokens - tokens
    return tuple(names)


def widest(observation: TokenOptEnvObservation, segment_ids: Sequence[str]) -> tuple[int, int] | None:
    """The widest range of numbers of the same artifacts that means just these segments, in this order."""
    numbers = {handle.segment_id: handle.alias for handle in observation.surfaced}
    if not set(segment_ids).issubset(numbers):
        return None
    artifacts = {_artifact_id(name) for name in segment_ids}
    related = sorted(number for name, number in numbers.items() if _artifact_id(name) in artifacts)
    wanted = [numbers[name] for name in segment_ids]
    for first in (number for number in related if number <= min(wanted)):
        for last in (number for number in reversed(related) if number >= max(wanted)):
            if meant(observation, first, last) == tuple(segment_ids):
                return first, last
    return None


def _artifact_id(segment_id: str) -> str:
    return segment_id.rpartition("-s")[0]
