"""Actions that were said elsewhere play to the same score, and say so where they do not fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import cases
from TokenOptEnv import LocalEnv, policies
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation.episodes import play
from TokenOptEnv.text_actions import Numbering, write

pytestmark = pytest.mark.usefixtures("store")


def said_by(policy_name: str, scenario_id: str, seed: int) -> list[str]:
    env, policy = LocalEnv(), policies.make(policy_name, seed)
    observation = env.reset(scenario_id=scenario_id, seed=seed)
    said = []
    while not observation.done:
        action = policy.act(observation)
        said.append(write(action, Numbering.of(observation)))
        observation = env.step(action)
    return said


def recorded(file: Path, *episodes: tuple[str, int, list[str]]) -> str:
    lines = [json.dumps({"scenario_id": name, "seed": seed, "actions": said}) for name, seed, said in episodes]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"actions:{file}"


def test_what_was_said_elsewhere_scores_the_same(tmp_path: Path) -> None:
    name = recorded(tmp_path / "a.jsonl", *((cases.TOY, seed, said_by("rag", cases.TOY, seed)) for seed in (0, 1)))
    for seed in (0, 1):
        again, first = (play(policy, cases.TOY, seed, LocalEnv()).result for policy in (name, "rag"))
        assert again.score == first.score


def test_an_episode_that_is_missing_or_cut_off_is_named(tmp_path: Path) -> None:
    said = said_by("rag", cases.TOY, 0)
    name = recorded(tmp_path / "b.jsonl", (cases.TOY, 0, said[:-1]))
    with pytest.raises(BadInput, match=f"only {len(said) - 1} actions for {cases.TOY}@0"):
        play(name, cases.TOY, 0, LocalEnv())
    with pytest.raises(BadInput, match=f"nothing for {cases.TOY}@3"):
        play(name, cases.TOY, 3, LocalEnv())


def test_a_file_that_holds_something_else_is_told_by_its_line(tmp_path: Path) -> None:
    file = tmp_path / "c.jsonl"
    file.write_text('{"scenario_id": "a", "seed": 0, "actions": []}\n{"scenario_id": "a"}\n', encoding="utf-8")
    with pytest.raises(BadInput, match="line 2: seed: Field required"):
        policies.info(f"actions:{file}")
    with pytest.raises(BadInput, match="there is no file"):
        policies.info(f"actions:{tmp_path / 'd.jsonl'}")
