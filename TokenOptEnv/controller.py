"""The policy's own call: the prompt it decided on, priced, and the action it wrote."""

from __future__ import annotations

from typing import NamedTuple

from TokenOptEnv import ledger
from TokenOptEnv.config import MOST_REASONING_TOKENS
from TokenOptEnv.episode_state import EpisodeState, InputQuote, PromptPiece, evolve
from TokenOptEnv.ledger import Call
from TokenOptEnv.models import Budgets, Checkpoint, TokenOptEnvAction, ToolResult, WorkingMemory
from TokenOptEnv.prompt import tail_text
from TokenOptEnv.text_actions import Numbering, write
from TokenOptEnv.world import VisibleWorld, text_tokens

_COUNTED_CHARACTERS = 4_000
_CHARACTERS_PER_TOKEN = 4
"""Beyond what is counted exactly: nobody's action is that long, and a flood must not cost us time."""


class Screen(NamedTuple):
    """What the policy is about to look at that changes every step: shown, rendered and billed from here."""

    memory: WorkingMemory
    budgets: Budgets
    checkpoints: tuple[Checkpoint, ...]


def screen(state: EpisodeState, visible: VisibleWorld) -> Screen:
    return Screen(
        memory=WorkingMemory.trusted(
            items=state.memory, token_budget=visible.limits.memory_tokens, token_budget_used=state.memory_tokens
        ),
        budgets=ledger.budgets(state, visible),
        checkpoints=tuple(saved.record for saved in state.checkpoints),
    )


def with_prompt(state: EpisodeState, visible: VisibleWorld, shown: Screen, last: ToolResult | None) -> EpisodeState:
    """Price the prompt that the next observation will show, and tell whether it can still be paid."""
    quote = _quote(state, visible, shown, last, must_submit=False)
    needed = ledger.charge(visible.controller, quote, 0)
    left = ledger.left(state, visible)
    if needed.tokens <= left.tokens and needed.nano_usd <= left.nano_usd and needed.latency_ms <= left.latency_ms:
        return evolve(state, prompt=quote, must_submit=False)
    return evolve(state, prompt=_quote(state, visible, shown, last, must_submit=True), must_submit=True)


def decision_call(state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld) -> Call:
    assert state.prompt is not None
    text = write(action, _numbering(state, action, visible))
    output = text_tokens(visible.controller, text[:_COUNTED_CHARACTERS])
    output += max(0, len(text) - _COUNTED_CHARACTERS) // _CHARACTERS_PER_TOKEN
    return Call("controller", visible.controller, state.prompt, output + _reasoning_tokens(action))


def _reasoning_tokens(action: TokenOptEnvAction) -> int:
    return min(MOST_REASONING_TOKENS, max(0, action.reasoning_tokens))


def _quote(
    state: EpisodeState, visible: VisibleWorld, shown: Screen, last: ToolResult | None, must_submit: bool
) -> InputQuote:
    card = visible.controller
    tail = tail_text(shown.memory, last, shown.budgets, shown.checkpoints, must_submit)
    pieces = (
        PromptPiece(f"head-{state.phase}", text_tokens(card, visible.phases[state.phase].head)),
        *state.memory_pieces,
        PromptPiece(f"tail-{state.step}", text_tokens(card, tail)),
    )
    held = state.prefix_caches.get(f"controller:{card.model_id}")
    return ledger.quote_input(card, pieces, held, state.clock_ms)


def _numbering(state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld) -> Numbering:
    """The numbers in force, as far as this action can name anything by them."""
    phase = visible.phases[state.phase]
    held = state.memory if action.finding_ids else ()
    asked = state.routes if action.route_id is not None else ()
    return Numbering(
        artifacts=phase.artifact_numbers,
        subtasks=phase.subtask_ids,
        models=visible.model_ids,
        things=state.aliases,
        finding_items={finding_id: item.alias for item in held for finding_id in item.finding_ids},
        route_items={route.route_id: route.item_alias for route in asked},
        checkpoints=[saved.record.checkpoint_id for saved in state.checkpoints],
    )
