"""The heuristic policies: what all of them must do, and the one idea that each of them stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from tests import cases
from TokenOptEnv import LocalEnv, policies, scenario_store
from TokenOptEnv.config import CACHE_MAX_HITS, FINDING_CAP_TOKENS
from TokenOptEnv.evaluation.episodes import EpisodeResult, play
from TokenOptEnv.models import (
    ActionType,
    Effort,
    EndReason,
    Finding,
    ItemKind,
    Tier,
    TokenOptEnvAction,
    TokenOptEnvObservation,
)
from TokenOptEnv.policies import desk, errands, judgement, menu, provenance, resets, survey
from TokenOptEnv.policies.cache_first import outdated, trusted
from TokenOptEnv.policies.script import Steps
from TokenOptEnv.policies.symptoms import LOUD_WORDS
from TokenOptEnv.simulators.backend import Backend, RouteReply, RouteRequest
from TokenOptEnv.simulators.semantic_cache import FLOOR

CORE = scenario_store.ids("core")
SMALLEST = min(scenario_store.index().scenarios, key=lambda row: row.artifact_tokens).scenario_id
NAMES = (
    "cache-first",
    "cascade",
    "expert",
    "grep-tail",
    "masking",
    "rag",
    "sliding-window",
    "strongest-only",
)


@dataclass(frozen=True)
class ModelsThatSay:
    """By model and subtask: the values it states; without any it says that the evidence does not suffice."""

    values: Mapping[str, Mapping[str, Mapping[str, str]]]
    confidence: float
    asked: list[RouteRequest] = field(default_factory=list)

    def answer(self, request: RouteRequest) -> RouteReply:
        self.asked.append(request)
        values = dict(self.values.get(request.model_id, {}).get(request.subtask_id, {}))
        cites = tuple(dict.fromkeys(source for piece in request.context for source in piece.source_ids))
        return RouteReply(values, "So it is.", self.confidence, cites if values else (), 0)


def _everybody_right(confidence: float) -> ModelsThatSay:
    right = cases.right_values(cases.toy())
    return ModelsThatSay(dict.fromkeys(cases.MENU, right), confidence)


def _watch(name: str, backend: Backend | None = None, case: str = "toy", **options: object) -> cases.Play:
    scenario = {"toy": cases.toy, "marathon": cases.marathon, "patches": cases.patches}[case]()
    watched = cases.Play(cases.world_of(scenario, backend=backend, **options))
    policy = policies.make(name, 0)
    while not watched.observation.done:
        watched.act(policy.act(watched.observation))
    return watched


def _actions(watched: cases.Play, *kinds: ActionType) -> list[TokenOptEnvAction]:
    return [step.action for step in watched.trace.steps if step.action.action_type in kinds]


def _refused(watched: cases.Play) -> int:
    return sum(step.refusal is not None for step in watched.trace.steps)


def _last_step(steps: Steps, start: cases.Play) -> list[TokenOptEnvAction]:
    """Run an errand in a game; gives the actions it took."""
    taken: list[TokenOptEnvAction] = []
    try:
        action = next(steps)
        while True:
            taken.append(action)
            action = steps.send(start.act(action))
    except StopIteration:
        return taken


def _played(name: str, scenario_id: str, seed: int, **options: object) -> EpisodeResult:
    return play(name, scenario_id, seed, LocalEnv(**options)).result


# What all of them must do.


def test_each_is_found_by_its_name_and_knows_no_truth() -> None:
    assert set(NAMES).issubset(policies.names())
    assert not any(policies.info(name).knows_truth for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_it_answers_every_scenario_and_is_never_refused(name: str) -> None:
    results = [_played(name, scenario_id, seed) for scenario_id in CORE for seed in range(2)]
    assert {result.end_reason for result in results} == {EndReason.SUBMITTED}
    assert sum(result.refused for result in results) == 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "options", [{"profile": "v1"}, {"memory_tokens": 500}, {"catalog": "current"}, {"anonymous_models": True}]
)
def test_it_plays_under_every_option_without_a_refusal(name: str, options: dict[str, object]) -> None:
    result = _played(name, SMALLEST, 1, **options)
    assert result.end_reason is EndReason.SUBMITTED
    assert result.refused == 0


@pytest.mark.parametrize("name", NAMES)
def test_it_plays_the_same_game_twice(name: str) -> None:
    first, second = (play(name, SMALLEST, 3, LocalEnv()).trace.to_jsonl() for _ in range(2))
    assert first == second


@pytest.mark.parametrize("name", NAMES)
def test_hiding_the_names_of_models_changes_nothing_that_it_does(name: str) -> None:
    """So it cannot know any of them by name."""
    named, unnamed = (play(name, SMALLEST, 1, LocalEnv(anonymous_models=hidden)).trace for hidden in (False, True))
    shown = [step.action.model_copy(update={"model_id": None}) for step in named.steps]
    assert shown == [step.action.model_copy(update={"model_id": None}) for step in unnamed.steps]


@pytest.mark.parametrize("name", NAMES)
def test_with_one_step_or_no_money_left_it_submits(name: str) -> None:
    observation = LocalEnv().reset(scenario_id=SMALLEST)
    steps = observation.budgets.steps.model_copy(update={"left": 1})
    late = observation.model_copy(update={"budgets": observation.budgets.model_copy(update={"steps": steps})})
    broke = observation.model_copy(update={"must_submit": True})
    for last in (late, broke):
        assert policies.make(name, 0).act(last).action_type is ActionType.SUBMIT_ANSWER


@pytest.mark.parametrize("name", NAMES)
def test_it_lives_through_every_reset_with_what_it_found(name: str) -> None:
    watched = _watch(name, case="marathon")
    assert _refused(watched) == 0
    assert watched.observation.end_reason is EndReason.SUBMITTED
    assert watched.observation.task.phase == 2
    assert _actions(watched, ActionType.RESTORE_CHECKPOINT)
    asked = {action.subtask_id for action in _actions(watched, ActionType.ROUTE_SUBTASK)}
    assert asked == {"q-request", "q-volume", "q-cause"}


@pytest.mark.parametrize("name", NAMES)
def test_a_budget_for_one_call_only_buys_no_refusal(name: str) -> None:
    world = cases.world_of(cases.toy(), visibly=cases.with_limits(nano_usd=6_000_000))
    watched = cases.Play(world)
    policy = policies.make(name, 0)
    while not watched.observation.done:
        watched.act(policy.act(watched.observation))
    assert _refused(watched) == 0
    assert watched.observation.end_reason is EndReason.SUBMITTED


# What each of them stands for.


def test_strongest_only_asks_the_strongest_once_a_question() -> None:
    watched = _watch("strongest-only")
    routes = _actions(watched, ActionType.ROUTE_SUBTASK, ActionType.ESCALATE_ROUTE)
    assert {route.model_id for route in routes} == {cases.STRONGEST}
    assert [route.subtask_id for route in routes] == ["q-request", "q-cause", "q-setting"]
    assert all(len(route.context_segment_ids) <= 4 for route in routes)


def test_rag_asks_the_cheapest_of_the_middle_tier() -> None:
    watched = _watch("rag")
    routes = _actions(watched, ActionType.ROUTE_SUBTASK, ActionType.ESCALATE_ROUTE)
    assert {route.model_id for route in routes} == {"gpt-5-mini"}
    assert len(_actions(watched, ActionType.SEARCH_ARTIFACTS)) == 3


def test_rag_retries_once_where_the_evidence_did_not_suffice() -> None:
    watched = _watch("rag", ModelsThatSay({}, 0.1))
    assert len(_actions(watched, ActionType.ROUTE_SUBTASK)) == len(_actions(watched, ActionType.ESCALATE_ROUTE)) > 0


def test_rag_does_not_retry_a_reply_that_says_something_however_unsure() -> None:
    assert not _actions(_watch("rag", _everybody_right(0.05)), ActionType.ESCALATE_ROUTE)


def test_grep_and_tail_never_searches_for_a_question() -> None:
    watched = _watch("grep-tail")
    assert len(_actions(watched, ActionType.SEARCH_ARTIFACTS)) == 1
    routes = _actions(watched, ActionType.ROUTE_SUBTASK)
    assert len({route.context_segment_ids for route in routes}) == 1


def test_grep_and_tail_holds_the_end_of_the_loudest_log() -> None:
    watched = _watch("grep-tail")
    (search,) = [step for step in watched.observations if step.last_tool_result is not None][:1]
    loudest = errands.found(search)[0].rpartition("-s")[0]
    last = next(each for each in search.artifacts if each.artifact_id == loudest)
    assert f"{loudest}-s{last.segments}" in watched.state.read_ids


def test_masking_keeps_nothing_between_two_questions_but_what_was_found() -> None:
    watched = _watch("masking")
    purged = [
        seen
        for seen in watched.observations
        if seen.last_tool_result is not None and seen.last_tool_result.action_type is ActionType.PURGE_MEMORY
    ]
    assert len(purged) == 2
    for seen in purged:
        assert {item.kind for item in seen.working_memory.items} == {ItemKind.FINDING}


def test_masking_asks_the_same_as_rag_and_finds_the_same() -> None:
    masking, rag = _watch("masking"), _watch("rag")
    assert masking.observation.last_tool_result is not None and rag.observation.last_tool_result is not None
    assert masking.observation.last_tool_result.payload["answer"] == rag.observation.last_tool_result.payload["answer"]


def test_a_sliding_window_drops_the_oldest_and_stays_within_half() -> None:
    watched = _watch("sliding-window", memory_tokens=800)
    purges = _actions(watched, ActionType.PURGE_MEMORY)
    assert purges
    for before, after in zip(watched.observations, watched.observations[1:], strict=False):
        last = after.last_tool_result
        if last is not None and last.action_type is ActionType.PURGE_MEMORY:
            held = [item.item_id for item in before.working_memory.items]
            kept = [item.item_id for item in after.working_memory.items]
            assert held[len(held) - len(kept) :] == kept
            assert after.working_memory.token_budget is not None
            assert after.working_memory.token_budget_used <= after.working_memory.token_budget // 2


def test_a_cascade_begins_with_the_cheapest_and_stops_where_it_is_sure() -> None:
    watched = _watch("cascade", _everybody_right(0.95))
    routes = _actions(watched, ActionType.ROUTE_SUBTASK, ActionType.ESCALATE_ROUTE)
    assert [route.model_id for route in routes] == [cases.WEAKEST] * 3


def test_a_cascade_stops_at_the_second_model_that_says_the_same() -> None:
    watched = _watch("cascade", _everybody_right(0.5))
    escalated = _actions(watched, ActionType.ESCALATE_ROUTE)
    assert [route.model_id for route in escalated] == ["gpt-5-mini"] * len(escalated)
    assert len(escalated) == 3


def test_a_cascade_goes_on_while_models_disagree_and_ends_with_the_strongest() -> None:
    says = {model_id: {"q-request": {"request_id": f"req-{number}"}} for number, model_id in enumerate(cases.MENU)}
    watched = _watch("cascade", ModelsThatSay(says, 0.5))
    first = [route.model_id for route in watched.observation.routing.routes if route.subtask_id == "q-request"]
    assert first == [card.model_id for card in menu.ladder(watched.observation)]


def test_cache_first_reads_what_a_trusted_result_cites_and_asks_nobody_about_it() -> None:
    watched = _watch("cache-first")
    asked = {route.subtask_id for route in watched.observation.routing.routes}
    assert asked == {"q-request", "q-cause"}
    assert "config-orders-s1" in watched.state.read_ids
    assert watched.observation.score is not None
    setting = next(score for score in watched.observation.score.fields if score.name == "setting")
    assert setting.right and setting.grounded


def test_cache_first_never_answers_with_an_outdated_result() -> None:
    watched = _watch("cache-first", ModelsThatSay({}, 0.1))
    assert any(each.cache.hits for each in watched.observations)
    assert watched.state.submission is not None
    assert "cause" not in watched.state.submission.answer


def test_expert_solves_the_toy_case_when_models_are_right() -> None:
    watched = _watch("expert")
    assert watched.observation.score is not None and watched.observation.score.success


def test_expert_ends_a_phase_early_by_handing_over_what_it_found() -> None:
    watched = _watch("expert", case="marathon")
    first_of_second = next(seen for seen in watched.observations if seen.task.phase == 1)
    ends_at_step = watched.observations[0].task.phase_ends_at_step
    assert ends_at_step is not None and first_of_second.step <= ends_at_step
    third = next(seen for seen in watched.observations if seen.task.phase == 2)
    assert third.step < 9


# The parts they share.


def test_room_is_made_at_once_and_listings_go_before_evidence() -> None:
    game = cases.Play(cases.world_of(cases.toy()))
    game.search("request failed", 8)
    hits = errands.found(game.observation)
    game.hydrate(*hits[:2])
    game.search("pool exhausted", 4)
    room = desk.room_tokens(game.observation)
    (purge,) = _last_step(errands.make_room(game.observation, room + 1), game)
    assert [name.split("-")[0] for name in purge.context_segment_ids] == ["search"]
    assert not _last_step(errands.make_room(game.observation, 1), game)


def test_room_for_everything_still_leaves_the_findings() -> None:
    game = cases.Play(cases.world_of(cases.toy()))
    game.search("request failed", 4)
    game.route("q-request", cases.WEAKEST, *errands.found(game.observation))
    _last_step(errands.make_room(game.observation, 1_000_000), game)
    assert [item.kind for item in game.observation.working_memory.items] == [ItemKind.FINDING]


def test_of_two_findings_to_a_question_the_older_can_be_spared() -> None:
    game = cases.Play(cases.world_of(cases.toy()))
    game.route("q-setting", cases.STRONGEST)
    game.route("q-setting", cases.WEAKEST)
    (spared,) = desk.dispensable(game.observation)
    assert spared.finding_ids == (game.finding_ids[0],)


def test_no_more_handles_are_handed_over_than_are_allowed() -> None:
    game = cases.Play(cases.world_of(cases.toy()))
    game.search("request", 8)
    shown = errands.found(game.observation)
    game.hydrate(shown[7])
    handed = errands.handed_over(game.observation, [*shown, "log-nowhere-s1"])
    assert handed == (*shown[:4], shown[7])


def test_a_cheaper_model_is_asked_where_the_money_does_not_reach() -> None:
    game = cases.Play(cases.world_of(cases.toy()))
    strongest = menu.strongest(game.observation)
    rich = menu.affordable(game.observation, strongest, Effort.HIGH, 1_000, 10**12)
    assert rich is not None and (rich.model_id, rich.effort) == (cases.STRONGEST, Effort.HIGH)
    less = menu.affordable(game.observation, strongest, Effort.HIGH, 1_000, rich.nano_usd - 1)
    assert less is not None and less.effort is not Effort.HIGH
    poor = menu.affordable(game.observation, strongest, Effort.HIGH, 1_000, 1_500_000)
    assert poor is not None and poor.model_id == cases.WEAKEST
    assert menu.affordable(game.observation, strongest, Effort.HIGH, 1_000, 1) is None


def test_nobody_above_the_wanted_model_is_asked_instead() -> None:
    game = cases.Play(cases.world_of(cases.toy()))
    middle = menu.mid_tier(game.observation)
    offer = menu.affordable(game.observation, middle, Effort.MEDIUM, 1_000, 10**12)
    assert offer is not None and (offer.model_id, offer.effort) == (middle.model_id, Effort.MEDIUM)


def test_the_dearer_the_rest_the_stronger_the_model_worth_asking() -> None:
    cards = LocalEnv().reset(scenario_id=SMALLEST).models
    tiers = {card.model_id: list(Tier).index(card.tier) for card in cards}
    cheap = judgement.best_offer(cards, 1_000, 2, 100_000, 10**12)
    dear = judgement.best_offer(cards, 1_000, 2, 10**10, 10**12)
    assert cheap is not None and dear is not None
    assert tiers[dear.model_id] == list(Tier).index(Tier.FRONTIER) > tiers[cheap.model_id]
    assert judgement.best_offer(cards, 1_000, 2, 0, 1) is None


def test_a_phase_is_handed_over_only_when_every_question_has_a_finding() -> None:
    game = cases.Play(cases.world_of(cases.marathon()))
    assert resets.hand_over(game.observation) is None
    game.search("request failed", 2)
    game.route("q-request", cases.WEAKEST, *errands.found(game.observation))
    note = resets.hand_over(game.observation)
    assert note is not None
    assert game.act(note).task.phase == 1


def test_the_last_phase_is_not_handed_over() -> None:
    game = cases.Play(cases.world_of(cases.toy()))
    cases.find_everything(game)
    assert resets.hand_over(game.observation) is None


@pytest.mark.parametrize(
    ("brief", "hours"),
    [
        ("At 05:06 UTC on-call was paged. It is 07:02 now.", 3),
        ("Since 23:30 reads fail. It is 01:00 now.", 3),
        ("Build 4471 (unchanged for 20 hours) is red.", 20),
        ("Nothing has moved for 2 days.", 48),
        ("Run 418 on main is red.", None),
    ],
)
def test_a_brief_tells_how_old_a_result_may_be(brief: str, hours: int | None) -> None:
    assert provenance.hours_unchanged(brief) == hours


def _cached(game: cases.Play, version: str, age_hours: int, subtask_id: str = "q-setting") -> TokenOptEnvObservation:
    finding = Finding(
        finding_id=f"finding-{version}-{age_hours}",
        source="cache",
        subtask_id=subtask_id,
        values={"setting": "x"},
        text="",
        confidence=FLOOR,
        cites=(),
        entry_id="cache-1",
        version=version,
        age_hours=age_hours,
    )
    return game.observation.model_copy(update={"findings": (*game.observation.findings, finding)})


def test_a_result_is_trusted_only_if_young_and_of_this_very_version() -> None:
    game = cases.Play(cases.world_of(cases.toy()))
    assert trusted(_cached(game, "4.2.0", 3), 24)
    assert not trusted(_cached(game, "4.2.0", 24), 24)
    assert not trusted(_cached(game, "4.1.9", 3), 24)


def test_what_an_earlier_phase_noted_from_the_cache_is_not_judged_again() -> None:
    game = cases.Play(cases.world_of(cases.marathon()))
    assert outdated(_cached(game, "3.0.0", 900, "q-request"), 24)
    assert not outdated(_cached(game, "3.0.0", 900, "q-volume"), 24)


def test_expert_looks_for_what_is_loud_when_a_model_has_nothing_to_go_on() -> None:
    watched = _watch("expert", ModelsThatSay({}, 0.1))
    steps = watched.trace.steps
    first, second = [place for place, step in enumerate(steps) if step.action.subtask_id == "q-request"]
    assert LOUD_WORDS in {step.action.query for step in steps[first:second]}


def test_expert_hands_talk_over_last() -> None:
    watched = _watch("expert")
    handed = [route.context_ids for route in watched.observation.routing.routes]
    assert handed
    for ids in handed:
        talk = [name.startswith(("ticket", "chat")) for name in ids]
        assert talk == sorted(talk)


def test_a_log_is_searched_and_never_surveyed() -> None:
    game = cases.Play(cases.world_of(cases.toy()))
    log = [f"log-gateway-s{number}" for number in range(1, 9)]
    assert survey.spread_out(game.observation, log, about_all=True) is None


def test_a_cache_query_always_finds_room_for_its_hits() -> None:
    watched = _watch("cache-first", memory_tokens=500)
    before = [
        seen
        for seen, after in zip(watched.observations, watched.observations[1:], strict=False)
        if after.last_tool_result is not None and after.last_tool_result.action_type is ActionType.QUERY_CACHE
    ]
    assert before
    assert all(desk.room_tokens(seen) >= CACHE_MAX_HITS * FINDING_CAP_TOKENS for seen in before)
