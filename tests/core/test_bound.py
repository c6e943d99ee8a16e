"""The bound: no success costs less, whoever plays, however it is played, and under whatever options."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from tests.cases import Play, find_everything, marathon, patches, simulated_world, toy
from tests.exhaustive import Exhaustive
from tests.tiny import tiny
from TokenOptEnv import policies, scenario_store
from TokenOptEnv.catalog import load_catalog
from TokenOptEnv.config import DEFAULT_CONTROLLERS, DEFAULT_WORLDS, Difficulty, EpisodeConfig, Profile, Track
from TokenOptEnv.evaluation.episodes import play
from TokenOptEnv.evaluation.mutated_plans import mutants
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.models import ActionType
from TokenOptEnv.plans import Plan, bound_nano_usd, clairvoyant_plan, reference_plan
from TokenOptEnv.plans.bound.prompts import cold_pico_usd, warm_pico_usd
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.task_defs.family import write_case
from TokenOptEnv.task_defs.generation import outline
from TokenOptEnv.world import build_world

CONFIG = EpisodeConfig()
CORE = scenario_store.ids("core")
GENERATED = [
    ("incident", Difficulty.EASY, 100_811),
    ("bugfix", Difficulty.MEDIUM, 100_812),
    ("ci", Difficulty.EASY, 100_813),
    ("incident", Difficulty.MARATHON, 100_814),
]
MUTANTS = 1_500


@cache
def generated(family: str, difficulty: Difficulty, number: int) -> Scenario:
    return write_case(outline(family, difficulty, number))


def plans(scenario: Scenario, index: int, config: EpisodeConfig = CONFIG) -> tuple[int, Plan, Plan]:
    return (
        bound_nano_usd(scenario, index, config),
        clairvoyant_plan(scenario, index, config),
        reference_plan(scenario, index, config),
    )


# --- against the optimum


def words_to_search(*made: Plan) -> list[str]:
    asked = {
        action.query
        for plan in made
        for action in plan.actions
        if action.action_type is ActionType.SEARCH_ARTIFACTS and action.query
    }
    return sorted({*asked, "failed", "limit"})


def test_the_optimum_of_fifty_tiny_cases_lies_between_the_bound_and_the_clairvoyant() -> None:
    """And close to both. It is found by looking at all that could be cheaper; cases too large for that are passed."""
    below: list[float] = []
    above: list[float] = []
    for number in range(60):
        case, index = tiny(number), number % DEFAULT_WORLDS
        bound, clairvoyant, reference = plans(case, index)
        world, words = build_world(case, index, CONFIG), words_to_search(clairvoyant, reference)
        optimum = Exhaustive(world, clairvoyant.nano_usd, words, most_played=2_000).optimum()
        if optimum is None:
            continue
        assert bound <= optimum <= clairvoyant.nano_usd <= reference.nano_usd, case.scenario_id
        below.append(optimum / bound)
        above.append(clairvoyant.nano_usd / optimum)
        if len(below) == 50:
            break
    assert len(below) == 50
    assert sum(below) / 50 < 1.2
    assert sum(above) / 50 < 1.02


def test_what_looks_at_everything_finds_a_plan_that_nobody_told_it() -> None:
    case = tiny(1)
    bound, clairvoyant, reference = plans(case, 1)
    twice = 2 * clairvoyant.nano_usd
    search = Exhaustive(build_world(case, 1, CONFIG), twice, words_to_search(clairvoyant, reference), 100_000)
    optimum = search.optimum()
    assert optimum is not None
    assert bound <= optimum <= clairvoyant.nano_usd < twice


# --- against plans that were changed


@pytest.mark.parametrize("place", range(len(CORE) + len(GENERATED)))
def test_no_mutated_plan_succeeds_below_the_bound(place: int) -> None:
    scenario = scenario_store.load(CORE[place]) if place < len(CORE) else generated(*GENERATED[place - len(CORE)])
    share = -(-MUTANTS // (len(CORE) + len(GENERATED)))
    played = list(mutants(scenario, place % DEFAULT_WORLDS, share))
    assert len(played) == share
    assert not [mutant for mutant in played if mutant.breaks_bound]
    assert any(mutant.solved for mutant in played)


def test_mutations_are_the_same_every_time_and_differ_from_each_other() -> None:
    first, again = list(mutants(toy(), 1, 30)), list(mutants(toy(), 1, 30))
    assert first == again
    assert len({repr(mutant.actions) for mutant in first}) > 20


def test_a_mutant_that_costs_less_than_the_bound_is_told() -> None:
    solved = next(mutant for mutant in mutants(toy(), 0, 50) if mutant.solved)
    assert not solved.breaks_bound
    assert type(solved)(**{**_fields(solved), "bound_nano_usd": solved.nano_usd + 1}).breaks_bound
    assert not type(solved)(**{**_fields(solved), "bound_nano_usd": solved.nano_usd}).breaks_bound


def _fields(mutant: object) -> dict[str, object]:
    return {name: getattr(mutant, name) for name in mutant.__dataclass_fields__}  # type: ignore[attr-defined]


# --- against policies


@pytest.mark.parametrize("policy", policies.names())
def test_no_success_of_any_policy_costs_less_than_the_bound(policy: str) -> None:
    for place, scenario_id in enumerate(CORE):
        scenario, index = scenario_store.load(scenario_id), place % DEFAULT_WORLDS
        if scenario.public.difficulty is not Difficulty.MARATHON:
            result = play(policy, scenario_id, index, LocalEnv()).result
            assert not result.success or result.cost_nano_usd >= bound_nano_usd(scenario, index, CONFIG)


# --- under every option


OPTIONS = {
    "default": CONFIG,
    "solver": EpisodeConfig(track=Track.SOLVER),
    "anonymous": EpisodeConfig(anonymous_models=True),
    "memory": EpisodeConfig(memory_tokens=2_000),
    "cheap controller": EpisodeConfig(controller_model="gpt-5-nano"),
    "uncached controller": EpisodeConfig(controller_model="llama-3.3-70b"),
    "controller that pays for writes": EpisodeConfig(controller_model="claude-haiku-4.5"),
    "v1": EpisodeConfig(profile=Profile.V1),
    "current": EpisodeConfig(catalog="current", controller_model=DEFAULT_CONTROLLERS["current"]),
}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("case", [toy, patches, marathon], ids=["toy", "patches", "marathon"])
def test_bound_clairvoyant_and_reference_stand_in_this_order(case: Callable[[], Scenario], options: str) -> None:
    config = OPTIONS[options]
    if config.profile is Profile.V1 and case is marathon:
        config = EpisodeConfig(profile=Profile.V2)  # nothing can be handed over without checkpoints
    for index in range(2):
        bound, clairvoyant, reference = plans(case(), index, config)
        assert 0 < bound <= clairvoyant.nano_usd <= reference.nano_usd


def test_an_agent_that_answers_in_its_own_words_undercuts_no_bound() -> None:
    """In the solver's track nobody need be asked: the evidence is read, and the answer written down."""
    play = Play(simulated_world(toy(), 0, track=Track.SOLVER))
    play.search("req-7f3a failed pool exhausted", 2)
    found = [handle.segment_id for handle in play.observation.surfaced]
    play.hydrate(*found)
    play.read("config-orders")
    play.do(
        ActionType.SUBMIT_ANSWER,
        answer={"cause": "pool_exhaustion", "setting": "pool.max_connections"},
        evidence_segment_ids=(*found, "config-orders-s1"),
    )
    score = play.observation.score
    assert score is not None and score.success
    assert bound_nano_usd(toy(), 0, EpisodeConfig(track=Track.SOLVER)) <= score.cost_nano_usd


def test_facts_that_the_agent_writes_down_itself_undercut_no_bound() -> None:
    """A note in the agent's own words shows a model the facts, though not for the evidence."""
    for index in range(DEFAULT_WORLDS):
        play = Play(simulated_world(toy(), index))
        play.checkpoint("request req-7f3a failed; pool exhausted, 50 of 50; pool.max_connections = 50")
        play.restore("checkpoint-1")
        note = play.item_ids[-1]
        play.route("q-request", "gpt-5-mini", note)
        play.route("q-cause", "gpt-5-mini", note)
        play.route("q-setting", "gpt-5-mini", note)
        play.search("req-7f3a failed pool exhausted", 2)
        play.hydrate(*[handle.segment_id for handle in play.observation.surfaced])
        play.read("config-orders")
        held = play.observation.working_memory.items
        play.submit(*play.finding_ids, evidence_segment_ids=tuple(i.item_id for i in held if i.kind == "segment"))
        score = play.observation.score
        assert score is not None
        if score.success:
            assert score.cost_nano_usd >= bound_nano_usd(toy(), index, CONFIG)


def test_finding_everything_by_hand_costs_more_than_the_bound() -> None:
    for index in range(DEFAULT_WORLDS):
        play = Play(simulated_world(toy(), index))
        find_everything(play)
        play.submit(*play.finding_ids)
        score = play.observation.score
        assert score is not None
        if score.success:
            assert score.cost_nano_usd > bound_nano_usd(toy(), index, CONFIG)


# --- its prompts


def test_prompts_below_the_least_length_are_never_cached() -> None:
    card = load_catalog("measured").card("gpt-5.4-mini")
    assert warm_pico_usd(card, 400, 4, [50], True, [0.0, 100.0, 200.0, 300.0]) == []
    assert cold_pico_usd(card, 400, 4, [50, 30], True) == (4 * 400 + 50 + 2 * 30) * card.input_pico_usd


def test_a_long_prompt_is_paid_once_and_read_from_the_cache_later() -> None:
    card = load_catalog("measured").card("gpt-5.4-mini")
    rule = card.cache_rule
    assert rule is not None
    at_once = warm_pico_usd(card, 2_000, 3, [], True, [0.0, 0.0, 0.0])[0]
    assert at_once.pico_usd == 2_000 * card.input_pico_usd + 2 * 2_000 * card.cache_read_pico_usd
    assert at_once.filling_pico_usd == 0
    filled = warm_pico_usd(card, 400, 3, [], True, [0.0, 1_000.0, 1_000.0])[0]
    assert filled.filling_pico_usd == (rule.min_tokens - 400) * card.input_pico_usd
    assert filled.pico_usd == (400 + rule.min_tokens) * card.input_pico_usd + rule.min_tokens * card.cache_read_pico_usd


def test_a_provider_without_a_cache_has_no_warm_prompts() -> None:
    card = load_catalog("measured").card("llama-3.3-70b")
    assert warm_pico_usd(card, 5_000, 3, [], True, [0.0, 0.0, 0.0]) == []
