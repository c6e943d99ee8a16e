"""What an episode is worth beside its group, and what an iteration plays."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

import numpy as np
import pytest

from TokenOptEnv.config import Difficulty
from TokenOptEnv.errors import BadInput
from TokenOptEnv.streams import Stream
from training.cases import BoxedCase, BoxIndex
from training.credit import by_episode, owed_by_branch, owed_by_episode, worth, worth_of
from training.curriculum import Curriculum, draw, upto
from training.episode import Outcome
from training.grpo import main, rate_at, undrawn
from training.prefix_tree import Sample
from training.prospects import Expected
from training.rollouts import Played, Task


def index(*difficulties: Difficulty) -> BoxIndex:
    cases = tuple(
        BoxedCase(
            scenario_id=f"ci-{difficulty.value}-g{number:06d}",
            family="ci",
            difficulty=difficulty,
            costs=(None,) * 4,
            best_return=0.5 if number % 2 else 0.0,
        )
        for difficulty in difficulties
        for number in range(6)
    )
    return BoxIndex(scoring_version=1, split="train", profile="v2", cases=cases)


def test_an_advantage_is_a_return_less_its_groups_mean() -> None:
    found = by_episode([0.0, 1.0, 0.25, 0.75], 2)
    assert all(each is not None for each in found)
    assert found[0] == pytest.approx(-(found[1] or 0.0)) and found[1] == pytest.approx(2 * (found[3] or 0.0))


def test_a_group_whose_returns_are_equal_is_dropped_even_if_rounding_makes_them_differ() -> None:
    assert by_episode([0.1 + 0.2, 0.3, 0.0, 1.0], 2)[:2] == [None, None]


def test_an_episode_is_worth_its_return_unless_savings_are_to_count_more() -> None:
    for share, worth_then in ((0.0, 0.8), (0.25, 0.7), (1.0, 0.4)):
        assert worth(0.8, 0.4, Namespace(sce_share=share)) == pytest.approx(worth_then)


def test_refusals_set_failures_of_a_group_apart() -> None:
    task = Task("ci-easy-g000001", 0)
    group = [episode(task, [[1], [2]], 0.0, [True] * refusals + [False] * (2 - refusals)) for refusals in (2, 1, 0)]
    owed = owed_by_episode(group, chosen_for(group_size=3, refusal_cost=0.03))
    assert [each.advantages[0][0] for each in owed] == sorted({each.advantages[0][0] for each in owed})


def test_luck_is_left_out_of_what_an_episode_is_worth_where_that_is_asked_for() -> None:
    task = Task("ci-easy-g000001", 0)
    lucky, careful = episode(task, [[1]], 0.9, [False]), episode(task, [[2]], 0.1, [False])
    lucky.outcome = replace(lucky.ended, expected=Expected(0.2, 0.3, 0.1))
    careful.outcome = replace(careful.ended, expected=Expected(0.8, 0.7, 0.5))
    assert worth_of(lucky, chosen_for()) > worth_of(careful, chosen_for())
    assert worth_of(lucky, chosen_for(worth="expected")) == pytest.approx(0.3)
    assert worth_of(careful, chosen_for(worth="expected", sce_share=1.0)) == pytest.approx(0.5)


def test_a_share_of_more_than_all_is_refused_in_one_line() -> None:
    needed = ["--base", "base", "--data", "data", "--out", "out"]
    with pytest.raises(SystemExit) as refused:
        main([*needed, "--sce-share", "1.5"])
    assert str(refused.value) == "grpo: --sce-share is a share of 1, not 1.5; give 0 to 1"
    with pytest.raises(SystemExit) as refused:
        main([*needed, "--temperature", "0"])
    assert str(refused.value) == "grpo: --temperature 0 draws the likeliest token, always; give more than 0"
    with pytest.raises(SystemExit, match=r"grpo: .*'nobody'"):
        main([*needed, "--compare-with", "nobody"])


def test_small_differences_among_failures_stay_small_beside_a_success() -> None:
    found = by_episode([0.01, 0.03, 0.02, 0.9], 2)
    assert abs(found[0] or 0.0) < 0.05 * abs(found[3] or 0.0)


def test_nothing_to_learn_is_no_division_by_zero() -> None:
    assert by_episode([0.5] * 6, 3) == [None] * 6


def test_an_episode_that_is_worth_its_groups_mean_can_be_left_out() -> None:
    every = by_episode([0.0, 0.5, 1.0, 0.01, 0.02, 0.03], 3)
    assert None not in every
    assert by_episode([0.0, 0.5, 1.0, 0.01, 0.02, 0.03], 3, least=0.1) == [every[0], None, every[2], *[None] * 3]


def episode(task: Task, steps: list[list[int]], total_return: float, refused: list[bool]) -> Played:
    said = [np.asarray(each, dtype=np.int32) for each in steps]
    played = Played(
        task,
        samples=[Sample(np.arange(9, dtype=np.int32), each) for each in said],
        boldness=[np.zeros(len(each), dtype=np.float32) for each in said],
        refused=refused,
    )
    played.outcome = Outcome(
        scenario_id=task.scenario_id,
        seed=task.seed,
        family="ci",
        difficulty="easy",
        total_return=total_return,
        success=total_return > 0.5,
        sce=0.0,
        cost_nano_usd=1,
        reference_nano_usd=1,
        steps=len(steps),
        refused=sum(refused),
        malformed=0,
        submitted=True,
        ungrounded=False,
        process_reward=0.0,
        guardrail_reward=0.0,
        actions={},
        expected=Expected(0.0, 0.0, 0.0),
    )
    return played


def chosen_for(**given: float | str) -> Namespace:
    usual = {"worth": "drawn", "sce_share": 0.0, "refusal_cost": 0.0, "least_advantage": 0.0, "group_size": 2}
    return Namespace(**{**usual, **given})


def test_what_draws_change_is_told_against_the_first_of_each_group_which_took_none() -> None:
    """Of the draws of two groups one did better, one worse, and four the same."""
    task = Task("ci-easy-g000000", 0)
    group = [episode(task, [[1]], each, [False]) for each in (0.4, 0.3, 0.6, 0.4)]
    other = [episode(task, [[1]], 0.7, [True]) for _ in range(4)]
    found = undrawn([*group, *other], chosen_for(group_size=4, drawn_share=0.5))
    assert (found["draws_better_share"], found["draws_worse_share"]) == pytest.approx((1 / 6, 1 / 6))
    assert found["draws_best_gain"] == pytest.approx((0.2 + 0.0) / 2)
    assert found["undrawn_return"] == pytest.approx((0.4 + 0.7) / 2)
    assert found["undrawn_refused_share"] == 0.5
    assert undrawn(group, chosen_for(group_size=4, drawn_share=1.0)) == {}, "where everything is drawn nothing is not"


def test_by_branch_only_steps_at_which_something_was_decided_are_learnt_from() -> None:
    task = Task("ci-easy-g000000", 0)
    won = episode(task, [[1, 2], [3, 4], [5]], 1.0, [False] * 3)
    lost = episode(task, [[1, 2], [3, 6], [7]], 0.0, [False] * 3)
    (owed,) = owed_by_branch([won, lost], chosen_for())
    assert owed.samples == [won.samples[1], lost.samples[1]]
    assert [part.tolist() for part in owed.advantages] == [[0.0, 1.0], [0.0, -1.0]]
    assert owed.weights == [0.1, 0.1]  # of ten tokens that were said
    every = owed_by_episode([won, lost], chosen_for())
    assert [each.samples for each in every] == [won.samples, lost.samples]
    assert [part.tolist() for part in every[1].advantages] == [[-1.0, -1.0], [-1.0, -1.0], [-1.0]]


def test_by_branch_a_refusal_is_charged_to_the_step_that_was_refused() -> None:
    task = Task("ci-easy-g000000", 0)
    both = [episode(task, [[1, 2], [3]], 1.0, [True, False]) for _ in range(2)]
    apart = [episode(task, [[each], [3]], float(each), [False, False]) for each in range(2)]
    owed = owed_by_branch([*both, *apart], chosen_for(refusal_cost=0.1))
    assert [each.tolist() for each in owed[0].advantages] == [pytest.approx([-0.2, -0.2])]  # of a spread of one half
    assert owed[0].weights == [2 * owed[1].weights[0]]  # said by both, it is learnt once and weighs twice
    assert len(owed_by_branch([*both, *apart], chosen_for(refusal_cost=0.1, least_advantage=0.5))) == 1


def test_where_nothing_was_decided_nothing_is_owed() -> None:
    alike = [episode(Task("ci-easy-g000000", 0), [[1]], 0.5, [False]) for _ in range(4)]
    assert owed_by_branch(alike, chosen_for()) == []


def test_the_rate_climbs_and_falls_by_the_number_of_updates_alone() -> None:
    chosen = Namespace(rate=1e-4, end_rate=2e-5, iterations=21, updates=4)
    assert [rate_at(0, update, chosen) * 16e4 for update in range(4)] == pytest.approx([1.0, 2.0, 3.0, 4.0])
    assert rate_at(10, 0, chosen) == pytest.approx(6e-5)
    assert rate_at(20, 3, chosen) == pytest.approx(2e-5)
    chosen.end_rate = None
    assert rate_at(20, 3, chosen) == 1e-4


def test_a_group_plays_one_case_in_one_world() -> None:
    tasks = draw(index(Difficulty.EASY), Curriculum(Difficulty.EASY), 5, 4, 0.75, Stream("test"))
    assert len(tasks) == 20
    assert all(len(set(tasks[start : start + 4])) == 1 for start in range(0, 20, 4))


def test_harder_cases_join_when_enough_are_solved() -> None:
    both = index(Difficulty.EASY, Difficulty.MEDIUM)
    now = Curriculum.begin(both)
    assert now.reached is Difficulty.EASY
    for _ in range(20):
        now = now.after([("easy", True)] * 4, both, enough=0.5)
        if now.reached is Difficulty.MEDIUM:
            break
    assert now == Curriculum(Difficulty.MEDIUM)
    assert now.after([("easy", True)], both, enough=0.5) == now
    drawn = draw(both, now, 40, 1, 0.75, Stream("test"))
    assert {task.scenario_id.split("-")[1] for task in drawn} == {"easy", "medium"}


def test_long_cases_are_drawn_as_seldom_as_is_said() -> None:
    easy = index(Difficulty.EASY)
    long = {case.scenario_id for case in easy.cases[:3]}
    cases = tuple(case.model_copy(update={"steps": 12 * (case.scenario_id in long)}) for case in easy.cases)
    mixed = easy.model_copy(update={"cases": cases})

    def drawn(long_share: float) -> int:
        tasks = draw(mixed, Curriculum(Difficulty.EASY), 400, 1, 0.0, Stream("test"), long_share)
        return sum(task.scenario_id in long for task in tasks)

    assert drawn(0.0) == 0
    assert 60 < drawn(0.5) < 140
    assert 160 < drawn(1.0) < 240


def test_a_curriculum_stays_at_the_hardest_there_is() -> None:
    easy = index(Difficulty.EASY)
    now = Curriculum.begin(easy)
    for _ in range(20):
        now = now.after([("easy", True)], easy, enough=0.5)
    assert now.reached is Difficulty.EASY and now.solved_share > 0.9


def test_cases_that_are_too_hard_are_never_played_nor_waited_for() -> None:
    every = index(*Difficulty)
    kept = upto(every, Difficulty.MEDIUM)
    assert {case.difficulty for case in kept.cases} == {Difficulty.EASY, Difficulty.MEDIUM}
    now = Curriculum(Difficulty.MEDIUM)
    assert now.after([("medium", True)] * 40, kept, enough=0.1).reached is Difficulty.MEDIUM
    with pytest.raises(BadInput, match="no case up to 'easy'"):
        upto(index(Difficulty.HARD), Difficulty.EASY)
