"""The client: OpenEnv's, typed. The same object serves async code and, through `sync()`, sync code.

    async with TokenOptEnvClient(base_url="http://127.0.0.1:8000") as env:
        result = await env.reset(scenario_id="incident-medium-kafka-backpressure", seed=7)

    with TokenOptEnvClient(base_url="http://127.0.0.1:8000").sync() as env:
        result = env.reset(split="core", index=0)

`from_docker_image` and `from_env` are inherited.
"""

from __future__ import annotations

from typing import Any

from openenv.core import EnvClient
from openenv.core.client_types import StepResult

from TokenOptEnv.errors import EpisodeNotRunning
from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation, TokenOptEnvState
from TokenOptEnv.traces import Trace


class TokenOptEnvClient(
    EnvClient[TokenOptEnvAction, TokenOptEnvObservation, TokenOptEnvState],  # type: ignore[misc]  # it ships no types
):
    """Rebuilds each observation from its frame, and the episode's trace from nothing else."""

    _trace: Trace | None = None
    _sent: TokenOptEnvAction | None = None

    @property
    def trace(self) -> Trace:
        """Of the running or last episode; the same bytes as one played in this process."""
        if self._trace is None:
            raise EpisodeNotRunning("no episode has been started; call reset first")
        return self._trace

    def _step_payload(self, action: TokenOptEnvAction) -> dict[str, Any]:
        self._sent = action
        return action.model_dump(mode="json", exclude_defaults=True)

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[TokenOptEnvObservation]:
        """OpenEnv's frames carry reward and done beside the observation; here they are put back into it."""
        seen = TokenOptEnvObservation.model_validate(
            {**payload["observation"], "reward": payload["reward"], "done": payload["done"]}
        )
        if seen.step == 0:
            self._trace = Trace(seen)
        elif self._trace is not None and self._sent is not None:
            self._trace.add(self._sent, seen)
        return StepResult(observation=seen, reward=seen.reward, done=seen.done, metadata=payload.get("metadata"))

    def _parse_state(self, payload: dict[str, Any]) -> TokenOptEnvState:
        return TokenOptEnvState.model_validate(payload)


TokenOptEnv = TokenOptEnvClient
"""The names that OpenEnv's `AutoEnv` and `AutoAction` look for."""
TokenOptAction = TokenOptEnvAction
TokenOptObservation = TokenOptEnvObservation
