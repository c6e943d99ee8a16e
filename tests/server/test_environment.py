"""`TokenOptEnvEnvironment` in this process: the quick start, the guard, the task API."""

from __future__ import annotations

import asyncio
import inspect
import logging
import subprocess
import sys

import pytest

from tests.server.live import KAFKA, ROOT, plan, played
from TokenOptEnv import ActionType, LocalEnv, TokenOptEnvAction, TokenOptEnvState, scenario_store
from TokenOptEnv.errors import BadInput, EpisodeNotRunning, UnknownName
from TokenOptEnv.server import TokenOptEnv_environment
from TokenOptEnv.server.faults import InternalFault
from TokenOptEnv.server.TokenOptEnv_environment import TokenOptEnvEnvironment

_QUICK_START = """
from TokenOptEnv import ActionType, TokenOptEnvAction
from TokenOptEnv.server.TokenOptEnv_environment import TokenOptEnvEnvironment
env = TokenOptEnvEnvironment()
obs = env.reset(scenario_id="incident-medium-kafka-backpressure", seed=7)
obs = env.step(TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id="log-reconciler-5521"))
print(obs.last_tool_result.payload["access_mode"], obs.last_tool_result.payload["preview_segment_ids"])
obs = env.step(TokenOptEnvAction(action_type=ActionType.HYDRATE_SEGMENTS, context_segment_ids=["log-reconciler-5521-s1"]))
print(obs.working_memory.token_budget_used, obs.milestones.achieved_ids)
"""  # noqa: E501
_READ = TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id="ticket-9602")


def test_the_quick_start_prints_a_preview_its_segments_tokens_and_milestones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    exec(compile(_QUICK_START, "quick start", "exec"), {})  # noqa: S102
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("preview (")
    assert first.count("'log-reconciler-5521-s") >= 3
    tokens, milestones = second.split(" ", 1)
    assert int(tokens) > 0
    assert "'first-look'" in milestones


def test_importing_the_package_and_playing_loads_no_framework() -> None:
    script = f"""
import sys
from TokenOptEnv import LocalEnv
LocalEnv().reset(scenario_id="{KAFKA}", seed=1)
print([name for name in ("openenv", "fastapi", "gradio", "uvicorn") if name in sys.modules])
"""
    ended = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("[]\n", "")


def test_the_server_class_stays_thin() -> None:
    assert len(inspect.getsource(TokenOptEnv_environment).splitlines()) < 150


def test_it_plays_what_a_local_env_plays_and_keeps_the_same_trace() -> None:
    seen, trace = played(KAFKA, 7)
    env = TokenOptEnvEnvironment()
    assert env.reset(scenario_id=KAFKA, seed=7) == seen[0]
    assert [env.step(action) for action in plan(KAFKA, 7)] == seen[1:]
    assert env.trace.to_jsonl() == trace.to_jsonl()


def test_the_async_forms_do_the_same_as_the_sync_ones() -> None:
    async def play() -> str:
        env = TokenOptEnvEnvironment()
        await env.reset_async(scenario_id=KAFKA, seed=7)
        for action in plan(KAFKA, 7):
            await env.step_async(action)
        return env.trace.to_jsonl()

    assert asyncio.run(play()) == played(KAFKA, 7)[1].to_jsonl()


def test_a_step_does_not_leave_the_event_loop() -> None:
    """Handing a step to a thread would cost more than the step."""

    async def threads_used() -> bool:
        env = TokenOptEnvEnvironment()
        await env.reset_async(scenario_id=KAFKA, seed=7)
        stepping = env.step_async(_READ)
        with pytest.raises(StopIteration):  # done at its first resumption: it never waited for anything
            stepping.send(None)
        return True

    assert asyncio.run(threads_used())


def test_the_state_before_a_reset_is_empty_and_never_holds_truth() -> None:
    env = TokenOptEnvEnvironment()
    assert env.state == TokenOptEnvState()
    env.reset(scenario_id=KAFKA, seed=7, episode_id="mine")
    env.step(_READ)
    assert set(env.state.model_dump()) == {
        "episode_id",
        "step_count",
        "scenario_id",
        "seed",
        "profile",
        "track",
        "done",
    }
    assert (env.state.episode_id, env.state.step_count) == ("mine", 1)


def test_a_closed_environment_says_so_and_cannot_be_revived() -> None:
    env = TokenOptEnvEnvironment()
    env.reset(scenario_id=KAFKA, seed=7)
    env.close()
    env.close()
    for use in (lambda: env.step(_READ), lambda: env.reset(scenario_id=KAFKA, seed=7)):
        with pytest.raises(EpisodeNotRunning, match="closed"):
            use()
    assert env.state == TokenOptEnvState()


def test_an_unknown_exception_is_told_by_its_id_and_logged_with_its_stack(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def break_down(self: LocalEnv, action: TokenOptEnvAction) -> None:
        raise RuntimeError("the truth is in /srv/hidden")

    monkeypatch.setattr(LocalEnv, "step", break_down)
    env = TokenOptEnvEnvironment()
    env.reset(scenario_id=KAFKA, seed=7)
    with caplog.at_level(logging.ERROR), pytest.raises(InternalFault) as caught:
        env.step(_READ)
    told = str(caught.value)
    assert told.startswith("internal error ")
    assert "/srv" not in told
    assert told in caplog.text
    assert "break_down" in caplog.text


def test_a_dict_is_not_an_action() -> None:
    env = TokenOptEnvEnvironment()
    env.reset(scenario_id=KAFKA, seed=7)
    with pytest.raises(BadInput, match="not a dict"):
        env.step({"action_type": "READ_ARTIFACT"})  # type: ignore[arg-type]


def test_every_task_that_is_listed_can_be_reset_to() -> None:
    env = TokenOptEnvEnvironment()
    assert "core" in env.list_splits()
    tasks = env.list_tasks("core")
    assert len(tasks) == env.num_tasks("core") == len(scenario_store.ids("core"))
    assert [task.scenario_id for task in tasks] == list(scenario_store.ids("core"))
    assert env.get_task_range("core", 1, 3) == tasks[1:3]
    seen = env.reset(split="core", index=2)
    assert seen.task.scenario_id == tasks[2].scenario_id == env.get_task("core", 2).scenario_id


@pytest.mark.parametrize("index", [-1, 10_000_000])
def test_a_task_beyond_the_split_is_refused(index: int) -> None:
    with pytest.raises(BadInput, match="index"):
        TokenOptEnvEnvironment().get_task("core", index)


def test_an_unknown_split_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="did you mean 'core'"):
        TokenOptEnvEnvironment().num_tasks("cores")
