"""What every designed scenario owes to those who play it, swept over all that there are."""

from __future__ import annotations

from functools import cache

import pytest

from tests.cases import Play
from TokenOptEnv import render_text, scenario_store
from TokenOptEnv.config import (
    BUGFIX_HARD_ARTIFACT_TOKENS,
    CACHE_MAX_HITS,
    DEFAULT_WORLDS,
    FINDING_CAP_TOKENS,
    PREVIEW_CAP_TOKENS,
    SEARCH_HIT_CAP_TOKENS,
    SEARCH_MAX_TOP_K,
    SEGMENT_CAP_TOKENS,
    SIZES,
    YARDSTICK,
    Difficulty,
    EpisodeConfig,
    Profile,
)
from TokenOptEnv.grading import same_text
from TokenOptEnv.models import ActionType, FieldKind, ItemKind, TokenOptEnvAction
from TokenOptEnv.plans import Plan, reference_costs, reference_plan
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.simulators import tokens
from TokenOptEnv.task_defs.family import families
from TokenOptEnv.world import ReferenceCosts, World, build_world

CONFIG = EpisodeConfig()
IDS = [scenario_id for family in families().values() for scenario_id in sorted(family.designed)]
each_scenario = pytest.mark.parametrize("scenario_id", IDS)
each_world = pytest.mark.parametrize("index", range(DEFAULT_WORLDS))

LARGEST_PROMPT_TOKENS = 7_500


@cache
def built(scenario_id: str) -> Scenario:
    return next(f for f in families().values() if scenario_id in f.designed).design(scenario_id)


def world(scenario_id: str, index: int, reference: ReferenceCosts | None = None) -> World:
    case = built(scenario_id)
    costs = reference or reference_costs(case, index, CONFIG)
    return build_world(case, index, CONFIG, reference=lambda: costs)


def up_to_the_answer(plan: Plan, play: Play) -> TokenOptEnvAction:
    """Replay all but the submission, and hand that back."""
    *before, submission = plan.actions
    for action in before:
        play.act(action)
        assert play.refusal is None, play.refusal
    assert submission.action_type is ActionType.SUBMIT_ANSWER
    return submission


# --- the plans


@each_world
@each_scenario
def test_the_reference_plan_solves_every_scenario_at_its_stated_cost(scenario_id: str, index: int) -> None:
    plan = reference_plan(built(scenario_id), index, CONFIG)
    play = Play(world(scenario_id, index))
    play.act(up_to_the_answer(plan, play))
    score = play.observation.score
    assert score is not None and score.success
    assert (score.cost_nano_usd, score.routed_nano_usd) == (plan.nano_usd, plan.routed_nano_usd)
    assert score.sce == 1.0
    terms = {term.term: term.value for term in score.terms}
    assert (terms["success"], terms["efficiency"], terms["routing"]) == (0.4, 0.25, 0.1)
    budgets = play.observation.budgets
    for budget in (budgets.tokens, budgets.nano_usd, budgets.latency_ms, budgets.steps):
        assert budget.spent <= budget.limit
    for seen in play.observations:
        assert tokens.count(YARDSTICK, render_text(seen)) <= LARGEST_PROMPT_TOKENS


@each_scenario
def test_the_worst_success_outscores_the_best_failure(scenario_id: str) -> None:
    """The same findings, once right but squandered, once with one field wrong but thrifty."""
    plan = reference_plan(built(scenario_id), 0, CONFIG)
    squandered = Play(world(scenario_id, 0, ReferenceCosts(1, 1)))
    submission = up_to_the_answer(plan, squandered)
    while squandered.observation.budgets.steps.left > 1:
        squandered.do(ActionType.MALFORMED)
    assert not squandered.observation.must_submit
    squandered.act(submission)
    worst = squandered.observation.score
    thrifty = Play(world(scenario_id, 0))
    submission = up_to_the_answer(plan, thrifty)
    field = built(scenario_id).public.answer_fields[0].name
    thrifty.act(submission.model_copy(update={"answer": {field: "something else"}}))
    best = thrifty.observation.score
    assert worst is not None and worst.success
    assert best is not None and not best.success
    assert best.total_return <= 0.15 < 0.25 <= worst.total_return


def test_no_model_is_in_over_half_of_the_reference_routes() -> None:
    asked: list[str] = []
    for scenario_id in IDS:
        for index in range(DEFAULT_WORLDS):
            play = Play(world(scenario_id, index))
            up_to_the_answer(reference_plan(built(scenario_id), index, CONFIG), play)
            asked += [route.model_id for route in play.observation.routing.routes]
    assert asked
    most = max(set(asked), key=asked.count)
    assert asked.count(most) <= len(asked) / 2, f"{most}: {asked.count(most)} of {len(asked)}"


# --- the texts


@each_scenario
def test_every_segment_keeps_to_its_cap_and_its_count_is_stored(scenario_id: str) -> None:
    public = built(scenario_id).public
    segments = [segment for artifact in public.artifacts for segment in artifact.segments]
    counts = [tokens.count(YARDSTICK, segment.text) for segment in segments]
    assert max(counts) <= SEGMENT_CAP_TOKENS
    assert tuple(counts) == public.segment_tokens[YARDSTICK]
    assert set(public.segment_tokens) == set(tokens.VOCABULARIES)
    assert all(len(stored) == len(segments) for stored in public.segment_tokens.values())
    for artifact in public.artifacts:
        names = [segment.segment_id for segment in artifact.segments]
        assert names == [f"{artifact.artifact_id}-s{number}" for number in range(1, len(names) + 1)]


@each_scenario
def test_its_size_is_that_of_its_difficulty(scenario_id: str) -> None:
    public = built(scenario_id).public
    assert scenario_id.startswith(f"{public.family}-{public.difficulty.value}-")
    low, high = SIZES[public.difficulty].artifact_tokens
    if public.family == "bugfix" and public.difficulty is Difficulty.HARD:
        low, high = BUGFIX_HARD_ARTIFACT_TOKENS
    assert low <= sum(public.segment_tokens[YARDSTICK]) <= high
    assert (len(public.phases) > 1) is (public.difficulty is Difficulty.MARATHON)
    assert sum(phase.steps for phase in public.phases) in (0, SIZES[public.difficulty].steps)


@each_scenario
def test_every_result_keeps_to_its_cap(scenario_id: str) -> None:
    case = built(scenario_id)
    caps = {
        ItemKind.PREVIEW: PREVIEW_CAP_TOKENS,
        ItemKind.SEARCH: SEARCH_HIT_CAP_TOKENS * SEARCH_MAX_TOP_K,
        ItemKind.CACHE: FINDING_CAP_TOKENS,
    }
    start = build_world(case, 0, EpisodeConfig(memory_tokens=1_000_000))
    first = Play(start).observation
    for number in range(len(first.artifacts) + len(first.task.subtasks)):
        play = Play(start)
        if number < len(first.artifacts):
            handle = first.artifacts[number]
            for page in range(1, min(10, -(-handle.segments // 8) + 1)):
                play.read(handle.artifact_id, page)
                if play.observation.done:
                    break
        else:
            question = first.task.subtasks[number - len(first.artifacts)].question
            play.search(question, SEARCH_MAX_TOP_K)
            play.query_cache(question)
            assert len([i for i in play.observation.working_memory.items if i.kind is ItemKind.CACHE]) <= CACHE_MAX_HITS
        for item in play.observation.working_memory.items:
            if item.kind in caps:
                assert item.tokens <= caps[item.kind], f"{item.item_id}: {item.text[:80]}"


# --- the truth


@each_scenario
def test_facts_and_decoys_stand_where_they_are_said_to(scenario_id: str) -> None:
    case = built(scenario_id)
    texts = {s.segment_id: s.text for artifact in case.public.artifacts for s in artifact.segments}
    places = [place for fact in case.hidden.facts for place in fact.places]
    places += [place for decoy in case.hidden.decoys for place in decoy.places]
    assert all(place.text in texts[place.segment_id] for place in places)
    known = {fact.fact_id for fact in case.hidden.facts}
    assert all(set(truth.needs) <= known for truth in case.hidden.subtasks)
    assert all(set(truth.path) <= known and truth.path for truth in case.hidden.fields)


@each_scenario
def test_each_question_has_one_right_answer_and_it_is_what_the_grader_accepts(scenario_id: str) -> None:
    case = built(scenario_id)
    fields = {field.name: field for field in case.public.answer_fields}
    accepted = {truth.name: truth.accepted for truth in case.hidden.fields}
    assert set(accepted) == set(fields)
    answered: set[str] = set()
    for truth in case.hidden.subtasks:
        right = [candidate for candidate in truth.candidates if candidate.right]
        assert len(right) == 1
        assert len(truth.candidates) > 1
        for candidate in truth.candidates:
            verdicts = []
            for name in candidate.values.keys() & fields.keys():
                value = candidate.values[name]
                if fields[name].kind is FieldKind.PATCH:
                    verdicts.append(case.hidden.verdicts[value])
                else:
                    verdicts.append(any(same_text(value, each) for each in accepted[name]))
                if fields[name].choices:
                    assert value in fields[name].choices
            if candidate.right:
                assert all(verdicts)
                answered |= candidate.values.keys() & fields.keys()
            elif verdicts:
                assert not all(verdicts), f"{candidate.candidate_id} is called wrong but would be accepted"
    assert answered == set(fields)


@each_scenario
def test_a_slot_is_filled_by_an_earlier_question(scenario_id: str) -> None:
    case = built(scenario_id)
    asked = {subtask.subtask_id: subtask for subtask in case.public.subtasks}
    truths = {truth.subtask_id: truth for truth in case.hidden.subtasks}
    assert set(asked) == set(truths)
    for subtask in asked.values():
        if subtask.slot is None:
            assert truths[subtask.subtask_id].slot_value is None
            continue
        assert "{" + subtask.slot.name + "}" in subtask.question
        source = truths[subtask.slot.from_subtask_id]
        (right,) = [candidate for candidate in source.candidates if candidate.right]
        assert right.values[subtask.slot.name] == truths[subtask.subtask_id].slot_value


@each_scenario
def test_an_outdated_result_can_be_told_from_its_version_or_age(scenario_id: str) -> None:
    case = built(scenario_id)
    validity = case.hidden.cache
    assert set(validity) == {entry.entry_id for entry in case.public.cache_entries}
    valid_ages = [e.age_hours for e in case.public.cache_entries if validity[e.entry_id] == "valid"]
    for entry in case.public.cache_entries:
        if validity[entry.entry_id] == "valid":
            assert entry.version == case.public.version
        elif validity[entry.entry_id] == "wrong_version":
            assert entry.version != case.public.version
        else:
            assert entry.version != case.public.version or entry.age_hours > max(valid_ages, default=0)


def reasons(case: Scenario) -> list[str]:
    return [fact.why for fact in case.hidden.facts] + [decoy.why for decoy in case.hidden.decoys]


@each_scenario
def test_the_public_half_gives_no_reason_away(scenario_id: str) -> None:
    case = built(scenario_id)
    public = case.public.model_dump_json()
    told = [why for why in reasons(case) if why in public]
    told += [c.candidate_id for truth in case.hidden.subtasks for c in truth.candidates if c.candidate_id in public]
    assert told == []


@each_scenario
def test_the_first_look_tells_nothing_hidden(scenario_id: str) -> None:
    case = built(scenario_id)
    play = Play(build_world(case, 0, EpisodeConfig(profile=Profile.V1)))
    for artifact in play.observation.artifacts[:6]:
        play.read(artifact.artifact_id)
    for subtask in play.observation.task.subtasks[:3]:
        play.query_cache(subtask.question)
    shown = "".join(seen.model_dump_json() for seen in play.observations)
    words = reasons(case)
    public = case.public.model_dump_json()
    for truth in case.hidden.subtasks:
        words += [c.candidate_id for c in truth.candidates]
        words += [c.text for c in truth.candidates if c.text not in public]
    assert [word for word in words if word in shown] == []


@each_scenario
def test_each_menu_has_four_to_six_models_of_every_tier(scenario_id: str) -> None:
    case = built(scenario_id)
    for catalog, menu in case.public.menus.items():
        assert 4 <= len(menu) <= 6
        assert len(set(menu)) == len(menu)
        controller = CONFIG.controller_model if catalog == CONFIG.catalog else None
        options = EpisodeConfig(catalog=catalog, controller_model=controller or menu[0])
        cards = build_world(case, 0, options).visible.menu
        assert len({card.tier for card in cards}) == 3


# --- what is shipped


def test_what_is_shipped_is_what_is_designed() -> None:
    shipped = {scenario_id: scenario_store.load(scenario_id).content_hash for scenario_id in scenario_store.ids("core")}
    designed = {scenario_id: built(scenario_id).content_hash for scenario_id in IDS}
    assert shipped == designed, "the core suite is not up to date; rebuild it: camre scenarios build"
