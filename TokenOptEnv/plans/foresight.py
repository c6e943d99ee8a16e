"""Asking with the draws known: nobody is asked who would be wrong."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from TokenOptEnv import ledger
from TokenOptEnv.config import ITEM_HEADER_TOKENS, REPLY_CAP_TOKENS
from TokenOptEnv.episode_state import ContextPiece, PromptPiece
from TokenOptEnv.models import Effort
from TokenOptEnv.plans.kit import Kit
from TokenOptEnv.plans.planner import Planner
from TokenOptEnv.plans.program import Program
from TokenOptEnv.plans.stage import Played, Stage
from TokenOptEnv.plans.ways import Inquiry, Wish, ways_to
from TokenOptEnv.simulators.backend import RouteRequest
from TokenOptEnv.world import World, text_tokens

_FEW_FACTS = 5
"""Of so many, every selection is tried; of more, the shortest so many."""


def play_with_foresight(world: World, kit: Kit, seeds: Iterable[Program] = ()) -> Played | None:
    """The cheapest program found that solves this world, played; what is known to solve it may be a start."""
    stage = Stage(world, kit.escalates)
    asking = Foresight(world, kit)
    ways = {name: ways_to(name, kit, asking) for phase in kit.visible.phases for name in phase.subtasks}
    trimmed = [stage.trimmed(program) for program in seeds]
    ranked = Planner(kit, ways, [stage]).ranked([program for program in trimmed if program is not None])
    return stage.play(ranked[0]) if ranked else None


class Foresight:
    def __init__(self, world: World, kit: Kit) -> None:
        self._world = world
        self._kit = kit

    def wishes(self, subtask_id: str) -> list[Wish]:
        """From what only this question reads to all it needs: fewer facts may do in this world, and none by luck."""
        knowledge = self._kit.knowledge
        needs = knowledge.truths[subtask_id].needs
        decisive = frozenset(knowledge.decisive[subtask_id])
        elsewhere = {name for other, truth in knowledge.truths.items() if other != subtask_id for name in truth.needs}
        own = decisive - elsewhere
        others = sorted((name for name in needs if name not in own), key=self._size)
        if len(others) <= _FEW_FACTS:
            chosen = [frozenset(some) for size in range(len(others) + 1) for some in combinations(others, size)]
        else:
            chosen = [frozenset(others[:size]) for size in range(len(others) + 1)]
        squeezed = (0, len(others) // 2, len(others))
        shown = own.intersection(needs)
        found = [Wish(shown | some, own | (decisive & some), squeezed=len(some) in squeezed) for some in chosen]
        return [Wish(frozenset(), decisive, squeezed=False), *found]

    def inquiries(self, subtask_id: str, pieces: tuple[ContextPiece, ...]) -> list[Inquiry]:
        """Who would be right on this: the cheapest alone."""
        visible = self._world.visible
        truth = self._kit.knowledge.truths[subtask_id]
        right_values = [candidate.values for candidate in truth.candidates if candidate.right]
        best: Inquiry | None = None
        for card in visible.cards.values():
            counts = [text_tokens(card, piece.text) for piece in pieces]
            head = PromptPiece("head", text_tokens(card, visible.worker_head))
            prompt = (head, *(PromptPiece(str(place), count) for place, count in enumerate(counts)))
            quote = ledger.quote_input(card, prompt, None, 0)
            for effort in Effort:
                reply = self._world.backend.answer(
                    RouteRequest(
                        subtask_id=subtask_id,
                        question="",
                        slot_value=truth.slot_value,
                        model_id=visible.real_ids[card.model_id],
                        effort=effort,
                        context=pieces,
                        context_tokens=sum(counts) + ITEM_HEADER_TOKENS * len(pieces),
                    )
                )
                if reply.values not in right_values:
                    continue
                charge = ledger.charge(card, quote, REPLY_CAP_TOKENS // 2 + reply.reasoning_tokens)
                rough = charge.nano_usd + self._kit.rates.step
                if best is None or rough < best.rough_nano_usd:
                    best = Inquiry(((card.model_id, effort),), rough)
        return [] if best is None else [best]

    def _size(self, fact_id: str) -> tuple[int, str]:
        places = self._kit.knowledge.facts[fact_id].places
        return min(self._kit.knowledge.segments[place.segment_id].tokens for place in places), fact_id
