"""How far a ranking rests on the scenarios that happened to be played."""

from __future__ import annotations

import pytest

from tests import cases
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation.episodes import EpisodeResult, play
from TokenOptEnv.evaluation.stability import rank_correlation, stability
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.streams import uniform

SCENARIOS = 60


pytestmark = pytest.mark.usefixtures("store")


@pytest.fixture
def base() -> EpisodeResult:
    return play("cheapest", cases.TOY, 0, LocalEnv()).result


def made(base: EpisodeResult, policy: str, number: int, sce: float, total_return: float) -> EpisodeResult:
    score = base.score.model_copy(update={"sce": sce, "total_return": total_return})
    return base.model_copy(update={"policy": policy, "scenario_id": f"s{number}", "score": score})


def with_means(base: EpisodeResult, means: dict[str, float], noise: float) -> list[EpisodeResult]:
    """Each policy about as good as it should be, on each scenario more or less."""
    return [
        made(base, name, number, mean + noise * (uniform("noise", name, number) - 0.5), mean)
        for name, mean in means.items()
        for number in range(SCENARIOS)
    ]


def test_policies_that_are_far_apart_are_ranked_alike_by_every_half(base: EpisodeResult) -> None:
    found = stability(with_means(base, {"a": 0.1, "b": 0.4, "c": 0.7}, noise=0.2), halvings=50)
    assert (found.policies, found.scenarios, found.pairs, found.sure_pairs) == (3, SCENARIOS, 3, 3)
    assert (found.median_tau, found.least_tau, found.return_rank_correlation) == (1.0, 1.0, 1.0)


def test_a_pair_that_nothing_sets_apart_is_not_asked_about(base: EpisodeResult) -> None:
    found = stability(with_means(base, {"a": 0.1, "b": 0.1, "c": 0.7}, noise=0.2), halvings=50)
    assert (found.pairs, found.sure_pairs, found.median_tau) == (3, 2, 1.0)


def test_a_ranking_that_hangs_by_few_scenarios_is_found_out(base: EpisodeResult) -> None:
    results = with_means(base, {"a": 0.3, "b": 0.36, "c": 0.42}, noise=0.5)
    found = stability(results, halvings=200)
    assert found.sure_pairs
    assert found.least_tau < 1.0
    assert found == stability(list(reversed(results)), halvings=200)


def test_a_reward_that_ranks_the_other_way_round_shows(base: EpisodeResult) -> None:
    results = [
        made(base, name, number, sce, -sce)
        for name, sce in (("a", 0.1), ("b", 0.4), ("c", 0.7))
        for number in range(SCENARIOS)
    ]
    assert stability(results, halvings=5).return_rank_correlation == -1.0


def test_ranks_are_shared_where_values_tie() -> None:
    assert rank_correlation([1.0, 1.0, 2.0], [1.0, 2.0, 3.0]) == pytest.approx(0.8660254)
    assert rank_correlation([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]) == 0.0


def test_too_little_to_rank_is_said_so(base: EpisodeResult) -> None:
    with pytest.raises(BadInput, match="2 policies on 60 scenarios"):
        stability(with_means(base, {"a": 0.1, "b": 0.7}, noise=0.1), halvings=5)
    with pytest.raises(BadInput, match="no two of 3 policies are set apart"):
        stability([made(base, name, number, 0.5, 0.5) for name in "abc" for number in range(9)], halvings=5)
