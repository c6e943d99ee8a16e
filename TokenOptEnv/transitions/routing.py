"""Asking a model: the one place where the hidden world answers back."""

from __future__ import annotations

from TokenOptEnv import ledger, memory_manager
from TokenOptEnv.config import FINDING_CAP_TOKENS, REPLY_CAP_TOKENS
from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.findings import finding_text
from TokenOptEnv.ledger import Call
from TokenOptEnv.memory_manager import Draft
from TokenOptEnv.models import Finding, ItemKind, RoutePayload, RouteRecord, RoutingTelemetry
from TokenOptEnv.models.base import trusted
from TokenOptEnv.moves import Route
from TokenOptEnv.simulators.backend import Backend, RouteReply, RouteRequest
from TokenOptEnv.transitions.effect import Effect
from TokenOptEnv.world import VisibleWorld, text_tokens


def route(state: EpisodeState, move: Route, visible: VisibleWorld, backend: Backend) -> Effect:
    card, context = move.card, move.context
    reply = backend.answer(
        RouteRequest(
            subtask_id=move.subtask.subtask_id,
            question=context.question,
            slot_value=context.slot_value,
            model_id=visible.real_ids[card.model_id],
            effort=move.effort,
            context=context.pieces,
            context_tokens=sum([piece.tokens for piece in move.quote.pieces[1:-1]]),
            public=visible.public,
        )
    )
    values = dict(reply.values)
    phase = visible.phases[state.phase]
    route_id = f"route-{len(state.routes) + 1}"
    finding = trusted(
        Finding,
        finding_id=f"finding-{len(state.findings) + 1}",
        source="route",
        subtask_id=move.subtask.subtask_id,
        values=values,
        text=reply.text,
        confidence=reply.confidence,
        cites=reply.cites,
        model_id=card.model_id,
        route_id=route_id,
        entry_id=None,
        version=None,
        age_hours=None,
    )
    state = memory_manager.surface(state, [phase.segments[cite] for cite in reply.cites if cite in phase.segments])
    text = finding_text(finding, phase, state.aliases, FINDING_CAP_TOKENS)
    draft = Draft(ItemKind.FINDING, ItemKind.FINDING.value, text, findings=(finding,) if values else ())
    call = _call(move, reply, text)
    record = trusted(
        RouteRecord,
        route_id=route_id,
        item_alias=memory_manager.next_alias(state),
        subtask_id=move.subtask.subtask_id,
        model_id=card.model_id,
        effort=move.effort.value,
        context_ids=tuple([piece.item_id for piece in context.pieces]),
        finding_id=finding.finding_id if values else None,
        confidence=reply.confidence,
        nano_usd=call.price.nano_usd,
        latency_ms=call.price.latency_ms,
        escalated_from=move.escalated_from,
    )
    routes = (*state.routes, record)
    routed_nano_usd = state.spent.routed_nano_usd + record.nano_usd
    state, item = memory_manager.add(
        state,
        draft,
        visible,
        routes=routes,
        routing=trusted(RoutingTelemetry, routes=routes, nano_usd=routed_nano_usd),
        route_contexts={**state.route_contexts, route_id: context},
    )
    payload = trusted(
        RoutePayload,
        kind="route",
        route_id=route_id,
        subtask_id=record.subtask_id,
        model_id=card.model_id,
        finding_id=record.finding_id,
        values=values,
        text=reply.text,
        confidence=reply.confidence,
        cites=reply.cites,
        nano_usd=call.price.nano_usd,
        latency_ms=call.price.latency_ms,
        item_ids=(item.item_id,),
    )
    return Effect(state, payload, call)


def _call(move: Route, reply: RouteReply, text: str) -> Call:
    """As measured where the call was real, else as the card and the texts have it."""
    card, usage = move.card, reply.usage
    if usage is not None:
        quote = ledger.measured_input(card, move.quote, usage.prompt_tokens, usage.cached_tokens)
        return ledger.call("worker", card, quote, usage.completion_tokens)
    reasoning = min(reply.reasoning_tokens, card.reasoning_tokens[move.effort]) * move.reasoning_permille // 1_000
    return ledger.call("worker", card, move.quote, min(text_tokens(card, text), REPLY_CAP_TOKENS) + reasoning)
