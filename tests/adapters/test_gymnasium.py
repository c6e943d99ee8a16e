"""CAMRE through Gymnasium: numbers that mean what `LocalEnv` does, masks that keep their word, and repeatable bytes."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from tests.adapters.played import run_example
from TokenOptEnv import LocalEnv, scenario_store
from TokenOptEnv.adapters.gym_env import ENV_IDS, CamreGymEnv, board
from TokenOptEnv.adapters.gym_env.board import Board
from TokenOptEnv.adapters.gym_env.features import COLUMNS
from TokenOptEnv.config import DEFAULT_WORLDS, Profile
from TokenOptEnv.errors import BadInput, EpisodeNotRunning, UnknownName
from TokenOptEnv.models import ActionType, TokenOptEnvObservation
from TokenOptEnv.policies import menu
from TokenOptEnv.prompt import render_text

_UNPROMISED = {"MEMORY_FULL", "OVER_BUDGET", "CONTEXT_WINDOW", "TOO_LONG", "ALREADY_ANSWERED"}
"""What a mask of single slots cannot promise: that there is room for it, and that two choices go together."""


def _env(profile: Profile = Profile.V2, **options: Any) -> CamreGymEnv:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is out of date")  # v1 is a profile here, not an old version
        made = gymnasium.make(ENV_IDS[profile], **options).unwrapped
    assert isinstance(made, CamreGymEnv)
    return made


def _numbers(env: CamreGymEnv, **chosen: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.asarray([chosen.get(name, 0) for name in env.slots.sizes], dtype=np.int64)


def _verb(env: CamreGymEnv, kind: ActionType) -> int:
    return env.slots.verbs.index(kind)


def _played(env: CamreGymEnv, seed: int) -> list[Any]:
    """A whole episode of masked random actions: everything that was returned."""
    env.action_space.seed(seed)
    shown, info = env.reset(seed=seed)
    told: list[Any] = [(shown, info["action_mask"])]
    over = False
    while not over:
        shown, reward, terminated, truncated, info = env.step(env.action_space.sample(mask=env.sample_mask()))
        told.append((shown, reward, terminated, truncated, info["action_mask"], info["observation"]))
        over = terminated or truncated
    return told


@pytest.mark.parametrize("profile", Profile)
def test_the_checker_of_gymnasium_finds_nothing_wrong(profile: Profile) -> None:
    check_env(_env(profile))


@pytest.mark.parametrize("profile", Profile)
def test_what_the_mask_leaves_open_names_only_what_exists(profile: Profile) -> None:
    env = _env(profile)
    submit = _verb(env, ActionType.SUBMIT_ANSWER)
    kinds, refused = set(), set()
    for seed in range(2 * scenario_store.size("core")):
        env.action_space.seed(seed)
        seen = env.reset(seed=seed)[1]["observation"]
        while seen.budgets.steps.left > 1 and not seen.must_submit:
            mask = env.sample_mask()
            mask[0][submit] = 0
            seen = env.step(env.action_space.sample(mask=mask))[-1]["observation"]
            kinds.add(seen.last_tool_result.action_type)
            if seen.last_tool_result.refusal is not None:
                refused.add(seen.last_tool_result.refusal.reason.value)
    assert refused <= _UNPROMISED
    assert kinds == set(env.slots.verbs) - {ActionType.SUBMIT_ANSWER}, "every other verb is tried"


def test_the_same_seed_gives_the_same_numbers() -> None:
    first, again = _played(_env(), 5), _played(_env(), 5)
    assert len(first) == len(again)
    for (left, *left_rest), (right, *right_rest) in zip(first, again, strict=True):
        assert all(np.array_equal(left[name], right[name]) for name in COLUMNS)
        assert all(np.array_equal(a, b) for a, b in zip(left_rest[:-1], right_rest[:-1], strict=True))


def test_resets_without_a_seed_go_on_from_the_last_one() -> None:
    def tasks() -> list[str]:
        env = _env()
        env.reset(seed=3)
        return [env.reset()[1]["observation"].episode_id for _ in range(4)]

    assert tasks() == tasks()
    assert len(set(tasks())) > 1


def test_a_seed_names_the_episode_that_local_env_plays() -> None:
    _, info = _env().reset(seed=7)
    assert info["observation"] == LocalEnv().reset(seed=7, split="core")
    named = scenario_store.at("core", 3)
    _, info = _env().reset(seed=7, options={"scenario_id": named})
    assert info["observation"] == LocalEnv().reset(scenario_id=named, seed=7)


def test_rewards_add_up_to_the_return() -> None:
    told = _played(_env(), 2)
    score = told[-1][-1].score
    assert sum(reward for _, reward, *_ in told[1:]) == pytest.approx(score.total_return)


def test_numbers_alone_can_solve_a_task() -> None:
    """Search for each question, ask the strongest model about what was found, submit: somewhere that suffices."""
    env = _env()
    solved = 0
    for scenario_id, seed in product(scenario_store.ids("core"), range(DEFAULT_WORLDS)):
        seen = env.reset(seed=seed, options={"scenario_id": scenario_id})[1]["observation"]
        model = seen.models.index(menu.strongest(seen))
        actions = [_numbers(env, verb=_verb(env, ActionType.SUBMIT_ANSWER))]
        for subtask in reversed(range(len(seen.task.subtasks))):
            handles = {f"handle_{number}": number for number in range(1, 5)}
            route = _numbers(env, verb=_verb(env, ActionType.ROUTE_SUBTASK), subtask=subtask, model=model, **handles)
            actions += [route, _numbers(env, verb=_verb(env, ActionType.SEARCH_ARTIFACTS), subtask=subtask)]
        while actions and not seen.done:
            seen = env.step(actions.pop())[-1]["observation"]
        solved += seen.score is not None and seen.score.success
    assert solved > 0


def test_reading_again_turns_the_page() -> None:
    env = _env(Profile.V1)
    _, info = env.reset(seed=1)
    artifact = next(place for place, each in enumerate(info["observation"].artifacts) if each.segments > 16)
    read = _numbers(env, verb=_verb(env, ActionType.READ_ARTIFACT), artifact=artifact)
    pages = [env.step(read)[-1]["observation"].last_tool_result.payload.page for _ in range(3)]
    assert pages == [1, 2, 3]


def test_a_pick_stands_for_the_row_that_the_features_show() -> None:
    env = _env()
    env.reset(seed=1)
    search = _numbers(env, verb=_verb(env, ActionType.SEARCH_ARTIFACTS))
    shown, *_, info = env.step(search)
    seen: TokenOptEnvObservation = info["observation"]
    handles = Board.of(seen).handles
    assert shown["handles"][: len(handles), 0].tolist() == [1.0] * len(handles)
    assert not shown["handles"][len(handles) :].any()
    hydrate = _numbers(env, verb=_verb(env, ActionType.HYDRATE_SEGMENTS), handle_1=2)
    *_, info = env.step(hydrate)
    assert info["observation"].last_tool_result.payload.item_ids == (handles[1].segment_id,)


def test_a_question_s_words_in_a_segment_are_seen_as_overlap() -> None:
    env = _env()
    env.reset(seed=1)
    shown, *_ = env.step(_numbers(env, verb=_verb(env, ActionType.SEARCH_ARTIFACTS), subtask=0))
    column = COLUMNS["handles"].index("overlap_1")
    assert shown["handles"][0, column] > 0.0


def test_masks_come_in_one_row_and_slot_by_slot() -> None:
    env = _env()
    _, info = env.reset(seed=0)
    assert np.concatenate(env.sample_mask()).tolist() == info["action_mask"].tolist()
    assert env.action_masks().tolist() == info["action_mask"].astype(bool).tolist()
    assert [len(each) for each in env.sample_mask()] == env.action_space.nvec.tolist()
    assert all(each.any() for each in env.sample_mask())


def test_every_shipped_scenario_fits_the_tables() -> None:
    for index in range(scenario_store.size("core")):
        seen = LocalEnv().reset(split="core", index=index)
        assert len(seen.artifacts) <= board.ARTIFACTS
        assert len(seen.task.subtasks) <= board.SUBTASKS
        assert len(seen.models) <= board.MODELS


def test_rendering_shows_the_prompt() -> None:
    env = _env(render_mode="ansi")
    _, info = env.reset(seed=0)
    assert env.render() == render_text(info["observation"])


def test_several_environments_run_as_one() -> None:
    envs = gymnasium.make_vec(ENV_IDS[Profile.V2], num_envs=2, vectorization_mode="sync")
    shown, info = envs.reset(seed=4)
    assert shown["items"].shape[0] == 2
    assert info["action_mask"].shape == (2, sum(_env().slots.sizes.values()))
    envs.close()


def test_what_cannot_be_is_one_clear_line() -> None:
    env = _env()
    with pytest.raises(EpisodeNotRunning, match="call reset first"):
        env.step(_numbers(env))
    env.reset(seed=0)
    with pytest.raises(BadInput, match=r"^an action is 18 whole numbers"):
        env.step(_numbers(env, verb=99))
    with pytest.raises(UnknownName, match="did you mean 'scenario_id'"):
        env.reset(options={"scenario": "x"})
    with pytest.raises(BadInput, match="only the controller track"):
        CamreGymEnv(track="solver")


def test_the_example_runs() -> None:
    lines = run_example("gymnasium_random.py").splitlines()
    assert len(lines) == 3
    assert all("return" in line and "success" in line for line in lines)
