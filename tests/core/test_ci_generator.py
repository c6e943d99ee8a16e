"""The ci generator: what an outline asks for is there, it is real, and only reading tells one plot from another."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from functools import cache

import pytest

from TokenOptEnv.config import YARDSTICK, Difficulty, EpisodeConfig
from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.evaluation.checks import evidence, identity, questions, slots, texts
from TokenOptEnv.plans.reference import make_reference_plan
from TokenOptEnv.scenario import CacheValidity, Scenario
from TokenOptEnv.simulators import tokens
from TokenOptEnv.simulators.retrieval import Retriever
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.ci.generator import repository as repositories
from TokenOptEnv.task_defs.ci.generator.libraries import HELD_OUT as HELD_OUT_LIBRARIES
from TokenOptEnv.task_defs.ci.generator.libraries import TRAIN as TRAIN_LIBRARIES
from TokenOptEnv.task_defs.ci.generator.libraries import Library, Release
from TokenOptEnv.task_defs.ci.generator.planted import handbook, handbook_path
from TokenOptEnv.task_defs.ci.generator.plot import Plot, draw_plot, is_held_out
from TokenOptEnv.task_defs.ci.generator.projects import project, projects
from TokenOptEnv.task_defs.ci.generator.repository import Repository
from TokenOptEnv.task_defs.ci.generator.trials import SITE, Trial, run_all
from TokenOptEnv.task_defs.ci.generator.undo import LOGIC, WORDS, read
from TokenOptEnv.task_defs.family import write_case
from TokenOptEnv.task_defs.generation import TEST_NUMBERS, TRAIN_NUMBERS, Outline, Split, outline
from TokenOptEnv.task_defs.pointers import QUESTION_CAP_TOKENS

TRAIN = TRAIN_NUMBERS.start
TEST = TEST_NUMBERS.start
TOP_K = 8
SAMPLE = [
    *((Difficulty.EASY, TRAIN + number) for number in range(12)),
    *((Difficulty.EASY, TEST + number) for number in range(6)),
    *((Difficulty.MEDIUM, TRAIN + number) for number in range(6)),
    *((Difficulty.MEDIUM, TEST + number) for number in range(3)),
    *((Difficulty.HARD, TRAIN + number) for number in range(2)),
    *((Difficulty.MARATHON, TRAIN + number) for number in range(2)),
]
IDS = [f"{difficulty.value}-{number}" for difficulty, number in SAMPLE]


def asked_for(difficulty: Difficulty, number: int) -> Outline:
    return outline("ci", difficulty, number)


@cache
def made(difficulty: Difficulty, number: int) -> Scenario:
    return write_case(asked_for(difficulty, number))


def count(text: str) -> int:
    return tokens.count(YARDSTICK, text)


def places(scenario: Scenario) -> dict[str, tuple[str, ...]]:
    """By fact: the segments that show it."""
    return {fact.fact_id: tuple(place.segment_id for place in fact.places) for fact in scenario.hidden.facts}


def segment_texts(scenario: Scenario, subtask_id: str) -> dict[str, str]:
    """What can be read while a question can be asked."""
    legs = [phase for phase in scenario.public.phases if subtask_id in phase.subtask_ids]
    return {
        segment.segment_id: segment.text
        for artifact in scenario.public.artifacts
        if not legs or artifact.artifact_id in legs[0].artifact_ids
        for segment in artifact.segments
    }


def found_by_asking(scenario: Scenario, subtask_id: str) -> list[str]:
    subtask = next(each for each in scenario.public.subtasks if each.subtask_id == subtask_id)
    truth = next(each for each in scenario.hidden.subtasks if each.subtask_id == subtask_id)
    question = subtask.question
    if subtask.slot is not None:
        question = question.replace(f"{{{subtask.slot.name}}}", truth.slot_value or "")
    retriever = Retriever(list(segment_texts(scenario, subtask_id).items()))
    return [hit.segment_id for hit in retriever.search(question, TOP_K)]


sample = pytest.mark.parametrize(("difficulty", "number"), SAMPLE, ids=IDS)


# A case is a pure function of its outline


def test_other_processes_with_other_hash_seeds_write_the_same_bytes_in_any_order() -> None:
    code = (
        "import sys; from TokenOptEnv.config import Difficulty; from TokenOptEnv.task_defs.family import write_case\n"
        "from TokenOptEnv.task_defs.generation import outline\n"
        "for name in sys.argv[1:]:\n"
        "    difficulty, number = name.split('-')\n"
        "    print(name, write_case(outline('ci', Difficulty(difficulty), int(number))).content_hash)\n"
    )
    names = [f"easy-{TRAIN}", f"easy-{TEST + 1}", f"medium-{TRAIN + 1}"]
    here = {
        name: made(Difficulty(name.split("-")[0]), int(name.split("-")[1])).content_hash for name in reversed(names)
    }
    for seed, order in (("0", names), ("77", names[::-1])):
        done = subprocess.run(
            [sys.executable, "-c", code, *order],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        assert dict(line.split() for line in done.stdout.splitlines()) == here


def test_neighbouring_numbers_are_different_cases() -> None:
    hashes = {made(Difficulty.EASY, TRAIN + number).content_hash for number in range(6)}
    briefs = {made(Difficulty.EASY, TRAIN + number).public.brief for number in range(6)}
    assert len(hashes) == len(briefs) == 6


# The outline is obeyed


@sample
def test_a_case_keeps_the_contract_of_scenarios(difficulty: Difficulty, number: int) -> None:
    scenario = made(difficulty, number)
    for check in (identity.check, texts.check, evidence.check, questions.check, slots.check):
        assert [fault.line for fault in check(scenario)] == []


@sample
def test_questions_slots_and_facts_are_as_many_as_asked_for(difficulty: Difficulty, number: int) -> None:
    scenario, wanted = made(difficulty, number), asked_for(difficulty, number)
    assert scenario.scenario_id == wanted.scenario_id
    assert len(scenario.public.subtasks) == wanted.questions
    assert any(subtask.slot for subtask in scenario.public.subtasks) is wanted.slot
    shown = places(scenario)
    spread = {truth.subtask_id: len({shown[need][0] for need in truth.needs}) for truth in scenario.hidden.subtasks}
    wide = [name for name, segments in spread.items() if segments == wanted.wide_facts]
    assert len(wide) == (1 if wanted.wide_facts else 0)
    low, high = wanted.facts
    assert all(low <= segments <= high for name, segments in spread.items() if name not in wide)


@sample
def test_sizes_keep_to_what_is_asked_and_what_is_billed_at_every_step_is_short(
    difficulty: Difficulty, number: int
) -> None:
    scenario, wanted = made(difficulty, number), asked_for(difficulty, number)
    low, high = wanted.artifact_tokens
    assert low <= sum(scenario.public.segment_tokens[YARDSTICK]) <= high
    most = 9 if difficulty in (Difficulty.EASY, Difficulty.MEDIUM) else 16
    assert 5 <= len(scenario.public.artifacts) <= most
    assert count(scenario.public.brief) <= 110
    assert all(count(subtask.question) <= QUESTION_CAP_TOKENS for subtask in scenario.public.subtasks)
    assert all(count(c.text) <= 70 for truth in scenario.hidden.subtasks for c in truth.candidates)


@sample
def test_evidence_must_cover_one_to_three_decisive_facts_of_the_question_that_yields_a_field(
    difficulty: Difficulty, number: int
) -> None:
    scenario = made(difficulty, number)
    needs = {truth.subtask_id: truth.needs for truth in scenario.hidden.subtasks}
    for field in scenario.hidden.fields:
        source = next(subtask for subtask in scenario.public.subtasks if field.name in subtask.fields)
        assert 1 <= len(field.path) <= 3
        assert set(field.path) <= set(needs[source.subtask_id])


@sample
def test_the_cache_holds_a_valid_result_iff_asked_for_and_the_others_can_be_told(
    difficulty: Difficulty, number: int
) -> None:
    scenario, wanted = made(difficulty, number), asked_for(difficulty, number)
    validity = scenario.hidden.cache
    kinds = Counter(validity.values())
    assert 3 <= len(scenario.public.cache_entries) <= 5
    assert kinds[CacheValidity.VALID] == int(wanted.valid_cache)
    assert kinds[CacheValidity.STALE] and kinds[CacheValidity.WRONG_VERSION]
    truths = {truth.subtask_id: truth for truth in scenario.hidden.subtasks}
    for entry in scenario.public.cache_entries:
        right = next(c for c in truths[entry.subtask_id].candidates if c.right)
        is_valid = validity[entry.entry_id] is CacheValidity.VALID
        assert is_valid == (entry.values == right.values) == (entry.version == scenario.public.version)
        assert entry.age_hours <= 3 if is_valid else entry.version != scenario.public.version


def test_a_marathon_has_three_legs_and_its_last_question_needs_a_finding_of_the_first() -> None:
    scenario = made(Difficulty.MARATHON, TRAIN)
    legs = scenario.public.phases
    assert [leg.steps for leg in legs] == [13, 13, 14]
    owned = [artifact_id for leg in legs for artifact_id in leg.artifact_ids]
    assert sorted(owned) == sorted(artifact.artifact_id for artifact in scenario.public.artifacts)
    asking = next(subtask for subtask in scenario.public.subtasks if subtask.slot)
    assert asking.subtask_id in legs[2].subtask_ids
    assert asking.slot is not None and asking.slot.from_subtask_id in legs[0].subtask_ids
    shown = places(scenario)
    for truth in scenario.hidden.subtasks:
        readable = segment_texts(scenario, truth.subtask_id)
        assert all(segment in readable for need in truth.needs for segment in shown[need])


# It is found as it says


@sample
def test_lexical_is_what_a_search_for_the_question_shows(difficulty: Difficulty, number: int) -> None:
    scenario, wanted = made(difficulty, number), asked_for(difficulty, number)
    shown = places(scenario)
    for truth in scenario.hidden.subtasks:
        hits = found_by_asking(scenario, truth.subtask_id)
        seen = [any(segment in hits for segment in shown[need]) for need in truth.needs]
        is_survey = len({shown[need][0] for need in truth.needs}) == wanted.wide_facts
        assert any(seen) if truth.lexical else not (sum(seen) >= 5 if is_survey else all(seen))


def test_about_the_wanted_share_of_questions_is_found_by_asking_and_nearly_all_meet_a_decoy() -> None:
    lexical: list[bool] = []
    tempted: list[bool] = []
    for number in range(12):
        scenario = made(Difficulty.EASY, TRAIN + number)
        decoys = {decoy.decoy_id: {place.segment_id for place in decoy.places} for decoy in scenario.hidden.decoys}
        for truth in scenario.hidden.subtasks:
            hits = set(found_by_asking(scenario, truth.subtask_id))
            lexical.append(truth.lexical)
            tempted.append(any(decoys[name] & hits for c in truth.candidates for name in c.decoy_ids))
    assert sum(lexical) / len(lexical) >= 0.8
    assert sum(tempted) / len(tempted) >= 0.7


@sample
def test_a_patch_that_matters_stands_with_the_name_of_its_commit(difficulty: Difficulty, number: int) -> None:
    scenario = made(difficulty, number)
    segments = {s.segment_id: s.text for artifact in scenario.public.artifacts for s in artifact.segments}
    culprit = next(field.accepted[0] for field in scenario.hidden.fields if field.name == "culprit")
    hunks = [fact for fact in scenario.hidden.facts if fact.fact_id == "hunk"]
    assert bool(hunks) or culprit == "none" or not any("hunk" in t.needs for t in scenario.hidden.subtasks)
    for fact in hunks:
        assert [culprit in segments[place.segment_id] for place in fact.places] == [True]


# It is real


def history_of(difficulty: Difficulty, number: int) -> Repository:
    wanted = asked_for(difficulty, number)
    for attempt in range(12):
        try:
            return repositories.build(wanted, draw_plot(wanted), is_held_out(wanted), attempt)
        except ScenarioInvalid:
            continue
    raise AssertionError("no history in twelve draws")


def test_the_guilty_commit_is_the_first_at_which_its_test_fails() -> None:
    number = next(n for n in range(TRAIN, TRAIN + 99) if draw_plot(asked_for(Difficulty.EASY, n)) is Plot.REGRESSION)
    history = history_of(Difficulty.EASY, number)
    test = (history.slip_test.partition("::")[0],)
    runs = run_all([Trial(commit.files, test, verbose=False) for commit in history.commits])
    fails = [history.slip_test in run.failing for run in runs]
    assert fails == [place >= history.hinge for place in range(len(fails))]
    assert history.guilty == history.commits[history.hinge]


@pytest.mark.parametrize("name", ["pageturn", "routefold"])
def test_what_a_step_back_takes_away_changes_no_outcome(name: str) -> None:
    files = dict(package_files(name))
    tests = tuple(path for path in files if path.rpartition("/")[2].startswith("test_"))
    older = [
        {**files, path: spot.before}
        for path, text in files.items()
        if path.startswith(f"{name}/")
        for undo in {**LOGIC, **WORDS}.values()
        for spot in list(undo(read(path, text)))[:2]
    ]
    assert len(older) >= 15
    assert {run.failing for run in run_all([Trial(tree, tests, verbose=False) for tree in older])} == {()}


@pytest.mark.parametrize("library", [*TRAIN_LIBRARIES, *HELD_OUT_LIBRARIES], ids=lambda library: library.name)
def test_only_the_changed_release_of_a_library_fails_its_test(library: Library) -> None:
    chosen = project("backstep")
    held_out = library in HELD_OUT_LIBRARIES
    path = handbook_path(held_out)
    files = {**chosen.files, path: handbook(library, chosen.name, chosen.module, chosen.names, held_out)}
    runs = run_all(
        [
            Trial({**files, f"{SITE}/{library.name}.py": library.text(release)}, (path,), verbose=False)
            for release in Release
        ]
    )
    failing = {release: run.failing for release, run in zip(Release, runs, strict=True)}
    assert failing == {Release.OLD: (), Release.SAME: (), Release.CHANGED: (f"{path}::{library.test}",)}


def test_a_trial_sees_nothing_of_the_one_before_it() -> None:
    first = {"pkg.py": "VALUE = 1\n", "test_a.py": "import pkg\n\n\ndef test_one():\n    assert pkg.VALUE == 1\n"}
    second = {**first, "pkg.py": "VALUE = 2\n"}
    runs = run_all([Trial(files, ("test_a.py",), verbose=False) for files in (first, second, first)])
    assert [run.failing for run in runs] == [(), ("test_a.py::test_one",), ()]


@sample
def test_no_log_runs_backwards_within_a_job(difficulty: Difficulty, number: int) -> None:
    scenario = made(difficulty, number)
    stamp = re.compile(r"(?:\[|\d\d-\d\d )?(\d\d:\d\d[:.]\d\d[.\d]*)")
    checked = 0
    for artifact in scenario.public.artifacts:
        if not artifact.artifact_id.startswith("log-"):
            continue
        last = ""
        for line in "".join(segment.text for segment in artifact.segments).split("\n"):
            found = stamp.match(line)
            if found is None or not last:
                last = found.group(1) if found else ""
                continue
            assert found.group(1) >= last or (last[:2] == "23" and found.group(1)[:2] == "00"), line
            last = found.group(1)
            checked += 1
    assert checked > 50


# Only reading tells one plot from another


def drawn_histories() -> list[tuple[Outline, Plot]]:
    outlines = [asked_for(Difficulty.EASY, TRAIN + number) for number in range(400)]
    return [(each, draw_plot(each)) for each in outlines]


def test_plots_are_spread_and_the_no_fault_ones_are_exactly_where_asked_for() -> None:
    drawn = Counter(plot for _, plot in drawn_histories())
    assert {Plot.REGRESSION, Plot.WOBBLE, Plot.LIBRARY, Plot.SELECTION, Plot.BRANCH, Plot.ALLOWED} <= set(drawn)
    assert max(drawn.values()) < 0.45 * 400
    for each, plot in drawn_histories():
        assert each.no_fault == (plot.failure_class.value == "none")


def test_the_guilty_commit_stands_anywhere() -> None:
    fifths: Counter[int] = Counter()
    for number in range(160):
        wanted = asked_for(Difficulty.MEDIUM, TRAIN + number)
        try:
            history = repositories.build(wanted, draw_plot(wanted), False, 0)
        except ScenarioInvalid:
            continue
        if history.guilty is not None:
            fifths[5 * history.hinge // len(history.commits)] += 1
    assert set(fifths) == set(range(5))
    assert max(fifths.values()) <= 0.36 * fifths.total()


def test_brief_layout_and_wording_are_the_same_with_and_without_a_fault() -> None:
    by_fault: dict[bool, list[Scenario]] = {False: [], True: []}
    for number in range(12):
        scenario = made(Difficulty.EASY, TRAIN + number)
        by_fault[asked_for(Difficulty.EASY, TRAIN + number).no_fault].append(scenario)
    assert all(by_fault.values())

    def masked_brief(scenario: Scenario) -> str:
        return re.sub(r"^.*?\. Run \d+", "Run N", re.sub(r"logs of \d+", "logs of N", scenario.public.brief))

    def layout(scenario: Scenario) -> tuple[str, ...]:
        return tuple(re.sub(r"\d+", "N", artifact.artifact_id) for artifact in scenario.public.artifacts)

    whole = [*by_fault[False], *by_fault[True]]
    assert len({masked_brief(scenario) for scenario in whole}) == 1
    assert len({layout(scenario) for scenario in whole}) == 1
    kinds = {tuple(artifact.kind for artifact in scenario.public.artifacts) for scenario in whole}
    assert len(kinds) == 1
    assert {len(scenario.public.answer_fields[1].choices) for scenario in whole} == {8}


def test_nothing_said_outright_names_the_answer() -> None:
    for difficulty, number in SAMPLE:
        public, hidden = made(difficulty, number).public, made(difficulty, number).hidden
        said = " ".join(
            [
                public.title,
                public.brief,
                *(subtask.question for subtask in public.subtasks),
                *(f"{artifact.artifact_id} {artifact.title}" for artifact in public.artifacts),
            ]
        )
        for field in hidden.fields:
            if field.name in ("culprit", "failing_test") and field.accepted[0] != "none":
                assert (field.accepted[0].partition("::")[2] or field.accepted[0]) not in said


# What is held out


def test_train_and_test_share_no_package() -> None:
    assert not set(projects(Split.TRAIN)) & set(projects(Split.TEST))
    assert projects(Split.TRAIN) == projects(Split.VALIDATION)


def test_train_and_test_share_no_plot_of_setup_command_or_innocence() -> None:
    def drawn(start: int) -> set[Plot]:
        return {draw_plot(asked_for(Difficulty.EASY, start + number)) for number in range(300)}

    common = {Plot.REGRESSION, Plot.WOBBLE, Plot.LIBRARY}
    assert drawn(TRAIN) & drawn(TEST) == common


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Runs of five words, with numbers and ids masked."""
    words = re.sub(r"\b[0-9a-f]{6,}\b|\d+", "#", text).split()
    return frozenset(tuple(words[at : at + 5]) for at in range(max(1, len(words) - 4)))


def test_hardly_a_telling_segment_of_test_was_nearly_seen_in_train() -> None:
    def telling(numbers: list[tuple[Difficulty, int]]) -> list[frozenset[tuple[str, ...]]]:
        found = []
        for difficulty, number in numbers:
            scenario = made(difficulty, number)
            segments = {s.segment_id: s.text for a in scenario.public.artifacts for s in a.segments}
            facts = [place for fact in scenario.hidden.facts for place in fact.places]
            decoys = [place for decoy in scenario.hidden.decoys for place in decoy.places]
            ids = dict.fromkeys(place.segment_id for place in (*facts, *decoys))
            found += [shingles(segments[name]) for name in ids]
        return found

    def is_near(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
        return len(one & other) >= 0.7 * len(one | other)

    seen = telling([(d, n) for d, n in SAMPLE if n >= TRAIN and d in (Difficulty.EASY, Difficulty.MEDIUM)])
    new = telling([(d, n) for d, n in SAMPLE if n < TRAIN])
    near = [one for one in new if any(is_near(one, other) for other in seen)]
    assert len(new) > 60
    assert len(near) < 0.01 * len(new)


# It can be solved


def without_survey(difficulty: Difficulty, start: int, count: int) -> list[tuple[Difficulty, int]]:
    """A survey needs compression, which the planner is not asked for here."""
    numbers = [n for n in range(start, start + 40) if asked_for(difficulty, n).wide_facts is None]
    return [(difficulty, number) for number in numbers[:count]]


@pytest.mark.parametrize("world", [0, 1])
@pytest.mark.parametrize(
    ("difficulty", "number"),
    [
        *without_survey(Difficulty.EASY, TRAIN, 10),
        *without_survey(Difficulty.MEDIUM, TRAIN, 7),
        *without_survey(Difficulty.MEDIUM, TEST, 3),
    ],
)
def test_the_reference_planner_solves_a_case_without_a_survey(difficulty: Difficulty, number: int, world: int) -> None:
    plan = make_reference_plan(made(difficulty, number), world, EpisodeConfig())
    assert plan.nano_usd > 0
