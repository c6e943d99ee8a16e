"""The yardsticks of `camre bench server`: an environment that does no work, on this server and on OpenEnv's own.

It answers each step with the observation that the same step of a real episode had, recorded at the first reset of its
scenario and seed. On this server it shows what everything around the engine costs; on OpenEnv's, what any environment
with observations like ours would cost there.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

from fastapi import FastAPI
from openenv.core.env_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment

from TokenOptEnv import scenario_store
from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation, TokenOptEnvState
from TokenOptEnv.plans import reference_plan
from TokenOptEnv.server.app import build_app
from TokenOptEnv.server.settings import Settings


@lru_cache(maxsize=256)
def _recorded(scenario_id: str, seed: int) -> tuple[TokenOptEnvObservation, ...]:
    env = LocalEnv()
    plan = reference_plan(scenario_store.load(scenario_id), seed, EpisodeConfig())
    return (
        env.reset(scenario_id=scenario_id, seed=seed),
        *(env.step(action) for action in plan.actions),
    )


class EchoEnvironment(
    Environment[TokenOptEnvAction, TokenOptEnvObservation, TokenOptEnvState],  # type: ignore[misc]  # it ships no types
):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._recorded: tuple[TokenOptEnvObservation, ...] = ()
        self._step = 0

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, *, scenario_id: str, **options: Any
    ) -> TokenOptEnvObservation:
        self._recorded = _recorded(scenario_id, seed or 0)
        self._step = 0
        return self._recorded[0]

    def step(self, action: TokenOptEnvAction, timeout_s: float | None = None, **ignored: Any) -> TokenOptEnvObservation:
        self._step = min(self._step + 1, len(self._recorded) - 1)
        return self._recorded[self._step]

    async def reset_async(
        self, seed: int | None = None, episode_id: str | None = None, *, scenario_id: str, **options: Any
    ) -> TokenOptEnvObservation:
        return self.reset(seed, scenario_id=scenario_id)

    async def step_async(
        self, action: TokenOptEnvAction, timeout_s: float | None = None, **ignored: Any
    ) -> TokenOptEnvObservation:
        return self.step(action)

    @property
    def state(self) -> TokenOptEnvState:
        return TokenOptEnvState(step_count=self._step)


_SETTINGS = Settings.from_environment(os.environ)
app: FastAPI = build_app(_SETTINGS, EchoEnvironment)
openenv_app: FastAPI = create_fastapi_app(
    EchoEnvironment,
    TokenOptEnvAction,
    TokenOptEnvObservation,
    max_concurrent_envs=_SETTINGS.capacity,
    env_name="echo",
    state_cls=TokenOptEnvState,
)
