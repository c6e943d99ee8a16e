"""The cache-true ledger against bills worked out by hand, and budgets that hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.cases import (
    STRONGEST,
    WEAKEST,
    Play,
    ScriptedBackend,
    Visibly,
    find_everything,
    segment_with,
    toy,
    with_cards,
    with_limits,
    world_of,
)
from TokenOptEnv import render_text
from TokenOptEnv.catalog import load_catalog
from TokenOptEnv.config import REPLY_CAP_TOKENS
from TokenOptEnv.episode_state import PrefixCache, PromptPiece
from TokenOptEnv.ledger import charge, quote_input
from TokenOptEnv.models import (
    ActionType,
    CacheRule,
    Effort,
    EndReason,
    LedgerEntry,
    ModelCard,
    RefusalReason,
)
from TokenOptEnv.prompt import item_text
from TokenOptEnv.simulators import tokens
from TokenOptEnv.world import VisibleWorld

OPENAI = (
    load_catalog("measured")
    .card("gpt-5-mini")
    .model_copy(
        update={
            "input_pico_usd": 250_000,
            "output_pico_usd": 2_000_000,
            "cache_read_pico_usd": 25_000,
            "cache_write_pico_usd": 250_000,
            "cache_rule": CacheRule(min_tokens=1_024, block_tokens=128, ttl_ms=300_000, writes_cost=False),
            "first_token_ms": 800,
            "output_tokens_per_s": 100,
        }
    )
)
ANTHROPIC = OPENAI.model_copy(
    update={
        "input_pico_usd": 3_000_000,
        "output_pico_usd": 15_000_000,
        "cache_read_pico_usd": 300_000,
        "cache_write_pico_usd": 3_750_000,
        "cache_rule": CacheRule(min_tokens=1_024, block_tokens=1, ttl_ms=300_000, writes_cost=True),
    }
)
WARM = CacheRule(min_tokens=1, block_tokens=1, ttl_ms=300_000, writes_cost=False)
"""Every shared token counts: what is cached can be read off directly."""


def prompt(**sizes: int) -> tuple[PromptPiece, ...]:
    return tuple(PromptPiece(key, size) for key, size in sizes.items())


def held(*pieces: PromptPiece, used_at_ms: int = 0) -> PrefixCache:
    return PrefixCache(pieces, used_at_ms)


FIRST = prompt(head=900, a=200, b=300, tail1=100)
SECOND = prompt(head=900, a=200, b=300, tail2=100)
LONGER = prompt(head=900, a=200, b=300, c=200, tail2=100)
EDITED = prompt(head=900, b=300, c=200, tail2=100)


# --- bills by hand


def test_a_first_call_is_all_fresh() -> None:
    quote = quote_input(OPENAI, FIRST, None, 0)
    assert (quote.fresh_tokens, quote.cached_tokens, quote.written_tokens) == (1_500, 0, 0)
    bill = charge(OPENAI, quote, 10)
    assert bill.nano_usd == 375_000 + 20_000  # 1,500 x 250 and 10 x 2,000
    assert bill.tokens == 1_510
    assert bill.latency_ms == 800 + 150 + 100  # first token, 1,500 to read at 10 a ms, 10 to write at 100 a second


def test_an_openai_prefix_counts_in_whole_blocks_of_128() -> None:
    quote = quote_input(OPENAI, SECOND, held(*FIRST), 1_000)
    assert (quote.fresh_tokens, quote.cached_tokens, quote.written_tokens) == (220, 1_280, 0)  # of 1,400 shared
    assert charge(OPENAI, quote, 0).nano_usd == 55_000 + 32_000  # 220 x 250 and 1,280 x 25
    assert quote.cold_pico_usd == 375_000_000


@pytest.mark.parametrize(("shared", "cached"), [(1_023, 0), (1_024, 1_024), (1_151, 1_024), (1_152, 1_152)])
def test_an_openai_prefix_below_the_minimum_is_not_cached(shared: int, cached: int) -> None:
    quote = quote_input(OPENAI, prompt(head=shared, new=50), held(*prompt(head=shared, old=50)), 0)
    assert quote.cached_tokens == cached


def test_an_anthropic_prefix_is_written_at_a_premium_and_read_at_a_tenth() -> None:
    first = quote_input(ANTHROPIC, FIRST, None, 0)
    assert (first.fresh_tokens, first.cached_tokens, first.written_tokens) == (1_500, 0, 1_400)
    assert charge(ANTHROPIC, first, 0).nano_usd == 5_250_000 + 300_000  # 1,400 x 3,750 and the tail, 100 x 3,000
    second = quote_input(ANTHROPIC, SECOND, held(*FIRST), 1_000)
    assert (second.fresh_tokens, second.cached_tokens, second.written_tokens) == (100, 1_400, 0)
    assert charge(ANTHROPIC, second, 0).nano_usd == 420_000 + 300_000  # 1,400 x 300 and the tail
    third = quote_input(ANTHROPIC, LONGER, held(*SECOND), 2_000)
    assert (third.fresh_tokens, third.cached_tokens, third.written_tokens) == (300, 1_400, 200)
    assert charge(ANTHROPIC, third, 0).nano_usd == 420_000 + 750_000 + 300_000  # and 200 x 3,750 written


def test_an_anthropic_prompt_too_short_to_be_cached_pays_no_premium() -> None:
    quote = quote_input(ANTHROPIC, prompt(head=1_000, tail=100), None, 0)
    assert quote.written_tokens == 0
    assert charge(ANTHROPIC, quote, 0).nano_usd == 3_300_000


@pytest.mark.parametrize(("clock_ms", "cached"), [(300_500, 1_280), (300_501, 0)])
def test_a_prefix_lives_as_long_as_its_rule_says_after_its_last_use(clock_ms: int, cached: int) -> None:
    assert quote_input(OPENAI, SECOND, held(*FIRST, used_at_ms=500), clock_ms).cached_tokens == cached


def test_an_edit_in_the_middle_makes_all_that_follows_cold() -> None:
    quote = quote_input(ANTHROPIC, EDITED, held(*LONGER), 0)
    assert quote.cached_tokens == 0  # the head alone is below the minimum
    roomy = prompt(head=2_000, a=200, b=300, tail=100)
    edited = quote_input(ANTHROPIC, prompt(head=2_000, b=300, tail2=100), held(*roomy), 0)
    assert (edited.cached_tokens, edited.written_tokens) == (2_000, 300)


def test_a_model_without_a_cache_is_always_cold() -> None:
    card = OPENAI.model_copy(update={"cache_rule": None})
    assert quote_input(card, SECOND, held(*FIRST), 0).cached_tokens == 0


def test_a_bill_is_rounded_up_to_whole_nano_dollars() -> None:
    card = OPENAI.model_copy(update={"input_pico_usd": 1, "output_pico_usd": 1})
    assert charge(card, quote_input(card, prompt(head=1, tail=1), None, 0), 0).nano_usd == 1


# --- the policy's own prompt, in the engine


def warm_controller(visible: VisibleWorld) -> VisibleWorld:
    return replace(visible, controller=visible.controller.model_copy(update={"cache_rule": WARM}))


def warm_workers(ttl_ms: int = 300_000) -> Visibly:
    return with_cards(cache_rule=WARM.model_copy(update={"ttl_ms": ttl_ms}))


def _controller_tokens(play: Play, text: str) -> int:
    card: ModelCard = play.world.visible.controller
    return -(-tokens.count(card.vocabulary, text) * card.vocabulary_permille // 1000)


def _decision(play: Play) -> LedgerEntry:
    return next(entry for entry in play.observation.ledger if entry.who == "controller")


def _holding_three_items() -> Play:
    play = Play(world_of(toy(), visibly=warm_controller))
    play.read("config-orders")
    play.read("ticket-checkout")
    return play


def test_an_untouched_prompt_is_cached_up_to_its_tail() -> None:
    play = _holding_three_items()
    play.search("pool", 1)
    shown = play.observations[-3]
    expected = _controller_tokens(play, play.world.visible.phases[0].head)
    expected += sum(_controller_tokens(play, item_text(item)) for item in shown.working_memory.items)
    assert _decision(play).cached_tokens == expected


@pytest.mark.parametrize(
    "edit",
    [lambda play: play.purge("ticket-checkout-s1"), lambda play: play.compress("ticket-checkout-s1", target_ratio=0.2)],
    ids=["purge", "compress"],
)
def test_purging_or_compressing_in_the_middle_leaves_only_what_is_before_it_warm(edit: Callable[[Play], Any]) -> None:
    play = _holding_three_items()
    play.search("pool", 1)
    edit(play)
    assert play.refusal is None
    play.search("gateway", 1)
    first_item = play.observation.working_memory.items[0]
    before_the_edit = _controller_tokens(play, play.world.visible.phases[0].head)
    before_the_edit += _controller_tokens(play, item_text(first_item))
    assert first_item.item_id == "config-orders-s1"
    assert _decision(play).cached_tokens == before_the_edit


def test_purging_at_the_end_keeps_everything_before_it_warm() -> None:
    play = _holding_three_items()
    play.search("pool", 1)
    play.purge(play.item_ids[-1])
    warm = _decision(play).cached_tokens
    play.search("gateway", 1)
    assert _decision(play).cached_tokens >= warm


def test_a_controllers_cache_expires_on_the_simulated_clock() -> None:
    rule = WARM.model_copy(update={"ttl_ms": 0})
    play = Play(
        world_of(
            toy(),
            visibly=lambda visible: replace(
                visible, controller=visible.controller.model_copy(update={"cache_rule": rule})
            ),
        )
    )
    play.read("config-orders")
    play.read("config-orders")
    assert _decision(play).cached_tokens > 0, "nothing came between the two prompts"
    play.route("q-setting", WEAKEST, "config-orders-s1")
    play.read("code-pool")
    assert _decision(play).cached_tokens == 0, "the worker took longer than the prefix lives"


# --- routed calls, in the engine


A, B = segment_with(toy(), "req-7f3a failed"), segment_with(toy(), "pool exhausted")


def _routing(ttl_ms: int = 300_000, **options: Any) -> Play:
    play = Play(world_of(toy(), backend=ScriptedBackend({}), visibly=warm_workers(ttl_ms), **options))
    play.search("req-7f3a failed pool exhausted", 2)
    return play


def _cached_by_worker(play: Play) -> int:
    assert play.refusal is None
    return play.observation.ledger[-1].cached_tokens


def test_a_second_route_with_the_same_context_in_the_same_order_is_warm() -> None:
    play = _routing()
    play.route("q-setting", WEAKEST, A, B)
    assert _cached_by_worker(play) == 0
    first = play.observation.ledger[-1]
    play.route("q-request", WEAKEST, A, B)
    question = tokens.count("o200k_base", "Which setting bounds the pool?")
    assert _cached_by_worker(play) == first.fresh_tokens - question


def test_the_same_context_in_another_order_is_cold_but_for_the_head() -> None:
    play = _routing()
    play.route("q-setting", WEAKEST, A, B)
    play.route("q-setting", WEAKEST, B, A)
    assert _cached_by_worker(play) == tokens.count("o200k_base", play.world.visible.worker_head)


def test_another_model_starts_cold() -> None:
    play = _routing()
    play.route("q-setting", WEAKEST, A, B)
    play.route("q-setting", "gpt-5-mini", A, B)
    assert _cached_by_worker(play) == 0


def test_an_escalation_back_to_a_model_that_read_the_context_is_warm() -> None:
    play = _routing()
    play.route("q-setting", STRONGEST, A, B)
    play.route("q-request", WEAKEST, A, B)
    play.escalate("route-2", STRONGEST)
    assert _cached_by_worker(play) > 0


def test_the_controller_and_a_worker_of_the_same_model_do_not_share_a_prefix() -> None:
    play = _routing(controller_model="gpt-5-mini")
    play.route("q-setting", "gpt-5-mini", A)
    assert play.world.visible.controller.model_id == "gpt-5-mini"
    assert _cached_by_worker(play) == 0


def test_a_workers_cache_expires_while_others_work() -> None:
    play = _routing(ttl_ms=3_000)
    play.route("q-setting", WEAKEST, A, B)
    play.route("q-setting", STRONGEST, A, B)
    play.search("gateway", 1)
    play.search("archive", 1)
    play.route("q-setting", WEAKEST, A, B)
    assert _cached_by_worker(play) == 0


def test_the_time_the_policy_takes_to_decide_counts_against_a_workers_cache() -> None:
    """The decision to route takes 800 ms and more, and the worker is called after it."""
    play = _routing(ttl_ms=500)
    play.route("q-setting", WEAKEST, A, B)
    play.route("q-setting", WEAKEST, A, B)
    assert _decision(play).latency_ms > 500
    assert _cached_by_worker(play) == 0


def test_a_worker_is_billed_for_no_more_reasoning_than_its_card_allows() -> None:
    """What was checked against the budget is the most a call can take, whoever answers it."""
    play = Play(world_of(toy(), backend=ScriptedBackend({}, reasoning_tokens=10**6)))
    play.route("q-setting", WEAKEST)
    card = play.world.visible.cards[WEAKEST]
    assert play.observation.ledger[-1].output_tokens <= REPLY_CAP_TOKENS + card.reasoning_tokens[Effort.MEDIUM]


def test_warm_and_cold_prices_are_both_in_the_entry() -> None:
    play = _routing()
    play.route("q-setting", WEAKEST, A, B)
    cold = play.observation.ledger[-1]
    play.route("q-setting", WEAKEST, A, B)
    warm = play.observation.ledger[-1]
    assert cold.nano_usd == cold.cold_nano_usd
    assert warm.nano_usd < warm.cold_nano_usd == cold.cold_nano_usd


# --- budgets


def test_nothing_is_billed_before_the_policy_acts() -> None:
    observation = Play(world_of(toy())).observation
    assert observation.ledger == ()
    assert [observation.budgets.tokens.spent, observation.budgets.nano_usd.spent, observation.budgets.steps.spent] == [
        0
    ] * 3


def test_the_reasoning_a_policy_reports_is_billed_as_output() -> None:
    bills = []
    for reasoning in (0, 1_000):
        play = Play(world_of(toy(), controller_model="gpt-5-mini"))
        play.do(ActionType.READ_ARTIFACT, artifact_id="code-pool", reasoning_tokens=reasoning)
        bills.append(_decision(play))
    assert bills[1].output_tokens == bills[0].output_tokens + 1_000
    assert bills[1].nano_usd == bills[0].nano_usd + 1_000 * 2_000


def test_budgets_are_the_sum_of_the_entries() -> None:
    play = Play(world_of(toy()))
    find_everything(play)
    play.read("nowhere")
    play.submit(*play.finding_ids)
    entries = [entry for seen in play.observations for entry in seen.ledger]
    budgets = play.observation.budgets
    assert budgets.nano_usd.spent == sum(entry.nano_usd for entry in entries)
    assert budgets.latency_ms.spent == sum(entry.latency_ms for entry in entries)
    assert budgets.tokens.spent == sum(e.fresh_tokens + e.cached_tokens + e.output_tokens for e in entries)
    assert budgets.steps.spent == 7
    assert {entry.who for entry in entries} == {"controller", "worker"}


def _first_prompt_nano_usd() -> int:
    play = Play(world_of(toy()))
    assert play.state.prompt is not None
    return charge(play.world.visible.controller, play.state.prompt, 0).nano_usd


def _poor(extra_nano_usd: int) -> Play:
    """Just enough for the first prompt, and so much more."""
    return Play(world_of(toy(), visibly=with_limits(nano_usd=_first_prompt_nano_usd() + extra_nano_usd)))


def test_an_action_that_would_overrun_is_refused_with_what_it_needs_and_what_is_left() -> None:
    play = _poor(1)
    limit = play.world.visible.limits.nano_usd
    play.read("config-orders")
    assert play.refusal is not None
    assert play.refusal.reason is RefusalReason.OVER_BUDGET
    assert play.refusal.left == limit
    assert play.refusal.needed is not None and play.refusal.needed > limit


@pytest.mark.parametrize(("budget", "spare"), [("nano_usd", 1), ("tokens", 0), ("latency_ms", 5)])
def test_a_refusal_bills_at_most_what_is_left(budget: str, spare: int) -> None:
    play = Play(world_of(toy()))
    assert play.state.prompt is not None
    first = charge(play.world.visible.controller, play.state.prompt, 0)
    limit = getattr(first, budget) + spare
    play = Play(world_of(toy(), visibly=with_limits(**{budget: limit})))
    play.read("config-orders")
    assert play.refusal is not None
    assert getattr(play.observation.budgets, budget).spent == limit
    assert getattr(play.observation.budgets, budget).left == 0
    assert play.observation.must_submit


def test_when_the_next_prompt_cannot_be_paid_only_a_submission_is_offered() -> None:
    play = _poor(1)
    play.read("config-orders")
    assert play.observation.must_submit
    assert [form.action_type for form in play.observation.legal_actions.actions] == [ActionType.SUBMIT_ANSWER]


@pytest.mark.parametrize("kind", [ActionType.READ_ARTIFACT, ActionType.PURGE_MEMORY, ActionType.MALFORMED])
def test_anything_else_then_truncates(kind: ActionType) -> None:
    play = _poor(1)
    play.read("config-orders")
    play.do(kind, artifact_id="config-orders")
    observation = play.observation
    assert observation.done and observation.truncated and not observation.terminated
    assert observation.end_reason is EndReason.BUDGET
    assert observation.budgets.nano_usd.spent <= observation.budgets.nano_usd.limit


def test_a_submission_may_overrun_and_is_told_so() -> None:
    play = _poor(1)
    play.read("config-orders")
    play.submit(answer={"cause": "deadlock"})
    assert play.observation.terminated
    assert play.observation.budgets.nano_usd.spent > play.observation.budgets.nano_usd.limit
    assert "budget_overrun" in {event.guardrail_id for event in play.observation.guardrail_events}


def test_a_bad_submission_does_not_end_what_can_only_be_submitted() -> None:
    play = _poor(1)
    play.read("config-orders")
    play.submit("finding-9")
    assert not play.observation.done
    assert play.observation.must_submit


def test_the_prompt_that_says_so_is_billed_as_it_is_shown() -> None:
    play = _poor(1)
    play.read("config-orders")
    head, tail = render_text(play.observation).split("## Now\n")
    shown = _controller_tokens(play, head) + _controller_tokens(play, f"## Now\n{tail}")
    assert "submit" in tail
    play.submit(answer={"cause": "deadlock"})
    assert _decision(play).fresh_tokens + _decision(play).cached_tokens == shown


def test_an_episode_of_which_not_even_the_first_prompt_can_be_paid_must_submit_at_once() -> None:
    play = Play(world_of(toy(), visibly=with_limits(nano_usd=10)))
    assert play.observation.must_submit


def test_the_last_step_truncates() -> None:
    play = Play(world_of(toy()))
    for _ in range(play.world.visible.limits.steps):
        assert not play.observation.done
        play.do(ActionType.MALFORMED)
    assert play.observation.truncated
    assert play.observation.end_reason is EndReason.STEPS
    assert play.observation.budgets.steps.left == 0


def test_a_submission_at_the_last_step_is_a_submission() -> None:
    play = Play(world_of(toy()))
    for _ in range(play.world.visible.limits.steps - 1):
        play.do(ActionType.MALFORMED)
    play.submit(answer={"cause": "deadlock"})
    assert play.observation.end_reason is EndReason.SUBMITTED
