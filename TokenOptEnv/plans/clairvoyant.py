"""The clairvoyant plan: it knows the draws too, so it asks nobody who would be wrong.

It tries what each model would really say, on all the needed facts and on the decisive ones alone, and
takes the cheapest that is right. It never costs more than the reference.
"""

from __future__ import annotations

from TokenOptEnv import ledger
from TokenOptEnv.config import REPLY_CAP_TOKENS, EpisodeConfig
from TokenOptEnv.episode_state import ContextPiece, PromptPiece
from TokenOptEnv.models import Effort
from TokenOptEnv.plans.knowledge import Knowledge, know
from TokenOptEnv.plans.plan import Plan, plan_of
from TokenOptEnv.plans.planner import Attempts, Planner
from TokenOptEnv.plans.program import play
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.simulators.backend import RouteRequest
from TokenOptEnv.world import World, build_world, text_tokens

_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_HEADER_TOKENS = 12
"""The line over an item in memory lengthens the context a little."""


def make_clairvoyant_plan(scenario: Scenario, seed: int, config: EpisodeConfig, reference: Plan) -> Plan:
    world = build_world(scenario, seed, config)
    knowledge = know(scenario, world.visible)
    ranked = Planner(world, knowledge, _Foresight(world, knowledge)).ranked()
    best = play(ranked[0], world) if ranked else None
    if best is None or best.score is None or best.nano_usd >= reference.nano_usd:
        return reference
    return plan_of(scenario, seed, best.actions, best.score)


class _Foresight:
    def __init__(self, world: World, knowledge: Knowledge) -> None:
        self._world = world
        self._knowledge = knowledge

    def contexts(self, subtask_id: str) -> list[tuple[str, ...]]:
        """From the decisive segments alone to all that are needed: fewer facts may do in this world."""
        needed, path = self._knowledge.needed[subtask_id], self._knowledge.path[subtask_id]
        others = sorted(set(needed) - set(path), key=lambda name: (self._knowledge.segments[name].tokens, name))
        found = [(*path, *others[: round(share * len(others))]) for share in _SHARES]
        return [context for place, context in enumerate(found) if context and context not in found[:place]]

    def orders(self, subtask_id: str, pieces: tuple[ContextPiece, ...]) -> list[Attempts]:
        """Who would be right on this and cite what must be covered: the cheapest alone."""
        priced = self._right(subtask_id, pieces)
        return [((model_id, effort),) for _, model_id, effort in sorted(priced)[:1]]

    def _right(self, subtask_id: str, pieces: tuple[ContextPiece, ...]) -> list[tuple[int, str, Effort]]:
        visible = self._world.visible
        truth = self._knowledge.truths[subtask_id]
        right_values = [candidate.values for candidate in truth.candidates if candidate.right]
        path = set(self._knowledge.path[subtask_id])
        found: list[tuple[int, str, Effort]] = []
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
                        context_tokens=sum(counts) + _HEADER_TOKENS * len(pieces),
                    )
                )
                if reply.values in right_values and path.issubset(reply.cites):
                    charge = ledger.charge(card, quote, REPLY_CAP_TOKENS // 2 + reply.reasoning_tokens)
                    found.append((charge.nano_usd, card.model_id, effort))
        return found
