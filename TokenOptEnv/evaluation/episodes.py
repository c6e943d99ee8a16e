"""One policy, one scenario, one seed: played once, from observations alone, and written down."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from TokenOptEnv import policies
from TokenOptEnv.config import Difficulty, Profile, Track
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.models import EndReason, EpisodeStamp, ScoreBreakdown, TokenOptEnvObservation
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.traces import Trace


class EpisodeResult(Frozen):
    policy: str
    scenario_id: str
    family: str
    difficulty: Difficulty
    seed: int
    profile: Profile
    track: Track
    stamp: EpisodeStamp
    success: bool
    total_return: float
    sce: float
    cost_nano_usd: int
    routed_nano_usd: int
    reference_nano_usd: int
    tokens: int
    steps: int
    refused: int
    """Actions that were refused."""
    end_reason: EndReason
    action_counts: dict[str, int]
    """By action type, in alphabetical order."""
    largest_prompt_tokens: int
    """Of the policy's own prompts, in the controller's vocabulary, as billed."""
    score: ScoreBreakdown


@dataclass(frozen=True, slots=True)
class PlayedEpisode:
    result: EpisodeResult
    trace: Trace


def play(policy_name: str, scenario_id: str, seed: int, env: LocalEnv) -> PlayedEpisode:
    """The policy gets the episode's seed as its own: it plays each (scenario, seed) once and learns nothing between."""
    policy = policies.make(policy_name, seed)
    observation = env.reset(scenario_id=scenario_id, seed=seed)
    trace = Trace(observation)
    while not observation.done:
        action = policy.act(observation)
        observation = env.step(action)
        trace.add(action, observation)
    return PlayedEpisode(_result(policy_name, observation, trace), trace)


def _result(policy_name: str, last: TokenOptEnvObservation, trace: Trace) -> EpisodeResult:
    assert last.score is not None and last.end_reason is not None
    entries = [entry for step in trace.steps for entry in step.entries]
    counts = Counter(step.action.action_type.value for step in trace.steps)
    return EpisodeResult(
        policy=policy_name,
        scenario_id=last.task.scenario_id,
        family=last.task.family,
        difficulty=last.task.difficulty,
        seed=last.seed,
        profile=last.task.profile,
        track=last.task.track,
        stamp=last.stamp,
        success=last.score.success,
        total_return=last.score.total_return,
        sce=last.score.sce,
        cost_nano_usd=last.score.cost_nano_usd,
        routed_nano_usd=last.score.routed_nano_usd,
        reference_nano_usd=last.score.reference_nano_usd,
        tokens=last.budgets.tokens.spent,
        steps=last.step,
        refused=sum(step.refusal is not None for step in trace.steps),
        end_reason=last.end_reason,
        action_counts=dict(sorted(counts.items())),
        largest_prompt_tokens=max(
            (entry.fresh_tokens + entry.cached_tokens for entry in entries if entry.who == "controller"), default=0
        ),
        score=last.score,
    )
