"""Plans: whom to ask and in which order, how to surface what is needed, and a reference that replays."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cases import Play, marathon, segment_with, simulated_world, toy
from TokenOptEnv.config import DEFAULT_CONTROLLERS, DEFAULT_WORLDS, EpisodeConfig, Profile, RewardMode, Track
from TokenOptEnv.errors import PlanNotFound
from TokenOptEnv.models import ActionType, Effort, TokenOptEnvAction
from TokenOptEnv.plans import reference_costs, reference_plan
from TokenOptEnv.plans.attempts import order_attempts
from TokenOptEnv.plans.bound import lower_bound
from TokenOptEnv.plans.clairvoyant import make_clairvoyant_plan
from TokenOptEnv.plans.kit import kit_of
from TokenOptEnv.plans.program import Ask, Load, Program, Read, Search, Squeeze
from TokenOptEnv.plans.reference import make_plan_without, make_reference_plan
from TokenOptEnv.plans.stage import Stage
from TokenOptEnv.plans.surfacing import Steps, Surfacer
from TokenOptEnv.plans.ways import Inquiry
from TokenOptEnv.scenario import CacheValidity, Scenario, SubtaskTruth
from TokenOptEnv.simulators.evidence import EvidenceReader
from TokenOptEnv.simulators.routing import exact_context
from TokenOptEnv.world import VisibleWorld, build_world, visible_world

CONFIG = EpisodeConfig()
SEGMENTS = tuple(segment.segment_id for artifact in toy().public.artifacts for segment in artifact.segments)
PATH = (segment_with(toy(), "req-7f3a failed"), segment_with(toy(), "pool exhausted"))


def visible(config: EpisodeConfig = CONFIG) -> VisibleWorld:
    return visible_world(toy(), config)


def truth(subtask_id: str = "q-cause") -> SubtaskTruth:
    return next(truth for truth in toy().hidden.subtasks if truth.subtask_id == subtask_id)


def attempts(decision_nano_usd: int = 100_000, subtask_id: str = "q-cause") -> tuple[tuple[str, Effort], ...]:
    return inquiry(decision_nano_usd, subtask_id).attempts


def inquiry(decision_nano_usd: int = 100_000, subtask_id: str = "q-cause") -> Inquiry:
    asked = truth(subtask_id)
    (found,) = order_attempts(toy(), visible(), asked, exact_context(toy(), asked), decision_nano_usd, goes_up=True)
    return found


# --- whom to ask


def test_no_attempt_is_made_twice_and_all_are_of_the_menu() -> None:
    order = attempts()
    assert len(order) == len(set(order)) > 3
    assert {model_id for model_id, _ in order} <= set(visible().cards)


def test_a_model_that_failed_is_asked_again_only_with_more_effort() -> None:
    efforts = list(Effort)
    asked: dict[str, list[int]] = {}
    for model_id, effort in attempts():
        asked.setdefault(model_id, []).append(efforts.index(effort))
    assert any(len(tries) > 1 for tries in asked.values())
    for tries in asked.values():
        assert all(now > before for before, now in pairwise(tries))


def test_the_dearer_a_decision_the_stronger_the_first_asked() -> None:
    price = {card.model_id: card.input_pico_usd for card in visible().menu}
    cheap, dear = attempts(decision_nano_usd=0)[0], attempts(decision_nano_usd=10**9)[0]
    assert price[dear[0]] > price[cheap[0]]


def test_every_model_is_tried_before_giving_up() -> None:
    assert {model_id for model_id, _ in attempts()} == set(visible().cards)


def test_the_expected_price_covers_the_first_attempt_and_grows_with_the_price_of_a_decision() -> None:
    assert 100_000 < inquiry(100_000).rough_nano_usd < inquiry(1_000_000).rough_nano_usd


def test_whom_to_ask_first_does_not_depend_on_the_draws() -> None:
    first_asked: dict[str, set[str | None]] = {}
    for index in range(DEFAULT_WORLDS):
        asked: dict[str, str | None] = {}
        for action in reference_plan(toy(), index, CONFIG).actions:
            if action.action_type is ActionType.ROUTE_SUBTASK and action.subtask_id is not None:
                asked.setdefault(action.subtask_id, action.model_id)
        for subtask_id, model_id in asked.items():
            first_asked.setdefault(subtask_id, set()).add(model_id)
    assert first_asked
    assert all(len(models) == 1 for models in first_asked.values())


# --- how to surface


@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize(
    "wanted",
    [
        (),
        PATH,
        ("config-orders-s1",),
        ("ticket-checkout-s2",),
        ("log-gateway-s15", "log-archive-s1"),
        (*PATH, "config-orders-s1", "code-pool-s1"),
        SEGMENTS[::6],
    ],
    ids=len,
)
def test_every_way_to_surface_surfaces_all_that_is_wanted(wanted: tuple[str, ...], profile: Profile) -> None:
    covers = surfacer(profile).covers(wanted)
    assert covers
    for cover in covers:
        play = surfaced_by(cover, profile)
        assert set(wanted) <= {handle.segment_id for handle in play.observation.surfaced}


def surfacer(profile: Profile = Profile.V2) -> Surfacer:
    config = EpisodeConfig(profile=profile, memory_tokens=20_000)
    return Surfacer(visible(config).phases[0], searches=profile is Profile.V2)


def surfaced_by(cover: Steps, profile: Profile = Profile.V2) -> Play:
    play = Play(simulated_world(toy(), profile=profile, memory_tokens=20_000))
    for step in cover:
        if isinstance(step, Read):
            play.read(step.artifact_id, step.page)
        else:
            play.search(step.query, step.top_k)
        assert play.refusal is None
    return play


def test_ways_to_surface_differ_from_each_other() -> None:
    covers = surfacer().covers(PATH)
    assert len(covers) > 1
    assert all(cover not in covers[:place] for place, cover in enumerate(covers))


def test_without_search_segments_are_surfaced_by_reading_alone() -> None:
    covers = surfacer(Profile.V1).covers(PATH)
    assert all(isinstance(step, Read) for cover in covers for step in cover)


def test_a_search_can_be_asked_to_quote_what_it_finds() -> None:
    text = "/srv/cold at 97 percent"
    cover = surfacer().covers(PATH, [text])[0]
    play = surfaced_by(cover)
    assert any(text in item.text for item in play.observation.working_memory.items)
    assert set(PATH) <= {handle.segment_id for handle in play.observation.surfaced}


def test_what_no_search_can_quote_has_no_cover() -> None:
    assert surfacer().covers((), ["stands nowhere at all"]) == []


def test_an_earlier_result_is_looked_up_in_fewer_words_than_it_was_asked_in() -> None:
    kit = kit_of(toy(), CONFIG)
    for entry in toy().public.cache_entries:
        words = kit.lookup(entry)
        assert len(words) < len(entry.question)
        assert entry.entry_id in [match.entry.entry_id for match in kit.visible.phases[0].semantic_cache.nearest(words)]


# --- how to hand over


def needs(subtask_id: str) -> frozenset[str]:
    return frozenset(truth(subtask_id).needs)


@pytest.mark.parametrize("subtask_id", ["q-request", "q-cause", "q-setting"])
def test_every_way_to_hand_over_shows_all_facts(subtask_id: str) -> None:
    packer = kit_of(toy(), CONFIG).packer
    wanted = needs(subtask_id)
    handed = [*packer.handovers(wanted, wanted), *packer.squeezed(wanted)]
    reader = EvidenceReader(toy())
    assert any(isinstance(step, Squeeze) for handover in handed for step in handover.operations)
    for handover in handed:
        assert set(reader.read(subtask_id, handover.pieces).facts) == set(wanted)


def test_what_must_be_read_whole_is_handed_over_whole_or_loaded() -> None:
    packer = kit_of(toy(), CONFIG).packer
    for handover in packer.handovers(needs("q-cause"), needs("q-cause")):
        loaded = [name for step in handover.operations if isinstance(step, Load) for name in step.segment_ids]
        assert set(PATH) <= {*handover.context_ids, *loaded}


def test_forbidden_tools_are_not_used_to_hand_over() -> None:
    without = frozenset({ActionType.HYDRATE_SEGMENTS})
    packer = kit_of(toy(), CONFIG, without).packer
    handed = [*packer.handovers(needs("q-cause"), needs("q-cause")), *packer.squeezed(needs("q-cause"))]
    assert handed
    assert not any(isinstance(step, Load | Squeeze) for handover in handed for step in handover.operations)


# --- the stage


def found_by_hand() -> Program:
    search = Search("req-7f3a failed pool exhausted", 2)
    ask = [
        Ask("q-request", (("gpt-5-mini", Effort.HIGH), ("claude-sonnet-4.5", Effort.HIGH)), PATH[:1]),
        Ask("q-cause", (("gpt-5-mini", Effort.HIGH), ("claude-sonnet-4.5", Effort.HIGH)), PATH),
        Ask("q-setting", (("gpt-5-mini", Effort.HIGH), ("claude-sonnet-4.5", Effort.HIGH)), ("config-orders-s1",)),
    ]
    return (search, Read("config-orders", 1), *ask)


def test_a_program_played_twice_is_played_once() -> None:
    stage = Stage(simulated_world(toy(), 1), escalates=True)
    first = stage.play(found_by_hand())
    steps = stage.played_steps
    assert stage.play(found_by_hand()) == first
    assert stage.played_steps == steps + 1  # the submission alone


def test_a_program_is_given_up_once_it_is_too_dear() -> None:
    stage = Stage(simulated_world(toy(), 1), escalates=True)
    whole = stage.play(found_by_hand())
    assert whole.score is not None
    assert stage.play(found_by_hand(), below_nano_usd=whole.nano_usd // 2).score is None
    assert stage.play(found_by_hand(), below_nano_usd=whole.nano_usd + 1) == whole


def test_a_trimmed_program_asks_only_those_who_are_right() -> None:
    for index in range(DEFAULT_WORLDS):
        stage = Stage(simulated_world(toy(), index), escalates=True)
        trimmed = stage.trimmed(found_by_hand())
        if trimmed is None:
            continue
        assert all(len(step.attempts) == 1 for step in trimmed if isinstance(step, Ask))
        before, after = stage.play(found_by_hand()), stage.play(trimmed)
        assert after.solved == before.solved
        assert after.nano_usd <= before.nano_usd


# --- the reference


def replayed(scenario: Scenario, index: int, actions: tuple[TokenOptEnvAction, ...], config: EpisodeConfig) -> Play:
    play = Play(build_world(scenario, index, config))
    for action in actions:
        play.act(action)
        assert play.refusal is None
    return play


@pytest.mark.parametrize("index", range(DEFAULT_WORLDS))
@pytest.mark.parametrize("scenario", [toy, marathon], ids=["toy", "marathon"])
def test_the_reference_plan_replays_to_success_at_its_stated_cost(scenario: Callable[[], Scenario], index: int) -> None:
    case = scenario()
    plan = reference_plan(case, index, CONFIG)
    play = replayed(case, index, plan.actions, CONFIG)
    score = play.observation.score
    assert score is not None and score.success
    assert (score.cost_nano_usd, score.routed_nano_usd) == (plan.nano_usd, plan.routed_nano_usd)
    assert (plan.scenario_id, plan.world_index) == (case.scenario_id, index)


def test_a_plan_is_the_same_however_it_is_paid_or_revealed() -> None:
    plain = reference_plan(toy(), 1, CONFIG)
    for other in (EpisodeConfig(reward_mode=RewardMode.TERMINAL), EpisodeConfig(reveal=True)):
        assert reference_plan(toy(), 1, other) == plain


@pytest.mark.parametrize(
    "config",
    [
        EpisodeConfig(track=Track.SOLVER),
        EpisodeConfig(anonymous_models=True),
        EpisodeConfig(memory_tokens=2_000),
        EpisodeConfig(controller_model="claude-haiku-4.5"),
        EpisodeConfig(profile=Profile.V1),
        EpisodeConfig(catalog="current", controller_model=DEFAULT_CONTROLLERS["current"]),
    ],
    ids=["solver", "anonymous", "memory", "controller", "v1", "current"],
)
def test_every_option_has_a_plan_that_replays_under_it(config: EpisodeConfig) -> None:
    plan = reference_plan(toy(), 1, config)
    play = replayed(toy(), 1, plan.actions, config)
    score = play.observation.score
    assert score is not None and score.success
    assert score.cost_nano_usd == plan.nano_usd


def test_seeds_that_choose_the_same_world_share_their_plan() -> None:
    assert reference_plan(toy(), 2, CONFIG) == reference_plan(toy(), 2 + DEFAULT_WORLDS, CONFIG)


def test_the_costs_of_the_reference_are_those_of_its_plan() -> None:
    plan, costs = reference_plan(toy(), 0, CONFIG), reference_costs(toy(), 0, CONFIG)
    assert (costs.nano_usd, costs.routed_nano_usd) == (plan.nano_usd, plan.routed_nano_usd)
    assert 0 < plan.routed_nano_usd < plan.nano_usd


def test_another_controller_has_another_reference() -> None:
    dear = EpisodeConfig(controller_model="claude-opus-4.5")
    assert reference_costs(toy(), 0, dear).nano_usd > reference_costs(toy(), 0, CONFIG).nano_usd


def test_the_reference_beats_asking_the_strongest_about_everything() -> None:
    """Else efficiency would be measured against a poor yardstick."""
    spent = []
    for index in range(DEFAULT_WORLDS):
        play = Play(simulated_world(toy(), index))
        play.search("req-7f3a failed pool exhausted", 2)
        play.read("config-orders")
        play.route("q-request", "claude-sonnet-4.5", *PATH, effort="high")
        play.route("q-cause", "claude-sonnet-4.5", *PATH, effort="high")
        play.route("q-setting", "claude-sonnet-4.5", "config-orders-s1", effort="high")
        play.submit(*play.finding_ids)
        spent.append(play.observation.budgets.nano_usd.spent)
    assert sum(reference_plan(toy(), index, CONFIG).nano_usd for index in range(DEFAULT_WORLDS)) < sum(spent)


# --- what it leaves out, and what it may not use


def test_a_question_that_only_fills_a_slot_is_not_asked_where_its_answer_is_not_needed() -> None:
    """With the cause taken from an earlier result, nobody needs the request's id."""
    without_cache = make_plan_without(slotted(), 0, CONFIG, frozenset({ActionType.QUERY_CACHE}))
    assert "q-request" in {action.subtask_id for action in without_cache.actions}
    plan = make_reference_plan(slotted(), 0, CONFIG)
    assert ActionType.QUERY_CACHE in {action.action_type for action in plan.actions}
    assert "q-request" not in {action.subtask_id for action in plan.actions}


def test_an_earlier_result_that_holds_saves_money_over_the_worlds() -> None:
    """In one world asking may be cheaper by luck; the plan is chosen before the draws are known."""
    worlds = range(DEFAULT_WORLDS)
    without = [make_plan_without(slotted(), index, CONFIG, frozenset({ActionType.QUERY_CACHE})) for index in worlds]
    plans = [make_reference_plan(slotted(), index, CONFIG) for index in worlds]
    assert sum(plan.nano_usd for plan in plans) < sum(plan.nano_usd for plan in without)


@cache
def slotted() -> Scenario:
    """The toy case, with an earlier result for the cause that still holds."""
    stale = next(entry for entry in toy().public.cache_entries if entry.subtask_id == "q-cause")
    valid = stale.model_copy(update={"values": {"cause": "pool_exhaustion"}, "version": "4.2.0", "cites": PATH})
    entries = tuple(valid if entry is stale else entry for entry in toy().public.cache_entries)
    hidden = toy().hidden
    return replace(
        toy(),
        public=toy().public.model_copy(update={"cache_entries": entries}),
        hidden=hidden.model_copy(update={"cache": {**hidden.cache, stale.entry_id: CacheValidity.VALID}}),
    )


@pytest.mark.parametrize(
    "kind",
    [
        ActionType.HYDRATE_SEGMENTS,
        ActionType.COMPRESS_CONTEXT,
        ActionType.QUERY_CACHE,
        ActionType.SEARCH_ARTIFACTS,
        ActionType.ESCALATE_ROUTE,
        ActionType.PURGE_MEMORY,
    ],
)
def test_a_plan_can_do_without_any_one_action(kind: ActionType) -> None:
    for index in range(DEFAULT_WORLDS):
        plan = make_plan_without(toy(), index, CONFIG, frozenset({kind}))
        assert kind not in {action.action_type for action in plan.actions}
        assert replayed(toy(), index, plan.actions, CONFIG).observation.score is not None


def test_without_checkpoints_nothing_is_handed_over() -> None:
    with pytest.raises(PlanNotFound, match="no plan solves 'incident-marathon-toy' in world 0"):
        make_plan_without(marathon(), 0, CONFIG, frozenset({ActionType.WRITE_CHECKPOINT}))


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_plans_are_the_same_in_any_process(hash_seed: str) -> None:
    """Under any hash seed: sets are iterated in another order there."""
    code = (
        "from tests.cases import toy\n"
        "from TokenOptEnv.config import EpisodeConfig\n"
        "from TokenOptEnv.plans.bound import lower_bound\n"
        "from TokenOptEnv.plans.clairvoyant import make_clairvoyant_plan\n"
        "from TokenOptEnv.plans.reference import make_reference_plan\n"
        "reference = make_reference_plan(toy(), 1, EpisodeConfig())\n"
        "clairvoyant = make_clairvoyant_plan(toy(), 1, EpisodeConfig(), reference)\n"
        "print(reference.model_dump_json(), clairvoyant.model_dump_json(), lower_bound(toy(), 1, EpisodeConfig()))\n"
    )
    here = make_reference_plan(toy(), 1, CONFIG)
    there = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
    ).stdout
    clairvoyant = make_clairvoyant_plan(toy(), 1, CONFIG, here)
    bound = lower_bound(toy(), 1, CONFIG)
    assert there == f"{here.model_dump_json()} {clairvoyant.model_dump_json()} {bound}\n"


# --- the clairvoyant


@pytest.mark.parametrize("index", range(DEFAULT_WORLDS))
@pytest.mark.parametrize("scenario", [toy, marathon], ids=["toy", "marathon"])
def test_the_clairvoyant_plan_replays_and_asks_nobody_who_is_wrong(
    scenario: Callable[[], Scenario], index: int
) -> None:
    case = scenario()
    reference = make_reference_plan(case, index, CONFIG)
    plan = make_clairvoyant_plan(case, index, CONFIG, reference)
    score = replayed(case, index, plan.actions, CONFIG).observation.score
    assert score is not None and score.success
    assert score.cost_nano_usd == plan.nano_usd <= reference.nano_usd
    asked = [action.subtask_id for action in plan.actions if action.subtask_id is not None]
    assert len(asked) == len(set(asked))
    assert ActionType.ESCALATE_ROUTE not in {action.action_type for action in plan.actions}
