"""Ways to an answer: what must be surfaced for it, and what is then done, with a rough idea of the cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from TokenOptEnv.episode_state import ContextPiece
from TokenOptEnv.models import ActionType
from TokenOptEnv.plans.kit import Kit
from TokenOptEnv.plans.packing import Handover
from TokenOptEnv.plans.program import Adopt, Ask, Attempts, Load, Operation

_MOST_WAYS = 12


@dataclass(frozen=True, slots=True)
class Inquiry:
    """Whom to ask, one after the other until one is right, and what that costs, roughly."""

    attempts: Attempts
    rough_nano_usd: int


@dataclass(frozen=True, slots=True)
class Wish:
    """Facts that a model may be shown, and those of them that somebody must read whole for it."""

    shown: frozenset[str]
    read: frozenset[str]
    squeezed: bool
    """Worth the trouble of rewriting them."""


class Asking(Protocol):
    """What and whom to ask: what tells one kind of plan from another."""

    def wishes(self, subtask_id: str) -> list[Wish]: ...

    def inquiries(self, subtask_id: str, pieces: tuple[ContextPiece, ...]) -> list[Inquiry]:
        """None where nobody should be asked on this."""


@dataclass(frozen=True, slots=True)
class Way:
    surface: tuple[str, ...]
    glimpses: tuple[str, ...]
    operations: tuple[Operation, ...]
    rough_nano_usd: int
    adopted: tuple[str, ...] | None = None
    """Where an earlier result is taken over: what it cites, which is surfaced with it."""


def ways_to(subtask_id: str, kit: Kit, asking: Asking) -> list[Way]:
    """The cheapest, roughly, first."""
    found: dict[tuple[Operation, ...], Way] = {}
    for wish in asking.wishes(subtask_id):
        handed = kit.packer.handovers(wish.shown, wish.read)
        if wish.squeezed:
            handed = [*handed, *kit.packer.squeezed(wish.shown | wish.read)]
        for handover in handed:
            if handover.glimpses and not kit.quotable(subtask_id, handover.surface, handover.glimpses):
                continue
            for inquiry in asking.inquiries(subtask_id, handover.pieces):
                way = _asked(subtask_id, handover, inquiry)
                found.setdefault(way.operations, way)
    ranked = sorted(found.values(), key=lambda way: way.rough_nano_usd)[:_MOST_WAYS]
    return sorted([*ranked, *_adopted(subtask_id, kit)], key=lambda way: way.rough_nano_usd)


def _asked(subtask_id: str, handover: Handover, inquiry: Inquiry) -> Way:
    ask = Ask(subtask_id, inquiry.attempts, handover.context_ids, handover.glimpses)
    rough = handover.rough_nano_usd + inquiry.rough_nano_usd
    return Way(handover.surface, handover.glimpses, (*handover.operations, ask), rough)


def _adopted(subtask_id: str, kit: Kit) -> list[Way]:
    """An earlier result, with what it rests on read again here; or read by somebody who is asked about it anyway."""
    entry = kit.knowledge.valid_entries.get(subtask_id)
    if entry is None or ActionType.QUERY_CACHE not in kit.tools:
        return []
    adopt = Adopt(subtask_id, entry.entry_id, kit.lookup(entry))
    rough = kit.rates.step + kit.rates.words(adopt.query)
    found = [Way((), (), (adopt,), rough, entry.cites)]
    decisive = kit.knowledge.decisive[subtask_id]
    if decisive and ActionType.HYDRATE_SEGMENTS in kit.tools:
        names = _cited(decisive, entry.cites, kit)
        held = sum(kit.knowledge.segments[name].tokens for name in names)
        rough += kit.rates.step + kit.rates.hold(held)
        found.append(Way((), (), (adopt, Load(names)), rough, entry.cites))
    return found


def _cited(decisive: tuple[str, ...], cites: tuple[str, ...], kit: Kit) -> tuple[str, ...]:
    """Those of the citations that show what is decisive."""
    chosen: dict[str, None] = {}
    for name in decisive:
        places = [place.segment_id for place in kit.knowledge.facts[name].places if place.segment_id in cites]
        if not any(place in chosen for place in places):
            chosen[min(places, key=lambda each: (kit.knowledge.segments[each].tokens, each))] = None
    return tuple(chosen)
