"""The ci family: the commit that a case names really broke the test that it names, and the papers say so fairly."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache

import pytest

from TokenOptEnv.config import FULL_READ_CAP_TOKENS, ROUTE_MAX_HANDLES, SEARCH_MAX_TOP_K, SIZES, YARDSTICK, Profile
from TokenOptEnv.errors import ScenarioInvalid, UnknownName
from TokenOptEnv.models import FieldKind
from TokenOptEnv.scenario import CacheValidity, Scenario
from TokenOptEnv.simulators import tokens
from TokenOptEnv.simulators.retrieval import Retriever
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci import FAMILY, sources
from TokenOptEnv.task_defs.ci.cases.parcelrate import case as parcelrate
from TokenOptEnv.task_defs.ci.cases.parcelrate import history as parcelrate_history
from TokenOptEnv.task_defs.ci.cases.parcelrate import logs as parcelrate_logs
from TokenOptEnv.task_defs.ci.cases.tidemark import case as tidemark
from TokenOptEnv.task_defs.ci.cases.tidemark import history as tidemark_history
from TokenOptEnv.task_defs.ci.cases.tidemark import logs as tidemark_logs
from TokenOptEnv.task_defs.ci.writers import fleet, hosted
from TokenOptEnv.task_defs.ci.writers.history import Change, Commit, Edit, replay, tree_diff
from TokenOptEnv.task_defs.ci.writers.install import install, install_breaks_off
from TokenOptEnv.task_defs.ci.writers.job_log import Dialect, JobLog
from TokenOptEnv.task_defs.execution import TestRun

CASES = (tidemark.SCENARIO_ID, parcelrate.SCENARIO_ID)
EASY = tuple(scenario_id for scenario_id in CASES if scenario_id.startswith("ci-easy-"))
HISTORIES = {tidemark.SCENARIO_ID: tidemark_history.commits, parcelrate.SCENARIO_ID: parcelrate_history.commits}


@cache
def built(scenario_id: str) -> Scenario:
    return FAMILY.designed[scenario_id]()


def count(text: str) -> int:
    return tokens.count(YARDSTICK, text)


def text_of(scenario: Scenario, artifact_id: str) -> str:
    artifact = next(artifact for artifact in scenario.public.artifacts if artifact.artifact_id == artifact_id)
    return "".join(segment.text for segment in artifact.segments)


def segment_texts(scenario: Scenario) -> dict[str, str]:
    return {s.segment_id: s.text for artifact in scenario.public.artifacts for s in artifact.segments}


def culprit_of(scenario: Scenario) -> str:
    return next(field.accepted[0] for field in scenario.hidden.fields if field.name == "culprit")


# The truth of the cases, by running them


def test_the_named_commit_is_the_first_that_breaks_the_new_year() -> None:
    failing = {change: tidemark_logs.gating_run(change).failing for change in tidemark_history.CHANGES}
    broken_from = tidemark_history.CHANGES.index(tidemark_history.READABLE_KEYS)
    assert all(not failing[change] for change in tidemark_history.CHANGES[:broken_from])
    assert all(failing[change] == (tidemark.FAILING,) for change in tidemark_history.CHANGES[broken_from:])
    assert culprit_of(built(tidemark.SCENARIO_ID)) == tidemark_history.commits()[tidemark_history.READABLE_KEYS].sha


def test_the_preview_was_red_before_and_its_failure_tells_nothing() -> None:
    assert tidemark_logs.preview_run(tidemark_history.ALIGNED_TABLE).failing
    assert tidemark_logs.preview_run(tidemark_history.TIME_ZONE_DATA).failing


def failing_selection(change: Change) -> tuple[str, ...]:
    """What the red shard of run 2291 runs, at any commit."""
    red = parcelrate_logs.shard_plan(parcelrate_history.README_STATEMENTS)["shard-2"]
    return parcelrate_logs.test_run(change, tuple(red)).failing


def test_the_named_commit_is_the_first_at_which_the_red_shard_fails() -> None:
    changes = parcelrate_history.CHANGES
    before = changes[changes.index(parcelrate_history.PARSED_ONCE) - 1]
    assert not failing_selection(parcelrate_history.FUEL_ROWS)
    assert not failing_selection(before)
    for change in (parcelrate_history.PARSED_ONCE, parcelrate_history.SHELF, parcelrate_history.README_STATEMENTS):
        assert failing_selection(change) == (parcelrate.FAILING,)
    assert culprit_of(built(parcelrate.SCENARIO_ID)) == parcelrate_history.commits()[parcelrate_history.PARSED_ONCE].sha


def test_the_old_shards_hide_the_fault_and_the_nightlies_bracket_it() -> None:
    old = parcelrate_logs.shard_plan(parcelrate_history.LABEL_BLANKS)
    for tests in old.values():
        assert not parcelrate_logs.test_run(parcelrate_history.LABEL_BLANKS, tuple(tests)).failing
    passed, failed = parcelrate_history.SCHEDULE_NOTE, parcelrate_history.CHANGELOG
    assert not nightly_run(passed).failing
    assert nightly_run(failed).failing == (parcelrate.FAILING,)
    position = parcelrate_history.CHANGES.index
    assert position(passed) < position(parcelrate_history.PARSED_ONCE) <= position(failed)


def nightly_run(change: Change) -> TestRun:
    return parcelrate_logs.test_run(change, parcelrate_logs.all_tests(change))


@pytest.mark.parametrize(
    ("scenario_id", "artifact_id", "run", "change"),
    [
        (tidemark.SCENARIO_ID, tidemark.RED, tidemark_logs.gating_run, tidemark_history.TIME_ZONE_DATA),
        (tidemark.SCENARIO_ID, tidemark.GREEN, tidemark_logs.gating_run, tidemark_history.ALIGNED_TABLE),
        (parcelrate.SCENARIO_ID, parcelrate.NIGHTLY, nightly_run, parcelrate_history.CHANGELOG),
    ],
    ids=["red push", "green push", "nightly"],
)
def test_a_log_holds_the_report_of_the_real_run_line_by_line(
    scenario_id: str, artifact_id: str, run: Callable[[Change], TestRun], change: Change
) -> None:
    shown = (line.partition(" ")[2] for line in text_of(built(scenario_id), artifact_id).split("\n"))
    plain = (line.replace("^[[32m", "").replace("^[[31m", "").replace("^[[0m", "") for line in shown)
    report = run(change).report.rstrip("\n").split("\n")
    assert all(any(line.rstrip() == seen.rstrip() for seen in plain) for line in report)


# What an agent is shown


@pytest.mark.parametrize("scenario_id", CASES)
def test_sizes_keep_to_their_difficulty(scenario_id: str) -> None:
    public = built(scenario_id).public
    low, high = SIZES[public.difficulty].artifact_tokens
    assert low <= sum(public.segment_tokens[YARDSTICK]) <= high
    assert 5 <= len(public.artifacts) <= 9
    assert count(public.brief) <= 110
    assert all(count(subtask.question) <= 40 for subtask in public.subtasks)
    assert all(count(field.question) <= 20 for field in public.answer_fields)
    for truth in built(scenario_id).hidden.subtasks:
        assert all(count(candidate.text) <= 70 for candidate in truth.candidates)


@pytest.mark.parametrize("scenario_id", CASES)
def test_nothing_said_outright_names_the_answer(scenario_id: str) -> None:
    public = built(scenario_id).public
    culprit = culprit_of(built(scenario_id))
    said = [public.title, public.brief, *(subtask.question for subtask in public.subtasks)]
    said += [f"{artifact.artifact_id} {artifact.title}" for artifact in public.artifacts]
    test_names = [
        field.accepted[0].split("::")[1] for field in built(scenario_id).hidden.fields if "::" in field.accepted[0]
    ]
    assert test_names
    assert not [text for text in said for secret in (culprit, *test_names) if secret in text]


@pytest.mark.parametrize("scenario_id", CASES)
def test_every_answer_is_among_its_choices_and_is_what_the_right_reply_says(scenario_id: str) -> None:
    scenario = built(scenario_id)
    right = {
        name: value
        for truth in scenario.hidden.subtasks
        for candidate in truth.candidates
        if candidate.right
        for name, value in candidate.values.items()
    }
    truths = {truth.name: truth for truth in scenario.hidden.fields}
    for field in scenario.public.answer_fields:
        assert truths[field.name].accepted[0] == right[field.name]
        if field.kind is FieldKind.CHOICE:
            assert right[field.name] in field.choices[1:-1]


@pytest.mark.parametrize("scenario_id", CASES)
def test_a_hunk_that_matters_stands_with_the_name_of_its_commit(scenario_id: str) -> None:
    scenario = built(scenario_id)
    texts = segment_texts(scenario)
    commits = list(HISTORIES[scenario_id]().values())
    checked = 0
    points = [*(f.places for f in scenario.hidden.facts), *(d.places for d in scenario.hidden.decoys)]
    for places in points:
        for place in places:
            if place.segment_id.startswith("patches-") and place.text.startswith("+"):
                owners = [commit.sha for commit in commits if f"\n{place.text}" in commit.diff]
                assert any(f"({sha})" in texts[place.segment_id] for sha in owners), (place, owners)
                checked += 1
    assert checked >= 4


def fact_segments(scenario: Scenario) -> dict[str, set[str]]:
    return {fact.fact_id: {place.segment_id for place in fact.places} for fact in scenario.hidden.facts}


def found_by(scenario: Scenario, query: str, top_k: int) -> set[str]:
    return {hit.segment_id for hit in Retriever(list(segment_texts(scenario).items())).search(query, top_k)}


def found_by_asking(scenario: Scenario, top_k: int) -> dict[str, set[str]]:
    """By subtask: the segments that a search with its question finds, its slot filled."""
    found = {}
    for subtask, truth in zip(scenario.public.subtasks, scenario.hidden.subtasks, strict=True):
        slot = {subtask.slot.name: truth.slot_value or ""} if subtask.slot else {}
        found[subtask.subtask_id] = found_by(scenario, subtask.question.format(**slot), top_k)
    return found


@pytest.mark.parametrize("scenario_id", CASES)
def test_asking_the_question_finds_a_decoy_and_all_its_facts_only_where_it_is_lexical(scenario_id: str) -> None:
    scenario = built(scenario_id)
    facts, found = fact_segments(scenario), found_by_asking(scenario, SEARCH_MAX_TOP_K)
    decoys = {decoy.decoy_id: {place.segment_id for place in decoy.places} for decoy in scenario.hidden.decoys}
    for truth in scenario.hidden.subtasks:
        hits = found[truth.subtask_id]
        assert [name for candidate in truth.candidates for name in candidate.decoy_ids if decoys[name] & hits]
        assert all(facts[need] & hits for need in truth.needs) == truth.lexical, truth.subtask_id


def test_an_easy_case_has_one_question_that_is_not_lexical_and_a_medium_case_one_that_is() -> None:
    for scenario_id in CASES:
        lexical = [truth.lexical for truth in built(scenario_id).hidden.subtasks]
        assert (lexical.count(False) if scenario_id in EASY else lexical.count(True)) == 1, scenario_id


@pytest.mark.parametrize("scenario_id", EASY)
def test_half_the_lexical_questions_of_an_easy_case_find_their_facts_among_as_many_hits_as_a_route_takes(
    scenario_id: str,
) -> None:
    scenario = built(scenario_id)
    facts, found = fact_segments(scenario), found_by_asking(scenario, ROUTE_MAX_HANDLES[Profile.V2])
    lexical = [truth for truth in scenario.hidden.subtasks if truth.lexical]
    at_once = [truth for truth in lexical if all(facts[need] & found[truth.subtask_id] for need in truth.needs)]
    assert 2 * len(at_once) >= len(lexical)


def test_what_kind_of_failure_the_easy_case_is_stands_in_small_papers_and_under_the_name_of_the_red_test() -> None:
    scenario = built(tidemark.SCENARIO_ID)
    small = {
        segment.segment_id
        for artifact in scenario.public.artifacts
        if count(text_of(scenario, artifact.artifact_id)) <= FULL_READ_CAP_TOKENS
        for segment in artifact.segments
    }
    nature = next(truth for truth in scenario.hidden.subtasks if not truth.lexical)
    elsewhere = [need for need in nature.needs if not fact_segments(scenario)[need] & small]
    assert elsewhere == ["same-again"]
    name = tidemark.FAILING.split("::")[1]
    assert name in text_of(scenario, tidemark.RED)
    assert fact_segments(scenario)["same-again"] & found_by(scenario, name, SEARCH_MAX_TOP_K)


@pytest.mark.parametrize("scenario_id", CASES)
def test_the_path_of_a_field_is_the_decisive_part_of_what_the_subtask_that_yields_it_needs(scenario_id: str) -> None:
    scenario = built(scenario_id)
    needs = {truth.subtask_id: truth.needs for truth in scenario.hidden.subtasks}
    for field in scenario.hidden.fields:
        source = next(s.subtask_id for s in scenario.public.subtasks if field.name in s.fields)
        assert set(field.path) <= set(needs[source])
        assert 1 <= len(field.path) <= (3 if len(needs[source]) > 4 else 2)


@pytest.mark.parametrize("scenario_id", CASES)
def test_wrong_replies_rest_on_decoys_and_name_real_commits(scenario_id: str) -> None:
    scenario = built(scenario_id)
    shas = {commit.sha for commit in HISTORIES[scenario_id]().values()}
    for truth in scenario.hidden.subtasks:
        wrong = [candidate for candidate in truth.candidates if not candidate.right]
        assert len([candidate for candidate in wrong if candidate.decoy_ids]) >= 2
        assert {candidate.values["culprit"] for candidate in truth.candidates if "culprit" in candidate.values} <= shas


def test_the_medium_culprit_needs_more_segments_than_a_route_takes_by_handle() -> None:
    scenario = built(parcelrate.SCENARIO_ID)
    origin = next(truth for truth in scenario.hidden.subtasks if truth.slot_value)
    places = [fact.places[0].segment_id for fact in scenario.hidden.facts if fact.fact_id in origin.needs]
    assert len(set(places)) >= 5


def test_the_slot_is_filled_by_what_the_earlier_finding_says() -> None:
    scenario = built(parcelrate.SCENARIO_ID)
    asking = next(subtask for subtask in scenario.public.subtasks if subtask.slot)
    assert asking.slot is not None and f"{{{asking.slot.name}}}" in asking.question
    truths = {truth.subtask_id: truth for truth in scenario.hidden.subtasks}
    giving = next(c for c in truths[asking.slot.from_subtask_id].candidates if c.right)
    assert giving.values[asking.slot.name] == truths[asking.subtask_id].slot_value


@pytest.mark.parametrize("scenario_id", CASES)
def test_valid_cache_entries_are_of_this_version_and_cite_the_facts(scenario_id: str) -> None:
    scenario = built(scenario_id)
    facts = {fact.fact_id: {place.segment_id for place in fact.places} for fact in scenario.hidden.facts}
    truths = {truth.subtask_id: truth for truth in scenario.hidden.subtasks}
    assert set(scenario.hidden.cache.values()) == set(CacheValidity)
    for entry in scenario.public.cache_entries:
        truth = truths[entry.subtask_id]
        is_right = any(c.right and c.values == entry.values for c in truth.candidates)
        is_valid = scenario.hidden.cache[entry.entry_id] is CacheValidity.VALID
        assert is_valid == is_right == (entry.version == scenario.public.version)
        assert any(c.values == entry.values for c in truth.candidates)
        if is_valid:
            assert all(facts[need] & set(entry.cites) for need in truth.needs)


def test_another_process_with_another_hash_seed_builds_the_same_bytes() -> None:
    code = (
        f"from TokenOptEnv.task_defs.ci import FAMILY; print(FAMILY.designed[{tidemark.SCENARIO_ID!r}]().content_hash)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "4242"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.strip() == built(tidemark.SCENARIO_ID).content_hash


# The writers


def at(second: int = 0) -> datetime:
    return datetime(2026, 1, 5, 9, 0, second, tzinfo=UTC)


def history_of(*edits: Edit) -> Sequence[Commit]:
    base = {"a.py": "def first():\n    return 1\n\n\ndef second():\n    return 2\n"}
    return replay("sample", base, [Change("Ana Li", at(), f"change {n}", (edit,)) for n, edit in enumerate(edits)])


def test_a_diff_shows_the_changed_lines_and_no_other_file() -> None:
    (commit,) = history_of(Edit("a.py", "return 2", "return 3"))
    assert "-    return 2\n+    return 3\n" in commit.diff
    assert tree_diff(commit.files, {**commit.files, "b.py": "x = 1\n"}).count("diff --git") == 1


def test_a_commit_id_hangs_on_its_parent() -> None:
    same = Edit("a.py", "return 2", "return 3")
    _, second = history_of(Edit("a.py", "return 1", "return 0"), same)
    other = replay("sample", {"a.py": "return 2\n"}, [Change("Ana Li", at(), "change 1", (same,))])[0]
    assert second.subject == other.subject and second.sha != other.sha


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (Edit("a.py", "return", "yield"), "occurs 2 times"),
        (Edit("a.py", "nowhere", ""), "occurs 0 times"),
        (Edit("a.py", "", "new"), "which exists"),
    ],
)
def test_an_edit_that_could_land_elsewhere_is_an_error(edit: Edit, says: str) -> None:
    with pytest.raises(ScenarioInvalid, match=says):
        history_of(edit)


def test_an_unknown_source_package_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'tidemark'"):
        sources.load("tidemrk")


def install_log(dialect: Dialect, *key: str) -> str:
    log = JobLog(dialect, at(), Stream("test", *key))
    install(log, "requirements.txt", "coverage==7.9.2\npytest==8.4.2\n", cached=False, timeouts=2)
    return log.text


@pytest.mark.parametrize("dialect", [fleet.Fleet(), hosted.Hosted()])
def test_a_job_log_never_runs_backwards_and_repeats_to_the_byte(dialect: Dialect) -> None:
    text = install_log(dialect, "a")
    stamps = [line.split(" ")[0] for line in text.strip().split("\n")]
    assert stamps == sorted(stamps)
    assert text == install_log(dialect, "a") != install_log(dialect, "b")


def test_an_install_that_breaks_off_collects_nothing_and_fails_the_job() -> None:
    log = JobLog(fleet.Fleet(), at(), Stream("test", "mirror"))
    install_breaks_off(log, "requirements.txt", "coverage==7.9.2\n")
    assert "Successfully installed" not in log.text
    assert log.text.rstrip().endswith("exited with status 1")
