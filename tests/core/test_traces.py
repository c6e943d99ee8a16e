"""The trace: canonical, replayable, and the same bytes in every process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cases import Play, find_everything, marathon, simulated_world, toy, world_of
from TokenOptEnv.config import EpisodeConfig, RewardMode
from TokenOptEnv.episode_runtime import start
from TokenOptEnv.models import TokenOptEnvAction
from TokenOptEnv.traces import Trace, TraceHeader, TraceStep
from TokenOptEnv.version import SCORING_VERSION, TRACE_VERSION

ROOT = Path(__file__).resolve().parents[2]


def simulated_episode(seed: int = 0) -> Play:
    play = Play(simulated_world(toy(), seed))
    find_everything(play)
    play.query_cache("Why did a checkout request fail?")
    play.compress(play.item_ids[0], method="extract", target_ratio=0.5)
    play.escalate("route-1")
    play.read("nowhere")
    play.submit(*play.finding_ids[:2])
    return play


def test_a_trace_is_one_header_and_one_line_a_step() -> None:
    play = simulated_episode()
    header, *steps = play.trace.to_jsonl().splitlines()
    parsed = TraceHeader.model_validate_json(header)
    assert (parsed.trace_version, parsed.scenario_id, parsed.seed) == (TRACE_VERSION, toy().scenario_id, 0)
    assert parsed.stamp.scoring_version == SCORING_VERSION
    assert parsed.stamp.controller_model == EpisodeConfig().controller_model
    read_back = [TraceStep.model_validate_json(line) for line in steps]
    assert read_back == play.trace.steps
    assert [step.step for step in read_back] == list(range(1, len(steps) + 1))


def test_the_actions_of_a_trace_replay_to_the_same_trace() -> None:
    first = simulated_episode()
    actions = [TraceStep.model_validate_json(line).action for line in first.trace.to_jsonl().splitlines()[1:]]
    again = Play(simulated_world(toy(), 0))
    for action in actions:
        again.act(action)
    assert again.trace.to_jsonl() == first.trace.to_jsonl()


def test_every_entry_and_reward_is_in_the_trace() -> None:
    play = simulated_episode()
    entries = [entry for step in play.trace.steps for entry in step.entries]
    assert sum(entry.nano_usd for entry in entries) == play.observation.budgets.nano_usd.spent
    assert play.observation.score is not None
    assert round(sum(step.reward for step in play.trace.steps), 6) == play.observation.score.total_return
    assert play.trace.steps[-1].score == play.observation.score


def test_what_the_caller_adds_is_not_in_the_trace() -> None:
    plain, named = Trace(start(world_of(toy()), "mine").observation), Trace(start(world_of(toy()), "yours").observation)
    assert plain.to_jsonl() == named.to_jsonl()
    traces = []
    for metadata in ({}, {"run": 7}):
        play = Play(world_of(toy()))
        play.act(TokenOptEnvAction(action_type="READ_ARTIFACT", artifact_id="code-pool", metadata=metadata))
        traces.append(play.trace.to_jsonl())
    assert traces[0] == traces[1]


@pytest.mark.parametrize(
    "change",
    [{"memory_tokens": 1_600}, {"controller_model": "gpt-5"}, {"reward_mode": RewardMode.TERMINAL}],
    ids=str,
)
def test_what_makes_a_result_incomparable_is_stamped(change: dict[str, Any]) -> None:
    plain = Play(world_of(toy())).trace.header
    changed = Play(world_of(toy(), **change)).trace.header
    assert plain.stamp != changed.stamp


def test_another_world_is_another_trace() -> None:
    assert len({simulated_episode(seed).trace.to_jsonl() for seed in range(4)}) > 1


def test_seeds_that_choose_the_same_world_differ_in_their_seed_alone() -> None:
    def without_seed(play: Play) -> list[dict[str, object]]:
        lines = [json.loads(line) for line in play.trace.to_jsonl().splitlines()]
        for line in lines:
            line.pop("seed", None)
            line.pop("observation_sha256")
        return lines

    assert without_seed(simulated_episode(1)) == without_seed(simulated_episode(5))


def test_a_digest_tells_any_change_of_what_was_shown() -> None:
    play = Play(world_of(toy()))
    seen = play.observation
    other = seen.model_copy(update={"step": seen.step + 1})
    assert Trace(seen).header.observation_sha256 != Trace(other).header.observation_sha256


_ELSEWHERE = """
import sys
from tests.cases import Play, marathon, simulated_world
from tests.core.test_traces import marathon_episode, simulated_episode
sys.stdout.write(simulated_episode().trace.to_jsonl() + marathon_episode().trace.to_jsonl())
"""


def marathon_episode() -> Play:
    play = Play(simulated_world(marathon(), 2))
    play.search("req-7f3a failed", 2)
    play.route("q-request", "gpt-5.2", play.observation.surfaced[0].segment_id)
    play.checkpoint("kept", *play.finding_ids)
    play.read("log-second")
    play.route("q-volume", "gpt-5.2", *(handle.segment_id for handle in play.observation.surfaced[:4]))
    return play


def test_the_same_actions_give_the_same_bytes_in_any_process_and_under_any_hash_seed() -> None:
    here = simulated_episode().trace.to_jsonl() + marathon_episode().trace.to_jsonl()
    started = [
        subprocess.Popen(
            [sys.executable, "-c", _ELSEWHERE],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            cwd=ROOT,
        )
        for hash_seed in ("0", "1", "4242")
    ]
    for process in started:
        there, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        assert there.decode() == here
