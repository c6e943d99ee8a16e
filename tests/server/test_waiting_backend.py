"""A backend that waits for a network does not hold up the server's other sessions."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cases import TOY
from tests.core.live_cases import live, right, settings
from tests.core.live_server import Body, Step, serving
from TokenOptEnv import ActionType, TokenOptEnvAction
from TokenOptEnv.server.TokenOptEnv_environment import TokenOptEnvEnvironment

_READ = TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id="config-orders")
_ROUTE = TokenOptEnvAction(
    action_type=ActionType.ROUTE_SUBTASK,
    subtask_id="q-setting",
    model_id="gpt-5-mini",
    context_segment_ids=("config-orders-s1",),
)


@pytest.mark.usefixtures("store")
def test_other_work_goes_on_while_a_live_model_thinks(tmp_path: Path) -> None:
    def slow(body: Body) -> Step:
        return replace(right(body), wait_s=0.4)

    async def played(env: TokenOptEnvEnvironment) -> tuple[int, str | None]:
        env.reset(scenario_id=TOY)
        env.step(_READ)
        step = asyncio.create_task(env.step_async(_ROUTE))
        turns = 0
        while not step.done():
            await asyncio.sleep(0.01)
            turns += 1
        result = step.result().last_tool_result
        assert result is not None
        return turns, result.payload["finding_id"]

    with serving(slow) as server, live(server, settings(tmp_path)) as backend:
        env = TokenOptEnvEnvironment(backend=backend)
        turns, finding_id = asyncio.run(played(env))
        asked = len(server.asked)
        trace = env.trace.to_jsonl()
        assert len(server.asked) == asked, "a trace is played again from the recording, not from the model"
    assert turns > 5 and finding_id == "finding-1"
    assert trace.count("\n") == 3
