"""A tutor looks over the student's shoulder: what it would have done is learnt where the student has got to."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

import pytest

from tests.train.conftest import Run
from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.text_actions import parse
from training.cases import CaseBox
from training.collect import read_traces
from training.dagger import drawn
from training.env_pool import Room, Say, Shown, Stage, Start
from training.episode import Episode
from training.tutor import PLAIN, Tutor


@pytest.fixture(scope="module")
def stage(tiny: Path, data: Path) -> Stage:
    return Stage(Room(data.with_suffix(".zip"), tiny / "tokenizer.json", EpisodeConfig(), 8_000))


def answer(stage: Stage, request: Start | Say) -> Shown:
    reply = stage.answer(request)
    assert isinstance(reply, Shown)
    return reply


def options(tiny_run: list[object], out: Path) -> list[object]:
    return [
        *tiny_run,
        *("--out", out, "--iterations", 2, "--episodes", 4, "--updates", 2, "--rate", 2e-2, "--checkpoint-every", 1),
    ]


def test_who_follows_the_advice_plays_as_the_tutor_does(stage: Stage, data: Path) -> None:
    box = CaseBox(data.with_suffix(".zip"))
    case = box.index.cases[0].scenario_id
    shown = answer(stage, Start(0, case, 2, is_advised=True))
    while shown.outcome is None:
        assert shown.advice is not None
        shown = answer(stage, Say(0, shown.advice))
    assert shown.outcome == Episode(box, case, 2, EpisodeConfig()).played_by(Tutor(PLAIN, {}))


def test_advice_is_for_where_the_student_is(stage: Stage, data: Path) -> None:
    """After a blunder too: each time it is what a tutor says who sees that state for the first time."""
    box = CaseBox(data.with_suffix(".zip"))
    case = box.index.cases[0].scenario_id
    episode = Episode(box, case, 1, EpisodeConfig())
    shown = answer(stage, Start(1, case, 1, is_advised=True))
    for blunder in ("load 99", "what shall I do", "find boot clock k2", "drop 1"):
        episode.say(blunder)
        shown = answer(stage, Say(1, blunder))
        assert shown.advice is not None
        assert parse(shown.advice, episode.observation) == Tutor(PLAIN, {}).act(episode.observation)


def test_nobody_advises_unasked(stage: Stage, data: Path) -> None:
    case = CaseBox(data.with_suffix(".zip")).index.cases[0]
    assert answer(stage, Start(2, case.scenario_id, 0)).advice is None


def test_every_case_has_its_turn_before_one_has_two(data: Path) -> None:
    index = CaseBox(data.with_suffix(".zip")).index
    case = index.cases[0]
    index = index.model_copy(
        update={"cases": tuple(case.model_copy(update={"scenario_id": f"case-{number}"}) for number in range(5))}
    )
    chosen = argparse.Namespace(seed=0, episodes=4)
    tasks = [task for iteration in range(5) for task in drawn(iteration, index, chosen)]
    assert Counter(task.scenario_id for task in tasks) == {f"case-{number}": 4 for number in range(5)}
    assert len({task.scenario_id for task in tasks[:5]}) == 5
    assert len({task.seed for task in tasks}) > 1


def test_what_the_tutor_would_do_is_learnt_and_a_kill_changes_nothing(
    run: Run, small: list[object], tmp_path: Path
) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    longer = [*options(small, whole), "--iterations", 6]
    run("dagger", *longer)
    rows = [json.loads(line) for line in (whole / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["iteration"] for row in rows] == list(range(6))
    assert rows[-1]["loss"] < 0.9 * rows[0]["loss"]
    assert all(0.0 <= row["agreed_share"] <= 1.0 for row in rows)

    run("dagger", *options(small, cut), "--iterations", 6, "--minutes", 0)
    assert len((cut / "metrics.jsonl").read_text(encoding="utf-8").splitlines()) == 1
    run("dagger", *options(small, cut), "--iterations", 6)
    assert (cut / "metrics.jsonl").read_bytes() == (whole / "metrics.jsonl").read_bytes()
    adapters = [folder / "adapter" / "adapter_model.safetensors" for folder in (cut, whole)]
    assert adapters[0].read_bytes() == adapters[1].read_bytes()


def test_a_box_that_nobody_solved_is_one_line(run: Run, small: list[object], tmp_path: Path) -> None:
    run("collect", "--first", 30, "--easy", 1, "--no-traces", "--processes", 1, "--out", tmp_path / "bare")
    done = run("dagger", *options(small, tmp_path / "out"), "--data", tmp_path / "bare", code=1)
    told = f"no case of '{tmp_path / 'bare.zip'}' was solved; make it with traces: python -m training.collect"
    assert done.stderr == f"dagger: {told}\n"


def test_without_notes_a_tutor_is_told_nothing(run: Run, tmp_path: Path) -> None:
    """Its traces are what it plays of its own accord, and nothing was tried first."""
    done = run("collect", "--first", 30, "--easy", 1, "--no-notes", "--processes", 1, "--out", tmp_path / "plain")
    assert "cases tried" not in done.stdout
    box = CaseBox(tmp_path / "plain.zip")
    traces = read_traces(tmp_path / "plain.jsonl")
    assert traces
    for trace in traces:
        episode = Episode(box, trace.scenario_id, trace.seed, EpisodeConfig())
        assert episode.played_by(Tutor(PLAIN, {})).total_return == trace.total_return
