"""What is slow the first time is done in a thread, once, at the reset; everything after it is fast."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from TokenOptEnv import ActionType, LocalEnv, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.plans import plan_store
from TokenOptEnv.server import TokenOptEnv_environment
from TokenOptEnv.server.TokenOptEnv_environment import TokenOptEnvEnvironment
from TokenOptEnv.server.warmth import Warmth

_CASE = "incident-easy-orders-cell2"


def test_seeds_of_the_same_world_are_one_kind_of_episode() -> None:
    warmth = Warmth()
    assert warmth.is_first(1, {"scenario_id": _CASE})
    assert not warmth.is_first(5, {"scenario_id": _CASE})
    assert warmth.is_first(2, {"scenario_id": _CASE})
    assert warmth.is_first(1, {"scenario_id": _CASE, "profile": "v1"})


def test_without_a_name_the_seed_chooses_the_scenario_too() -> None:
    warmth = Warmth()
    assert warmth.is_first(1, {"split": "core"})
    assert warmth.is_first(5, {"split": "core"})


@pytest.mark.parametrize("seed", ["abc", None, [1], 10**40, -3])
def test_whatever_is_sent_as_a_seed_can_be_asked_about(seed: Any) -> None:
    warmth = Warmth()
    assert warmth.is_first(seed, {"scenario_id": ["x" * 1_000_000]})
    assert not warmth.is_first(seed, {"scenario_id": ["x" * 1_000_000]})


def test_it_remembers_a_bounded_number() -> None:
    warmth = Warmth()
    for number in range(10_000):
        warmth.is_first(number, {})
    assert len(warmth._begun) <= 4_096


def test_the_first_reset_of_a_kind_makes_the_plan_in_a_thread_and_no_later_call_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plans: list[str] = []
    resets: list[str] = []
    make, begin = plan_store.make_reference_plan, LocalEnv.reset

    def making(*arguments: Any) -> Any:
        plans.append(threading.current_thread().name)
        return make(*arguments)

    def beginning(self: LocalEnv, /, **options: Any) -> TokenOptEnvObservation:
        resets.append(threading.current_thread().name)
        return begin(self, **options)

    monkeypatch.setattr(plan_store, "make_reference_plan", making)
    monkeypatch.setattr(LocalEnv, "reset", beginning)
    monkeypatch.setattr(TokenOptEnv_environment, "_WARMTH", Warmth())

    async def play(seed: int) -> None:
        env = TokenOptEnvEnvironment()
        seen = await env.reset_async(scenario_id=_CASE, seed=seed, memory_tokens=1_733)
        answer = {seen.task.answer_fields[0].name: "unknown"}
        await env.step_async(TokenOptEnvAction(action_type=ActionType.SUBMIT_ANSWER, answer=answer))

    for seed in (1, 5):
        asyncio.run(play(seed))
    here = threading.current_thread().name
    assert len(plans) == 1
    assert plans[0] != here
    assert resets[0] != here
    assert resets[1] == here
