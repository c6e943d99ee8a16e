"""The incident family: what every designed case owes to those who play it, and the writers it is made with."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from itertools import pairwise, product

import pytest

from TokenOptEnv.config import (
    FULL_READ_CAP_TOKENS,
    ROUTE_MAX_HANDLES,
    SEARCH_MAX_TOP_K,
    SIZES,
    YARDSTICK,
    Difficulty,
    EpisodeConfig,
    Profile,
)
from TokenOptEnv.models import FieldKind
from TokenOptEnv.scenario import CacheValidity, QuestionKind, Scenario, SubtaskTruth
from TokenOptEnv.simulators import tokens
from TokenOptEnv.simulators.retrieval import Retriever
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.family import families
from TokenOptEnv.task_defs.incident import FAMILY
from TokenOptEnv.task_defs.incident.vocabulary import NO_ACTION, NO_SERVICE, NO_TRIGGER, FaultClass
from TokenOptEnv.task_defs.incident.writers.clock import Clock
from TokenOptEnv.task_defs.incident.writers.entries import Entry, merge, ticks
from TokenOptEnv.task_defs.incident.writers.go_logfmt import LogfmtLog
from TokenOptEnv.task_defs.incident.writers.java_log import JavaLog, Thrown
from TokenOptEnv.world import visible_world

CASES = sorted(FAMILY.designed)
MEDIUM = "incident-medium-kafka-backpressure"
QUIET = "incident-easy-orders-cell2"
EASY = [name for name in CASES if name.startswith("incident-easy-")]
FOLLOWED = {
    ("ran-out", "config-tax-upstreams"): "10.42.7.18:8443",
    ("leaf-in-use", "config-tax-upstreams"): "address-resolver",
    ("refused-tenants", "brief"): "503",
}
"""By fact of a question that shares no words with it, and where the words are shown: what to search for."""
HANDLES = ROUTE_MAX_HANDLES[Profile.V2]
ARTIFACTS = {
    Difficulty.EASY: (range(5, 10), range(1, 4)),
    Difficulty.MEDIUM: (range(5, 10), range(1, 4)),
    Difficulty.HARD: (range(12, 21), range(5, 10)),
    Difficulty.MARATHON: (range(12, 21), range(5, 10)),
}
"""By difficulty: how many artifacts a case has, and how many of them are too large to be read whole."""
each_case = pytest.mark.parametrize("scenario_id", CASES)

_BUILT_ELSEWHERE = """
from TokenOptEnv.task_defs.incident import FAMILY
for scenario_id, build in sorted(FAMILY.designed.items()):
    print(scenario_id, build().content_hash)
"""
_CLOCK_TIME = re.compile(r"\d\d:\d\d:\d\d(?:[.,]\d{3})?")
_POLLED = re.compile(r"poll returned (\d+) from settlements\.v3-7@(\d+)")


@cache
def built(scenario_id: str) -> Scenario:
    return FAMILY.designed[scenario_id]()


def count(text: str) -> int:
    return tokens.count(YARDSTICK, text)


def texts(scenario: Scenario) -> dict[str, str]:
    return {segment.segment_id: segment.text for artifact in scenario.public.artifacts for segment in artifact.segments}


def fact_segments(scenario: Scenario) -> dict[str, set[str]]:
    return {fact.fact_id: {place.segment_id for place in fact.places} for fact in scenario.hidden.facts}


def fewest_segments(scenario: Scenario, truth: SubtaskTruth) -> int:
    shown_in = fact_segments(scenario)
    return min(len(set(chosen)) for chosen in product(*(sorted(shown_in[fact_id]) for fact_id in truth.needs)))


def right_values(scenario: Scenario, subtask_id: str) -> dict[str, str]:
    truth = next(truth for truth in scenario.hidden.subtasks if truth.subtask_id == subtask_id)
    return next(candidate.values for candidate in truth.candidates if candidate.right)


def test_discovery_finds_the_family_and_its_ids_name_family_and_difficulty() -> None:
    assert families()["incident"] is FAMILY
    for scenario_id in CASES:
        public = built(scenario_id).public
        assert public.scenario_id == scenario_id
        assert scenario_id.startswith(f"incident-{public.difficulty}-")


def test_a_case_is_the_same_to_the_byte_in_another_process_under_another_hash_seed() -> None:
    elsewhere = subprocess.run(
        [sys.executable, "-c", _BUILT_ELSEWHERE],
        env={**os.environ, "PYTHONHASHSEED": "4711"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert elsewhere.stdout.split() == [word for name in CASES for word in (name, built(name).content_hash)]


@each_case
def test_a_case_has_the_size_of_its_difficulty_and_small_and_large_artifacts(scenario_id: str) -> None:
    public = built(scenario_id).public
    low, high = SIZES[public.difficulty].artifact_tokens
    sizes = [sum(count(segment.text) for segment in artifact.segments) for artifact in public.artifacts]
    assert low <= sum(sizes) <= high
    artifacts, large = ARTIFACTS[public.difficulty]
    assert len(sizes) in artifacts
    assert sum(size > FULL_READ_CAP_TOKENS for size in sizes) in large


@each_case
def test_what_an_agent_is_told_is_short(scenario_id: str) -> None:
    scenario = built(scenario_id)
    assert count(scenario.public.brief) <= 110
    assert all(count(field.question) <= 20 for field in scenario.public.answer_fields)
    assert all(count(subtask.question) <= 40 for subtask in scenario.public.subtasks)
    assert all(count(reply.text) <= 70 for truth in scenario.hidden.subtasks for reply in truth.candidates)


def test_the_reconciler_log_of_the_quick_start_is_large_enough_to_be_previewed() -> None:
    artifact = next(a for a in built(MEDIUM).public.artifacts if a.artifact_id == "log-reconciler-5521")
    assert sum(count(segment.text) for segment in artifact.segments) >= 8_000


@each_case
def test_the_subtasks_together_yield_every_answer_field_with_its_canonical_value(scenario_id: str) -> None:
    scenario = built(scenario_id)
    yielded = {
        name: value
        for subtask in scenario.public.subtasks
        for name, value in right_values(scenario, subtask.subtask_id).items()
    }
    for truth in scenario.hidden.fields:
        assert yielded[truth.name] == truth.accepted[0]


@each_case
def test_every_reply_to_a_choice_is_one_of_the_choices_and_fills_the_fields_it_is_asked_for(scenario_id: str) -> None:
    scenario = built(scenario_id)
    choices = {f.name: f.choices for f in scenario.public.answer_fields if f.kind is FieldKind.CHOICE}
    for subtask, truth in zip(scenario.public.subtasks, scenario.hidden.subtasks, strict=True):
        for reply in truth.candidates:
            assert tuple(reply.values) == subtask.fields
            assert all(value in choices.get(name, (value,)) for name, value in reply.values.items())


@each_case
def test_the_path_of_a_field_is_the_decisive_part_of_what_the_subtask_that_yields_it_needs(scenario_id: str) -> None:
    scenario = built(scenario_id)
    needs = {truth.subtask_id: truth.needs for truth in scenario.hidden.subtasks}
    for field in scenario.hidden.fields:
        source = next(s.subtask_id for s in scenario.public.subtasks if field.name in s.fields)
        assert set(field.path) <= set(needs[source])
        assert 1 <= len(field.path) <= (3 if len(needs[source]) > 3 else 2)


@each_case
def test_each_question_has_two_wrong_answers_that_rest_on_decoys_and_one_that_needs_none_unless_it_is_a_lookup(
    scenario_id: str,
) -> None:
    for truth in built(scenario_id).hidden.subtasks:
        wrong = [reply for reply in truth.candidates if not reply.right]
        assert sum(bool(reply.decoy_ids) for reply in wrong) >= 2
        if truth.kind is not QuestionKind.LOOKUP:
            assert any(not reply.decoy_ids for reply in wrong)


def found_by_asking(scenario: Scenario, top_k: int) -> dict[str, set[str]]:
    """By subtask: the segments that a search with its question finds in its phase, its slot filled."""
    slots = {truth.subtask_id: truth.slot_value for truth in scenario.hidden.subtasks}
    found = {}
    for phase in visible_world(scenario, EpisodeConfig()).phases:
        for subtask in phase.subtasks.values():
            question = subtask.question
            if subtask.slot is not None:
                question = question.replace(f"{{{subtask.slot.name}}}", slots[subtask.subtask_id] or "")
            found[subtask.subtask_id] = {hit.segment_id for hit in phase.retriever.search(question, top_k)}
    return found


@each_case
def test_searching_with_the_question_finds_a_decoy_and_all_its_facts_only_where_it_is_lexical(scenario_id: str) -> None:
    scenario = built(scenario_id)
    shown_in = fact_segments(scenario)
    decoys = {decoy.decoy_id: {place.segment_id for place in decoy.places} for decoy in scenario.hidden.decoys}
    found = found_by_asking(scenario, SEARCH_MAX_TOP_K)
    for truth in scenario.hidden.subtasks:
        hits = found[truth.subtask_id]
        misleading = {place for reply in truth.candidates for decoy_id in reply.decoy_ids for place in decoys[decoy_id]}
        assert misleading & hits, truth.subtask_id
        assert all(shown_in[fact_id] & hits for fact_id in truth.needs) == truth.lexical, truth.subtask_id


def test_an_easy_case_has_one_question_that_is_not_lexical_and_a_medium_case_one_that_is() -> None:
    for scenario_id in (*EASY, MEDIUM):
        lexical = [truth.lexical for truth in built(scenario_id).hidden.subtasks]
        assert (lexical.count(False) if scenario_id in EASY else lexical.count(True)) == 1, scenario_id


@pytest.mark.parametrize("scenario_id", EASY)
def test_half_the_lexical_questions_of_an_easy_case_find_their_facts_among_as_many_hits_as_a_route_takes(
    scenario_id: str,
) -> None:
    scenario = built(scenario_id)
    shown_in, found = fact_segments(scenario), found_by_asking(scenario, HANDLES)
    lexical = [truth for truth in scenario.hidden.subtasks if truth.lexical]
    at_once = [t for t in lexical if all(shown_in[fact_id] & found[t.subtask_id] for fact_id in t.needs)]
    assert 2 * len(at_once) >= len(lexical)


@pytest.mark.parametrize("scenario_id", EASY)
def test_what_the_other_question_of_an_easy_case_needs_is_read_whole_or_found_by_following_what_was_shown(
    scenario_id: str,
) -> None:
    scenario = built(scenario_id)
    retriever = Retriever(tuple(texts(scenario).items()))
    shown = {a.artifact_id: "".join(segment.text for segment in a.segments) for a in scenario.public.artifacts}
    small = {
        segment.segment_id
        for artifact in scenario.public.artifacts
        if count(shown[artifact.artifact_id]) <= FULL_READ_CAP_TOKENS
        for segment in artifact.segments
    }
    shown["brief"] = scenario.public.brief
    needs = {fact_id for truth in scenario.hidden.subtasks if not truth.lexical for fact_id in truth.needs}
    places = fact_segments(scenario)
    leads = {fact_id: (source, words) for (fact_id, source), words in FOLLOWED.items()}
    for fact_id in sorted(needs):
        if not places[fact_id] & small:
            source, words = leads[fact_id]
            assert words in shown[source]
            assert places[fact_id] & {hit.segment_id for hit in retriever.search(words, SEARCH_MAX_TOP_K)}, fact_id


@each_case
def test_a_fact_stands_where_it_is_meant_to_stand_and_in_no_other_artifact(scenario_id: str) -> None:
    scenario = built(scenario_id)
    for fact in scenario.hidden.facts:
        for quote in {place.text for place in fact.places}:
            holding = {segment_id for segment_id, text in texts(scenario).items() if quote in text}
            assert holding <= {place.segment_id for place in fact.places}


def test_the_medium_case_has_a_slot_that_only_the_first_finding_fills() -> None:
    scenario = built(MEDIUM)
    slots = [(s, t) for s, t in zip(scenario.public.subtasks, scenario.hidden.subtasks, strict=True) if s.slot]
    assert len(slots) == 1
    subtask, truth = slots[0]
    assert subtask.slot is not None
    assert f"{{{subtask.slot.name}}}" in subtask.question
    assert right_values(scenario, subtask.slot.from_subtask_id)[subtask.slot.name] == truth.slot_value


def test_one_question_of_the_medium_case_needs_more_segments_than_can_be_handed_over() -> None:
    scenario = built(MEDIUM)
    assert max(fewest_segments(scenario, truth) for truth in scenario.hidden.subtasks) > HANDLES


def test_every_question_of_an_easy_case_can_be_answered_from_four_segments() -> None:
    for scenario_id in CASES:
        scenario = built(scenario_id)
        if scenario.public.difficulty is Difficulty.EASY:
            assert all(fewest_segments(scenario, truth) <= HANDLES for truth in scenario.hidden.subtasks)


@each_case
def test_a_valid_cache_entry_is_right_young_and_cites_its_facts_and_every_other_is_wrong(scenario_id: str) -> None:
    scenario = built(scenario_id)
    version, shown_in = scenario.public.version, fact_segments(scenario)
    needs = {truth.subtask_id: truth.needs for truth in scenario.hidden.subtasks}
    replies = {
        truth.subtask_id: [r.values for r in truth.candidates if not r.right] for truth in scenario.hidden.subtasks
    }
    assert 3 <= len(scenario.public.cache_entries) <= 5
    assert set(scenario.hidden.cache.values()) == set(CacheValidity)
    for entry in scenario.public.cache_entries:
        validity = scenario.hidden.cache[entry.entry_id]
        assert (entry.version != version) == (validity is CacheValidity.WRONG_VERSION)
        if validity is CacheValidity.VALID:
            assert entry.values == right_values(scenario, entry.subtask_id)
            assert all(shown_in[fact_id] & set(entry.cites) for fact_id in needs[entry.subtask_id])
            assert entry.age_hours <= 1
        else:
            assert entry.values in replies[entry.subtask_id]
        if validity is CacheValidity.STALE:
            assert entry.age_hours >= 24


@each_case
def test_the_answers_for_a_quiet_page_are_offered_in_every_case(scenario_id: str) -> None:
    choices = {field.name: field.choices for field in built(scenario_id).public.answer_fields}
    assert NO_SERVICE in choices["service"]
    assert FaultClass.NO_FAULT in choices["fault_class"]
    assert NO_ACTION in choices["remediation"]
    assert all(list(offered) == sorted(offered) for offered in choices.values())


def test_every_suspect_of_the_quiet_page_is_ruled_out_by_a_fact_and_the_answer_must_cite_it_for_the_main_ones() -> None:
    hidden = built(QUIET).hidden
    assert {truth.name: truth.accepted[0] for truth in hidden.fields} == {
        "service": NO_SERVICE,
        "fault_class": FaultClass.NO_FAULT,
        "trigger": NO_TRIGGER,
        "remediation": NO_ACTION,
    }
    needed = {fact_id for truth in hidden.subtasks for fact_id in truth.needs}
    cited = {fact_id for truth in hidden.fields for fact_id in truth.path}
    rules_out = {
        "fresh-release": "not-here",
        "leader-lost": "asked-for",
        "pool-empty": "pool-drained",
        "disk-high": "disk-old",
        "name-moved": "asked-for",
    }
    suspects = {decoy_id for truth in hidden.subtasks for reply in truth.candidates for decoy_id in reply.decoy_ids} - {
        "pool-advice",
        "writer-advice",
    }
    assert suspects == set(rules_out)
    assert set(rules_out.values()) <= needed
    assert {rules_out[suspect] for suspect in ("fresh-release", "leader-lost", "pool-empty")} <= cited


@each_case
def test_nothing_told_at_the_start_names_the_answer(scenario_id: str) -> None:
    scenario = built(scenario_id)
    public = scenario.public
    told = " ".join(
        [public.title, public.brief]
        + [subtask.question for subtask in public.subtasks]
        + [artifact.title for artifact in public.artifacts]
        + [artifact.artifact_id for artifact in public.artifacts]
    ).lower()
    truth = {field.name: field.accepted for field in scenario.hidden.fields}
    if truth["trigger"][0] != NO_TRIGGER:
        assert not any(accepted.lower() in told for accepted in truth["trigger"])
    assert truth["fault_class"][0].replace("_", " ") not in told
    assert f" {truth['service'][0]} is" not in told


@each_case
def test_no_log_runs_backwards(scenario_id: str) -> None:
    for artifact in built(scenario_id).public.artifacts:
        if artifact.artifact_id.startswith("log-"):
            lines = "".join(segment.text for segment in artifact.segments).splitlines()
            times = [match.group().replace(",", ".") for line in lines if (match := _CLOCK_TIME.search(line))]
            assert len(times) > 20
            assert times == sorted(times)


def test_the_offsets_of_the_reconciler_log_join_up_and_then_stand_still() -> None:
    artifact = next(a for a in built(MEDIUM).public.artifacts if a.artifact_id == "log-reconciler-5521")
    polls = [(int(n), int(at)) for n, at in _POLLED.findall("".join(segment.text for segment in artifact.segments))]
    moving = [poll for poll in polls if poll[0] <= 500]
    held = [poll for poll in polls if poll[0] > 500]
    assert all(at + records == following for (records, at), (_, following) in zip(moving, polls[1:], strict=False))
    assert len(held) > 5
    assert len(set(held)) == 1


def test_entries_of_several_writers_are_merged_by_time() -> None:
    assert merge([Entry(5, "b"), Entry(9, "d")], [Entry(5, "c"), Entry(1, "a")]) == "a\nb\nc\nd\n"


def test_ticks_stay_in_their_window_and_keep_their_pace() -> None:
    window = Clock(2025, 1, 1).window("10:00", "11:00")
    times = list(ticks(Stream("test", "ticks"), window, 60_000))
    assert window.start_ms <= times[0]
    assert times[-1] < window.end_ms
    assert 50 <= len(times) <= 70
    assert all(45_000 <= later - earlier <= 75_000 for earlier, later in pairwise(times))


def test_a_clock_prints_the_stamps_that_systems_print() -> None:
    clock = Clock(2025, 3, 4)
    at_ms = clock.at("02:10:07.5")
    assert clock.iso(at_ms) == "2025-03-04T02:10:07.500Z"
    assert clock.spaced(at_ms, ",") == "2025-03-04 02:10:07,500"
    assert clock.short(at_ms) == "Mar 04 02:10:07"
    assert clock.common(at_ms) == "04/Mar/2025:02:10:07 +0000"
    assert clock.minute(clock.at("23:59") + 60_000) == "00:00"


def test_logfmt_quotes_what_has_spaces_or_quotes_and_nothing_else() -> None:
    line = LogfmtLog(Clock(2025, 1, 1)).at("00:00:01", "WARN", "odd value", peer="10.0.0.1:80", err='said "no"')
    assert line.text.endswith(r'level=WARN msg="odd value" peer=10.0.0.1:80 err="said \"no\""')


def test_a_java_stack_trace_shows_its_cause_beneath() -> None:
    thrown = Thrown("A: outer", ("x.Y.z(Y.java:1)",), Thrown("B: inner", ("u.V.w(V.java:2)",), more=3))
    line = JavaLog(Clock(2025, 1, 1)).at("00:00:01", "ERROR", "main", "x.Y", "failed", thrown)
    assert line.text.splitlines()[1:] == [
        "A: outer",
        "\tat x.Y.z(Y.java:1)",
        "Caused by: B: inner",
        "\tat u.V.w(V.java:2)",
        "\t... 3 more",
    ]
