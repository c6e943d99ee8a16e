"""CAMRE for `verifiers`: a taskset, the harness that plays it, and its rubric.

verifiers finds environments as packages of their own; `examples/verifiers` holds that package, which re-exports what
is here: `vf-eval camre-v1 -m MODEL`.

Memory-true: the harness shows the model `render_text(observation)` and nothing else at every step. Each step is then a
branch of the trace, hence a training sample of its own, all with the return of the episode.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, Final

import verifiers.v1 as vf
from openai import APIError, AsyncOpenAI

from TokenOptEnv import scenario_store
from TokenOptEnv.config import DEFAULT_WORLDS, EpisodeConfig, Profile, Track
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.models import ScoreBreakdown
from TokenOptEnv.plans import reference_plan
from TokenOptEnv.policies.reply import action_of
from TokenOptEnv.prompt import render_text

__all__ = ["CamreEnv", "CamreHarness", "CamreTaskset", "load_environment"]

PACKAGE: Final = "camre-v1"
"""The id that verifiers knows it by, once `examples/verifiers` is installed."""


class CamreData(vf.TaskData):
    scenario_id: str
    seed: int
    profile: str
    track: str
    catalog: str

    def environment(self) -> LocalEnv:
        return LocalEnv(profile=self.profile, track=self.track, catalog=self.catalog)


class CamreState(vf.State):
    """How the episode stands; the harness writes it, the rubric reads it."""

    total_return: float = 0.0
    score: ScoreBreakdown | None = None
    """None while the episode is not over."""


class CamreTask(vf.Task[CamreData, CamreState, vf.TaskConfig]):
    @vf.reward
    async def total_return(self, trace: vf.Trace) -> float:
        """The environment's own return: success, efficiency, evidence, progress, less what guardrails take."""
        return float(trace.state.total_return)

    @vf.metric
    async def graded(self, trace: vf.Trace) -> dict[str, float]:
        score = trace.state.score
        return {
            "success": float(score is not None and score.success),
            "sce": score.sce if score is not None else 0.0,
            "cost_usd": score.cost_nano_usd / 1e9 if score is not None else 0.0,
        }

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Whether the reference plan solves the task."""
        data = self.data
        config = EpisodeConfig(profile=Profile(data.profile), track=Track(data.track), catalog=data.catalog)
        env = data.environment()
        seen = env.reset(scenario_id=data.scenario_id, seed=data.seed)
        for action in reference_plan(scenario_store.load(data.scenario_id), data.seed, config).actions:
            seen = env.step(action)
        return seen.score is not None and seen.score.success


class CamreTasksetConfig(vf.TasksetConfig):
    split: str = "core"
    """core, train, validation or test."""
    episodes: int | None = None
    """So many scenarios of the split; all when left out."""
    seeds: int = 1
    """So many worlds of each."""
    profile: str = Profile.V2.value
    track: str = Track.CONTROLLER.value
    catalog: str = "measured"


class CamreTaskset(vf.Taskset[CamreTask, CamreTasksetConfig]):
    """A split of 900,000 train cases is a stream: each is made when it is asked for."""

    def load(self) -> Iterator[CamreTask]:
        config = self.config
        size = scenario_store.size(config.split)
        for index in range(size if config.episodes is None else min(size, config.episodes)):
            scenario_id = scenario_store.at(config.split, index)
            for seed in range(min(config.seeds, DEFAULT_WORLDS)):
                yield CamreTask(_data(config, scenario_id, seed), config.task)


def _data(config: CamreTasksetConfig, scenario_id: str, seed: int) -> CamreData:
    env = LocalEnv(profile=config.profile, track=config.track, catalog=config.catalog)
    first = env.reset(scenario_id=scenario_id, seed=seed)
    return CamreData(
        id=f"{scenario_id}@{seed}",
        name=f"{scenario_id}@{seed}",
        description=first.task.title,
        prompt=render_text(first),
        scenario_id=scenario_id,
        seed=seed,
        profile=config.profile,
        track=config.track,
        catalog=config.catalog,
    )


class CamreHarnessConfig(vf.HarnessConfig):
    pass


class CamreHarness(vf.Harness[CamreHarnessConfig]):
    """Plays in this process: every model call still goes through the interception, which records it."""

    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        assert isinstance(data, CamreData)
        env = data.environment()
        seen = env.reset(scenario_id=data.scenario_id, seed=data.seed)
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, max_retries=0, timeout=None) as model:
            while not seen.done and trace.stop_condition is None:
                try:
                    reply = await model.chat.completions.create(
                        model=ctx.model, messages=[{"role": "user", "content": render_text(seen)}]
                    )
                except APIError:
                    if trace.stop_condition is None:
                        raise
                    break  # a limit of the run: the call was refused, and the episode stays where it is
                text = reply.choices[0].message.content or ""
                completion_tokens = reply.usage.completion_tokens if reply.usage is not None else 0
                action = action_of(text, completion_tokens, seen)
                seen = await asyncio.to_thread(env.step, action) if env.waits else env.step(action)
                trace.state.total_return, trace.state.score = seen.reward_breakdown.total, seen.score
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


class CamreEnvConfig(vf.EnvConfig):
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class CamreEnv(vf.Env[CamreEnvConfig]):
    """One agent. Nothing that a model says is ever executed, so it needs no box of its own."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        await agents.agent.run(task)


def load_environment(**options: Any) -> vf.Env[Any]:
    """The environment over a taskset with these options: split, episodes, seeds, profile, track, catalog."""
    return vf.load_environment(vf.resolve_env_config({"taskset": {"id": PACKAGE, **options}}))
