"""How to hand over more evidence than may go by handle: load it, and squeeze it where it does not fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from TokenOptEnv.config import ROUTE_MAX_HANDLES, YARDSTICK, Profile
from TokenOptEnv.plans.knowledge import Knowledge
from TokenOptEnv.plans.program import Drop, Load, Operation, Squeeze
from TokenOptEnv.simulators import terms, tokens
from TokenOptEnv.simulators.compression import methods
from TokenOptEnv.world import VisibleWorld

_RATIOS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.6)
_BATCH_SHARE = 0.5
"""A batch that is loaded to be squeezed takes at most this share of memory."""
_MOST_WORDS = 8


def ways_to_hand_over(
    segment_ids: tuple[str, ...], knowledge: Knowledge, visible: VisibleWorld
) -> list[tuple[Operation, ...]]:
    """What to do with these surfaced segments before asking; nothing, where all may go by handle."""
    profile = visible.config.profile
    most = ROUTE_MAX_HANDLES[profile]
    if len(segment_ids) <= most:
        return [()]
    if profile is Profile.V1:
        return []
    by_size = sorted(segment_ids, key=lambda name: knowledge.segments[name].tokens)
    to_hold = by_size[: len(segment_ids) - most]
    found: list[tuple[Operation, ...]] = [(Load(tuple(to_hold)),), (Drop(), Load(tuple(to_hold)))]
    bound = visible.limits.memory_tokens or 0
    for held in (to_hold, by_size):
        squeezed = _squeezed(held, knowledge, int(bound * _BATCH_SHARE))
        if squeezed:
            found += [squeezed, (Drop(), *squeezed)]
    return found


def _squeezed(names: Sequence[str], knowledge: Knowledge, batch_tokens: int) -> tuple[Operation, ...]:
    """Load and squeeze in batches; () where some batch cannot be squeezed without losing a fact."""
    operations: list[Operation] = []
    batch: list[str] = []
    used = 0
    for name in [*names, None]:
        size = 0 if name is None else knowledge.segments[name].tokens
        if batch and (name is None or used + size > batch_tokens):
            squeeze = _squeeze(tuple(batch), knowledge)
            if squeeze is None:
                return ()
            operations += [Load(tuple(batch)), squeeze]
            batch, used = [], 0
        if name is not None:
            batch.append(name)
            used += size
    return tuple(operations)


def _squeeze(batch: tuple[str, ...], knowledge: Knowledge) -> Squeeze | None:
    """The method and ratio that leave least while every fact survives, tried on the text itself."""
    text = "".join(knowledge.segments[name].text for name in batch)
    clues = [clue for name in batch for clue in knowledge.clues.get(name, ())]
    query = _query(clues)
    best: tuple[int, Squeeze] | None = None
    for method in methods().values():
        for ratio in _RATIOS:
            squeezed = method.compress(text, ratio, query)
            if all(clue in squeezed for clue in clues):
                left = tokens.count(YARDSTICK, squeezed)
                if best is None or left < best[0]:
                    best = (left, Squeeze(batch, method.name, ratio, query))
                break
    return None if best is None else best[1]


def _query(clues: list[str]) -> str:
    words = Counter(word for clue in clues for word in terms.distinct(clue) if len(word) > 2)
    return " ".join(sorted(words, key=lambda word: (-words[word], word))[:_MOST_WORDS])
