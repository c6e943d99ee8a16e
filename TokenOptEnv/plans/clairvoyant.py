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
from TokenOptEnv.plans.planner import Asking, Planner
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.simulators.backend import RouteRequest
from TokenOptEnv.world import World, build_world, model_tokens, text_tokens

_MOST_OPTIONS = 2
"""The cheapest right models that are tried for each context."""


def make_clairvoyant_plan(scenario: Scenario, seed: int, config: EpisodeConfig, reference: Plan) -> Plan:
    world = build_world(scenario, seed, config)
    knowledge = know(scenario, world.visible)
    best = Planner(world, knowledge, lambda subtask_id: _askings(subtask_id, world, knowledge)).best()
    if best is None or best.score is None or best.nano_usd >= reference.nano_usd:
        return reference
    return plan_of(scenario, seed, best.actions, best.score)


def _askings(subtask_id: str, world: World, knowledge: Knowledge) -> list[Asking]:
    contexts = dict.fromkeys((knowledge.path[subtask_id], knowledge.needed[subtask_id]))
    found: list[Asking] = []
    for context_ids in contexts:
        if context_ids:
            right = _cheapest_right(subtask_id, context_ids, world, knowledge)
            found += [Asking(context_ids, (option,)) for option in right[:_MOST_OPTIONS]]
    return found or [Asking(knowledge.needed[subtask_id], ())]


def _cheapest_right(
    subtask_id: str, context_ids: tuple[str, ...], world: World, knowledge: Knowledge
) -> list[tuple[str, Effort]]:
    """Who would be right on this context and cite what must be covered, the cheapest first."""
    visible = world.visible
    truth = knowledge.truths[subtask_id]
    right_values = [candidate.values for candidate in truth.candidates if candidate.right]
    pieces = tuple(ContextPiece(name, knowledge.segments[name].text, (name,)) for name in context_ids)
    path = set(knowledge.path[subtask_id])
    priced: list[tuple[int, str, Effort]] = []
    for card in visible.menu:
        counts = [model_tokens(card, visible.segment_tokens(card.vocabulary, name)) for name in context_ids]
        head = PromptPiece("head", text_tokens(card, visible.worker_head))
        prompt = (head, *(PromptPiece(str(place), count) for place, count in enumerate(counts)))
        quote = ledger.quote_input(card, prompt, None, 0)
        for effort in Effort:
            reply = world.backend.answer(
                RouteRequest(
                    subtask_id=subtask_id,
                    question="",
                    slot_value=truth.slot_value,
                    model_id=visible.real_ids[card.model_id],
                    effort=effort,
                    context=pieces,
                    context_tokens=sum(counts),
                )
            )
            if reply.values in right_values and path.issubset(reply.cites):
                charge = ledger.charge(card, quote, REPLY_CAP_TOKENS // 2 + reply.reasoning_tokens)
                priced.append((charge.nano_usd, card.model_id, effort))
    return [(model_id, effort) for _, model_id, effort in sorted(priced)]
