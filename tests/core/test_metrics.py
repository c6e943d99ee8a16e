"""Metrics: sums become ratios, ratios intervals, and every cent of a bill has a place."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import cases
from TokenOptEnv import LocalEnv, policies
from TokenOptEnv.config import Difficulty
from TokenOptEnv.evaluation import bootstrap, comparisons, front, measures, metrics
from TokenOptEnv.evaluation.classes import class_of
from TokenOptEnv.evaluation.episodes import EpisodeResult, Record, play
from TokenOptEnv.evaluation.front import Point
from TokenOptEnv.evaluation.measures import Measure
from TokenOptEnv.evaluation.metrics import Dimension, Summary
from TokenOptEnv.evaluation.stopping import stopping
from TokenOptEnv.models import ActionType, EndReason, TokenOptEnvAction

pytestmark = pytest.mark.usefixtures("store")

WIDTH = len(measures.Column) + len(measures.BUDGETS_NANO_USD)


@pytest.fixture
def base() -> EpisodeResult:
    return play("cheapest", cases.TOY, 1, LocalEnv()).result


def made(
    base: EpisodeResult,
    policy: str,
    scenario: str,
    success: bool,
    cost: int,
    reference: int = 1_000_000,
    **changes: object,
) -> EpisodeResult:
    score = base.score.model_copy(
        update={
            "success": success,
            "cost_nano_usd": cost,
            "reference_nano_usd": reference,
            "sce": round(reference / max(cost, reference), 6) if success else 0.0,
            "total_return": 0.5 if success else 0.1,
        }
    )
    return base.model_copy(update={"policy": policy, "scenario_id": scenario, "score": score, **changes})


def only(results: list[EpisodeResult]) -> Summary:
    (summary,) = metrics.summaries(results)
    return summary


def test_a_summary_divides_all_the_money_by_what_was_solved(base: EpisodeResult) -> None:
    results = [
        made(base, "p", "a", True, 4_000_000, steps=10, refused=0),
        made(base, "p", "b", True, 2_000_000, steps=10, refused=1),
        made(base, "p", "c", False, 6_000_000, steps=10, refused=2),
    ]
    summary = only(results)
    assert (summary.scenarios, summary.episodes, summary.solved) == (3, 3, 2)
    assert summary.value(Measure.SUCCESS) == pytest.approx(2 / 3)
    assert summary.value(Measure.USD_PER_TASK) == pytest.approx(0.004)
    assert summary.value(Measure.USD_PER_SOLVED) == pytest.approx(0.006)
    assert summary.value(Measure.REGRET_USD) == pytest.approx(0.002)
    assert summary.value(Measure.SCE) == pytest.approx(0.25)
    assert summary.value(Measure.REFUSED_SHARE) == pytest.approx(0.1)
    assert summary.value(Measure.STEPS_PER_TASK) == pytest.approx(10)


def test_where_nothing_was_solved_a_solution_has_no_price(base: EpisodeResult) -> None:
    summary = only([made(base, "p", name, False, 1_000_000) for name in "abc"])
    for measure in (Measure.USD_PER_SOLVED, Measure.REGRET_USD):
        estimate = summary.measures[measure]
        assert (estimate.value, estimate.low, estimate.high) == (None, None, None)


def test_success_at_a_budget_counts_only_what_was_solved_for_it(base: EpisodeResult) -> None:
    results = [
        made(base, "p", "a", True, 1_500_000),
        made(base, "p", "b", True, 15_000_000),
        made(base, "p", "c", False, 1_000_000),
        made(base, "p", "d", True, 500_000_000),
    ]
    shares = {at.usd: at.success.value for at in only(results).at_budgets}
    assert shares == {0.002: 0.25, 0.005: 0.25, 0.01: 0.25, 0.02: 0.5, 0.05: 0.5, 0.1: 0.5}


def test_an_interval_holds_its_value_and_narrows_with_scenarios_not_with_episodes(base: EpisodeResult) -> None:
    def spread(results: list[EpisodeResult]) -> float:
        estimate = only(results).measures[Measure.SUCCESS]
        assert estimate.low is not None and estimate.high is not None and estimate.value is not None
        assert estimate.low <= estimate.value <= estimate.high
        return estimate.high - estimate.low

    few = [made(base, "p", f"s{number}", number % 2 == 0, 1_000_000) for number in range(10)]
    again = [each.model_copy(update={"seed": seed}) for each in few for seed in range(9)]
    many = [made(base, "p", f"s{number}", number % 2 == 0, 1_000_000) for number in range(160)]
    assert spread(again) == pytest.approx(spread(few))
    assert spread(many) < 0.4 * spread(few)


def test_the_same_results_give_the_same_intervals(base: EpisodeResult) -> None:
    results = [made(base, "p", f"s{number}", number % 3 == 0, 1_000_000 * number + 1) for number in range(12)]
    assert metrics.summaries(results) == metrics.summaries(list(reversed(results)))


def test_groups_part_the_episodes_without_losing_any(base: EpisodeResult) -> None:
    results = [
        made(base, "p", f"{family}-{difficulty}", True, 1_000_000, family=family, difficulty=difficulty, split=split)
        for family, split in (("incident", "core"), ("ci", "train"))
        for difficulty in (Difficulty.EASY, Difficulty.HARD)
    ]
    for dimension, expected in (
        (Dimension.ALL, {"all": 4}),
        (Dimension.FAMILY, {"incident": 2, "ci": 2}),
        (Dimension.DIFFICULTY, {"easy": 2, "hard": 2}),
        (Dimension.SPLIT, {"core": 2, "train": 2}),
    ):
        assert {each.group: each.episodes for each in metrics.summaries(results, dimension)} == expected


def test_a_class_is_looked_up_and_never_stands_in_a_result(base: EpisodeResult) -> None:
    assert class_of(cases.PATCHES).startswith("bugfix: ")
    assert class_of(cases.TOY).startswith("incident: ")
    assert "class" not in EpisodeResult.model_fields


@given(st.lists(st.integers(-(10**15), 10**15), min_size=WIDTH, max_size=WIDTH))
def test_sums_survive_travelling_in_one_integer(values: list[int]) -> None:
    assert measures.unpacked(measures.packed(tuple(values))) == tuple(values)


def test_packed_sums_add_up_lane_by_lane() -> None:
    first, second = tuple(range(WIDTH)), tuple(-7 * number for number in range(WIDTH))
    total = measures.unpacked(3 * measures.packed(first) + 2 * measures.packed(second))
    assert total == tuple(3 * a + 2 * b for a, b in zip(first, second, strict=True))


def test_a_volume_is_whole_at_the_cheap_corner_and_nothing_at_the_dear_one() -> None:
    assert measures.volume(True, measures.CHEAPEST_NANO_USD) == 1.0
    assert measures.volume(True, measures.DEAREST_NANO_USD) == 0.0
    assert measures.volume(False, 1) == 0.0
    assert measures.volume(True, 10_000_000) == pytest.approx(0.5)


def test_the_front_leaves_out_whoever_is_beaten_in_both() -> None:
    points = [
        Point("dear", 0.05, 0.5),
        Point("good", 0.02, 0.8),
        Point("cheap", 0.002, 0.2),
        Point("worse", 0.003, 0.1),
    ]
    assert [point.name for point in front.front(points)] == ["cheap", "good"]
    assert front.front([Point("idle", 0.0001, 0.0)]) == ()


def test_the_volume_under_a_front_is_the_sum_of_its_strips() -> None:
    points = [Point("cheap", 0.001, 0.2), Point("good", 0.01, 0.8)]
    assert front.hypervolume(points) == pytest.approx((0.2 * log(10) + 0.8 * log(10)) / log(100))
    assert front.contributions(points) == {"cheap": pytest.approx(0.1), "good": pytest.approx(0.3)}
    assert front.hypervolume([Point("outside", 0.2, 1.0)]) == 0.0


def test_a_steady_gain_is_told_from_chance_and_no_gain_is_not(base: EpisodeResult) -> None:
    steady = [made(base, "good", f"s{n}", True, 1_000_000 + n) for n in range(14)]
    steady += [made(base, "bad", f"s{n}", True, 3_000_000 + n) for n in range(14)]
    one = comparisons.compare("good", "bad", steady)
    assert one.scenarios == 14 and one.sce_gain == pytest.approx(2 / 3, abs=0.01)
    assert 0 < one.low <= one.sce_gain <= one.high
    assert one.p < 0.01
    even = [made(base, name, f"s{n}", n % 2 == turn, 1_000_000) for turn, name in enumerate("xy") for n in range(14)]
    assert comparisons.compare("x", "y", even).p > 0.5
    assert [(step.better, step.worse) for step in comparisons.ladder(["good", "bad"], steady)] == [("good", "bad")]


def test_draws_take_as_many_scenarios_as_there_are_and_share_nothing() -> None:
    draws = bootstrap.resamples(30)
    assert all(sum(counts) == 30 and len(counts) == 30 for counts in draws)
    assert len(set(draws)) == len(draws) == bootstrap.RESAMPLES
    mean = sum(counts[3] for counts in draws) / len(draws)
    assert mean == pytest.approx(1.0, abs=0.12)


def test_an_interval_needs_something_to_divide_by_in_most_draws() -> None:
    assert bootstrap.interval([None] * 60 + [1.0] * 40) is None
    assert bootstrap.interval([None] * 40 + [1.0] * 60) == (1.0, 1.0)


@pytest.mark.parametrize("name", policies.names())
@pytest.mark.parametrize("scenario_id", [cases.TOY, cases.MARATHON])
def test_every_cent_of_a_bill_has_exactly_one_place(name: str, scenario_id: str) -> None:
    for seed in range(2):
        result = play(name, scenario_id, seed, LocalEnv()).result
        parts = result.spending.model_dump().values()
        assert sum(parts) == result.cost_nano_usd
        assert min(parts) >= 0


def _recorded(*actions: TokenOptEnvAction) -> EpisodeResult:
    env = LocalEnv()
    record = Record(env.reset(scenario_id=cases.TOY, seed=0))
    for action in actions:
        record.add(action, env.step(action))
    return record.result("by hand")


def _do(kind: ActionType, **fields: object) -> TokenOptEnvAction:
    return TokenOptEnvAction(action_type=kind, **fields)  # type: ignore[arg-type]


GIVE_UP = _do(ActionType.SUBMIT_ANSWER, answer={"cause": "unknown"})


def test_the_first_prompt_is_read_and_the_next_ones_mostly_read_again() -> None:
    at_once = _recorded(GIVE_UP)
    assert at_once.spending.re_reading_nano_usd <= 1
    assert at_once.spending.reading_nano_usd > 0 and at_once.spending.acting_nano_usd > 0
    later = _recorded(_do(ActionType.SEARCH_ARTIFACTS, query="pool"), GIVE_UP)
    assert later.spending.re_reading_nano_usd > 0
    assert later.spending.reading_nano_usd < 2 * at_once.spending.reading_nano_usd


def test_a_refused_action_is_wasted_whole() -> None:
    refused = _recorded(_do(ActionType.READ_ARTIFACT, artifact_id="nothing"), GIVE_UP)
    assert refused.refused == 1
    assert refused.spending.waste_nano_usd > 0
    assert refused.spending.routing_nano_usd == 0


def test_a_model_whose_finding_is_not_handed_in_is_wasted_and_one_that_fills_a_slot_is_not() -> None:
    scenario = cases.toy()
    gateway, orders = cases.segment_with(scenario, "req-7f3a failed"), cases.segment_with(scenario, "pool exhausted")
    search = _do(ActionType.SEARCH_ARTIFACTS, query="req-7f3a failed pool exhausted", top_k=2)
    strongest = cases.STRONGEST
    first = _do(ActionType.ROUTE_SUBTASK, subtask_id="q-request", model_id=strongest, context_segment_ids=[gateway])
    second = _do(
        ActionType.ROUTE_SUBTASK, subtask_id="q-cause", model_id=strongest, context_segment_ids=[gateway, orders]
    )
    unused = _recorded(search, first, GIVE_UP)
    assert unused.spending.routing_nano_usd == 0
    assert unused.spending.waste_nano_usd == unused.routed_nano_usd > 0
    env = LocalEnv()
    record = Record(env.reset(scenario_id=cases.TOY, seed=0))
    for action in (search, first, second):
        record.add(action, env.step(action))
    last_finding = record.last.routing.routes[-1].finding_id
    assert last_finding is not None
    hand_in = _do(ActionType.SUBMIT_ANSWER, finding_ids=[last_finding])
    record.add(hand_in, env.step(hand_in))
    used = record.result("by hand")
    assert used.spending.waste_nano_usd == 0
    assert used.spending.routing_nano_usd == used.routed_nano_usd


def test_stopping_is_as_good_as_its_confidence(base: EpisodeResult) -> None:
    results = [
        made(base, "p", f"s{number}", success, 1_000_000, stated_confidence=confidence, end_reason=EndReason.SUBMITTED)
        for number, (confidence, success) in enumerate([(0.9, True), (0.9, False), (0.2, False), (0.4, True)])
    ]
    results.append(made(base, "p", "late", False, 1, stated_confidence=None, end_reason=EndReason.STEPS))
    known = stopping(results)
    assert known.answered_share == 0.8
    assert known.right_share == 0.5
    assert known.mean_confidence == pytest.approx(0.6)
    assert known.calibration_error == pytest.approx((2 * 0.4 + 0.2 + 0.6) / 4)
    assert known.auroc == pytest.approx((1 + 0.5 + 1 + 0) / 4)
    assert [each.answers for each in known.bins] == [1, 1, 2]


def test_without_an_answer_nothing_is_said_of_confidence(base: EpisodeResult) -> None:
    known = stopping([made(base, "p", "a", False, 1, stated_confidence=None, end_reason=EndReason.BUDGET)])
    assert (known.answered_share, known.right_share, known.auroc, known.calibration_error) == (0.0, None, None, None)
