"""OpenEnv's client, in sync and async code and by name: the examples, against a real server."""

from __future__ import annotations

import runpy
import sys

import pytest

from tests.server.live import ROOT, Address
from TokenOptEnv import LocalEnv, policies, scenario_store
from TokenOptEnv.models import ScoreBreakdown

Out = pytest.CaptureFixture[str]


@pytest.fixture
def told(server: Address, monkeypatch: pytest.MonkeyPatch, capsys: Out, request: pytest.FixtureRequest) -> str:
    """What the example prints. In this process: loading OpenEnv once more takes longer than all of them."""
    file = str(ROOT / "examples" / request.param)
    monkeypatch.setattr(sys, "argv", [file, server.url])
    runpy.run_path(file, run_name="__main__")
    return capsys.readouterr().out


def _score(index: int) -> ScoreBreakdown:
    env, policy = LocalEnv(), policies.make("cheapest", 0)
    seen = env.reset(split="core", index=index, seed=0)
    while not seen.done:
        seen = env.step(policy.act(seen))
    assert seen.score is not None
    return seen.score


@pytest.mark.parametrize("told", ["openenv_sync.py"], indirect=True)
def test_synchronous_code_plays_over_the_wire_as_in_this_process(told: str) -> None:
    score = _score(0)
    cost_usd = score.cost_nano_usd / 1e9
    assert told == f"success {score.success}, return {score.total_return:g}, cost ${cost_usd:.4f}\n"


@pytest.mark.parametrize("told", ["openenv_async.py"], indirect=True)
def test_three_episodes_at_once_are_three_sessions(told: str) -> None:
    expected = [f"{scenario_store.at('core', index)}: return {_score(index).total_return:g}" for index in range(3)]
    assert told.splitlines() == expected


@pytest.mark.parametrize("told", ["openenv_auto.py"], indirect=True)
def test_auto_env_finds_it_by_its_name(told: str) -> None:
    assert told.startswith(f"{scenario_store.at('core', 0)}: ")
