"""The OpenEnv environment: `LocalEnv` behind OpenEnv's interface, and no rule of its own."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, Final

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import EnvironmentMetadata

from TokenOptEnv import scenario_store
from TokenOptEnv.errors import BadInput, EpisodeNotRunning
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation, TokenOptEnvState
from TokenOptEnv.server.faults import guarded
from TokenOptEnv.server.task import Task, task_at, tasks_between
from TokenOptEnv.server.warmth import Warmth
from TokenOptEnv.traces import Trace
from TokenOptEnv.version import VERSION

_WARMTH: Final = Warmth()


class TokenOptEnvEnvironment(
    Environment[TokenOptEnvAction, TokenOptEnvObservation, TokenOptEnvState],  # type: ignore[misc]  # it ships no types
):
    """One session: one episode at a time, in this process.

    The async forms run where they are called, which for the server is the event loop: a step takes less
    time than handing it to a thread would. Only the first reset of a kind goes to a thread (`warmth`), and a step
    whose backend waits for a network.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    reveals: ClassVar[bool] = True
    """Whether `reset(reveal=True)` is granted."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._env: LocalEnv | None = LocalEnv(**options)
        self._defaults = options
        self._begun: dict[str, Any] | None = None
        self._actions: list[TokenOptEnvAction] = []

    def reset(
        self, /, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> TokenOptEnvObservation:
        with guarded():
            if options.get("reveal") and not self.reveals:
                raise BadInput("reveal is not granted here; start the server with --reveal, or play in process")
            first = self._open.reset(seed=seed, episode_id=episode_id, **options)
            self._begun = {"seed": seed, "episode_id": episode_id, **options}
            self._actions = []
            return first

    def step(
        self, /, action: TokenOptEnvAction, timeout_s: float | None = None, **ignored: Any
    ) -> TokenOptEnvObservation:
        """`timeout_s` is OpenEnv's; a step here waits for nothing that could time out."""
        with guarded():
            if not isinstance(action, TokenOptEnvAction):
                raise BadInput(f"step takes a TokenOptEnvAction, not a {type(action).__name__}")
            seen = self._open.step(action)
            self._actions.append(action)
            return seen

    async def reset_async(
        self, /, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> TokenOptEnvObservation:
        if _WARMTH.is_first(seed, options):
            return await asyncio.to_thread(self._reset_cold, seed, episode_id, options)
        return self.reset(seed, episode_id, **options)

    async def step_async(
        self, /, action: TokenOptEnvAction, timeout_s: float | None = None, **ignored: Any
    ) -> TokenOptEnvObservation:
        if self._open.waits:
            return await asyncio.to_thread(self.step, action, timeout_s, **ignored)
        return self.step(action, timeout_s, **ignored)

    @property
    def state(self) -> TokenOptEnvState:
        return TokenOptEnvState() if self._env is None else self._env.state

    @property
    def trace(self) -> Trace:
        """The record of the episode so far, made by playing its actions again; a client writes the same bytes."""
        if self._begun is None:
            raise EpisodeNotRunning("no episode has been started; call reset first")
        again = LocalEnv(**self._defaults)
        trace = Trace(again.reset(**self._begun))
        for action in self._actions:
            trace.add(action, again.step(action))
        return trace

    def close(self) -> None:
        self._env = self._begun = None
        self._actions = []

    def _reset_cold(self, seed: int | None, episode_id: str | None, options: dict[str, Any]) -> TokenOptEnvObservation:
        seen = self.reset(seed, episode_id, **options)
        with guarded():
            self._open.prepare_grading()
        return seen

    @property
    def _open(self) -> LocalEnv:
        if self._env is None:
            raise EpisodeNotRunning("this environment is closed; open another")
        return self._env

    def get_metadata(self) -> EnvironmentMetadata:
        return EnvironmentMetadata(
            name="token_opt_env",
            description="CAMRE: code and log tasks under bounded memory and explicit token and dollar budgets",
            version=VERSION,
        )

    def list_splits(self) -> list[str]:
        return list(scenario_store.SPLITS)

    def num_tasks(self, split: str) -> int:
        return scenario_store.size(split)

    def list_tasks(self, split: str) -> list[Task]:
        return tasks_between(split, None, None)

    def get_task(self, split: str, index: int) -> Task:
        return task_at(split, index)

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[Task]:
        return tasks_between(split, start, stop)


class SealedEnvironment(TokenOptEnvEnvironment):
    """As an agent meets it over the wire: else it could look at the truth in one episode and play the next by it."""

    reveals = False
