"""The reward: one table, a bounded return, paid once, and no failure that beats a success."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cases import (
    STRONGEST,
    WEAKEST,
    Play,
    ScriptedBackend,
    find_everything,
    marathon,
    right_values,
    segment_with,
    toy,
    world_of,
)
from TokenOptEnv import rewards
from TokenOptEnv.config import RewardMode
from TokenOptEnv.guardrails import Guardrail
from TokenOptEnv.models import ActionType, TokenOptEnvObservation
from TokenOptEnv.world import ReferenceCosts

WRONG = {"q-request": {"request_id": "req-7f3a"}, "q-cause": {"cause": "deadlock"}, "q-setting": {"setting": "none"}}


def terms(observation: TokenOptEnvObservation) -> dict[str, float]:
    assert observation.score is not None
    return {term.term: term.value for term in observation.score.terms}


def solved(reference: ReferenceCosts | None = None) -> Play:
    play = Play(world_of(toy(), reference=reference))
    find_everything(play)
    play.submit(*play.finding_ids)
    return play


# --- the table


def test_the_weights_add_up_to_one() -> None:
    paid_on_success = (
        rewards.SUCCESS,
        rewards.EFFICIENCY,
        rewards.ROUTING,
        rewards.PRECISION,
        rewards.TRUTH,
        rewards.PROCESS,
    )
    assert sum(paid_on_success) == pytest.approx(1.0)


def test_the_worst_success_outscores_the_best_failure() -> None:
    assert rewards.SUCCESS - rewards.GUARDRAIL_CAP > rewards.PARTIAL + rewards.PROCESS
    assert pytest.approx(0.25) == rewards.SUCCESS - rewards.GUARDRAIL_CAP
    assert pytest.approx(0.15) == rewards.PARTIAL + rewards.PROCESS


def test_every_guardrail_has_a_price_within_the_cap() -> None:
    assert set(rewards.PENALTIES) == set(Guardrail)
    assert all(0.0 < price <= rewards.GUARDRAIL_CAP for price in rewards.PENALTIES.values())


# --- the ends


def test_a_clean_solution_at_the_references_cost_earns_everything() -> None:
    play = solved()
    score = play.observation.score
    assert score is not None
    assert score.total_return == 1.0
    assert score.sce == 1.0


@pytest.mark.parametrize(
    ("times", "efficiency", "sce"),
    [(0.5, 0.25, 1.0), (1.0, 0.25, 1.0), (10.0**0.5, 0.125, 0.316228), (10.0, 0.0, 0.1), (50.0, 0.0, 0.02)],
)
def test_efficiency_falls_with_the_logarithm_of_the_cost(times: float, efficiency: float, sce: float) -> None:
    own = solved().observation.score
    assert own is not None
    reference = ReferenceCosts(round(own.cost_nano_usd / times), round(own.routed_nano_usd / times))
    play = solved(reference)
    assert play.observation.score is not None
    assert terms(play.observation)["efficiency"] == pytest.approx(efficiency, abs=1e-4)
    assert terms(play.observation)["routing"] == pytest.approx(0.4 * efficiency, abs=1e-4)
    assert play.observation.score.sce == pytest.approx(sce, abs=1e-4)


def test_a_wrong_answer_earns_its_share_of_fields_and_nothing_for_thrift() -> None:
    half = {**right_values(toy()), "q-cause": {"cause": "deadlock"}}
    play = Play(world_of(toy(), backend=ScriptedBackend(half)))
    find_everything(play)
    play.submit(*play.finding_ids)
    assert terms(play.observation) == {
        "success": 0.0,
        "partial": 0.05,
        "efficiency": 0.0,
        "routing": 0.0,
        "evidence_precision": 0.0,
        "truth_milestones": 0.0,
        "process_milestones": 0.025,
        "guardrails": 0.0,
    }
    assert play.observation.score is not None
    assert play.observation.score.sce == 0.0


def _farm(play: Play) -> None:
    """Everything that pays without knowing the answer, then a wrong one."""
    find_everything(play)
    play.submit(*play.finding_ids)


def test_opening_everything_and_answering_nothing_rightly_earns_nothing() -> None:
    play = Play(world_of(toy(), backend=ScriptedBackend(WRONG)))
    find_everything(play)
    assert play.observation.reward_breakdown.total > 0.0
    play.submit(*play.finding_ids)
    score = play.observation.score
    assert score is not None and not score.success
    assert score.total_return == 0.0


def test_no_failure_earns_more_than_fifteen_hundredths() -> None:
    half = {**right_values(toy()), "q-cause": {"cause": "deadlock"}}
    play = Play(world_of(toy(), backend=ScriptedBackend(half)))
    _farm(play)
    score = play.observation.score
    assert score is not None and not score.success
    assert 0.0 < score.total_return <= 0.15


def test_the_most_careless_success_still_earns_a_quarter() -> None:
    play = Play(world_of(toy(), memory_tokens=5_000, reference=ReferenceCosts(1, 1)))
    find_everything(play)
    for _ in range(6):
        play.do(ActionType.MALFORMED)
    assert not play.observation.done
    play.submit(*play.finding_ids)
    worst = 0.25 + rewards.PENALTIES[Guardrail.INVALID_ACTION]
    score = play.observation.score
    assert score is not None and score.success
    assert score.total_return >= worst


def test_penalties_stop_at_the_cap() -> None:
    play = Play(world_of(marathon()))
    while not play.observation.done:
        play.do(ActionType.MALFORMED)
    score = play.observation.score
    assert score is not None
    assert len(play.observation.guardrail_events) == 40
    assert score.total_return == -rewards.GUARDRAIL_CAP


def test_overrunning_costs_the_efficiency_and_a_penalty() -> None:
    play = Play(world_of(toy()))
    find_everything(play)
    play.submit(*play.finding_ids, reasoning_tokens=10**6)
    assert play.observation.budgets.nano_usd.spent > play.observation.budgets.nano_usd.limit
    assert terms(play.observation)["efficiency"] == 0.0
    assert terms(play.observation)["guardrails"] == -rewards.PENALTIES[Guardrail.BUDGET_OVERRUN]
    assert play.observation.score is not None and play.observation.score.success
    assert play.observation.score.total_return >= 0.25


def test_an_episode_that_ends_without_an_answer_is_a_failure() -> None:
    play = Play(world_of(toy()))
    find_everything(play)
    while not play.observation.done:
        play.do(ActionType.MALFORMED)
    score = play.observation.score
    assert score is not None and not score.success
    assert terms(play.observation)["partial"] == 0.0


# --- when it is paid


@pytest.mark.parametrize("mode", RewardMode)
def test_the_steps_add_up_to_the_return(mode: RewardMode) -> None:
    play = Play(world_of(toy(), reward_mode=mode))
    play.read("nowhere")
    find_everything(play)
    play.submit(*play.finding_ids)
    paid = [observation.reward for observation in play.observations[1:]]
    score = play.observation.score
    assert score is not None
    assert round(sum(reward for reward in paid if reward is not None), 6) == score.total_return
    assert play.observation.reward_breakdown.total == score.total_return


def test_both_modes_pay_the_same_and_terminal_pays_it_at_the_end() -> None:
    totals = []
    for mode in RewardMode:
        play = Play(world_of(toy(), reward_mode=mode))
        play.read("nowhere")
        find_everything(play)
        early = [observation.reward for observation in play.observations[1:]]
        assert any(early) is (mode is RewardMode.DENSE)
        if mode is RewardMode.TERMINAL:
            assert play.observation.reward_breakdown.so_far == ()
        play.submit(*play.finding_ids)
        assert play.observation.score is not None
        totals.append(play.observation.score.total_return)
    assert totals[0] == totals[1]


def test_a_process_milestone_is_listed_and_paid_at_its_step() -> None:
    play = Play(world_of(toy()))
    assert play.observation.reward is None
    listed = play.observation.milestones.listed_ids
    play.read("config-orders")
    assert play.observation.milestones.achieved_ids == ("first-look", "evidence-held")
    assert play.observation.reward == pytest.approx(2 * rewards.PROCESS / len(listed))
    play.read("code-pool")
    assert play.observation.reward == 0.0


def test_truth_milestones_are_told_at_the_end_alone() -> None:
    play = solved()
    truth = set(play.observation.milestones.achieved_ids) - set(play.observation.milestones.listed_ids)
    assert truth == {"no-decoy-cited", "stopped-when-right", "no-fact-lost"}
    for before in play.observations[:-1]:
        assert set(before.milestones.achieved_ids) <= set(before.milestones.listed_ids)
        assert before.score is None


# --- guardrails that show at their step


ORDERS = segment_with(toy(), "pool exhausted")


def _repeated_read(play: Play) -> None:
    play.search("pool", 1)
    play.search("POOL  ", 1)


def _thrash(play: Play) -> None:
    play.search("pool exhausted", 1)
    play.hydrate(ORDERS)
    play.purge(ORDERS)
    play.hydrate(ORDERS)


def _hoard(play: Play) -> None:
    play.search("pool exhausted", 1)
    play.hydrate(ORDERS)
    for _ in range(3):
        play.checkpoint("still thinking")


def _spam(play: Play) -> None:
    for _ in range(4):
        play.checkpoint("again")


def _invalid(play: Play) -> None:
    play.read("nowhere")


def _ungrounded(play: Play) -> None:
    play.submit(answer={"cause": "deadlock"})


@pytest.mark.parametrize(
    ("guardrail", "memory_tokens", "fault"),
    [
        (Guardrail.REPEATED_READ, 1_500, _repeated_read),
        (Guardrail.THRASH, 1_500, _thrash),
        (Guardrail.HOARDING, 380, _hoard),
        (Guardrail.CHECKPOINT_SPAM, 1_500, _spam),
        (Guardrail.INVALID_ACTION, 1_500, _invalid),
        (Guardrail.UNGROUNDED_SUBMIT, 1_500, _ungrounded),
    ],
)
def test_a_fault_that_shows_is_told_and_charged_at_its_step(
    guardrail: Guardrail, memory_tokens: int, fault: Callable[[Play], None]
) -> None:
    play = Play(world_of(toy(), memory_tokens=memory_tokens))
    fault(play)
    events = play.observation.guardrail_events
    assert [event.guardrail_id for event in events] == [guardrail.value]
    assert events[0].step == play.observation.step
    charged = {term.term: term.value for term in play.observation.reward_breakdown.so_far}["guardrails"]
    assert charged == -rewards.PENALTIES[guardrail]
    assert all(not seen.guardrail_events for seen in play.observations[:-1])


def test_an_ordinary_episode_breaks_no_guardrail() -> None:
    assert solved().observation.guardrail_events == ()


def test_three_checkpoints_in_a_phase_are_free() -> None:
    play = Play(world_of(toy()))
    for _ in range(3):
        play.checkpoint("kept")
    assert play.observation.guardrail_events == ()


def test_every_field_found_counts_what_models_found_and_not_what_the_cache_said() -> None:
    play = Play(world_of(toy(), backend=ScriptedBackend({})))
    play.query_cache("Which setting bounds the pool?")
    play.query_cache("Why did a checkout request fail?")
    assert {name for finding in play.observation.findings for name in finding.values} == {"setting", "cause"}
    assert "every-field-found" not in play.observation.milestones.achieved_ids
    assert "first-finding" not in play.observation.milestones.achieved_ids


def test_an_escalation_earns_nothing_by_itself() -> None:
    play = Play(world_of(toy()))
    play.read("config-orders")
    play.route("q-setting", WEAKEST, "config-orders-s1")
    play.escalate("route-1", STRONGEST)
    assert play.observation.reward == 0.0
