"""The bugfix family: real packages, bugs that really fail, patches whose verdicts were run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from TokenOptEnv.config import (
    FULL_READ_CAP_TOKENS,
    ROUTE_MAX_HANDLES,
    SEARCH_MAX_TOP_K,
    SIZES,
    YARDSTICK,
    Difficulty,
    Profile,
)
from TokenOptEnv.errors import BadInput, ScenarioInvalid
from TokenOptEnv.models import FieldKind
from TokenOptEnv.scenario import CacheValidity, Scenario
from TokenOptEnv.simulators import tokens
from TokenOptEnv.simulators.retrieval import Retriever
from TokenOptEnv.task_defs.authoring import CaseBuilder
from TokenOptEnv.task_defs.bugfix import FAMILY
from TokenOptEnv.task_defs.bugfix.cases.lost_leases import case as lost_leases
from TokenOptEnv.task_defs.bugfix.cases.lost_leases import commits as lost_leases_commits
from TokenOptEnv.task_defs.bugfix.cases.lost_leases.hidden_tests import HIDDEN_TESTS as LOST_LEASES_TESTS
from TokenOptEnv.task_defs.bugfix.cases.regional_prices import case as regional_prices
from TokenOptEnv.task_defs.bugfix.cases.regional_prices import commits as regional_prices_commits
from TokenOptEnv.task_defs.bugfix.cases.regional_prices.hidden_tests import HIDDEN_TESTS as REGIONAL_PRICES_TESTS
from TokenOptEnv.task_defs.bugfix.edit import Edit
from TokenOptEnv.task_defs.bugfix.history import Commit, log_with_diffs
from TokenOptEnv.task_defs.bugfix.judging import judge, patch_passes
from TokenOptEnv.task_defs.bugfix.patch import apply_patch, line_of, one_line_patch
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.execution import HiddenTest, run_tests, verdict


@dataclass(frozen=True)
class Designed:
    """What the tests need to know of a case besides its scenario."""

    scenario_id: str
    package: str
    files: Mapping[str, str]
    bug: Edit
    hidden_tests: tuple[HiddenTest, ...]
    right: str
    wrong: tuple[str, ...]
    visible_only: str
    failing: tuple[str, ...]


CASES = (
    Designed(
        regional_prices.SCENARIO_ID,
        "shelflife",
        regional_prices.FILES,
        regional_prices_commits.BUG,
        REGIONAL_PRICES_TESTS,
        regional_prices.RIGHT_PATCH,
        regional_prices.WRONG_PATCHES,
        regional_prices.UNSORTED_PATCH,
        ("tests/test_memo.py::test_a_price_list_per_region",),
    ),
    Designed(
        lost_leases.SCENARIO_ID,
        "relaywork",
        lost_leases.FILES,
        lost_leases_commits.BUG,
        LOST_LEASES_TESTS,
        lost_leases.RIGHT_PATCH,
        lost_leases.WRONG_PATCHES,
        lost_leases.PLAIN_PATCH,
        (
            "tests/test_journal.py::test_compacting_keeps_the_latest_word_on_a_lease",
            "tests/test_journal.py::test_a_queue_recovered_from_a_compact_journal_waits_for_a_live_holder",
            "tests/test_soak.py::test_an_hour_of_a_small_fleet",
            "tests/test_worker.py::test_a_slow_job_that_beats_is_run_once",
        ),
    ),
)
each_case = pytest.mark.parametrize("designed", CASES, ids=lambda designed: designed.scenario_id)


@pytest.fixture(scope="module")
def scenarios() -> dict[str, Scenario]:
    return {scenario_id: build() for scenario_id, build in FAMILY.designed.items()}


def _size(scenario: Scenario) -> int:
    return sum(scenario.public.segment_tokens[YARDSTICK])


@each_case
def test_the_package_without_its_bug_passes_visible_and_hidden_tests(designed: Designed) -> None:
    files = package_files(designed.package)
    assert run_tests(files).failing == ()
    assert verdict(files, designed.hidden_tests)


@each_case
def test_the_bug_fails_the_tests_that_the_case_shows_and_no_others(designed: Designed) -> None:
    assert run_tests(designed.files).failing == designed.failing


@each_case
def test_the_right_patch_gives_the_package_back(designed: Designed) -> None:
    assert apply_patch(designed.files, designed.right) == dict(package_files(designed.package))


@each_case
def test_one_wrong_patch_turns_every_visible_test_green(designed: Designed) -> None:
    assert designed.visible_only in designed.wrong
    assert run_tests(apply_patch(designed.files, designed.visible_only)).failing == ()
    assert not patch_passes(designed.files, designed.visible_only, designed.hidden_tests)


@each_case
def test_every_candidate_patch_can_be_applied_and_has_its_verdict(
    designed: Designed, scenarios: dict[str, Scenario]
) -> None:
    hidden = scenarios[designed.scenario_id].hidden
    offered = [c.values["patch"] for truth in hidden.subtasks for c in truth.candidates if "patch" in c.values]
    assert offered
    for patch in offered:
        apply_patch(designed.files, patch)
        assert hidden.verdicts[patch] is (patch == designed.right)


@each_case
def test_the_line_that_is_asked_for_is_the_line_that_the_patch_changes(
    designed: Designed, scenarios: dict[str, Scenario]
) -> None:
    truths = {truth.name: truth for truth in scenarios[designed.scenario_id].hidden.fields}
    assert truths["line"].accepted == (str(line_of(designed.files, designed.bug.path, designed.bug.after)),)
    assert f"@@ -{truths['line'].accepted[0]} " in truths["patch"].accepted[0]


@each_case
def test_the_report_in_the_case_is_the_report_of_the_run(designed: Designed, scenarios: dict[str, Scenario]) -> None:
    artifacts = scenarios[designed.scenario_id].public.artifacts
    log = next(
        "".join(s.text for s in artifact.segments) for artifact in artifacts if artifact.artifact_id.startswith("job-")
    )
    failures = [
        line for line in run_tests(designed.files, log_level="DEBUG").report.split("\n") if line.startswith("E  ")
    ]
    assert failures
    assert all(line in log for line in failures)


@each_case
def test_a_case_has_the_size_of_its_difficulty(designed: Designed, scenarios: dict[str, Scenario]) -> None:
    scenario = scenarios[designed.scenario_id]
    low, high = SIZES[scenario.public.difficulty].artifact_tokens
    assert low <= _size(scenario) <= high
    assert 5 <= len(scenario.public.artifacts) <= 9


@each_case
def test_what_is_asked_and_answered_is_short(designed: Designed, scenarios: dict[str, Scenario]) -> None:
    scenario = scenarios[designed.scenario_id]
    assert tokens.count(YARDSTICK, scenario.public.brief) <= 110
    assert all(tokens.count(YARDSTICK, subtask.question) <= 40 for subtask in scenario.public.subtasks)
    assert all(tokens.count(YARDSTICK, field.question) <= 20 for field in scenario.public.answer_fields)
    for truth in scenario.hidden.subtasks:
        for candidate in truth.candidates:
            assert tokens.count(YARDSTICK, candidate.text) <= 70
            assert all(tokens.count(YARDSTICK, value) <= 80 for value in candidate.values.values())


@each_case
def test_subtasks_yield_every_field_and_right_answers_agree_with_the_truth(
    designed: Designed, scenarios: dict[str, Scenario]
) -> None:
    scenario = scenarios[designed.scenario_id]
    right: dict[str, str] = {}
    for truth in scenario.hidden.subtasks:
        for candidate in truth.candidates:
            right |= candidate.values if candidate.right else {}
    for field in scenario.hidden.fields:
        assert right[field.name] == field.accepted[0]
    for subtask, truth in zip(scenario.public.subtasks, scenario.hidden.subtasks, strict=True):
        if subtask.slot is not None:
            assert f"{{{subtask.slot.name}}}" in subtask.question
            assert truth.slot_value == right[subtask.slot.name]


@each_case
def test_every_subtask_has_two_wrong_answers_that_rest_on_decoys(
    designed: Designed, scenarios: dict[str, Scenario]
) -> None:
    hidden = scenarios[designed.scenario_id].hidden
    known = {decoy.decoy_id for decoy in hidden.decoys}
    used: set[str] = set()
    for truth in hidden.subtasks:
        misled = [c for c in truth.candidates if not c.right and c.decoy_ids]
        assert len(misled) >= 2
        used |= {decoy for candidate in misled for decoy in candidate.decoy_ids}
    assert used == known


def _fact_segments(scenario: Scenario) -> dict[str, set[str]]:
    return {fact.fact_id: {place.segment_id for place in fact.places} for fact in scenario.hidden.facts}


def _found_by(scenario: Scenario, query: str, top_k: int) -> set[str]:
    segments = [(s.segment_id, s.text) for artifact in scenario.public.artifacts for s in artifact.segments]
    return {hit.segment_id for hit in Retriever(segments).search(query, top_k)}


def _found_by_asking(scenario: Scenario, top_k: int) -> dict[str, set[str]]:
    """By subtask: the segments that a search with its question finds, its slot filled."""
    found = {}
    for subtask, truth in zip(scenario.public.subtasks, scenario.hidden.subtasks, strict=True):
        slot = {subtask.slot.name: truth.slot_value or ""} if subtask.slot else {}
        found[subtask.subtask_id] = _found_by(scenario, subtask.question.format(**slot), top_k)
    return found


@each_case
def test_asking_the_question_finds_a_decoy_and_all_its_facts_only_where_it_is_lexical(
    designed: Designed, scenarios: dict[str, Scenario]
) -> None:
    scenario = scenarios[designed.scenario_id]
    facts, found = _fact_segments(scenario), _found_by_asking(scenario, SEARCH_MAX_TOP_K)
    decoys = {decoy.decoy_id: {place.segment_id for place in decoy.places} for decoy in scenario.hidden.decoys}
    for truth in scenario.hidden.subtasks:
        hits = found[truth.subtask_id]
        assert any(decoys[name] & hits for candidate in truth.candidates for name in candidate.decoy_ids)
        assert all(facts[need] & hits for need in truth.needs) == truth.lexical, truth.subtask_id


@each_case
def test_an_easy_case_has_one_question_that_is_not_lexical_and_a_medium_case_one_that_is(
    designed: Designed, scenarios: dict[str, Scenario]
) -> None:
    scenario = scenarios[designed.scenario_id]
    lexical = [truth.lexical for truth in scenario.hidden.subtasks]
    rarer = scenario.public.difficulty is not Difficulty.EASY
    assert lexical.count(rarer) == 1


def test_the_lexical_question_of_the_easy_case_finds_its_facts_among_as_many_hits_as_a_route_takes(
    scenarios: dict[str, Scenario],
) -> None:
    scenario = scenarios[regional_prices.SCENARIO_ID]
    facts, found = _fact_segments(scenario), _found_by_asking(scenario, ROUTE_MAX_HANDLES[Profile.V2])
    repair = next(truth for truth in scenario.hidden.subtasks if truth.lexical)
    assert all(facts[need] & found[repair.subtask_id] for need in repair.needs)


def test_the_faulty_function_of_the_easy_case_is_found_by_asking_by_reading_small_papers_and_by_a_name_in_the_chat(
    scenarios: dict[str, Scenario],
) -> None:
    scenario = scenarios[regional_prices.SCENARIO_ID]
    shown = {a.artifact_id: "".join(segment.text for segment in a.segments) for a in scenario.public.artifacts}
    small = {
        segment.segment_id
        for artifact in scenario.public.artifacts
        if tokens.count(YARDSTICK, shown[artifact.artifact_id]) <= FULL_READ_CAP_TOKENS
        for segment in artifact.segments
    }
    locate = next(truth for truth in scenario.hidden.subtasks if not truth.lexical)
    easily = small | _found_by_asking(scenario, SEARCH_MAX_TOP_K)[locate.subtask_id]
    facts = _fact_segments(scenario)
    assert [need for need in locate.needs if not facts[need] & easily] == ["names-only"]
    assert "see _types" in shown["chat-shelflife-dev"]
    assert facts["names-only"] & _found_by(scenario, "_types", SEARCH_MAX_TOP_K)


@each_case
def test_the_path_of_a_field_is_the_decisive_part_of_what_the_subtask_that_yields_it_needs(
    designed: Designed, scenarios: dict[str, Scenario]
) -> None:
    scenario = scenarios[designed.scenario_id]
    needs = {truth.subtask_id: truth.needs for truth in scenario.hidden.subtasks}
    for field in scenario.hidden.fields:
        source = next(s.subtask_id for s in scenario.public.subtasks if field.name in s.fields)
        assert set(field.path) <= set(needs[source])
        assert 1 <= len(field.path) <= 2


@each_case
def test_old_results_are_of_every_kind_and_only_valid_ones_are_right(
    designed: Designed, scenarios: dict[str, Scenario]
) -> None:
    public, hidden = scenarios[designed.scenario_id].public, scenarios[designed.scenario_id].hidden
    assert set(hidden.cache.values()) == set(CacheValidity)
    truths = {truth.subtask_id: truth for truth in hidden.subtasks}
    for entry in public.cache_entries:
        candidate = next(c for c in truths[entry.subtask_id].candidates if c.values == entry.values)
        validity = hidden.cache[entry.entry_id]
        assert candidate.right is (validity is CacheValidity.VALID)
        assert (entry.version == public.version) is (validity is not CacheValidity.WRONG_VERSION)


def test_a_stale_result_is_older_than_the_code_and_a_valid_one_is_not(scenarios: dict[str, Scenario]) -> None:
    for scenario in scenarios.values():
        unchanged = int(scenario.public.brief.partition("unchanged for ")[2].split()[0])
        for entry in scenario.public.cache_entries:
            if scenario.hidden.cache[entry.entry_id] is CacheValidity.VALID:
                assert entry.age_hours < unchanged
            elif scenario.hidden.cache[entry.entry_id] is CacheValidity.STALE:
                assert entry.age_hours > unchanged


def test_the_medium_case_has_a_question_whose_facts_no_four_segments_hold(scenarios: dict[str, Scenario]) -> None:
    hidden = scenarios[lost_leases.SCENARIO_ID].hidden
    where = {fact.fact_id: {place.segment_id for place in fact.places} for fact in hidden.facts}
    locate = next(truth for truth in hidden.subtasks if truth.subtask_id == "locate")
    assert len(locate.needs) == 6
    assert all(not where[a] & where[b] for a in locate.needs for b in locate.needs if a != b)


def test_nothing_public_but_the_artifacts_names_the_answer(scenarios: dict[str, Scenario]) -> None:
    for scenario in scenarios.values():
        public = scenario.public
        shown = [public.brief, public.title, public.scenario_id, *(subtask.question for subtask in public.subtasks)]
        function = next(field for field in scenario.hidden.fields if field.name == "function").accepted[0]
        assert not any(function.rpartition(".")[2] in text.split() for text in shown)


def test_a_choice_is_neither_always_first_nor_always_last(scenarios: dict[str, Scenario]) -> None:
    for scenario in scenarios.values():
        truths = {field.name: field for field in scenario.hidden.fields}
        for field in scenario.public.answer_fields:
            if field.kind is FieldKind.CHOICE:
                assert 0 < field.choices.index(truths[field.name].accepted[0]) < len(field.choices) - 1


def _states(files: Mapping[str, str], commits: Sequence[Commit]) -> dict[str, Mapping[str, str]]:
    """The files at each commit, by its id."""
    states = {}
    for commit in commits:
        states[commit.sha] = files
        for edit in reversed(commit.edits):
            files = edit.undone(files)
    return states


def test_the_commit_that_is_asked_for_is_the_one_that_turned_the_tests_red() -> None:
    past = lost_leases_commits
    states = _states(lost_leases.FILES, past.COMMITS)
    for commit in (past.BEAT, past.SHORTEN, past.POLL):
        assert run_tests(states[commit.sha]).failing == (), commit.subject
    assert run_tests(states[past.FREEZE.sha]).failing == CASES[1].failing[2:]
    for commit in (past.COMPACT, past.HELD, past.FORGET):
        assert run_tests(states[commit.sha]).failing == CASES[1].failing, commit.subject


def test_the_easy_case_s_bug_came_unseen_with_the_commit_on_keywords() -> None:
    past = regional_prices_commits
    states = _states(regional_prices.FILES, past.COMMITS)
    for commit in past.COMMITS:
        red = CASES[0].failing if commit is past.REPRODUCE else ()
        assert run_tests(states[commit.sha]).failing == red, commit.subject
    shared = [test for test in REGIONAL_PRICES_TESTS if test.name == "keywords with other values are other calls"]
    assert not verdict(states[past.IGNORE.sha], shared)


def test_builds_are_the_same_bytes_in_any_process(scenarios: dict[str, Scenario]) -> None:
    program = (
        "import sys; from TokenOptEnv.task_defs.bugfix import FAMILY; "
        "sys.stdout.write(' '.join(build().content_hash for build in FAMILY.designed.values()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "99"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.split() == [scenario.content_hash for scenario in scenarios.values()]


def test_a_case_whose_truth_does_not_come_out_of_the_run_is_refused() -> None:
    easy = CASES[0]
    builder = CaseBuilder("x", "bugfix", Difficulty.EASY, "t", "b", "1")
    with pytest.raises(ScenarioInvalid, match="hidden tests fail with"):
        judge(builder, easy.files, easy.hidden_tests, easy.visible_only, ())


SMALL = {"a.py": "one\ntwo\nthree\nfour\n"}


def test_a_patch_is_applied_where_it_says() -> None:
    patch = one_line_patch(SMALL, "a.py", "three", "drei")
    assert patch == "--- a/a.py\n+++ b/a.py\n@@ -3 +3 @@\n-three\n+drei"
    assert apply_patch(SMALL, patch)["a.py"] == "one\ntwo\ndrei\nfour\n"


def test_hunks_with_context_and_insertions_are_applied_in_their_order() -> None:
    patch = (
        "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n one\n+and a half\n two\n"
        "@@ -3,0 +5 @@\n+three and a half\n@@ -4 +6,0 @@\n-four\n"
    )
    assert apply_patch(SMALL, patch)["a.py"] == "one\nand a half\ntwo\nthree\nthree and a half\n"


@pytest.mark.parametrize(
    "patch, why",
    [
        ("", "no hunk"),
        ("--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-one\n+eins", "not a file of the package"),
        ("--- a/a.py\n+++ b/a.py\n@@ -2 +2 @@\n-one\n+eins", "does not fit a.py at line 2"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(patch: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        apply_patch(SMALL, patch)


def test_an_edit_that_misses_its_place_is_an_error() -> None:
    with pytest.raises(ScenarioInvalid, match="stands there 0 times"):
        Edit("a.py", "five", "six").applied(SMALL)
    with pytest.raises(ScenarioInvalid, match=r"no file 'b\.py'"):
        Edit("b.py", "one", "two").applied(SMALL)


def test_a_history_ends_at_the_code_that_the_case_shows() -> None:
    text = log_with_diffs(lost_leases.FILES, lost_leases_commits.COMMITS)
    added = [line[1:] for line in text.split("\n") if line.startswith("+") and not line.startswith("+++")]
    assert lost_leases_commits.BUG.after in "\n".join(added)
    assert text.count("\ncommit ") + 1 == len(lost_leases_commits.COMMITS)
