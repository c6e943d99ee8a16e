"""Who does as the tutor does agrees with it at every step, and who does something else does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.train.conftest import Run
from TokenOptEnv.policies.recorded_actions import SaidEpisode
from training.agreement import compare
from training.collect import read_traces


@pytest.fixture(scope="module")
def said(data: Path) -> list[SaidEpisode]:
    traces = read_traces(data.with_suffix(".jsonl"))
    return [SaidEpisode(scenario_id=each.scenario_id, seed=each.seed, actions=each.actions) for each in traces]


def test_a_tutor_agrees_with_itself(data: Path, said: list[SaidEpisode]) -> None:
    counts = compare(data.with_suffix(".zip"), said, processes=1)
    assert counts["all", "steps"] == sum(len(each.actions) for each in said)
    assert counts["all", "same"] == counts["all", "verb"] == counts["all", "steps"]


def test_other_words_are_the_same_verb_and_not_the_same_action(data: Path, said: list[SaidEpisode]) -> None:
    first = next(each for each in said if each.actions[0].startswith("find "))
    counts = compare(
        data.with_suffix(".zip"), [first.model_copy(update={"actions": ("find nothing k4",)})], processes=1
    )
    assert (counts["find", "steps"], counts["find", "verb"], counts["find", "same"]) == (1, 1, 0)


def test_a_missing_file_is_told_in_one_line(run: Run, data: Path, tmp_path: Path) -> None:
    done = run("agreement", "--box", data.with_suffix(".zip"), "--actions", tmp_path / "none.jsonl", code=1)
    assert done.stderr.count("\n") == 1
    assert "there is no file of actions" in done.stderr
