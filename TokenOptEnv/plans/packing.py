"""How to hand evidence over: by handle, loaded, or squeezed.

Squeezing pays twice: evidence that would not fit does, and a short context keeps a cheap model right where a
long one would make it wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from TokenOptEnv.config import ROUTE_MAX_HANDLES, Profile
from TokenOptEnv.episode_state import ContextPiece
from TokenOptEnv.plans.knowledge import Knowledge
from TokenOptEnv.plans.program import Drop, Load, Operation, Squeeze
from TokenOptEnv.simulators import terms
from TokenOptEnv.simulators.compression import methods
from TokenOptEnv.world import VisibleWorld

_RATIOS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6)
_BATCH_SHARE = 0.5
"""A batch that is loaded to be squeezed takes at most this share of memory."""
_MOST_WORDS = 8
_FIRST_METHOD = "extract"


@dataclass(frozen=True)
class Handover:
    """What to do with surfaced segments before asking, and what the model will then read."""

    segment_ids: tuple[str, ...]
    operations: tuple[Operation, ...]
    pieces: tuple[ContextPiece, ...]


def handovers(segment_ids: tuple[str, ...], knowledge: Knowledge, visible: VisibleWorld) -> list[Handover]:
    profile = visible.config.profile
    most = ROUTE_MAX_HANDLES[profile]
    whole = tuple(_piece(name, knowledge) for name in segment_ids)
    if len(segment_ids) <= most:
        found = [Handover(segment_ids, (), whole)]
    else:
        by_size = sorted(segment_ids, key=lambda name: knowledge.segments[name].tokens)
        load = Load(tuple(by_size[: len(segment_ids) - most]))
        found = [Handover(segment_ids, (load,), whole), Handover(segment_ids, (Drop(), load), whole)]
    if profile is Profile.V1:
        return found[:1] if len(segment_ids) <= most else []
    return found + _squeezed_handovers(segment_ids, knowledge, visible)


def _squeezed_handovers(segment_ids: tuple[str, ...], knowledge: Knowledge, visible: VisibleWorld) -> list[Handover]:
    batch_tokens = int((visible.limits.memory_tokens or 0) * _BATCH_SHARE)
    squeezes: list[tuple[Squeeze, str]] = []
    for batch in _batches(segment_ids, knowledge, batch_tokens):
        squeezed = _squeeze(batch, knowledge)
        if squeezed is None:
            return []
        squeezes.append(squeezed)
    operations: list[Operation] = []
    for squeeze, _ in squeezes:
        operations += [Load(squeeze.segment_ids), squeeze]
    pieces = tuple(ContextPiece("+".join(squeeze.segment_ids), text, squeeze.segment_ids) for squeeze, text in squeezes)
    return [
        Handover(segment_ids, tuple(operations), pieces),
        Handover(segment_ids, (Drop(), *operations), pieces),
    ]


def _batches(names: Sequence[str], knowledge: Knowledge, batch_tokens: int) -> list[tuple[str, ...]]:
    batches: list[tuple[str, ...]] = []
    batch: list[str] = []
    used = 0
    for name in names:
        size = knowledge.segments[name].tokens
        if batch and used + size > batch_tokens:
            batches.append(tuple(batch))
            batch, used = [], 0
        batch.append(name)
        used += size
    return [*batches, tuple(batch)] if batch else batches


def _squeeze(batch: tuple[str, ...], knowledge: Knowledge) -> tuple[Squeeze, str] | None:
    """The smallest ratio at which every fact survives, tried on the text itself.

    Knowing what to look for, a query-focused extract beats the other methods; they come in where it loses a fact.
    """
    text = "".join(knowledge.segments[name].text for name in batch)
    clues = [clue for name in batch for clue in knowledge.clues.get(name, ())]
    query = _query(clues)
    for name in sorted(methods(), key=lambda name: name != _FIRST_METHOD):
        for ratio in _RATIOS:
            squeezed = methods()[name].compress(text, ratio, query)
            if all(clue in squeezed for clue in clues):
                return Squeeze(batch, name, ratio, query), squeezed.rstrip("\n") + "\n"
    return None


def _query(clues: list[str]) -> str:
    words = Counter(word for clue in clues for word in terms.distinct(clue) if len(word) > 2)
    return " ".join(sorted(words, key=lambda word: (-words[word], word))[:_MOST_WORDS])


def _piece(name: str, knowledge: Knowledge) -> ContextPiece:
    return ContextPiece(name, knowledge.segments[name].text, (name,))
