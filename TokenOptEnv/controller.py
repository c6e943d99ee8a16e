"""The policy's own call: the prompt it decided on, priced, and the action it wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from TokenOptEnv import ledger
from TokenOptEnv.config import MOST_REASONING_TOKENS
from TokenOptEnv.episode_state import Charge, EpisodeState, InputQuote, PromptPiece, evolve
from TokenOptEnv.ledger import Call
from TokenOptEnv.models import TokenOptEnvAction, ToolResult
from TokenOptEnv.prompt import now_text
from TokenOptEnv.simulators import tokens
from TokenOptEnv.text_actions import Numbering, write
from TokenOptEnv.world import VisibleWorld, model_tokens, text_tokens

_COUNTED_CHARACTERS = 4_000
_CHARACTERS_PER_TOKEN = 4
"""Beyond what is counted exactly: nobody's action is that long, and a flood must not cost us time."""
_KEPT_CHARACTERS = 400
"""Nor memory: what is longer is counted anew where it is said again."""
_UNNAMED: Final[Mapping[str, int]] = {}


def with_prompt(state: EpisodeState, visible: VisibleWorld, last: ToolResult | None) -> EpisodeState:
    """Price the prompt that the next observation will show, and tell whether it can still be paid."""
    left = ledger.left(state, visible)
    quote = _quote(state, visible, last, left, must_submit=False)
    must_submit = not ledger.affordable(quote, left)
    if must_submit:
        quote = _quote(state, visible, last, left, must_submit=True)
    return evolve(state, prompt=quote, left=left, must_submit=must_submit)


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
    state: EpisodeState, visible: VisibleWorld, last: ToolResult | None, left: Charge, must_submit: bool
) -> InputQuote:
    card, limits = visible.controller, visible.limits
    left_tokens, left_nano_usd, _ = left
    tail = now_text(
        last,
        len(state.checkpoints),
        state.memory_tokens,
        limits.memory_tokens,
        limits.steps - state.step,
        left_nano_usd,
        left_tokens,
        must_submit,
    )
    changing = PromptPiece(f"tail-{state.step}", text_tokens(card, tail))
    pieces = (visible.head_pieces[state.phase], *state.memory_pieces, changing)
    held = state.prefix_caches.get(f"controller:{card.model_id}")
    return ledger.quote_input(card, pieces, held, state.clock_ms)


def _numbering(state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld) -> Numbering:
    """The numbers in force, as far as this action can name anything by them."""
    phase = visible.phases[state.phase]
    finding_items = route_items = _UNNAMED
    checkpoints: Sequence[str] = ()
    if action.finding_ids:
        finding_items = {finding_id: item.alias for item in state.memory for finding_id in item.finding_ids}
    if action.route_id is not None:
        route_items = {route.route_id: route.item_alias for route in state.routes}
    if action.checkpoint_id is not None:
        checkpoints = [saved.record.checkpoint_id for saved in state.checkpoints]
    return Numbering(
        phase.artifact_numbers,
        phase.subtask_ids,
        visible.model_ids,
        state.aliases,
        finding_items,
        route_items,
        checkpoints,
    )
