"""The policy's own call: the prompt it decided on, priced, and the action it wrote."""

from __future__ import annotations

from typing import NamedTuple

from TokenOptEnv import ledger
from TokenOptEnv.config import MOST_REASONING_TOKENS
from TokenOptEnv.episode_state import Charge, EpisodeState, InputQuote, PromptPiece, evolve
from TokenOptEnv.ledger import Call
from TokenOptEnv.models import Budgets, Checkpoint, TokenOptEnvAction, ToolResult, WorkingMemory
from TokenOptEnv.models.base import trusted
from TokenOptEnv.prompt import tail_text
from TokenOptEnv.simulators import tokens
from TokenOptEnv.text_actions import Numbering, write
from TokenOptEnv.world import VisibleWorld, model_tokens, text_tokens

_COUNTED_CHARACTERS = 4_000
_CHARACTERS_PER_TOKEN = 4
"""Beyond what is counted exactly: nobody's action is that long, and a flood must not cost us time."""
_KEPT_CHARACTERS = 400
"""Nor memory: what is longer is counted anew where it is said again."""


class Screen(NamedTuple):
    """What the policy is about to look at that changes every step: shown, rendered and billed from here."""

    memory: WorkingMemory
    budgets: Budgets
    checkpoints: tuple[Checkpoint, ...]
    left: Charge


def screen(state: EpisodeState, visible: VisibleWorld) -> Screen:
    left = ledger.left(state, visible)
    memory = trusted(
        WorkingMemory,
        items=state.memory,
        token_budget=visible.limits.memory_tokens,
        token_budget_used=state.memory_tokens,
    )
    checkpoints = tuple([saved.record for saved in state.checkpoints])
    return Screen(memory, ledger.budgets(state, visible, left), checkpoints, left)


def with_prompt(state: EpisodeState, visible: VisibleWorld, shown: Screen, last: ToolResult | None) -> EpisodeState:
    """Price the prompt that the next observation will show, and tell whether it can still be paid."""
    quote = _quote(state, visible, shown, last, must_submit=False)
    must_submit = not ledger.affordable(quote, shown.left)
    if must_submit:
        quote = _quote(state, visible, shown, last, must_submit=True)
    return evolve(state, prompt=quote, left=shown.left, must_submit=must_submit)


def decision_call(state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld) -> Call:
    assert state.prompt is not None
    text = write(action, _numbering(state, action, visible))
    if len(text) <= _KEPT_CHARACTERS:
        output = text_tokens(visible.controller, text)
    else:
        counted = tokens.count_once(visible.controller.vocabulary, text[:_COUNTED_CHARACTERS])
        output = model_tokens(visible.controller, counted)
    if len(text) > _COUNTED_CHARACTERS:
        output += (len(text) - _COUNTED_CHARACTERS) // _CHARACTERS_PER_TOKEN
    if action.reasoning_tokens:
        output += min(MOST_REASONING_TOKENS, max(0, action.reasoning_tokens))
    return ledger.call("controller", visible.controller, state.prompt, output)


def _quote(
    state: EpisodeState, visible: VisibleWorld, shown: Screen, last: ToolResult | None, must_submit: bool
) -> InputQuote:
    card = visible.controller
    tail = tail_text(shown.memory, last, shown.budgets, shown.checkpoints, must_submit)
    changing = PromptPiece(f"tail-{state.step}", text_tokens(card, tail))
    pieces = (visible.head_pieces[state.phase], *state.memory_pieces, changing)
    held = state.prefix_caches.get(f"controller:{card.model_id}")
    return ledger.quote_input(card, pieces, held, state.clock_ms)


def _numbering(state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld) -> Numbering:
    """The numbers in force, as far as this action can name anything by them."""
    phase = visible.phases[state.phase]
    held = state.memory if action.finding_ids else ()
    noted = state.checkpoints if action.checkpoint_id is not None else ()
    asked = state.routes if action.route_id is not None else ()
    return Numbering(
        artifacts=phase.artifact_numbers,
        subtasks=phase.subtask_ids,
        models=visible.model_ids,
        things=state.aliases,
        finding_items={finding_id: item.alias for item in held for finding_id in item.finding_ids},
        route_items={route.route_id: route.item_alias for route in asked},
        checkpoints=[saved.record.checkpoint_id for saved in noted],
    )
