"""The red team: whoever goes for the reward and not for the answer scores below the trivial baseline."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import pytest

from TokenOptEnv import LocalEnv, policies, scenario_store
from TokenOptEnv.errors import UnknownName
from TokenOptEnv.evaluation.episodes import play
from TokenOptEnv.policies import red_team
from TokenOptEnv.policies.cheapest import POLICY

SEEDS = range(4)
TRAIN = tuple(scenario_store.at("train", place) for place in range(8))


class Mean(NamedTuple):
    total_return: float
    sce: float


@cache
def mean(policy: str, scenario_ids: Sequence[str], seeds: Sequence[int]) -> Mean:
    env = LocalEnv()
    results = [play(policy, name, seed, env).result for name in scenario_ids for seed in seeds]
    return Mean(
        sum(result.total_return for result in results) / len(results),
        sum(result.sce for result in results) / len(results),
    )


def beaten(policy: str, scenario_ids: Sequence[str], seeds: Sequence[int]) -> None:
    ours, theirs = mean(POLICY.name, scenario_ids, seeds), mean(policy, scenario_ids, seeds)
    assert theirs.total_return < ours.total_return
    assert theirs.sce <= ours.sce


@pytest.mark.parametrize("policy", red_team.names())
def test_a_trick_scores_below_cheapest_on_the_core_suite(policy: str) -> None:
    beaten(policy, scenario_store.ids("core"), SEEDS)


@pytest.mark.parametrize("policy", red_team.names())
def test_a_trick_scores_below_cheapest_on_generated_cases(policy: str) -> None:
    beaten(policy, TRAIN, range(2))


def test_the_team_is_large_and_plays_only_when_it_is_asked_for() -> None:
    assert len(red_team.names()) >= 10
    assert not set(red_team.names()) & set(policies.names())
    assert all(policies.info(name).describes for name in red_team.names())
    assert tuple(f"red:{name}" for name in policies.schemes()["red"].members()) == red_team.names()


def test_an_unknown_trick_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'farm-milestones'"):
        policies.info("red:farm-milestone")
