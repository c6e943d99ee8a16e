"""The environment in one process: clear errors, a running episode that survives them, and nothing heavy loaded."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from tests.cases import MENU, ScriptedBackend, right_values, toy
from TokenOptEnv import ActionType, CamreError, LocalEnv, TokenOptEnvAction, TokenOptEnvObservation, TokenOptEnvState
from TokenOptEnv.errors import BadInput, EpisodeNotRunning, UnknownName
from TokenOptEnv.models import EndReason
from TokenOptEnv.traces import Trace

TOY = "incident-easy-toy"
READ = TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id="config-orders")
SUBMIT = TokenOptEnvAction(action_type=ActionType.SUBMIT_ANSWER, answer={"cause": "deadlock"})

pytestmark = pytest.mark.usefixtures("store")


@pytest.fixture
def env() -> LocalEnv:
    return LocalEnv()


# --- an episode


def test_an_episode_runs_from_reset_to_its_end(env: LocalEnv) -> None:
    first = env.reset(TOY, seed=3)
    assert (first.done, first.reward, first.step, first.seed) == (False, None, 0, 3)
    assert first.task.scenario_id == TOY
    second = env.step(READ)
    assert second.step == 1
    last = env.step(SUBMIT)
    assert last.done and last.end_reason is EndReason.SUBMITTED


def test_without_a_name_the_seed_chooses_a_scenario_of_the_core_suite(env: LocalEnv, store: tuple[str, ...]) -> None:
    assert [env.reset(seed=seed).task.scenario_id for seed in range(4)] == [*store, store[0]]
    assert env.reset().task.scenario_id == store[0]


def test_a_scenario_is_named_by_its_place_in_a_split(env: LocalEnv, store: tuple[str, ...]) -> None:
    assert [env.reset(split="core", index=place).task.scenario_id for place in range(3)] == list(store)


def test_the_same_seed_gives_the_same_episode_and_a_huge_one_is_a_seed_like_any(env: LocalEnv) -> None:
    for seed in (0, 7, 10**30):
        shown = [env.reset(TOY, seed=seed, episode_id="x").model_dump_json() for _ in range(2)]
        assert shown[0] == shown[1]


def test_an_episode_may_be_given_a_name(env: LocalEnv) -> None:
    assert env.reset(TOY, episode_id="mine").episode_id == "mine"
    assert env.state.episode_id == "mine"
    assert env.reset(TOY, seed=5).episode_id == f"{TOY}@5"


def test_options_of_the_constructor_are_defaults_that_reset_overrides_once() -> None:
    env = LocalEnv(profile="v1", memory_tokens=900)
    assert env.reset(TOY).task.profile == "v1"
    assert env.reset(TOY, profile="v2").working_memory.token_budget == 900
    assert env.reset(TOY).task.profile == "v1"


def test_each_option_does_what_it_says(env: LocalEnv) -> None:
    assert env.reset(TOY, track="solver").task.track == "solver"
    assert env.reset(TOY, reward_mode="terminal").stamp.reward_mode == "terminal"
    assert env.reset(TOY, memory_tokens=2_000).working_memory.token_budget == 2_000
    assert env.reset(TOY, controller_model="gpt-5").stamp.controller_model == "gpt-5"
    assert env.reset(TOY, anonymous_models=True).models[0].model_id == "model-1"
    assert tuple(card.model_id for card in env.reset(TOY).models) == MENU
    current = env.reset(TOY, catalog="current")
    assert tuple(card.model_id for card in current.models) == toy().public.menus["current"]
    assert current.stamp.controller_model != "gpt-5-mini"


def test_an_option_of_none_is_no_option(env: LocalEnv) -> None:
    assert env.reset(TOY, profile=None).task.profile == "v2"


def test_another_backend_answers(env: LocalEnv) -> None:
    backend = ScriptedBackend(right_values(toy()))
    other = LocalEnv(backend)
    other.reset(TOY)
    other.step(READ)
    other.step(TokenOptEnvAction(action_type=ActionType.ROUTE_SUBTASK, subtask_id="q-setting", model_id=MENU[0]))
    assert len(backend.asked) == 1


# --- bad input


WRONG: list[tuple[dict[str, Any], type[CamreError], str]] = [
    ({"scenario_id": "incident-easy-toi"}, UnknownName, "did you mean 'incident-easy-toy'?"),
    ({"scenario_id": "nothing like it"}, UnknownName, "no scenario 'nothing like it'"),
    ({"scenario_id": "x" * 10_000}, UnknownName, "no scenario"),
    ({"scenario_id": ""}, UnknownName, "no scenario ''"),
    ({"scenario_id": "../../etc/passwd"}, UnknownName, "no scenario"),
    ({"scenario_id": "two\nlines"}, UnknownName, "no scenario"),
    ({"scenario_id": 7}, BadInput, "scenario_id must be a string"),
    ({"seed": -1}, BadInput, "seed must be a whole number of 0 or more, not '-1'"),
    ({"seed": "7"}, BadInput, "seed must be"),
    ({"seed": True}, BadInput, "seed must be"),
    ({"seed": 1.0}, BadInput, "seed must be"),
    ({"seed": "two\nlines"}, BadInput, "seed must be"),
    ({"split": "tset"}, UnknownName, "no split 'tset'"),
    ({"split": 3}, BadInput, "split must be a string"),
    ({"split": "core", "index": 3}, BadInput, "it goes from 0 to 2"),
    ({"split": "core", "index": -1}, BadInput, "it goes from 0 to 2"),
    ({"split": "core", "index": True}, BadInput, "index must be a whole number"),
    ({"index": "first"}, BadInput, "index must be a whole number"),
    ({"profil": "v2"}, UnknownName, "did you mean 'profile'?"),
    ({"profile": "v3"}, BadInput, "profile must be one of v1, v2, not 'v3'"),
    ({"track": "referee"}, BadInput, "track must be one of controller, solver"),
    ({"reward_mode": "sparse"}, BadInput, "reward_mode must be one of dense, terminal"),
    ({"catalog": "mesured"}, UnknownName, "did you mean 'measured'?"),
    ({"catalog": 1}, BadInput, "catalog must be a string"),
    ({"controller_model": "gpt-5-mimi"}, UnknownName, "did you mean 'gpt-5-mini'?"),
    ({"controller_model": []}, BadInput, "controller_model must be a string"),
    ({"anonymous_models": "yes"}, BadInput, "anonymous_models must be true or false"),
    ({"reveal": 1}, BadInput, "reveal must be true or false"),
    ({"memory_tokens": 10}, BadInput, "memory_tokens must be from 500"),
    ({"memory_tokens": 10**12}, BadInput, "memory_tokens must be from 500"),
    ({"memory_tokens": True}, BadInput, "memory_tokens must be"),
    ({"memory_tokens": "many"}, BadInput, "memory_tokens must be"),
]


@pytest.mark.parametrize(("wrong", "kind", "said"), WRONG, ids=lambda value: str(value)[:40])
def test_bad_input_is_one_clear_line_and_the_running_episode_survives(
    env: LocalEnv, wrong: dict[str, Any], kind: type[CamreError], said: str
) -> None:
    env.reset(TOY, seed=1)
    env.step(READ)
    before = env.state
    with pytest.raises(kind) as caught:
        env.reset(**wrong)
    message = str(caught.value)
    assert said in message
    assert len(message.splitlines()) == 1
    assert len(message) < 250
    assert env.state == before
    assert env.step(SUBMIT).done


@pytest.mark.parametrize("wrong", [{"profile": "v3"}, {"catalog": "none"}, {"colour": "red"}])
def test_a_bad_default_is_told_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(CamreError):
        LocalEnv(**wrong)


# --- moments


def test_a_step_before_reset_says_to_reset(env: LocalEnv) -> None:
    assert env.state == TokenOptEnvState()
    with pytest.raises(EpisodeNotRunning, match="call reset first"):
        env.step(READ)


def test_a_step_after_the_end_says_so_and_changes_nothing(env: LocalEnv) -> None:
    env.reset(TOY)
    env.step(SUBMIT)
    before = env.state
    with pytest.raises(EpisodeNotRunning, match="is over; call reset"):
        env.step(READ)
    assert env.state == before
    assert not env.reset(TOY).done


def test_a_step_after_close_says_to_reset(env: LocalEnv) -> None:
    env.reset(TOY)
    env.close()
    env.close()
    with pytest.raises(EpisodeNotRunning):
        env.step(READ)
    assert env.state == TokenOptEnvState()


def test_a_step_with_something_that_is_no_action_changes_nothing(env: LocalEnv) -> None:
    env.reset(TOY)
    before = env.state
    for thing in ({"action_type": "READ_ARTIFACT"}, "read 1", None):
        with pytest.raises((CamreError, TypeError, AttributeError)):
            env.step(thing)  # type: ignore[arg-type]
    assert env.state == before


def test_the_state_tells_where_a_session_stands(env: LocalEnv) -> None:
    env.reset(TOY, seed=2, track="solver")
    env.step(READ)
    state = env.state
    assert (state.scenario_id, state.seed, state.step_count, state.done) == (TOY, 2, 1, False)
    assert (state.profile, state.track) == ("v2", "solver")
    env.step(SUBMIT)
    assert env.state.done


# --- copies


def test_a_fork_goes_its_own_way(env: LocalEnv) -> None:
    env.reset(TOY)
    env.step(READ)
    twin = env.fork()
    assert twin.state == env.state
    other = TokenOptEnvAction(action_type=ActionType.SEARCH_ARTIFACTS, query="pool", top_k=2)
    seen_by_twin = twin.step(other)
    assert env.state.step_count == 1
    seen_by_env = env.step(READ)
    assert seen_by_env.last_tool_result is not None and seen_by_env.last_tool_result.refusal is not None
    assert seen_by_twin.working_memory != seen_by_env.working_memory
    twin.step(SUBMIT)
    assert twin.state.done and not env.state.done
    twin.reset(TOY)
    assert env.state.step_count == 2


def test_a_fork_plays_on_exactly_as_the_original_would(env: LocalEnv) -> None:
    env.reset(TOY)
    env.step(READ)
    twin = env.fork()
    assert twin.step(SUBMIT) == env.step(SUBMIT)


def test_a_fork_keeps_the_defaults() -> None:
    env = LocalEnv(profile="v1")
    env.reset(TOY)
    assert env.fork().reset(TOY).task.profile == "v1"


def test_two_environments_do_not_disturb_each_other() -> None:
    def played(env: LocalEnv, other: LocalEnv | None) -> str:
        trace = Trace(env.reset(TOY))
        for action in (READ, SUBMIT):
            if other is not None:
                other.reset(TOY, seed=1)
                other.step(READ)
            trace.add(action, env.step(action))
        return trace.to_jsonl()

    assert played(LocalEnv(), LocalEnv()) == played(LocalEnv(), None)


def test_an_observation_survives_the_wire(env: LocalEnv) -> None:
    for seen in (env.reset(TOY), env.step(READ), env.step(SUBMIT)):
        assert TokenOptEnvObservation.model_validate_json(seen.model_dump_json()) == seen


# --- the import


def _python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout


_TIMED = "import time; begun = time.process_time(); {}; print(time.process_time() - begun)"


def test_importing_takes_less_than_half_a_second() -> None:
    """Processor time, best of three: other work must not count. On a slow machine, as a multiple of pydantic's."""
    bare = min(float(_python(_TIMED.format("import TokenOptEnv"))) for _ in range(2))
    whole = min(float(_python(_TIMED.format("import TokenOptEnv; TokenOptEnv.LocalEnv"))) for _ in range(3))
    pydantic = min(float(_python(_TIMED.format("import pydantic; pydantic.BaseModel"))) for _ in range(3))
    assert bare <= whole
    assert whole < 0.5 or whole < 5 * pydantic, f"{whole:.2f} s, {whole / pydantic:.1f} times pydantic"


def test_a_whole_episode_loads_no_framework() -> None:
    code = """
import sys
from TokenOptEnv import ActionType, LocalEnv, TokenOptEnvAction, render_text
env = LocalEnv()
seen = env.reset()
render_text(seen)
env.step(TokenOptEnvAction(action_type=ActionType.QUERY_CACHE, query="what failed?"))
env.step(TokenOptEnvAction(
    action_type=ActionType.ROUTE_SUBTASK, subtask_id=seen.task.subtasks[0].subtask_id, model_id=seen.models[0].model_id
))
assert env.step(TokenOptEnvAction(
    action_type=ActionType.SUBMIT_ANSWER, answer={seen.task.answer_fields[0].name: "x"}
)).done
print(sorted({"openenv", "gradio", "fastapi", "starlette", "torch", "numpy", "typer", "rich"} & set(sys.modules)))
"""
    assert _python(code).strip() == "[]"
