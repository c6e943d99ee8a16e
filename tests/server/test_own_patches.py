"""A patch that is being run does not hold up the server's other sessions."""

from __future__ import annotations

import asyncio

import pytest

from tests import sandboxed
from TokenOptEnv import ActionType, TokenOptEnvAction
from TokenOptEnv.models import TokenOptEnvObservation
from TokenOptEnv.sandbox import SandboxedPatches, SandboxLimits
from TokenOptEnv.server.TokenOptEnv_environment import TokenOptEnvEnvironment
from TokenOptEnv.task_defs.bugfix.cases.regional_prices import case as regional_prices
from TokenOptEnv.task_defs.bugfix.cases.regional_prices.commits import KEYS
from TokenOptEnv.task_defs.bugfix.patch import one_line_patch

_MENDED = "*((name, named[name]) for name in sorted(named)))"


def _submit(patch: str) -> TokenOptEnvAction:
    return TokenOptEnvAction(action_type=ActionType.SUBMIT_ANSWER, answer={"patch": patch})


def _is_right(seen: TokenOptEnvObservation) -> bool:
    assert seen.score is not None
    return next(field.right for field in seen.score.fields if field.name == "patch")


@pytest.mark.parametrize(
    "new, is_right", [(_MENDED, True), (f"{_MENDED}; __import__('time').sleep(60)", False)], ids=["quick", "never ends"]
)
def test_other_work_goes_on_while_a_patch_is_run(new: str, is_right: bool) -> None:
    async def played(env: TokenOptEnvEnvironment) -> tuple[int, TokenOptEnvObservation]:
        env.reset(scenario_id=regional_prices.SCENARIO_ID)
        step = asyncio.create_task(
            env.step_async(_submit(one_line_patch(regional_prices.FILES, KEYS, "*sorted(named))", new)))
        )
        turns = 0
        while not step.done():
            await asyncio.sleep(0.001)
            turns += 1
        return turns, step.result()

    with sandboxed.opened(SandboxLimits(wall_s=1.5)) as sandbox:
        env = TokenOptEnvEnvironment(patch_judge=SandboxedPatches(sandbox), track="solver")
        turns, seen = asyncio.run(played(env))
        trace = env.trace.to_jsonl() if is_right else ""
    assert turns > 1
    assert seen.done and _is_right(seen) is is_right
    assert trace.count('"name":"patch","right":true') == int(is_right)
