"""The reward: every term and weight in one table, and nobody recomputes it elsewhere.

A return lies in [-.15, 1]. The worst success within its budgets (.40 - .15) outscores the best failure
(.10 + .05), so no amount of tidy process buys back a wrong answer. What process milestones paid on the way is kept
in full on success and else by the share of fields right and grounded: opening things pays only if it led somewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from TokenOptEnv import milestone_engine
from TokenOptEnv.config import RewardMode
from TokenOptEnv.episode_state import EpisodeState, evolve
from TokenOptEnv.grading import TRUTH_MILESTONES, Grade, grade
from TokenOptEnv.guardrails import Guardrail, with_events
from TokenOptEnv.models import RewardBreakdown, RewardTerm, ScoreBreakdown
from TokenOptEnv.models.base import trusted
from TokenOptEnv.world import ReferenceCosts, VisibleWorld, World

SUCCESS: Final = 0.40
PARTIAL: Final = 0.10
EFFICIENCY: Final = 0.25
ROUTING: Final = 0.10
PRECISION: Final = 0.10
TRUTH: Final = 0.10
PROCESS: Final = 0.05
GUARDRAIL_CAP: Final = 0.15
PENALTIES: Final[dict[Guardrail, float]] = {
    Guardrail.REPEATED_READ: 0.01,
    Guardrail.THRASH: 0.01,
    Guardrail.HOARDING: 0.02,
    Guardrail.CHECKPOINT_SPAM: 0.01,
    Guardrail.INVALID_ACTION: 0.01,
    Guardrail.UNGROUNDED_SUBMIT: 0.05,
    Guardrail.BUDGET_OVERRUN: 0.05,
    Guardrail.BLIND_COMPRESSION: 0.02,
    Guardrail.NEEDLESS_ESCALATION: 0.02,
    Guardrail.STALE_CACHE_TRUST: 0.05,
}

_PENALTY_BY_ID: Final = {guardrail.value: penalty for guardrail, penalty in PENALTIES.items()}
_DECIMALS: Final = 6
NOTHING_YET: Final = RewardBreakdown(step=0.0, so_far=(), total=0.0)


def settle(state: EpisodeState, world: World) -> tuple[EpisodeState, RewardBreakdown, ScoreBreakdown | None]:
    """Pay what is due at this step; at the end, judge and pay the rest."""
    score = None
    if state.end is not None:
        verdict = grade(state, world.scenario, world.visible.config.track, world.patch_judge)
        if verdict.truth_events:
            state = with_events(state, verdict.truth_events)
        score = _score(state, verdict, world)
        breakdown = _breakdown(score.terms, state.paid)
    elif world.visible.config.reward_mode is RewardMode.DENSE:
        breakdown = _running_breakdown(*_process(state, world.visible), state.paid)
    else:
        breakdown = NOTHING_YET
    if breakdown.total != state.paid:
        state = evolve(state, paid=breakdown.total)
    return state, breakdown, score


def sce(success: bool, cost_nano_usd: int, reference_nano_usd: int) -> float:
    """Success-weighted cost efficiency: 1 at the reference's cost or below, 0 without success."""
    return round(reference_nano_usd / max(cost_nano_usd, reference_nano_usd), _DECIMALS) if success else 0.0


def _process(state: EpisodeState, visible: VisibleWorld) -> tuple[int, int, float]:
    """Milestones reached, milestones listed, and penalties: what the running terms follow from."""
    penalty = 0.0
    if state.guardrail_events:
        penalty = round(sum([_PENALTY_BY_ID[event.guardrail_id] for event in state.guardrail_events]), _DECIMALS)
    return len(state.milestone_ids), len(milestone_engine.listed_ids(visible)), penalty


@lru_cache(maxsize=4_096)
def _process_terms(reached: int, listed: int, penalty: float) -> tuple[RewardTerm, ...]:
    return (
        _term("process_milestones", PROCESS * reached / listed),
        _term("guardrails", 0.0 - min(GUARDRAIL_CAP, penalty)),
    )


@lru_cache(maxsize=4_096)
def _running_breakdown(reached: int, listed: int, penalty: float, paid: float) -> RewardBreakdown:
    return _breakdown(_process_terms(reached, listed, penalty), paid)


def _breakdown(terms: tuple[RewardTerm, ...], paid: float) -> RewardBreakdown:
    total = round(sum([term.value for term in terms]), _DECIMALS)
    return trusted(RewardBreakdown, step=round(total - paid, _DECIMALS), so_far=terms, total=total)


def _score(state: EpisodeState, verdict: Grade, world: World) -> ScoreBreakdown:
    spent, reference = state.spent, _reference(state, world)
    won = verdict.success
    milestones = len(verdict.truth_milestone_ids)
    terms = _terms(state, world, won, verdict.share, verdict.evidence_precision, milestones)
    return trusted(
        ScoreBreakdown,
        success=won,
        fields=verdict.fields,
        evidence_precision=verdict.evidence_precision,
        terms=terms,
        total_return=round(sum(term.value for term in terms), _DECIMALS),
        cost_nano_usd=spent.nano_usd,
        routed_nano_usd=spent.routed_nano_usd,
        reference_nano_usd=reference.nano_usd,
        sce=sce(won, spent.nano_usd, reference.nano_usd),
        truth_milestone_ids=verdict.truth_milestone_ids,
    )


def _reference(state: EpisodeState, world: World) -> ReferenceCosts:
    own = ReferenceCosts(state.spent.nano_usd, state.spent.routed_nano_usd)
    return (world.reference() if world.reference is not None else None) or own


def _terms(
    state: EpisodeState, world: World, won: bool, share: float, precision: float, milestones: int
) -> tuple[RewardTerm, ...]:
    """What is paid at the end to who spent as much and has that share of the fields right."""
    spent, reference = state.spent, _reference(state, world)
    overran = any(event.guardrail_id == Guardrail.BUDGET_OVERRUN for event in state.guardrail_events)
    efficiency = 0.0 if overran else _thrift(spent.nano_usd, reference.nano_usd)
    progress, penalties = _process_terms(*_process(state, world.visible))
    return (
        _term("success", SUCCESS if won else 0.0),
        _term("partial", 0.0 if won else PARTIAL * share),
        _term("efficiency", EFFICIENCY * efficiency if won else 0.0),
        _term("routing", ROUTING * _thrift(spent.routed_nano_usd, reference.routed_nano_usd) if won else 0.0),
        _term("evidence_precision", PRECISION * precision if won else 0.0),
        _term("truth_milestones", TRUTH * milestones / len(TRUTH_MILESTONES) if won else 0.0),
        _term("process_milestones", progress.value * (1.0 if won else share)),
        penalties,
    )


@dataclass(frozen=True, slots=True)
class Stakes:
    """What depended on whether an episode's answer was right."""

    if_solved: float
    if_failed: float
    """With no field right."""
    per_share: float
    """On top of that, by the share of fields right."""


def stakes(state: EpisodeState, score: ScoreBreakdown, world: World) -> Stakes:
    """Of an episode that has ended: for training, which may average over draws instead of learning from one."""

    def paid(won: bool, share: float) -> float:
        terms = _terms(state, world, won, share, score.evidence_precision, len(score.truth_milestone_ids))
        return sum(term.value for term in terms)

    if_failed = paid(False, 0.0)
    return Stakes(paid(True, 1.0), if_failed, paid(False, 1.0) - if_failed)


def _thrift(cost: int, reference: int) -> float:
    """1 at the reference's cost or below, 0 at ten times it, logarithmic between."""
    if cost <= reference:
        return 1.0
    if reference <= 0:
        return 0.0
    return min(1.0, max(0.0, 1.0 - math.log(cost / reference) / math.log(10.0)))


@lru_cache(maxsize=4_096)
def _term(name: str, value: float) -> RewardTerm:
    return trusted(RewardTerm, term=name, value=round(value, _DECIMALS))
