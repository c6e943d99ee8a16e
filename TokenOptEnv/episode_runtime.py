"""START HERE. One step of an episode, top to bottom.

    action -> action_rules -> transitions -> ledger -> milestones and guardrails -> rewards -> observation

Everything is a pure function of (state, action, world); each line below is one room.
"""

from __future__ import annotations

from typing import NamedTuple

from TokenOptEnv import (
    action_rules,
    controller,
    guardrails,
    ledger,
    memory_manager,
    milestone_engine,
    observation_builder,
    rewards,
    transitions,
)
from TokenOptEnv.episode_state import EpisodeState, evolve
from TokenOptEnv.ledger import Call
from TokenOptEnv.models import (
    ActionType,
    EndReason,
    RewardBreakdown,
    ScoreBreakdown,
    TokenOptEnvAction,
    TokenOptEnvObservation,
    ToolResult,
)
from TokenOptEnv.models.base import trusted
from TokenOptEnv.moves import Move, Refused, WriteCheckpoint
from TokenOptEnv.transitions import Effect
from TokenOptEnv.world import VisibleWorld, World


class StepOutcome(NamedTuple):
    """What a step led to. The observation is built when it is looked at: planners mostly do not look."""

    world: World
    state: EpisodeState
    last: ToolResult | None
    rewards: RewardBreakdown
    score: ScoreBreakdown | None

    @property
    def observation(self) -> TokenOptEnvObservation:
        return observation_builder.build(
            self.world.visible, self.state, self.world.seed, self.last, self.rewards, self.score
        )


def start(world: World, episode_id: str) -> StepOutcome:
    """The state before the first decision. Nothing is billed until the policy acts on it."""
    state = controller.with_prompt(EpisodeState(episode_id=episode_id), world.visible, None)
    return StepOutcome(world, state, None, rewards.NOTHING_YET, None)


def advance(before: EpisodeState, action: TokenOptEnvAction, world: World) -> StepOutcome:
    visible = world.visible
    decision = controller.decision_call(before, action, visible)
    move = action_rules.judge(before, action, visible, decision.price)
    effect = transitions.apply(before, move, visible, world.backend)
    state = _booked(effect, move, decision)
    state = milestone_engine.evaluate(before, state, visible)
    state = guardrails.evaluate(before, move, state, visible)
    last = _told(action, move, effect, before, state)
    state = _turned(_ended(before, action, state, visible), move, visible)
    state = controller.with_prompt(state, visible, last)
    state, breakdown, score = rewards.settle(state, world)
    return StepOutcome(world, state, last, breakdown, score)


def _booked(effect: Effect, move: Move, decision: Call) -> EpisodeState:
    if isinstance(move, Refused):
        return ledger.book_refusal(effect.state, decision)
    if effect.call is None:
        return ledger.book(effect.state, decision)
    return ledger.book(effect.state, decision, effect.call)


def _told(
    action: TokenOptEnvAction, move: Move, effect: Effect, before: EpisodeState, after: EpisodeState
) -> ToolResult:
    refusal = move.refusal if isinstance(move, Refused) else None
    return trusted(
        ToolResult,
        action_type=action.action_type,
        status="ok" if refusal is None else "refused",
        payload=effect.payload,
        refusal=refusal,
        tokens=after.memory_tokens - before.memory_tokens,
    )


def _ended(before: EpisodeState, action: TokenOptEnvAction, state: EpisodeState, visible: VisibleWorld) -> EpisodeState:
    if state.submission is not None:
        return evolve(state, end=EndReason.SUBMITTED)
    if before.must_submit and action.action_type is not ActionType.SUBMIT_ANSWER:
        return evolve(state, end=EndReason.BUDGET)
    if state.step >= visible.limits.steps:
        return evolve(state, end=EndReason.STEPS)
    return state


def _turned(state: EpisodeState, move: Move, visible: VisibleWorld) -> EpisodeState:
    """At the end of a phase memory, surfaced ids and what was not noted down are gone.

    It ends with its steps, or earlier, when a checkpoint hands over a finding for each of its questions.
    """
    phase = visible.phases[state.phase]
    if state.end is not None or state.phase == len(visible.phases) - 1:
        return state
    handed = {finding.subtask_id for finding in move.findings} if isinstance(move, WriteCheckpoint) else set()
    if state.step < phase.ends_at_step and not handed.issuperset(phase.subtasks):
        return state
    state = memory_manager.emptied(state)
    return evolve(state, phase=state.phase + 1, surfaced={}, route_contexts={}, full_memory_steps=0)
