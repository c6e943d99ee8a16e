"""May this be asked of that model? ROUTE_SUBTASK and ESCALATE_ROUTE."""

from __future__ import annotations

from collections.abc import Mapping

from TokenOptEnv import ledger
from TokenOptEnv.action_rules.refusals import lacking, missing, refuse
from TokenOptEnv.action_rules.room import memory_refusal
from TokenOptEnv.config import FINDING_CAP_TOKENS, REPLY_CAP_TOKENS, ROUTE_MAX_HANDLES, Profile
from TokenOptEnv.episode_state import Charge, ContextPiece, EpisodeState, InputQuote, PromptPiece, RouteContext
from TokenOptEnv.memory_manager import item_tokens
from TokenOptEnv.models import Effort, MemoryItem, ModelCard, Refusal, RefusalReason, Subtask, TokenOptEnvAction
from TokenOptEnv.moves import Route
from TokenOptEnv.world import VisibleWorld, strength, text_tokens


def route(state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld, asked_at_ms: int) -> Route | Refusal:
    subtask = _subtask(state, action, visible)
    if isinstance(subtask, Refusal):
        return subtask
    if action.model_id is None:
        return missing("model_id", "name a model of the menu")
    card = visible.cards.get(action.model_id)
    if card is None:
        return refuse(RefusalReason.UNKNOWN_ID, "model_id", action.model_id, "name a model of the menu")
    answered = _answered_by_weaker(state, subtask, card, visible)
    if answered is not None:
        return refuse(
            RefusalReason.ALREADY_ANSWERED,
            "model_id",
            card.model_id,
            f"a stronger model looks at an answer by ESCALATE_ROUTE of {answered}",
        )
    effort = _effort(action)
    if isinstance(effort, Refusal):
        return effort
    slot_value: str | None = None
    question = subtask.question
    if subtask.slot is not None:
        slot_value = _slot_value(state, subtask)
        if slot_value is None:
            return refuse(
                RefusalReason.SLOT_EMPTY,
                "subtask_id",
                subtask.subtask_id,
                f"hold a finding of {subtask.slot.from_subtask_id} for {subtask.slot.name} first",
            )
        question = question.replace("{" + subtask.slot.name + "}", slot_value)
    held = {item.item_id: item for item in state.memory}
    pieces = _pieces(state, held, action, visible)
    if isinstance(pieces, Refusal):
        return pieces
    context = RouteContext(question, slot_value, pieces)
    quote = _quote(state, held, visible, card, context, asked_at_ms)
    return _fitting(state, visible, Route(subtask, card, effort, context, quote, None))


def escalate(
    state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld, asked_at_ms: int
) -> Route | Refusal:
    if action.route_id is None:
        return missing("route_id", "name an earlier route")
    context = state.route_contexts.get(action.route_id)
    if context is None:
        return refuse(RefusalReason.UNKNOWN_ID, "route_id", action.route_id, "name an earlier route of this phase")
    record = next(record for record in state.routes if record.route_id == action.route_id)
    weaker = [card.model_id for card in visible.by_strength].index(record.model_id)
    stronger = visible.by_strength[weaker + 1 :]
    if not stronger:
        return refuse(
            RefusalReason.NO_STRONGER_MODEL, "route_id", action.route_id, "it was asked of the strongest already"
        )
    card = stronger[0]
    if action.model_id is not None:
        if action.model_id not in visible.cards:
            return refuse(RefusalReason.UNKNOWN_ID, "model_id", action.model_id, "name a model of the menu")
        named = next((each for each in stronger if each.model_id == action.model_id), None)
        if named is None:
            names = ", ".join(each.model_id for each in stronger)
            return refuse(RefusalReason.NO_STRONGER_MODEL, "model_id", action.model_id, f"stronger are: {names}")
        card = named
    effort = _effort(action)
    if isinstance(effort, Refusal):
        return effort
    subtask = visible.phases[state.phase].subtasks[record.subtask_id]
    held = {item.item_id: item for item in state.memory}
    quote = _quote(state, held, visible, card, context, asked_at_ms)
    return _fitting(state, visible, Route(subtask, card, effort, context, quote, record.route_id))


def worst_charge(move: Route) -> Charge:
    """The most this call can take: what is checked against the budget, and tells nothing of the answer."""
    reasoning = move.card.reasoning_tokens[move.effort] * move.reasoning_permille // 1_000
    return ledger.charge(move.card, move.quote, REPLY_CAP_TOKENS + reasoning)


def _subtask(state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld) -> Subtask | Refusal:
    if action.subtask_id is None:
        return missing("subtask_id", "name a subtask")
    subtask = visible.phases[state.phase].subtasks.get(action.subtask_id)
    if subtask is None:
        return refuse(RefusalReason.UNKNOWN_ID, "subtask_id", action.subtask_id, "name a subtask of this phase")
    return subtask


def _answered_by_weaker(state: EpisodeState, subtask: Subtask, card: ModelCard, visible: VisibleWorld) -> str | None:
    """The latest route of this subtask, where it was answered and by none as strong as this model.

    Going up is an escalation: asked as if for the first time, it would pass by what is said of needless ones.
    """
    if visible.config.profile is Profile.V1:
        return None
    answered = [record for record in state.routes if record.subtask_id == subtask.subtask_id and record.finding_id]
    if not answered or any(strength(visible.cards[record.model_id]) >= strength(card) for record in answered):
        return None
    return answered[-1].route_id


def _effort(action: TokenOptEnvAction) -> Effort | Refusal:
    if action.effort is None:
        return Effort.MEDIUM
    try:
        return Effort(action.effort)
    except ValueError:
        names = ", ".join(effort.value for effort in Effort)
        return refuse(RefusalReason.UNKNOWN_ID, "effort", action.effort, f"one of {names}")


def _slot_value(state: EpisodeState, subtask: Subtask) -> str | None:
    """The latest finding held that can fill the slot: what is not in memory is not known."""
    assert subtask.slot is not None
    for finding in reversed(state.held_findings):
        if finding.subtask_id == subtask.slot.from_subtask_id and finding.values.get(subtask.slot.name):
            return finding.values[subtask.slot.name]
    return None


def _pieces(
    state: EpisodeState, held: Mapping[str, MemoryItem], action: TokenOptEnvAction, visible: VisibleWorld
) -> tuple[ContextPiece, ...] | Refusal:
    segments = visible.phases[state.phase].segments
    pieces: list[ContextPiece] = []
    handles = 0
    for name in dict.fromkeys(action.context_segment_ids):
        if name in held:
            item = held[name]
            pieces.append(ContextPiece(name, item.text, item.source_ids))
        elif name in state.surfaced:
            handles += 1
            pieces.append(ContextPiece(name, segments[name].text, (name,)))
        else:
            return refuse(
                RefusalReason.NOT_SURFACED, "context_segment_ids", name, "name items in memory or surfaced segments"
            )
    most = ROUTE_MAX_HANDLES[visible.config.profile]
    if handles > most:
        return refuse(
            RefusalReason.TOO_MANY,
            "context_segment_ids",
            f"{handles} by handle",
            f"at most {most}; load the others",
        )
    return tuple(pieces)


def _quote(
    state: EpisodeState,
    held: Mapping[str, MemoryItem],
    visible: VisibleWorld,
    card: ModelCard,
    context: RouteContext,
    asked_at_ms: int,
) -> InputQuote:
    """Context in the order the agent gave it: the same order again is a shared prefix."""
    counted = visible.segments_counted_by(card)
    pieces = [PromptPiece("head", text_tokens(card, visible.worker_head))]
    for name, text, source_ids in context.pieces:
        item = held.get(name)
        if item is not None:
            size = item_tokens(item, visible, card)
        else:
            size = counted[name] if source_ids == (name,) else text_tokens(card, text)
        pieces.append(PromptPiece(name, size))
    pieces.append(PromptPiece(f"{state.step}:question", text_tokens(card, context.question)))
    return ledger.quote_input(card, tuple(pieces), state.prefix_caches.get(f"worker:{card.model_id}"), asked_at_ms)


def _fitting(state: EpisodeState, visible: VisibleWorld, move: Route) -> Route | Refusal:
    """Does it fit into the model's window, and its reply into memory?"""
    needed, window = move.quote.tokens + REPLY_CAP_TOKENS, move.card.context_window_tokens
    if needed > window:
        return lacking(RefusalReason.CONTEXT_WINDOW, "context tokens", needed, window, "hand over less")
    return memory_refusal(state, visible, FINDING_CAP_TOKENS) or move
