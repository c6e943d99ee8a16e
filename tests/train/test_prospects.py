"""What an episode is worth on average over the draws that might have been."""

from __future__ import annotations

from statistics import fmean, pvariance

import pytest

from TokenOptEnv import rewards
from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.models import ActionType, TokenOptEnvAction
from training.cases import CaseBox
from training.episode import Episode
from training.tutor import Tutor


@pytest.fixture(scope="module")
def box(run, tmp_path_factory: pytest.TempPathFactory) -> CaseBox:  # type: ignore[no-untyped-def]
    out = tmp_path_factory.mktemp("prospects") / "box"
    run("collect", "--split", "validation", "--easy", 30, "--medium", 30, "--no-traces", "--out", out)
    return CaseBox(out.with_suffix(".zip"))


@pytest.fixture(scope="module")
def played(box: CaseBox) -> dict[str, list[Episode]]:
    """By case, in each of its worlds."""
    return {name: [_played(box, name, seed) for seed in range(4)] for name in box.cases}


def _played(box: CaseBox, name: str, seed: int) -> Episode:
    episode = Episode(box, name, seed, EpisodeConfig())
    tutor = Tutor()
    while not episode.done:
        episode.act(tutor.act(episode.observation))
    return episode


def test_the_average_over_draws_is_near_what_was_drawn_and_varies_less(played: dict[str, list[Episode]]) -> None:
    outcomes = {name: [each.outcome() for each in worlds] for name, worlds in played.items()}
    every = [each for worlds in outcomes.values() for each in worlds]
    for drawn, expected in (
        ([each.success for each in every], [each.expected.success for each in every]),
        ([each.total_return for each in every], [each.expected.total_return for each in every]),
        ([each.sce for each in every], [each.expected.sce for each in every]),
    ):
        assert fmean(expected) == pytest.approx(fmean(drawn), abs=0.08)
    drawn_spread = fmean(pvariance(each.total_return for each in worlds) for worlds in outcomes.values())
    spread = fmean(pvariance(each.expected.total_return for each in worlds) for worlds in outcomes.values())
    assert spread < 0.5 * drawn_spread


def test_what_would_have_been_paid_is_what_was_paid_where_it_came_out_that_way(
    played: dict[str, list[Episode]],
) -> None:
    ends = {True: 0, False: 0}
    for episode in (each for worlds in played.values() for each in worlds):
        score = episode.observation.score
        assert score is not None
        stakes = rewards.stakes(episode._now.state, score, episode._world)
        share = fmean(each.right and each.backed and each.grounded for each in score.fields)
        paid = stakes.if_solved if score.success else stakes.if_failed + share * stakes.per_share
        assert score.total_return == pytest.approx(paid, abs=1e-5)
        ends[score.success] += 1
    assert min(ends.values()) > 20


def test_who_hands_nothing_in_may_expect_nothing(box: CaseBox) -> None:
    episode = Episode(box, next(iter(box.cases)), 0, EpisodeConfig())
    while not episode.done:
        episode.act(TokenOptEnvAction(action_type=ActionType.MALFORMED))
    found = episode.outcome()
    assert found.expected.success == found.expected.sce == 0.0
    assert found.expected.total_return == pytest.approx(found.total_return)
