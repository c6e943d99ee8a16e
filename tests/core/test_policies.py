"""Policies: what each must do on every scenario, and what only some situations ask of them."""

from __future__ import annotations

import pytest

from TokenOptEnv import LocalEnv, policies, scenario_store
from TokenOptEnv.config import Difficulty, EpisodeConfig
from TokenOptEnv.episode_runtime import advance, start
from TokenOptEnv.errors import UnknownName
from TokenOptEnv.evaluation.episodes import EpisodeResult, play
from TokenOptEnv.models import (
    ActionType,
    ArtifactKind,
    EndReason,
    FieldKind,
    ItemKind,
    Slot,
    TokenOptEnvAction,
    TokenOptEnvObservation,
)
from TokenOptEnv.policies import resets
from TokenOptEnv.policies.submission import submit
from TokenOptEnv.scenario import QuestionKind, Scenario
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply
from TokenOptEnv.world import build_world

CORE = scenario_store.ids("core")
HONEST = ("brute-force", "cheapest", "random")
SMALLEST = min(scenario_store.index().scenarios, key=lambda row: row.artifact_tokens).scenario_id


def _played(name: str, scenario_id: str, seed: int, **options: object) -> EpisodeResult:
    return play(name, scenario_id, seed, LocalEnv(**options)).result


def test_discovery_finds_every_policy_and_only_the_reference_knows_the_truth() -> None:
    assert set(policies.names()).issuperset(("brute-force", "cheapest", "random", "reference"))
    assert list(policies.names()) == sorted(policies.names())
    assert [name for name in policies.names() if policies.info(name).knows_truth] == ["reference"]


def test_an_unknown_policy_is_an_error_that_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'cheapest'"):
        policies.make("cheapst", 0)


@pytest.mark.parametrize("scenario_id", CORE)
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_policy_plays_every_scenario_to_its_end(name: str, scenario_id: str) -> None:
    result = _played(name, scenario_id, 0)
    assert result.steps >= 1
    if name != "random":
        assert result.end_reason is EndReason.SUBMITTED


@pytest.mark.parametrize("scenario_id", CORE)
def test_the_reference_solves_every_world_without_a_refusal(scenario_id: str) -> None:
    for seed in range(4):
        result = _played("reference", scenario_id, seed)
        assert result.success and result.refused == 0


@pytest.mark.parametrize("name", ["brute-force", "cheapest"])
def test_a_policy_that_minds_the_rules_is_hardly_ever_refused(name: str) -> None:
    results = [_played(name, scenario_id, seed) for scenario_id in CORE for seed in range(4)]
    assert sum(result.refused for result in results) <= 0.02 * sum(result.steps for result in results)


def test_random_solves_less_than_a_tenth() -> None:
    results = [_played("random", scenario_id, seed) for scenario_id in CORE for seed in range(5)]
    assert sum(result.success for result in results) < 0.1 * len(results)


def test_random_is_refused_now_and_then_and_uses_every_action() -> None:
    results = [_played("random", scenario_id, seed) for scenario_id in CORE for seed in range(5)]
    assert sum(result.refused for result in results) > 0
    assert {name for result in results for name in result.action_counts} == set(ActionType) - {ActionType.MALFORMED}


def test_cheapest_asks_the_cheapest_model_alone_and_once_a_question() -> None:
    for scenario_id in CORE:
        played = play("cheapest", scenario_id, 1, LocalEnv())
        menu = LocalEnv().reset(scenario_id=scenario_id).models
        routes = [step.action for step in played.trace.steps if step.action.action_type is ActionType.ROUTE_SUBTASK]
        lowest = min(card.input_pico_usd for card in menu)
        prices = {card.model_id: card.input_pico_usd for card in menu}
        assert {prices[route.model_id or ""] for route in routes} == {lowest}
        assert len({route.subtask_id for route in routes}) == len(routes)


def test_brute_force_spends_more_than_cheapest_on_every_scenario() -> None:
    for scenario_id in CORE:
        assert _played("brute-force", scenario_id, 0).cost_nano_usd > _played("cheapest", scenario_id, 0).cost_nano_usd


@pytest.mark.parametrize("name", HONEST)
def test_the_same_seed_plays_the_same_episode(name: str) -> None:
    first, second = (play(name, SMALLEST, 3, LocalEnv()).trace.to_jsonl() for _ in range(2))
    assert first == second


def test_another_seed_makes_random_do_something_else() -> None:
    observation = LocalEnv().reset(scenario_id=SMALLEST)
    actions = {policies.make("random", seed).act(observation).model_dump_json() for seed in range(12)}
    assert len(actions) > 6


@pytest.mark.parametrize("name", HONEST)
@pytest.mark.parametrize(
    "options", [{"profile": "v1"}, {"memory_tokens": 500}, {"catalog": "current"}, {"anonymous_models": True}]
)
def test_an_honest_policy_plays_under_every_option(name: str, options: dict[str, object]) -> None:
    env = LocalEnv(**options)
    policy = policies.make(name, 1)
    observation = env.reset(scenario_id=SMALLEST, seed=1)
    refused = 0
    while not observation.done:
        observation = env.step(policy.act(observation))
        refused += observation.last_tool_result is not None and observation.last_tool_result.refusal is not None
    if name != "random":
        assert observation.end_reason is EndReason.SUBMITTED
        assert refused == 0


@pytest.mark.parametrize("options", [{}, {"catalog": "current"}, {"memory_tokens": 4_000}])
def test_the_reference_reads_its_options_back_and_pays_what_its_plan_states(options: dict[str, object]) -> None:
    result = _played("reference", SMALLEST, 1, **options)
    assert result.success
    assert result.cost_nano_usd == result.reference_nano_usd


@pytest.mark.parametrize("options", [{"anonymous_models": True}, {"track": "solver"}])
def test_the_reference_solves_where_only_names_or_wording_differ(options: dict[str, object]) -> None:
    assert _played("reference", SMALLEST, 1, **options).success


def test_without_any_finding_the_last_word_is_still_accepted() -> None:
    env = LocalEnv()
    last = env.step(submit(env.reset(scenario_id=SMALLEST)))
    assert last.end_reason is EndReason.SUBMITTED
    assert last.score is not None and not last.score.success


def test_a_policy_with_one_step_left_submits() -> None:
    for name in ("brute-force", "cheapest"):
        observation = LocalEnv().reset(scenario_id=SMALLEST)
        steps = observation.budgets.steps.model_copy(update={"left": 1})
        late = observation.model_copy(update={"budgets": observation.budgets.model_copy(update={"steps": steps})})
        assert policies.make(name, 0).act(late).action_type is ActionType.SUBMIT_ANSWER
        broke = observation.model_copy(update={"must_submit": True})
        assert policies.make(name, 0).act(broke).action_type is ActionType.SUBMIT_ANSWER


def _marathon() -> Scenario:
    """Two legs; the second question cannot be asked without what the first found."""
    case = CaseBuilder(
        "incident-marathon-two-legs", "incident", Difficulty.MARATHON, "Two legs", "A courier is lost.", "v1"
    )
    for leg in ("north", "south"):
        lines = [f"{minute:02d}:00 {leg} depot parcel {minute} weighed and shelved" for minute in range(60)]
        lines[30] = f"30:00 {leg} courier badge k-77 left {leg} gate with parcel 30"
        lines[40] = f"40:00 {leg} courier badge k-12 left {leg} gate with parcel 40"
        case.artifact(f"log-{leg}", ArtifactKind.LOG, f"{leg} depot", "\n".join(lines) + "\n")
        case.fact(f"seen-{leg}", "the badge", Quote(f"log-{leg}", f"badge k-77 left {leg} gate"))
        case.decoy(f"other-{leg}", "another badge", Quote(f"log-{leg}", f"badge k-12 left {leg} gate"))
    case.answer_field("gate", "Which gate?", FieldKind.TEXT, ["south"], ["seen-south"])
    case.subtask(
        "badge",
        "Which courier badge left the north gate with parcel 30?",
        ["badge"],
        QuestionKind.LOOKUP,
        True,
        ["seen-north"],
        Reply({"badge": "k-77"}, "Badge k-77 left."),
        [Reply({"badge": "k-12"}, "Badge k-12 left.", ("other-north",))],
    )
    case.subtask(
        "gate",
        "Through which gate did courier badge {badge} go with parcel 30?",
        ["gate"],
        QuestionKind.LOOKUP,
        True,
        ["seen-south"],
        Reply({"gate": "south"}, "It went south."),
        [Reply({"gate": "north"}, "It went north.", ("other-south",))],
        slot=Slot(name="badge", from_subtask_id="badge"),
        slot_value="k-77",
    )
    case.phase("one", "A courier is lost in the north.", ["log-north"], ["badge"], 8)
    case.phase("two", "The courier is seen in the south.", ["log-south"], ["gate"], 32)
    return case.build()


def _play_marathon(name: str, seed: int) -> tuple[list[TokenOptEnvAction], list[TokenOptEnvObservation]]:
    world = build_world(_marathon(), seed, EpisodeConfig())
    outcome = start(world, "marathon")
    policy = policies.make(name, seed)
    actions, seen = [], [outcome.observation]
    while not seen[-1].done:
        actions.append(policy.act(seen[-1]))
        outcome = advance(outcome.state, actions[-1], world)
        seen.append(outcome.observation)
    return actions, seen


@pytest.mark.parametrize("name", ["brute-force", "cheapest"])
def test_a_finding_is_carried_over_a_reset(name: str) -> None:
    actions, seen = _play_marathon(name, 0)
    kinds = [action.action_type for action in actions]
    assert kinds[7] is ActionType.WRITE_CHECKPOINT
    assert seen[8].task.phase == 1 and not seen[8].working_memory.items
    assert kinds[8] is ActionType.RESTORE_CHECKPOINT
    assert any(item.kind is ItemKind.CHECKPOINT for item in seen[9].working_memory.items)
    asked = [action.subtask_id for action in actions if action.action_type is ActionType.ROUTE_SUBTASK]
    assert asked == ["badge", "gate"]
    assert all(each.last_tool_result is None or each.last_tool_result.refusal is None for each in seen)
    assert seen[-1].end_reason is EndReason.SUBMITTED


def test_random_lives_through_a_marathon() -> None:
    for seed in range(4):
        assert _play_marathon("random", seed)[1][-1].done


def test_what_is_saved_once_is_not_saved_again() -> None:
    _, seen = _play_marathon("cheapest", 0)
    before = seen[7]
    saved = resets.bridge(before)
    assert saved is not None and saved.action_type is ActionType.WRITE_CHECKPOINT
    noted = seen[8].checkpoints
    assert resets.bridge(before.model_copy(update={"checkpoints": noted})) is None
