"""Plans: whom to ask and in which order, how to surface what is needed, and a reference that replays."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.cases import Play, marathon, segment_with, simulated_world, toy
from TokenOptEnv.config import DEFAULT_CONTROLLERS, DEFAULT_WORLDS, EpisodeConfig, Profile, RewardMode, Track
from TokenOptEnv.models import ActionType, Effort, TokenOptEnvAction
from TokenOptEnv.plans import reference_costs, reference_plan
from TokenOptEnv.plans.attempts import order_attempts
from TokenOptEnv.plans.surfacing import Surfacer
from TokenOptEnv.scenario import Scenario, SubtaskTruth
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
    asked = truth(subtask_id)
    return order_attempts(toy(), visible(), asked, exact_context(toy(), asked), decision_nano_usd)


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
    config = EpisodeConfig(profile=profile, memory_tokens=20_000)
    surfacer = Surfacer(visible(config).phases[0], profile)
    covers = surfacer.covers(wanted)
    assert covers
    for cover in covers:
        play = Play(simulated_world(toy(), profile=profile, memory_tokens=20_000))
        for step in cover:
            play.act(step.action)
            assert play.refusal is None
        assert set(wanted) <= {handle.segment_id for handle in play.observation.surfaced}


def test_ways_to_surface_differ_from_each_other() -> None:
    covers = Surfacer(visible().phases[0], Profile.V2).covers(PATH)
    assert len(covers) > 1
    assert all(cover not in covers[:place] for place, cover in enumerate(covers))


def test_profile_v1_surfaces_by_reading_alone() -> None:
    config = EpisodeConfig(profile=Profile.V1)
    covers = Surfacer(visible(config).phases[0], Profile.V1).covers(PATH)
    assert {step.action.action_type for cover in covers for step in cover} == {ActionType.READ_ARTIFACT}


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
