"""Generated incidents: what every case owes to its outline, to those who play it and to the split it belongs to."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from statistics import mean, pstdev

import pytest

from TokenOptEnv.config import (
    FULL_READ_CAP_TOKENS,
    SEARCH_MAX_TOP_K,
    SEGMENT_CAP_TOKENS,
    YARDSTICK,
    Difficulty,
    EpisodeConfig,
)
from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.evaluation.validate import CHECKS
from TokenOptEnv.plans.reference import make_reference_plan
from TokenOptEnv.scenario import Artifact, CacheValidity, QuestionKind, Scenario, SubtaskTruth
from TokenOptEnv.simulators import terms, tokens
from TokenOptEnv.simulators.log_lines import masked
from TokenOptEnv.simulators.retrieval import Retriever
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.family import families, write_case
from TokenOptEnv.task_defs.generation import Outline, Split, outline
from TokenOptEnv.task_defs.incident.generator import generate
from TokenOptEnv.task_defs.incident.generator.faults import HELD_OUT, faults_of, kinds
from TokenOptEnv.task_defs.incident.generator.faults.kind import Spot, Wording
from TokenOptEnv.task_defs.incident.generator.material import material_of
from TokenOptEnv.task_defs.incident.generator.simulation.effect import Effect
from TokenOptEnv.task_defs.incident.generator.simulation.kernel import Kernel, Process, Signal, Slots, Within
from TokenOptEnv.task_defs.incident.generator.simulation.run import Load, run
from TokenOptEnv.task_defs.incident.generator.simulation.topology import EXTENTS, Kind, draw_topology
from TokenOptEnv.task_defs.incident.generator.story import Story, draw_story
from TokenOptEnv.task_defs.incident.vocabulary import NO_ACTION, NO_SERVICE, NO_TRIGGER, FaultClass
from TokenOptEnv.task_defs.incident.writers.clock import Clock
from TokenOptEnv.task_defs.incident.writers.haproxy_access import HaproxyLog, Passed
from TokenOptEnv.task_defs.incident.writers.klog import Klog
from TokenOptEnv.task_defs.incident.writers.python_log import PythonLog
from TokenOptEnv.task_defs.incident.writers.serilog import Serilog
from TokenOptEnv.task_defs.incident.writers.tracing_log import TracingLog
from TokenOptEnv.task_defs.pointers import QUESTION_CAP_TOKENS

EASY, MEDIUM, HARD, MARATHON = Difficulty.EASY, Difficulty.MEDIUM, Difficulty.HARD, Difficulty.MARATHON
TRAIN_FROM, TEST_FROM = 100_000, 50_000
AIMED_TOKENS = {EASY: (7_000, 11_000), MEDIUM: (18_000, 30_000), HARD: (60_000, 123_000), MARATHON: (60_000, 123_000)}
SAMPLE = [
    *((EASY, TRAIN_FROM + n) for n in range(18)),
    *((EASY, TEST_FROM + n) for n in range(10)),
    *((MEDIUM, TRAIN_FROM + n) for n in range(10)),
    *((MEDIUM, TEST_FROM + n) for n in range(8)),
    *((HARD, TRAIN_FROM + n) for n in range(2)),
    (HARD, TEST_FROM),
    *((MARATHON, TRAIN_FROM + n) for n in range(2)),
    (MARATHON, TEST_FROM + 5),
]
each_case = pytest.mark.parametrize(("difficulty", "number"), SAMPLE)

_BUILT_ELSEWHERE = """
from TokenOptEnv.config import Difficulty
from TokenOptEnv.task_defs.generation import outline
from TokenOptEnv.task_defs.family import write_case
for difficulty, number in (("medium", 50_003), ("easy", 100_002), ("marathon", 100_001)):
    print(write_case(outline("incident", Difficulty(difficulty), number)).content_hash)
"""
_CLOCK_TIME = re.compile(r"\d\d:\d\d:\d\d(?:[.,]\d{3})?")
_ID = re.compile(r"\b(?:[0-9a-f]{8}|[a-z]{2,8}-\d{3,5})\b")


def drawn(difficulty: Difficulty, number: int) -> Outline:
    return outline("incident", difficulty, number)


@cache
def built(difficulty: Difficulty, number: int) -> Scenario:
    return write_case(drawn(difficulty, number))


@cache
def twin(difficulty: Difficulty, number: int, no_fault: bool) -> Scenario:
    """The same outline with, or without, something at fault."""
    return write_case(replace(drawn(difficulty, number), no_fault=no_fault))


@cache
def told(difficulty: Difficulty, number: int) -> Story:
    return draw_story(drawn(difficulty, number), 0)


def count(text: str) -> int:
    return tokens.count(YARDSTICK, text)


def texts(artifacts: tuple[Artifact, ...]) -> dict[str, str]:
    return {segment.segment_id: segment.text for artifact in artifacts for segment in artifact.segments}


def fact_segments(scenario: Scenario) -> dict[str, set[str]]:
    return {fact.fact_id: {place.segment_id for place in fact.places} for fact in scenario.hidden.facts}


def leg_of(scenario: Scenario, subtask_id: str) -> tuple[Artifact, ...]:
    """What can be read when a question is asked."""
    for phase in scenario.public.phases:
        if subtask_id in phase.subtask_ids:
            return tuple(a for a in scenario.public.artifacts if a.artifact_id in phase.artifact_ids)
    return scenario.public.artifacts


def questions(scenario: Scenario) -> Iterator[tuple[str, SubtaskTruth]]:
    """Each question as it reads with its slot filled, and its truth."""
    for subtask, truth in zip(scenario.public.subtasks, scenario.hidden.subtasks, strict=True):
        slot = subtask.slot
        text = subtask.question
        yield (text if slot is None else text.replace(f"{{{slot.name}}}", truth.slot_value or "")), truth


def hits(scenario: Scenario, question: str, truth: SubtaskTruth, top_k: int = SEARCH_MAX_TOP_K) -> list[str]:
    retriever = Retriever(tuple(texts(leg_of(scenario, truth.subtask_id)).items()))
    return [hit.segment_id for hit in retriever.search(question, top_k)]


def cover(scenario: Scenario, truth: SubtaskTruth) -> int:
    """The fewest segments that show every needed fact, found greedily."""
    shown_in = fact_segments(scenario)
    left, size = [shown_in[fact_id] for fact_id in truth.needs], 0
    while left:
        spread = Counter(segment_id for places in left for segment_id in places)
        best = max(sorted(spread), key=lambda name: spread[name])
        left, size = [places for places in left if best not in places], size + 1
    return size


def is_survey(truth: SubtaskTruth) -> bool:
    return any("host-" in fact_id for fact_id in truth.needs)


def answers(scenario: Scenario) -> dict[str, str]:
    return {field.name: field.accepted[0] for field in scenario.hidden.fields}


# --- the same everywhere


def test_the_family_generates() -> None:
    assert families()["incident"].generate is generate


def test_a_case_is_the_same_to_the_byte_in_other_processes_under_other_hash_seeds() -> None:
    here = [
        built(difficulty, number).content_hash
        for difficulty, number in ((MEDIUM, 50_003), (EASY, 100_002), (MARATHON, 100_001))
    ]
    for seed in ("1", "4711"):
        elsewhere = subprocess.run(
            [sys.executable, "-c", _BUILT_ELSEWHERE],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert elsewhere.stdout.split() == here


def test_neighbouring_numbers_share_no_story() -> None:
    assert len({built(EASY, TRAIN_FROM + n).public.brief for n in range(18)}) == 18


# --- the outline


@each_case
def test_a_case_keeps_every_contract_that_scenarios_are_checked_for(difficulty: Difficulty, number: int) -> None:
    faults = [fault for check in CHECKS for fault in check(built(difficulty, number))]
    if not drawn(difficulty, number).valid_cache:
        faults = [fault for fault in faults if fault.cause != "has no valid entry"]
    assert faults == []


@each_case
def test_a_case_has_the_size_and_the_number_of_artifacts_that_are_aimed_at(difficulty: Difficulty, number: int) -> None:
    scenario = built(difficulty, number)
    low, high = AIMED_TOKENS[difficulty]
    assert low <= sum(scenario.public.segment_tokens[YARDSTICK]) <= high
    most = {EASY: 9, MEDIUM: 9, HARD: 16, MARATHON: 24}[difficulty]
    assert 5 <= len(scenario.public.artifacts) <= most


@each_case
def test_a_case_asks_as_many_questions_as_its_outline_wants_with_a_slot_where_it_wants_one(
    difficulty: Difficulty, number: int
) -> None:
    scenario, wanted = built(difficulty, number), drawn(difficulty, number)
    assert scenario.scenario_id == wanted.scenario_id
    assert len(scenario.public.subtasks) == wanted.questions
    assert any(subtask.slot is not None for subtask in scenario.public.subtasks) == wanted.slot
    assert (answers(scenario)["fault_class"] == FaultClass.NO_FAULT) == wanted.no_fault


@each_case
def test_the_facts_of_a_question_stand_in_as_many_segments_as_the_outline_wants(
    difficulty: Difficulty, number: int
) -> None:
    scenario, wanted = built(difficulty, number), drawn(difficulty, number)
    low, high = wanted.facts
    surveys = [truth for truth in scenario.hidden.subtasks if is_survey(truth)]
    assert len(surveys) == (0 if wanted.wide_facts is None else 1)
    for truth in scenario.hidden.subtasks:
        if truth in surveys:
            assert cover(scenario, truth) == len(truth.needs) == wanted.wide_facts
        else:
            assert low <= cover(scenario, truth) <= high, truth.subtask_id


def test_every_host_of_a_survey_has_a_segment_of_its_own_that_is_nearly_full() -> None:
    numbers = [n for n in range(TRAIN_FROM, TRAIN_FROM + 40) if drawn(EASY, n).wide_facts is not None][:3]
    for number in numbers:
        scenario = built(EASY, number)
        survey = next(truth for truth in scenario.hidden.subtasks if is_survey(truth))
        segments = texts(scenario.public.artifacts)
        for fact_id in survey.needs:
            (segment_id,) = fact_segments(scenario)[fact_id]
            assert SEGMENT_CAP_TOKENS - 50 <= count(segments[segment_id]) <= SEGMENT_CAP_TOKENS


@each_case
def test_the_path_of_a_field_is_the_decisive_part_of_what_its_question_needs(
    difficulty: Difficulty, number: int
) -> None:
    scenario = built(difficulty, number)
    needs = {truth.subtask_id: truth.needs for truth in scenario.hidden.subtasks}
    for field in scenario.hidden.fields:
        source = next(s.subtask_id for s in scenario.public.subtasks if field.name in s.fields)
        assert 1 <= len(field.path) <= 3
        assert set(field.path) <= set(needs[source])


@each_case
def test_what_an_agent_is_told_is_short_and_so_is_what_a_model_answers(difficulty: Difficulty, number: int) -> None:
    scenario = built(difficulty, number)
    assert count(scenario.public.brief) <= 110
    assert all(count(question) <= QUESTION_CAP_TOKENS for question, _ in questions(scenario))
    assert all(count(reply.text) <= 70 for truth in scenario.hidden.subtasks for reply in truth.candidates)


@each_case
def test_a_question_has_two_tempting_wrong_answers_and_one_that_nothing_suggests(
    difficulty: Difficulty, number: int
) -> None:
    for truth in built(difficulty, number).hidden.subtasks:
        wrong = [reply for reply in truth.candidates if not reply.right]
        assert sum(bool(reply.decoy_ids) for reply in wrong) >= 2
        if truth.kind is not QuestionKind.LOOKUP:
            assert any(not reply.decoy_ids for reply in wrong)
        assert len({tuple(reply.values.items()) for reply in truth.candidates}) == len(truth.candidates)


@each_case
def test_earlier_results_are_told_apart_by_version_and_age_alone(difficulty: Difficulty, number: int) -> None:
    scenario = built(difficulty, number)
    version, validity = scenario.public.version, scenario.hidden.cache
    right = {
        truth.subtask_id: next(reply.values for reply in truth.candidates if reply.right)
        for truth in scenario.hidden.subtasks
    }
    assert 3 <= len(scenario.public.cache_entries) <= 5
    assert {CacheValidity.STALE, CacheValidity.WRONG_VERSION} <= set(validity.values())
    assert (CacheValidity.VALID in validity.values()) == drawn(difficulty, number).valid_cache
    for entry in scenario.public.cache_entries:
        kind = validity[entry.entry_id]
        assert (entry.version != version) == (kind is CacheValidity.WRONG_VERSION)
        assert (entry.values == right[entry.subtask_id]) == (kind is CacheValidity.VALID)
        if entry.version == version:
            assert (entry.age_hours <= 3) == (kind is CacheValidity.VALID)


def test_a_valid_earlier_result_answers_the_survey_where_there_is_one() -> None:
    found = 0
    for difficulty, number in SAMPLE:
        wanted = drawn(difficulty, number)
        if wanted.valid_cache and wanted.wide_facts is not None:
            scenario = built(difficulty, number)
            survey = next(truth.subtask_id for truth in scenario.hidden.subtasks if is_survey(truth))
            valid = [
                e for e in scenario.public.cache_entries if scenario.hidden.cache[e.entry_id] is CacheValidity.VALID
            ]
            assert [entry.subtask_id for entry in valid] == [survey]
            found += 1
    assert found


def test_an_outline_that_cannot_be_met_is_refused_after_a_bounded_number_of_attempts() -> None:
    with pytest.raises(ScenarioInvalid, match="12 attempts failed"):
        generate(replace(drawn(EASY, TRAIN_FROM), artifact_tokens=(1, 2)))


# --- finding things


@each_case
def test_a_search_with_the_question_finds_all_facts_exactly_where_it_is_lexical_and_something_misleading_anyway(
    difficulty: Difficulty, number: int
) -> None:
    scenario = built(difficulty, number)
    shown_in = fact_segments(scenario)
    decoys = {decoy.decoy_id: {place.segment_id for place in decoy.places} for decoy in scenario.hidden.decoys}
    tempted: list[bool] = []
    for question, truth in questions(scenario):
        found = set(hits(scenario, question, truth))
        misleading = {place for reply in truth.candidates for decoy_id in reply.decoy_ids for place in decoys[decoy_id]}
        tempted.append(bool(misleading & found))
        if not is_survey(truth):
            assert all(shown_in[fact_id] & found for fact_id in truth.needs) == truth.lexical, truth.subtask_id
    assert any(tempted)


def test_most_of_what_lexical_questions_need_is_among_the_first_four_hits() -> None:
    near = Counter[bool]()
    for difficulty, number in SAMPLE:
        scenario = built(difficulty, number)
        shown_in = fact_segments(scenario)
        for question, truth in questions(scenario):
            if truth.lexical and not is_survey(truth):
                first = set(hits(scenario, question, truth, 4))
                near.update(bool(shown_in[fact_id] & first) for fact_id in truth.needs)
    assert near[True] > 0.8 * near.total()


def attentively_found(scenario: Scenario, question: str, truth: SubtaskTruth) -> bool:
    """Search the question, read what is small, follow the ids that both show."""
    artifacts = leg_of(scenario, truth.subtask_id)
    segments = texts(artifacts)
    retriever = Retriever(tuple(segments.items()))
    small = [
        segment.segment_id
        for artifact in artifacts
        if sum(count(segment.text) for segment in artifact.segments) <= FULL_READ_CAP_TOKENS
        for segment in artifact.segments
    ]
    found = [hit.segment_id for hit in retriever.search(question, SEARCH_MAX_TOP_K)]
    leads = Counter(name for segment_id in [*small, *found[:3]] for name in _ID.findall(segments[segment_id]))
    spread = {name: sum(name in text for text in segments.values()) for name in leads}
    followed = sorted((n for n in leads if 2 <= spread[n] <= 8), key=lambda n: (-leads[n], spread[n], n))[:4]
    seen = {*small, *found, *(hit.segment_id for name in followed for hit in retriever.search(name, 4))}
    shown_in = fact_segments(scenario)
    return all(shown_in[fact_id] & seen for fact_id in truth.needs)


@pytest.mark.parametrize(("difficulty", "low", "high"), [(EASY, 0.6, 1.0), (MEDIUM, 0.4, 0.97), (HARD, 0.2, 1.0)])
def test_an_attentive_reader_finds_everything_for_most_questions(
    difficulty: Difficulty, low: float, high: float
) -> None:
    found = [
        attentively_found(built(each, number), question, truth)
        for each, number in SAMPLE
        if each is difficulty
        for question, truth in questions(built(each, number))
    ]
    assert low <= mean(found) <= high


def test_about_as_many_questions_are_lexical_as_the_outline_wants() -> None:
    for difficulty in (EASY, MEDIUM):
        flags = [t.lexical for each, n in SAMPLE if each is difficulty for t in built(each, n).hidden.subtasks]
        assert abs(mean(flags) - drawn(difficulty, TRAIN_FROM).lexical_share) <= 0.2


# --- what happened is one story


@each_case
def test_no_log_runs_backwards(difficulty: Difficulty, number: int) -> None:
    for artifact in built(difficulty, number).public.artifacts:
        if artifact.artifact_id.startswith("log-"):
            lines = "".join(segment.text for segment in artifact.segments).splitlines()
            times = [found.group().replace(",", ".") for line in lines if (found := _CLOCK_TIME.search(line))]
            assert len(times) > 4
            assert times == sorted(times)


@pytest.mark.parametrize("number", [TRAIN_FROM + 3, TRAIN_FROM + 17, TEST_FROM + 1])
def test_a_service_is_at_work_on_a_request_only_while_its_caller_waits_or_has_given_up(number: int) -> None:
    story = told(EASY, number)
    front = story.topology.front.name
    for hops in story.run.by_request.values():
        entry = next((hop for hop in hops if hop.service == story.topology.gateway.name), None)
        inside = next((hop for hop in hops if hop.service == front), None)
        if entry is None or inside is None:
            continue
        assert entry.began_ms == inside.began_ms
        assert all(hop.began_ms >= inside.began_ms for hop in hops)
        if inside.ok:
            called = [hop for hop in hops if hop.service in {service.name for service in story.topology.middle}]
            assert any(hop.ended_ms <= inside.ended_ms for hop in called) or not called


def test_the_id_of_the_request_that_the_page_shows_stands_at_the_gateway_the_front_and_the_guilty_service() -> None:
    for number in (TRAIN_FROM + 2, TRAIN_FROM + 5, TRAIN_FROM + 17):
        story, scenario = told(EASY, number), built(EASY, number)
        request_id = story.witness.request.request_id
        guilty = story.cast.guilty
        if guilty.victim is guilty.service:
            for name in (story.topology.gateway.name, story.topology.front.name, guilty.service.name):
                artifact = next(a for a in scenario.public.artifacts if a.artifact_id == f"log-{name}")
                assert any(request_id in segment.text for segment in artifact.segments), name


@pytest.mark.parametrize("fault_class", [kind for kind in FaultClass if kind is not FaultClass.NO_FAULT])
def test_every_fault_is_felt_at_the_gateway_and_not_before_it_is_put_in(fault_class: FaultClass) -> None:
    kind = kinds()[fault_class]
    stream = Stream("test", fault_class.value)
    topology = draw_topology(stream, material_of(Split.TRAIN).domains[0], EXTENTS[MEDIUM])
    caller = next(s for s in topology.middle if any(c.target in {m.name for m in topology.middle} for c in s.calls))
    middle = {service.name: service for service in topology.middle}
    called = next(middle[call.target] for call in caller.calls if call.target in middle)
    publisher = next(service for service in topology.middle if service.worker is not None)
    seats = {
        "MIDDLE": (caller, caller),
        "CALLER": (caller, called),
        "WORKER": (topology.services[str(publisher.worker)], publisher),
        "BATCH": (topology.of_kind(Kind.BATCH)[0], called),
        "RESOLVER": (topology.of_kind(Kind.RESOLVER)[0], called),
    }
    culprit, victim = seats[kind.seat.name]
    effect = kind.effect(Spot(culprit, victim, 5 * 60_000, 18))
    happened = run(stream, topology, effect, Load(18, 12, ("t-1", "t-2", "t-3")))
    assert happened.onset_minute is not None
    assert 5 <= happened.onset_minute <= 13


def test_nothing_is_slow_or_fails_in_a_healthy_system() -> None:
    topology = draw_topology(Stream("test"), material_of(Split.TEST).domains[0], EXTENTS[HARD])
    happened = run(Stream("test", "run"), topology, Effect("", 0), Load(10, 12, ("t-1",)))
    assert happened.onset_minute is None
    assert len(happened.entries) > 90
    assert all(hop.ok for hop in happened.hops)


def test_systems_grow_with_the_difficulty_from_ten_services_to_forty_at_most() -> None:
    domains = material_of(Split.TRAIN).domains
    sizes = {
        difficulty: [
            len(draw_topology(Stream("test", n), domains[n % 5], EXTENTS[difficulty]).services) for n in range(20)
        ]
        for difficulty in (EASY, MEDIUM, HARD)
    }
    assert 5 <= min(sizes[EASY]) <= max(sizes[EASY]) < mean(sizes[MEDIUM]) < min(sizes[HARD]) <= max(sizes[HARD]) <= 40


# --- a page that nothing is wrong behind


def test_where_nothing_is_at_fault_every_answer_says_so() -> None:
    for number in range(TRAIN_FROM, TRAIN_FROM + 4):
        assert answers(twin(EASY, number, True)) == {
            "service": NO_SERVICE,
            "fault_class": FaultClass.NO_FAULT,
            "trigger": NO_TRIGGER,
            "remediation": NO_ACTION,
        }


def test_a_quiet_page_rests_on_what_rules_suspects_out() -> None:
    """No customer was refused (`state`), or a suspect came later, went elsewhere, was taken back (its `change`)."""
    for number in range(TRAIN_FROM, TRAIN_FROM + 10):
        scenario = twin(MEDIUM, number, True)
        facts = {fact.fact_id for fact in scenario.hidden.facts}
        suspects = {
            decoy_id.removeprefix("lure-").split("-")[0]
            for truth in scenario.hidden.subtasks
            for reply in truth.candidates
            for decoy_id in reply.decoy_ids
            if decoy_id.endswith("-change")
        }
        assert facts & {"state", *(f"{tag}-change" for tag in suspects)}


def test_a_quiet_page_cannot_be_told_by_what_is_shown_at_the_start() -> None:
    """The same outlines with and without a fault: what is counted differs by less than it spreads."""

    def shown(scenario: Scenario) -> dict[str, float]:
        public = scenario.public
        return {
            "brief": count(public.brief),
            "artifacts": len(public.artifacts),
            "tokens": sum(public.segment_tokens[YARDSTICK]),
            "segments": len(public.segment_tokens[YARDSTICK]),
            "questions": sum(count(subtask.question) for subtask in public.subtasks),
            "choices": sum(len(field.choices) for field in public.answer_fields),
            "entries": len(public.cache_entries),
            "ages": sum(entry.age_hours for entry in public.cache_entries),
        }

    numbers = range(TRAIN_FROM, TRAIN_FROM + 30)
    quiet = [shown(twin(EASY, number, True)) for number in numbers]
    faulty = [shown(twin(EASY, number, False)) for number in numbers]
    for name in quiet[0]:
        one, other = [each[name] for each in quiet], [each[name] for each in faulty]
        assert abs(mean(one) - mean(other)) <= 0.5 * max(1.0, pstdev([*one, *other])), name


def test_a_quiet_page_has_the_same_kinds_of_artifacts_and_fields_as_its_faulty_twin() -> None:
    """But for the few that had to be drawn twice: a second draw has papers of its own."""
    alike = 0
    for number in range(TRAIN_FROM, TRAIN_FROM + 12):
        kinds_of = [Counter(a.kind for a in twin(EASY, number, quiet).public.artifacts) for quiet in (True, False)]
        asked = [[s.fields for s in twin(EASY, number, quiet).public.subtasks] for quiet in (True, False)]
        alike += kinds_of[0] == kinds_of[1]
        assert asked[0] == asked[1]
    assert alike >= 10


def test_neither_place_nor_order_gives_the_guilty_one_away() -> None:
    among_logs, among_changes, among_services = Counter[int](), Counter[int](), Counter[int]()
    for number in range(TRAIN_FROM, TRAIN_FROM + 30):
        scenario = twin(EASY, number, False)
        truth = answers(scenario)
        logs = [a.artifact_id for a in scenario.public.artifacts if a.artifact_id.startswith("log-")]
        among_logs[logs.index(f"log-{truth['service']}")] += 1
        changes = next(a for a in scenario.public.artifacts if a.artifact_id.startswith("changes-"))
        text = "".join(segment.text for segment in changes.segments)
        rivals = {
            reply.values["trigger"]
            for subtask in scenario.hidden.subtasks
            for reply in subtask.candidates
            if reply.decoy_ids and reply.values.get("trigger", NO_TRIGGER) != NO_TRIGGER
        }
        places = sorted(text.find(trigger) for trigger in {*rivals, truth["trigger"]})
        among_changes[places.index(text.find(truth["trigger"]))] += 1
        choices = next(field.choices for field in scenario.public.answer_fields if field.name == "service")
        among_services[choices.index(truth["service"])] += 1
    assert max(among_logs.values()) <= 15
    assert max(among_changes.values()) <= 21
    assert max(among_services.values()) <= 10


@each_case
def test_nothing_told_at_the_start_names_the_answer(difficulty: Difficulty, number: int) -> None:
    scenario = built(difficulty, number)
    public, truth = scenario.public, answers(scenario)
    shown = " ".join(
        [public.title, public.brief, *(s.question for s in public.subtasks), *(p.brief for p in public.phases)]
        + [f"{a.artifact_id} {a.title}" for a in public.artifacts]
    ).lower()
    if truth["trigger"] != NO_TRIGGER:
        assert truth["trigger"].lower() not in shown
    assert truth["fault_class"] not in shown
    assert truth["remediation"].lower() not in shown


# --- marathons


def marathons() -> list[Scenario]:
    return [built(difficulty, number) for difficulty, number in SAMPLE if difficulty is MARATHON]


def test_a_marathon_has_three_legs_of_forty_steps_with_artifacts_of_their_own() -> None:
    for scenario in marathons():
        phases = scenario.public.phases
        assert [phase.steps for phase in phases] == [13, 13, 14]
        named = [artifact_id for phase in phases for artifact_id in phase.artifact_ids]
        assert sorted(named) == sorted(a.artifact_id for a in scenario.public.artifacts)
        assert sorted(s for phase in phases for s in phase.subtask_ids) == sorted(
            s.subtask_id for s in scenario.public.subtasks
        )


def test_what_a_leg_asks_can_be_answered_from_what_it_shows() -> None:
    for scenario in marathons():
        places = fact_segments(scenario)
        for truth in scenario.hidden.subtasks:
            readable = set(texts(leg_of(scenario, truth.subtask_id)))
            assert all(places[fact_id] <= readable for fact_id in truth.needs)


def test_the_address_that_a_later_leg_needs_stands_in_the_very_line_that_the_first_leg_rests_on() -> None:
    for scenario in marathons():
        truth = next(truth for truth in scenario.hidden.subtasks if truth.subtask_id == "locate")
        peer = next(reply.values["peer"] for reply in truth.candidates if reply.right)
        met = next(fact for fact in scenario.hidden.facts if fact.fact_id == "leg1-met")
        assert met.fact_id in truth.needs
        assert all(f"{peer}:" in place.text for place in met.places)


def test_the_last_leg_needs_what_only_the_first_finds_and_fields_are_yielded_across_legs() -> None:
    for scenario in marathons():
        legs = {s: number for number, phase in enumerate(scenario.public.phases) for s in phase.subtask_ids}
        slots = [(legs[s.slot.from_subtask_id], legs[s.subtask_id]) for s in scenario.public.subtasks if s.slot]
        assert (0, 2) in slots
        fields = {field.name for field in scenario.public.answer_fields}
        yielding = {legs[s.subtask_id] for s in scenario.public.subtasks if fields & set(s.fields)}
        assert len(yielding) >= 2


# --- splits


def spoken(split: Split) -> set[str]:
    """Every wording of a split, as one text each."""
    return {line for kind in kinds().values() for wording in kind.wordings(split) for line in lines_of(wording)}


def lines_of(wording: Wording) -> tuple[str, ...]:
    return (wording.change, wording.telltale, wording.pressure, wording.mild, wording.state, wording.advice)


def test_there_are_fourteen_classes_of_fault_with_three_wordings_each_and_four_are_held_out() -> None:
    faults = {fault_class: kind for fault_class, kind in kinds().items() if fault_class is not FaultClass.NO_FAULT}
    assert len(faults) == 14
    assert len(HELD_OUT) == 4
    for fault_class, kind in faults.items():
        assert len(kind.train) + len(kind.test) >= 3
        assert kind.test
        assert (not kind.train) == (fault_class in HELD_OUT)
    assert {kind.fault_class for kind in faults_of(Split.VALIDATION)} == set(faults) - set(HELD_OUT)
    assert {kind.fault_class for kind in faults_of(Split.TEST)} == set(faults)


def test_the_topic_of_a_wording_recurs_in_the_lines_that_a_lexical_question_rests_on() -> None:
    for kind in kinds().values():
        for wording in (*kind.train, *kind.test):
            topic = set(terms.distinct(wording.topic))
            entry = " ".join([wording.change, *wording.diff])
            for line in (entry, wording.telltale, wording.mild, wording.advice):
                assert topic <= set(terms.distinct(line)), (kind.fault_class, wording.topic, line)


def test_train_and_test_have_no_name_no_format_no_layout_and_no_phrase_in_common() -> None:
    train, test = material_of(Split.TRAIN), material_of(Split.TEST)
    assert material_of(Split.VALIDATION) is train
    assert not set(train.formats) & set(test.formats)
    assert len(train.formats) >= 5
    assert len(test.formats) >= 2
    assert not set(train.access) & set(test.access)
    assert not {type(style) for style in train.styles} & {type(style) for style in test.styles}
    names = [
        {
            part.name
            for domain in material.domains
            for part in (
                domain.gateway,
                domain.front,
                *domain.apis,
                *domain.workers,
                *domain.batches,
                *domain.stores,
                *domain.caches,
                *domain.resolvers,
                *domain.others,
            )
        }
        for material in (train, test)
    ]
    assert not names[0] & names[1]
    assert not set(train.phrases.lines.chatter) & set(test.phrases.lines.chatter)
    assert not set(train.phrases.talk.people) & set(test.phrases.talk.people)
    assert not spoken(Split.TRAIN) & spoken(Split.TEST)


def test_held_out_classes_are_the_truth_in_about_half_of_the_test_cases_and_in_no_other() -> None:
    truths = {
        split: Counter(told(EASY, number).cast.guilty.kind.fault_class for number in range(first, first + 40))
        for split, first in ((Split.TEST, TEST_FROM), (Split.TRAIN, TRAIN_FROM), (Split.VALIDATION, 0))
    }
    for split in (Split.TRAIN, Split.VALIDATION):
        assert not any(truths[split][fault_class] for fault_class in HELD_OUT)
    faulty = truths[Split.TEST].total() - truths[Split.TEST][FaultClass.NO_FAULT]
    assert 0.3 <= sum(truths[Split.TEST][fault_class] for fault_class in HELD_OUT) / faulty <= 0.7


def test_no_suspect_of_a_train_case_is_of_a_held_out_class() -> None:
    for number in range(TRAIN_FROM, TRAIN_FROM + 40):
        classes = {suspect.kind.fault_class for suspect in told(EASY, number).cast.suspects}
        assert not classes & set(HELD_OUT)


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = re.findall(r"\w+|#", masked(text).lower())
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def test_hardly_a_segment_of_evidence_in_test_is_like_one_in_train() -> None:
    """Numbers and ids masked, two segments are alike when they share more than half of their word triples."""

    def evidence(first: int) -> list[frozenset[tuple[str, ...]]]:
        found = []
        for number in range(first, first + 10):
            scenario = built(EASY, number)
            segments = texts(scenario.public.artifacts)
            places = [place for fact in scenario.hidden.facts for place in fact.places]
            places += [place for decoy in scenario.hidden.decoys for place in decoy.places]
            found += [shingles(segments[segment_id]) for segment_id in dict.fromkeys(p.segment_id for p in places)]
        return found

    train, test = evidence(TRAIN_FROM), evidence(TEST_FROM)
    alike = sum(any(2 * len(one & other) > len(one | other) for other in train) for one in test)
    assert alike < 0.01 * len(test)


# --- solvable


@pytest.mark.parametrize(
    ("difficulty", "number"),
    [(EASY, TRAIN_FROM + n) for n in range(10)] + [(MEDIUM, TRAIN_FROM + n) for n in (2, 3, 4, 5, 6, 8, 9)],
)
def test_the_reference_planner_solves_a_case(difficulty: Difficulty, number: int) -> None:
    for seed in (0, 1):
        plan = make_reference_plan(built(difficulty, number), seed, EpisodeConfig())
        assert plan.actions
        assert plan.nano_usd > 0


# --- the event loop


def test_processes_wake_in_order_of_time_and_of_asking() -> None:
    kernel, order = Kernel(), []

    def process(name: str, wait_ms: int) -> Process:
        yield wait_ms
        order.append((kernel.now_ms, name))

    for name, wait_ms in (("late", 30), ("first", 10), ("second", 10)):
        kernel.start(process(name, wait_ms))
    kernel.run(1_000)
    assert order == [(10, "first"), (10, "second"), (30, "late")]


def test_waiting_ends_with_the_signal_or_with_the_limit_whichever_comes_first() -> None:
    kernel, told_it = Kernel(), []
    signal = Signal()

    def waiter(limit_ms: int) -> Process:
        came = yield Within(signal, limit_ms)
        told_it.append((kernel.now_ms, came))

    def caller() -> Process:
        yield 50
        kernel.fire(signal, "here")

    kernel.start(waiter(20))
    kernel.start(waiter(80))
    kernel.start(caller())
    kernel.run(1_000)
    assert told_it == [(20, False), (50, True)]


def test_slots_are_given_in_order_and_those_without_patience_leave_the_line() -> None:
    kernel, had = Kernel(), []
    slots = Slots(kernel, 1)

    def user(name: str, patience_ms: int) -> Process:
        if (yield from slots.take(patience_ms)):
            had.append((kernel.now_ms, name))
            yield 100
            slots.give_back()

    for name, patience_ms in (("a", 1), ("b", 30), ("c", 500), ("d", 500)):
        kernel.start(user(name, patience_ms))
    kernel.run(1_000)
    assert had == [(0, "a"), (100, "c"), (200, "d")]
    assert slots.used == 0


# --- the formats


def test_log_formats_print_what_their_programs_print() -> None:
    clock = Clock(2025, 3, 4)
    at_ms = clock.at("02:10:07.5")
    assert all(earlier < later for earlier, later in pairwise([clock.second(at_ms), clock.second(at_ms + 1000)]))
    assert (
        Klog(clock).line(at_ms, "ERROR", "pool.go", "no slot", req="9f").text
        == 'E0304 02:10:07.500000 pool.go] "no slot" req="9f"'
    )
    assert (
        TracingLog(clock).line(at_ms, "WARN", "grid::pool", "no slot", ms=7).text
        == "2025-03-04T02:10:07.500Z  WARN grid::pool: no slot ms=7"
    )
    assert Serilog(clock).line(at_ms, "INFO", "Grid", "done", ms=7).text == "[02:10:07 INF] <Grid> done {Ms: 7}"
    assert (
        PythonLog(clock).line(at_ms, "WARN", "grid.pool", "no slot", ms=7).text
        == "2025-03-04 02:10:07,500 - grid.pool - WARNING - no slot ms=7"
    )
    passed = Passed("198.51.1.2", "util-1", "a-1", 309, 503, 24, "5cbf0974", "POST /x")
    assert HaproxyLog(clock).line(at_ms, passed).text == (
        '198.51.1.2 [02:10:07.500] in~ util-1/a-1 0/0/1/309/310 503 24 ---- {5cbf0974} "POST /x HTTP/1.1"'
    )
