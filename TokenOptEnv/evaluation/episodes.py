"""One policy, one scenario, one seed: played once, from observations alone, and written down.

A policy is made for the episode and handed observations, never the environment: it cannot reset, fork or look
ahead. A guest is handed copies that went through the wire form, so that nothing it does to what it is shown reaches
the engine. Prompts and actions are counted by the engine, whatever a policy says of itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from TokenOptEnv import policies, scenario_store
from TokenOptEnv.config import Difficulty, Profile, Track
from TokenOptEnv.errors import BadInput, CamreError
from TokenOptEnv.evaluation.spending import Spending, SpendingMeter
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.models import (
    EndReason,
    EpisodeStamp,
    ScoreBreakdown,
    SubmitPayload,
    TokenOptEnvAction,
    TokenOptEnvObservation,
)
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.policies.base import Metered, ModelUsage, Policy, PolicyInfo
from TokenOptEnv.traces import Trace

_LONGEST_CAUSE = 200


class EpisodeResult(Frozen):
    policy: str
    scenario_id: str
    family: str
    difficulty: Difficulty
    split: str
    seed: int
    profile: Profile
    track: Track
    stamp: EpisodeStamp
    score: ScoreBreakdown
    spending: Spending
    cold_nano_usd: int
    """What the same calls would have cost without any prompt cache."""
    tokens: int
    steps: int
    refused: int
    """Actions that were refused."""
    end_reason: EndReason
    action_counts: dict[str, int]
    """By action type, in alphabetical order."""
    largest_prompt_tokens: int
    """Of the policy's own prompts, in the controller's vocabulary, as billed."""
    stated_confidence: float | None
    """The least of the confidences behind the answer: what the policy stopped on. None without any finding."""
    own_usage: ModelUsage | None = None
    """Of a policy that asks a real model: what that used."""

    @property
    def success(self) -> bool:
        return self.score.success

    @property
    def total_return(self) -> float:
        return self.score.total_return

    @property
    def sce(self) -> float:
        return self.score.sce

    @property
    def cost_nano_usd(self) -> int:
        return self.score.cost_nano_usd

    @property
    def routed_nano_usd(self) -> int:
        return self.score.routed_nano_usd

    @property
    def reference_nano_usd(self) -> int:
        return self.score.reference_nano_usd


@dataclass(frozen=True, slots=True)
class PlayedEpisode:
    result: EpisodeResult
    trace: Trace


class Record:
    """An episode as it is written down, whoever plays it: by a policy now, or again from a trace."""

    def __init__(self, first: TokenOptEnvObservation) -> None:
        self.trace = Trace(first)
        self.last = first
        self._spending = SpendingMeter(first)

    def add(self, action: TokenOptEnvAction, seen: TokenOptEnvObservation) -> None:
        self.trace.add(action, seen)
        self._spending.add(seen)
        self.last = seen

    def result(self, policy: str, own_usage: ModelUsage | None = None) -> EpisodeResult:
        last, trace = self.last, self.trace
        assert last.score is not None and last.end_reason is not None
        entries = [entry for step in trace.steps for entry in step.entries]
        counts = Counter(step.action.action_type.value for step in trace.steps)
        return EpisodeResult(
            policy=policy,
            scenario_id=last.task.scenario_id,
            family=last.task.family,
            difficulty=last.task.difficulty,
            split=scenario_store.split_of(last.task.scenario_id),
            seed=last.seed,
            profile=last.task.profile,
            track=last.task.track,
            stamp=last.stamp,
            score=last.score,
            spending=self._spending.total(last),
            cold_nano_usd=sum(entry.cold_nano_usd for entry in entries),
            tokens=last.budgets.tokens.spent,
            steps=last.step,
            refused=sum(step.refusal is not None for step in trace.steps),
            end_reason=last.end_reason,
            action_counts=dict(sorted(counts.items())),
            largest_prompt_tokens=max(
                (entry.fresh_tokens + entry.cached_tokens for entry in entries if entry.who == "controller"), default=0
            ),
            stated_confidence=_stated_confidence(last),
            own_usage=own_usage,
        )


def play(policy_name: str, scenario_id: str, seed: int, env: LocalEnv) -> PlayedEpisode:
    """The policy gets the episode's seed as its own: it plays each (scenario, seed) once and learns nothing between."""
    about = policies.info(policy_name)
    policy = about.make(seed)
    record = Record(env.reset(scenario_id=scenario_id, seed=seed))
    while not record.last.done:
        action = _decide(policy, about, record.last)
        record.add(action, env.step(action))
    used = policy.usage if isinstance(policy, Metered) else None
    return PlayedEpisode(record.result(policy_name, used), record.trace)


def _decide(policy: Policy, about: PolicyInfo, seen: TokenOptEnvObservation) -> TokenOptEnvAction:
    if not about.is_guest:
        return policy.act(seen)
    where = f"policy {about.name!r} on {seen.task.scenario_id}@{seen.seed}, step {seen.step + 1}"
    try:
        action = policy.act(TokenOptEnvObservation.model_validate_json(seen.model_dump_json()))
    except CamreError:
        raise
    except Exception as fault:  # somebody else's code ran, and may have failed in any way
        cause = " ".join(f"{type(fault).__name__}: {fault}".split())[:_LONGEST_CAUSE]
        raise BadInput(f"{where}: {cause}; mend it and run again: what was played is kept") from fault
    if not isinstance(action, TokenOptEnvAction):
        raise BadInput(f"{where}: act returned {type(action).__name__}; it must return a TokenOptEnvAction")
    return TokenOptEnvAction.model_validate_json(action.model_dump_json())


def _stated_confidence(last: TokenOptEnvObservation) -> float | None:
    result = last.last_tool_result
    if result is None or not isinstance(result.payload, SubmitPayload):
        return None
    behind = result.payload.finding_ids
    return min((finding.confidence for finding in last.findings if finding.finding_id in behind), default=None)
