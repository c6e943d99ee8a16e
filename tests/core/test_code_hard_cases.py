"""The hard cases and the marathons about code: that what they say was run, and what makes them hard."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

import pytest

from tests.cases import Play, right_values, world_of
from TokenOptEnv.config import (
    BUGFIX_HARD_ARTIFACT_TOKENS,
    ROUTE_MAX_HANDLES,
    SEARCH_MAX_TOP_K,
    SIZES,
    YARDSTICK,
    Difficulty,
    Profile,
)
from TokenOptEnv.evaluation.validate import CHECKS
from TokenOptEnv.models import ActionType, FieldKind, RefusalReason
from TokenOptEnv.scenario import CacheValidity, Scenario, SubtaskTruth, dump_scenario
from TokenOptEnv.simulators import tokens
from TokenOptEnv.simulators.retrieval import Retriever
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.bugfix.cases import double_billing, undead_keys
from TokenOptEnv.task_defs.bugfix.cases.double_billing import case as billing
from TokenOptEnv.task_defs.bugfix.cases.double_billing import commits as billing_commits
from TokenOptEnv.task_defs.bugfix.cases.double_billing import nights as billing_nights
from TokenOptEnv.task_defs.bugfix.cases.double_billing.hidden_tests import HIDDEN_TESTS as BILLING_TESTS
from TokenOptEnv.task_defs.bugfix.cases.tidying import tidyings
from TokenOptEnv.task_defs.bugfix.cases.undead_keys import case as keys
from TokenOptEnv.task_defs.bugfix.cases.undead_keys import commits as keys_commits
from TokenOptEnv.task_defs.bugfix.cases.undead_keys import nights as keys_nights
from TokenOptEnv.task_defs.bugfix.cases.undead_keys.hidden_tests import HIDDEN_TESTS as KEYS_TESTS
from TokenOptEnv.task_defs.bugfix.edit import Edit
from TokenOptEnv.task_defs.bugfix.judging import patch_passes
from TokenOptEnv.task_defs.bugfix.patch import apply_patch, line_of
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.ci.cases import ferrybook, rotaboard
from TokenOptEnv.task_defs.ci.cases.ferrybook import case as ferry
from TokenOptEnv.task_defs.ci.cases.ferrybook import history as ferry_history
from TokenOptEnv.task_defs.ci.cases.ferrybook import runs as ferry_runs
from TokenOptEnv.task_defs.ci.cases.rotaboard import case as rota
from TokenOptEnv.task_defs.ci.cases.rotaboard import history as rota_history
from TokenOptEnv.task_defs.ci.cases.rotaboard import runs as rota_runs
from TokenOptEnv.task_defs.ci.writers.history import Change
from TokenOptEnv.task_defs.execution import HiddenTest, TestRun, Trial, run_batch, run_tests, verdict

BUILDS = {
    undead_keys.SCENARIO_ID: undead_keys.build,
    double_billing.SCENARIO_ID: double_billing.build,
    ferrybook.SCENARIO_ID: ferrybook.build,
    rotaboard.SCENARIO_ID: rotaboard.build,
}
WIDE = {
    undead_keys.SCENARIO_ID: "origin",
    double_billing.SCENARIO_ID: "build",
    ferrybook.SCENARIO_ID: "drift",
    rotaboard.SCENARIO_ID: "window",
}
MARATHONS = (double_billing.SCENARIO_ID, rotaboard.SCENARIO_ID)
QUESTIONS = {Difficulty.HARD: (3, 4), Difficulty.MARATHON: (4, 6)}
MOST_SHIPPED_BYTES = 400_000
each = pytest.mark.parametrize("name", BUILDS)
each_marathon = pytest.mark.parametrize("name", MARATHONS)


@cache
def built(name: str) -> Scenario:
    return BUILDS[name]()


def count(text: str) -> int:
    return tokens.count(YARDSTICK, text)


def text_of(name: str, artifact_id: str) -> str:
    artifact = next(a for a in built(name).public.artifacts if a.artifact_id == artifact_id)
    return "".join(segment.text for segment in artifact.segments)


def truths(name: str) -> dict[str, SubtaskTruth]:
    return {truth.subtask_id: truth for truth in built(name).hidden.subtasks}


@cache
def sizes(name: str) -> dict[str, int]:
    """By segment."""
    public = built(name).public
    ids = [segment.segment_id for artifact in public.artifacts for segment in artifact.segments]
    return dict(zip(ids, public.segment_tokens[YARDSTICK], strict=True))


def places(name: str) -> dict[str, set[str]]:
    """By fact or decoy: the segments that show it."""
    hidden = built(name).hidden
    shown = {fact.fact_id: {place.segment_id for place in fact.places} for fact in hidden.facts}
    return shown | {decoy.decoy_id: {place.segment_id for place in decoy.places} for decoy in hidden.decoys}


@cache
def on_the_table(name: str, subtask_id: str) -> dict[str, str]:
    """The segments that can be read while a question is asked."""
    public = built(name).public
    phase = next((phase for phase in public.phases if subtask_id in phase.subtask_ids), None)
    return {
        segment.segment_id: segment.text
        for artifact in public.artifacts
        if phase is None or artifact.artifact_id in phase.artifact_ids
        for segment in artifact.segments
    }


# --- all four


@each
def test_no_check_finds_fault(name: str) -> None:
    assert [fault.line for check in CHECKS for fault in check(built(name))] == []


@each
def test_it_has_the_size_and_the_questions_of_its_difficulty(name: str) -> None:
    public = built(name).public
    is_hard_bugfix = public.family == "bugfix" and public.difficulty is Difficulty.HARD
    low, high = BUGFIX_HARD_ARTIFACT_TOKENS if is_hard_bugfix else SIZES[public.difficulty].artifact_tokens
    assert low <= sum(sizes(name).values()) <= high
    fewest, most = QUESTIONS[public.difficulty]
    assert fewest <= len(public.subtasks) <= most
    assert len(dump_scenario(built(name))) < MOST_SHIPPED_BYTES


@each
def test_the_widest_question_stands_in_more_segments_than_memory_and_handles_hold(name: str) -> None:
    needed = {min(places(name)[fact]) for fact in truths(name)[WIDE[name]].needs}
    in_memory = sorted(sizes(name)[segment_id] for segment_id in needed)[: -ROUTE_MAX_HANDLES[Profile.V2]]
    memory = SIZES[built(name).public.difficulty].memory_tokens
    assert sum(in_memory) > memory


@each
def test_a_question_is_asked_while_its_facts_and_its_decoys_are_on_the_table(name: str) -> None:
    for truth in built(name).hidden.subtasks:
        table = on_the_table(name, truth.subtask_id)
        decoys = {decoy for candidate in truth.candidates for decoy in candidate.decoy_ids}
        assert all(places(name)[evidence] & table.keys() for evidence in (*truth.needs, *decoys)), truth.subtask_id


@each
def test_asking_the_question_finds_a_decoy_and_all_its_facts_only_where_it_is_lexical(name: str) -> None:
    scenario = built(name)
    for subtask, truth in zip(scenario.public.subtasks, scenario.hidden.subtasks, strict=True):
        slot = {subtask.slot.name: truth.slot_value or ""} if subtask.slot else {}
        retriever = Retriever(list(on_the_table(name, truth.subtask_id).items()))
        found = retriever.search(subtask.question.format(**slot), SEARCH_MAX_TOP_K)
        hits = {hit.segment_id for hit in found}
        assert [d for c in truth.candidates for d in c.decoy_ids if places(name)[d] & hits], truth.subtask_id
        assert all(places(name)[need] & hits for need in truth.needs) == truth.lexical, truth.subtask_id


@each
def test_a_fact_stands_with_no_decoy_of_its_own_question_unless_it_also_stands_without(name: str) -> None:
    for truth in built(name).hidden.subtasks:
        misleading = {s for c in truth.candidates for decoy in c.decoy_ids for s in places(name)[decoy]}
        assert all(places(name)[need] - misleading for need in truth.needs), truth.subtask_id


@each
def test_the_path_of_a_field_is_the_decisive_part_of_what_the_subtask_that_yields_it_needs(name: str) -> None:
    scenario = built(name)
    for field in scenario.hidden.fields:
        source = next(s.subtask_id for s in scenario.public.subtasks if field.name in s.fields)
        assert set(field.path) <= set(truths(name)[source].needs)
        assert 1 <= len(field.path) <= 3


@each
def test_what_is_asked_and_answered_is_short(name: str) -> None:
    scenario = built(name)
    assert all(count(subtask.question) <= 40 for subtask in scenario.public.subtasks)
    assert all(count(field.question) <= 20 for field in scenario.public.answer_fields)
    for truth in scenario.hidden.subtasks:
        assert all(count(candidate.text) <= 70 for candidate in truth.candidates)


@each
def test_nothing_said_outright_names_the_answer(name: str) -> None:
    public = built(name).public
    said = [public.title, public.brief, *(phase.brief for phase in public.phases)]
    said += [subtask.question for subtask in public.subtasks]
    said += [f"{artifact.artifact_id} {artifact.title}" for artifact in public.artifacts]
    kinds = {field.name: field.kind for field in public.answer_fields}
    secrets = [
        field.accepted[0].rpartition("::")[2]
        for field in built(name).hidden.fields
        if kinds[field.name] is not FieldKind.CHOICE or "::" in field.accepted[0]
    ]
    assert not [text for text in said for secret in secrets if re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", text)]


@each
def test_a_choice_is_neither_first_nor_last(name: str) -> None:
    right = {field.name: field.accepted[0] for field in built(name).hidden.fields}
    for field in built(name).public.answer_fields:
        if field.kind is FieldKind.CHOICE:
            assert right[field.name] in field.choices[1:-1]


@each
def test_every_decoy_misleads_and_every_question_has_two_wrong_answers_that_rest_on_some(name: str) -> None:
    hidden = built(name).hidden
    used: set[str] = set()
    for truth in hidden.subtasks:
        misled = [c for c in truth.candidates if not c.right and c.decoy_ids]
        assert len(misled) >= 2
        used |= {decoy for candidate in misled for decoy in candidate.decoy_ids}
    assert used == {decoy.decoy_id for decoy in hidden.decoys}


@each
def test_old_results_are_of_every_kind_and_only_a_valid_one_is_right_and_cites_all_it_rests_on(name: str) -> None:
    scenario = built(name)
    assert set(scenario.hidden.cache.values()) == set(CacheValidity)
    for entry in scenario.public.cache_entries:
        truth = truths(name)[entry.subtask_id]
        candidate = next(c for c in truth.candidates if c.values == entry.values)
        valid = scenario.hidden.cache[entry.entry_id] is CacheValidity.VALID
        assert candidate.right is valid
        if valid:
            assert entry.version == scenario.public.version
            assert all(places(name)[need] & set(entry.cites) for need in truth.needs)


@each
def test_one_question_can_be_asked_only_with_what_another_found(name: str) -> None:
    scenario = built(name)
    slotted = [subtask for subtask in scenario.public.subtasks if subtask.slot is not None]
    assert slotted
    for subtask in slotted:
        assert subtask.slot is not None
        found = right_values(scenario)[subtask.slot.from_subtask_id][subtask.slot.name]
        assert found == truths(name)[subtask.subtask_id].slot_value
        assert found not in scenario.public.brief


# --- marathons


@each_marathon
def test_the_last_phase_asks_about_what_only_the_first_could_show(name: str) -> None:
    public = built(name).public
    first, *_, last = public.phases
    subtasks = {subtask.subtask_id: subtask for subtask in public.subtasks}
    slots = [subtasks[subtask_id].slot for subtask_id in last.subtask_ids]
    assert any(slot is not None and slot.from_subtask_id in first.subtask_ids for slot in slots)
    tables = [set(phase.artifact_ids) for phase in public.phases]
    assert all(not tables[a] & tables[b] for a in range(3) for b in range(a))
    assert set.union(*tables) == {artifact.artifact_id for artifact in public.artifacts}


@each_marathon
def test_without_a_checkpoint_the_last_phase_cannot_ask_for_the_commit(name: str) -> None:
    play = Play(world_of(built(name)))
    while play.observation.task.phase < 2:
        play.do(ActionType.MALFORMED)
    assert "origin" not in play.observation.legal_actions.choices["subtasks"]
    play.route("origin", play.observation.models[0].model_id)
    assert play.refusal is not None and play.refusal.reason is RefusalReason.SLOT_EMPTY


# --- bug fixes: real packages, real bugs, verdicts that were run


@dataclass(frozen=True)
class Repair:
    name: str
    package: str
    files: Mapping[str, str]
    bug: Edit
    hidden_tests: tuple[HiddenTest, ...]
    right: str
    wrong: tuple[str, ...]
    visible_only: tuple[str, ...]
    failing: tuple[str, ...]


REPAIRS = (
    Repair(
        undead_keys.SCENARIO_ID,
        "siltstore",
        keys_nights.FILES,
        keys_commits.BUG,
        KEYS_TESTS,
        keys.RIGHT_PATCH,
        keys.WRONG_PATCHES,
        (keys.ASK_TARGET_PATCH,),
        ("tests/test_soak.py::test_a_morning_ends_as_its_model_says",),
    ),
    Repair(
        double_billing.SCENARIO_ID,
        "meterline",
        billing_nights.FILES,
        billing_commits.BUG,
        BILLING_TESTS,
        billing.RIGHT_PATCH,
        billing.WRONG_PATCHES,
        (billing.LONGER_PATCH, billing.LATER_PATCH),
        ("tests/test_outage.py::test_an_event_held_back_by_an_outage_counts_once",),
    ),
)
each_repair = pytest.mark.parametrize("repair", REPAIRS, ids=lambda repair: repair.package)


@each_repair
def test_the_bug_fails_the_tests_that_the_case_shows_and_the_package_none(repair: Repair) -> None:
    sound = package_files(repair.package)
    assert run_tests(sound).failing == ()
    assert verdict(sound, repair.hidden_tests)
    assert run_tests(repair.files).failing == repair.failing
    assert apply_patch(repair.files, repair.right) == dict(sound)


@each_repair
def test_some_wrong_patches_turn_every_visible_test_green(repair: Repair) -> None:
    for patch in repair.visible_only:
        assert patch in repair.wrong
        assert run_tests(apply_patch(repair.files, patch)).failing == ()
        assert not patch_passes(repair.files, patch, repair.hidden_tests)


@each_repair
def test_every_candidate_patch_can_be_applied_and_has_its_verdict(repair: Repair) -> None:
    hidden = built(repair.name).hidden
    offered = [c.values["patch"] for truth in hidden.subtasks for c in truth.candidates if "patch" in c.values]
    assert set(offered) == {repair.right, *repair.wrong}
    for patch in offered:
        apply_patch(repair.files, patch)
        assert hidden.verdicts[patch] is (patch == repair.right)


@each_repair
def test_the_line_that_is_asked_for_is_the_line_that_the_patch_changes(repair: Repair) -> None:
    fields = {field.name: field for field in built(repair.name).hidden.fields}
    line = str(line_of(repair.files, repair.bug.path, repair.bug.after))
    assert fields["line"].accepted == (line,)
    assert f"@@ -{line} " in fields["patch"].accepted[0]


@pytest.mark.parametrize(
    ("name", "artifact_id", "run"),
    [
        (undead_keys.SCENARIO_ID, "job-1311", keys.red_run),
        (double_billing.SCENARIO_ID, "job-2210", billing.red_run),
    ],
    ids=["siltstore", "meterline"],
)
def test_the_report_in_the_case_is_the_report_of_the_run(
    name: str, artifact_id: str, run: Callable[[], TestRun]
) -> None:
    assert run().report.rstrip("\n") in text_of(name, artifact_id)


# --- undead keys

_TABLE = re.compile(r"#(\d+) ([\w/]+)\.\.([\w/]+)")


def test_levels_keep_their_rule_in_every_night_before_the_commit_and_break_it_in_its_first() -> None:
    (accepted,) = (f.accepted for f in built(undead_keys.SCENARIO_ID).hidden.fields if f.name == "commit")
    assert accepted == (keys_commits.CHOOSE.sha,)
    nights = keys_nights.nights()
    since = next(place for place, night in enumerate(nights) if night.head is keys_commits.CHOOSE)
    kept = ["overlaps 0" in night.verdict for night in nights]
    assert all(kept[:since]) and not kept[since]
    assert not any(kept[place] for place, n in enumerate(nights) if place > since + 1 and n.operations > 200)


def test_keys_come_back_only_since_the_innocent_commit() -> None:
    nights = keys_nights.nights()
    innocent = next(place for place, night in enumerate(nights) if night.head is keys_commits.DROP)
    back = [" 0 resurrected" not in night.verdict for night in nights]
    assert not any(back[:innocent]) and back[innocent]


def test_the_nights_were_green_until_the_test_was_written() -> None:
    red = [night.number for night in keys_nights.nights() if any(t.outcome != "passed" for t in night.tests)]
    assert red == [keys_nights.nights()[-1].number]


def test_the_compaction_that_is_asked_for_passes_over_a_table_that_spans_the_key() -> None:
    log = text_of(undead_keys.SCENARIO_ID, "job-1311")
    before, _, after = log.partition(f"{keys.COMPACTION_ID} takes ")
    left = before.rpartition("c-2 leaves ")[2].partition(" in level 1")[0]
    spanning = [number for number, low, high in _TABLE.findall(left) if low <= keys.VICTIM <= high]
    sunk_meanwhile = before.rpartition("c-3 takes ")[2].partition(" of level 1")[0]
    assert set(spanning) - {number for number, _, _ in _TABLE.findall(sunk_meanwhile)}
    assert after.split("\n")[1].endswith(f"{keys.COMPACTION_ID} merges them with nothing of level 1")
    assert f"{keys.COMPACTION_ID} drops the marker 219 of {keys.VICTIM}" in after


# --- double billing


def test_the_event_that_is_asked_for_is_the_only_one_that_the_recording_admits_twice() -> None:
    log = "".join(text_of(double_billing.SCENARIO_ID, name) for name in ("ingest-day-0", "ingest-day-1"))
    admitted = re.findall(r"admits (\S+),", log)
    assert {event_id for event_id in admitted if admitted.count(event_id) > 1} == {billing.TWICE}


def test_the_build_is_the_last_with_late_arrivals_before_the_first_that_bills_twice() -> None:
    nights = billing_nights.nights()
    good = billing_nights.last_proven_good()
    first_bad = next(night for night in nights if night.billed_twice)
    between = [night for night in nights if good.at < night.at < first_bad.at and night.build is not good]
    assert not any(night.had_late for night in between)
    assert {night.build.name for night in between} == {"b-616", "b-617"}
    assert all(any(n.billed_twice for n in nights if n.build is b) for b in billing_nights.BUILDS[6:])


def test_only_the_named_commit_makes_events_count_twice() -> None:
    states = billing_nights.states()
    guilty = billing_commits.COMMITS.index(billing_commits.TAKE_ARRIVAL)
    around = billing_commits.COMMITS[guilty - 2 : guilty + 3]
    calls = tuple(test.call for test in BILLING_TESTS if test.name == "a night with many outages bills nobody twice")
    done = run_batch([Trial(states[commit], calls) for commit in around])
    clean = [result is not None and result.outcomes[0].values == ("1",) for result in done]
    assert clean == [False, False, False, True, True]


def test_a_night_that_runs_on_a_build_comes_after_it_and_a_build_after_its_commit() -> None:
    for night in billing_nights.nights():
        assert night.build.at < night.at
    for build in billing_nights.BUILDS:
        assert datetime.strptime(build.commit.date, "%a %b %d %H:%M:%S %Y %z") < build.at


def test_the_release_branch_has_the_fault_under_another_id() -> None:
    log = text_of(double_billing.SCENARIO_ID, "branch-5-3")
    picked = log.split(f"commit {billing_commits.PICKED_ARRIVAL.sha}")[1]
    assert f"(cherry picked from commit {billing_commits.TAKE_ARRIVAL.sha})" in picked.split("\ndiff ")[0]
    assert f"+        {billing_commits.BUG.after}" in picked


def test_tidied_code_does_what_it_did() -> None:
    files = dict(package_files("meterline"))
    modules = [path for path in files if path.startswith("meterline/") and not path.endswith("__init__.py")]
    for tidying in tidyings(files, modules, 30, Stream("test", "tidying")):
        assert files[tidying.path] == tidying.after != tidying.before
        files[tidying.path] = tidying.before
    assert run_tests(files).failing == ()


# --- quay hosts


def test_the_named_commit_is_the_first_whose_own_lock_turns_the_gate_red() -> None:
    guilty = ferry_history.WEEK.index(ferry_history.ROUNDEL)
    assert ferry_runs.clean_install(ferry_history.WEEK[guilty - 1]).failing == ()
    for change in (ferry_history.ROUNDEL, ferry_history.PLAINTAB, ferry_history.CAPITALS):
        assert ferry_runs.clean_install(change).failing == (ferry.FAILING,)
    culprit = next(f.accepted[0] for f in built(ferrybook.SCENARIO_ID).hidden.fields if f.name == "culprit")
    assert culprit == ferry_history.commits()[ferry_history.ROUNDEL].sha


def test_only_one_release_tells_red_runs_from_green_ones_and_no_host_does() -> None:
    red = {run: bool(done.failing) for run, done in ferry_runs.gating_runs().items()}
    assert len(red) == len(ferry_runs.RUNS)
    seen = {(name, version) for run in red for name, version in run.venv.pins.items()}
    telling = {
        f"{name}=={version}"
        for name, version in seen
        if all((run.venv.pins[name] == version) is is_red for run, is_red in red.items())
    }
    assert telling == {ferry.PINNED}
    both = {run.host for run in red if red[run]} & {run.host for run in red if not red[run]}
    assert both == {"quay-2", "quay-4"}


def test_a_retry_on_another_host_makes_a_red_commit_green() -> None:
    first, again = ferry_runs.run_of(3131), ferry_runs.run_of(3131, 2)
    assert first.commit is again.commit
    assert ferry_runs.gating_runs()[first].failing and not ferry_runs.gating_runs()[again].failing


# --- evening boards


def failing_at(change: Change, *clocks: tuple[int, int]) -> list[tuple[str, ...]]:
    """What fails at a commit when the job begins at each of these times."""
    files = rota_history.commits()[change].files
    tree = {path: text for path, text in files.items() if path.startswith(("rotaboard/", "tests/"))}
    runs = [rota_runs.Run(0, 1, "push", change, datetime(2026, 4, 20, *clock, tzinfo=UTC)) for clock in clocks]
    done = run_batch(
        [Trial({**tree, rota_runs.JOB_INFO: run.job_info}, tests=True) for run in runs], roots=(".", "tests")
    )
    return [tuple(t.test_id for t in result.tests if t.outcome != "passed") for result in done if result is not None]


def test_the_test_fails_from_the_hour_that_is_asked_for_and_only_since_the_named_commit() -> None:
    red, green = (rota.FAILING,), ()
    evening = ((21, 59), (22, 0), (23, 59), (0, 0))
    assert failing_at(rota_history.THAWED, *evening) == [green, red, red, green]
    assert failing_at(rota_history.NOTES_FIRST, *evening) == [green] * 4
    assert truths(rotaboard.SCENARIO_ID)["origin"].slot_value == "22:00"


def test_the_failure_was_there_in_winter_and_was_put_away_by_a_fixed_time() -> None:
    assert failing_at(rota_history.SITE_DATES, (22, 30), (23, 30)) == [(), (rota.FAILING,)]
    assert failing_at(rota_history.FROZEN, (22, 30), (23, 30)) == [(), ()]


def test_every_run_of_the_week_ends_as_its_hour_and_its_commit_say() -> None:
    week = rota_history.WEEK
    for run, done in rota_runs.gating_runs().items():
        can_fail = week.index(run.change) >= week.index(rota_history.THAWED)
        assert done.failing == ((rota.FAILING,) if can_fail and run.at.hour >= 22 else ()), run.number
    assert rota.first_red() is rota_runs.run_of(5213)


@pytest.mark.parametrize(
    ("name", "artifact_id", "report"),
    [
        (ferrybook.SCENARIO_ID, ferry.RED, lambda: ferry_runs.gating_runs()[ferry_runs.run_of(3140)].report),
        (rotaboard.SCENARIO_ID, rota.RED, lambda: rota_runs.gating_runs()[rota_runs.run_of(5218)].report),
    ],
    ids=["ferrybook", "rotaboard"],
)
def test_a_log_holds_the_report_of_the_real_run_line_by_line(
    name: str, artifact_id: str, report: Callable[[], str]
) -> None:
    plain = re.sub(r"\^\[\[\d+m", "", text_of(name, artifact_id))
    seen = {re.sub(r"^(\[\d\d:\d\d\.\d{3}\]|\d\d-\d\d \d\d:\d\d:\d\dZ) ?", "", line) for line in plain.split("\n")}
    assert [line for line in report().split("\n") if line.strip() and line.rstrip() not in seen] == []


def test_another_process_with_another_hash_seed_builds_the_same_bytes() -> None:
    """One of the four: the bug fixes are built again so with the rest of their family."""
    name = rotaboard.SCENARIO_ID
    code = f"from TokenOptEnv.task_defs.ci import FAMILY; print(FAMILY.designed[{name!r}]().content_hash)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "4242"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.strip() == built(name).content_hash
