"""Generated bug fixes: what an outline asks for is what is written, and nothing tells the answer but the evidence."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

import pytest

from TokenOptEnv.config import YARDSTICK, Difficulty, EpisodeConfig
from TokenOptEnv.models import ArtifactKind
from TokenOptEnv.plans.reference import make_reference_plan
from TokenOptEnv.scenario import CacheValidity, Scenario, SubtaskTruth
from TokenOptEnv.simulators import tokens
from TokenOptEnv.simulators.retrieval import Retriever
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.bugfix.generator import verify_scenario
from TokenOptEnv.task_defs.bugfix.generator.checking import hidden_tests, shown_code
from TokenOptEnv.task_defs.bugfix.generator.hidden_calls import hidden_calls, parse_call
from TokenOptEnv.task_defs.bugfix.generator.library import lore, modules, packages, packages_of
from TokenOptEnv.task_defs.bugfix.generator.mutation import WRITTEN, instead, mutations, written
from TokenOptEnv.task_defs.bugfix.generator.operators import OPERATORS
from TokenOptEnv.task_defs.bugfix.generator.plot import draw_plot
from TokenOptEnv.task_defs.bugfix.generator.refactor import functions, renamed, swapped, unfolded, untested
from TokenOptEnv.task_defs.bugfix.generator.verified import verified
from TokenOptEnv.task_defs.bugfix.patch import apply_patch
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.execution import Call, Method, Outcome, Trial, run_batch, run_calls
from TokenOptEnv.task_defs.family import write_case
from TokenOptEnv.task_defs.generation import Outline, Split, outline
from TokenOptEnv.task_defs.pointers import QUESTION_CAP_TOKENS

TRAIN, TEST, VALIDATION = 100_000, 50_000, 0
SAMPLES = [
    *((Difficulty.EASY, number) for number in range(TRAIN, TRAIN + 24)),
    *((Difficulty.EASY, number) for number in range(TEST, TEST + 8)),
    *((Difficulty.MEDIUM, number) for number in range(TRAIN, TRAIN + 8)),
    *((Difficulty.MEDIUM, number) for number in range(TEST, TEST + 4)),
    *((Difficulty.HARD, number) for number in range(TRAIN, TRAIN + 3)),
    *((Difficulty.MARATHON, number) for number in range(TRAIN, TRAIN + 2)),
]
each_sample = pytest.mark.parametrize("difficulty, number", SAMPLES, ids=lambda value: str(value))


def _outline(difficulty: Difficulty, number: int) -> Outline:
    return outline("bugfix", difficulty, number)


@cache
def _case(difficulty: Difficulty, number: int) -> Scenario:
    return write_case(_outline(difficulty, number))


def _all() -> list[tuple[Outline, Scenario]]:
    return [(_outline(*sample), _case(*sample)) for sample in SAMPLES]


def _size(text: str) -> int:
    return tokens.count(YARDSTICK, text)


def _segments(scenario: Scenario) -> dict[str, str]:
    return {s.segment_id: s.text for artifact in scenario.public.artifacts for s in artifact.segments}


def _needed(scenario: Scenario, truth: SubtaskTruth) -> list[str]:
    facts = {fact.fact_id: fact for fact in scenario.hidden.facts}
    return list(dict.fromkeys(facts[fact_id].places[0].segment_id for fact_id in truth.needs))


def _right(truth: SubtaskTruth) -> dict[str, str]:
    return next(candidate.values for candidate in truth.candidates if candidate.right)


# The shelf of packages


def test_the_shelf_holds_enough_packages_and_test_shares_none_with_train() -> None:
    assert len(packages()) >= 20
    assert 6 <= len(packages_of(Split.TEST)) <= 7
    assert not set(packages_of(Split.TEST)) & set(packages_of(Split.TRAIN))
    assert packages_of(Split.VALIDATION) == packages_of(Split.TRAIN)
    assert all(3 <= len(modules(name)) <= 6 for name in packages())


@pytest.mark.parametrize("name", packages())
def test_a_package_has_recorded_bugs_of_many_kinds_and_one_written_by_hand(name: str) -> None:
    bugs = [mutant for mutant in verified(name).mutants if mutant.failing]
    assert len(bugs) >= 12
    assert len({bug.mutation.operator for bug in bugs}) >= 6
    assert any(bug.mutation.operator == WRITTEN for bug in bugs)
    assert len({bug.mutation.function for bug in bugs}) >= 6


def test_every_operator_of_the_book_is_used_somewhere() -> None:
    used = Counter(mutant.mutation.operator for name in packages() for mutant in verified(name).mutants)
    assert len(OPERATORS) >= 10
    assert set(OPERATORS) <= set(used)


def test_records_come_out_of_the_run_again() -> None:
    """One bug and one quiet mutant of every third package; recording them all takes minutes."""
    for name in packages()[::3]:
        records, files = verified(name), dict(package_files(name))
        drawn = Stream("sample", name).shuffled(records.mutants)
        loud = next(mutant for mutant in drawn if mutant.failing)
        quiet = next((mutant for mutant in drawn if not mutant.failing), loud)
        calls = hidden_calls(name)
        correct, *results = run_batch(
            [Trial(files, calls, tests=True), *(Trial(m.mutation.planted(files), calls, True) for m in (loud, quiet))],
            trial_limit_s=10.0,
        )
        assert correct is not None
        assert tuple(outcome.values for outcome in correct.outcomes) == records.expected
        assert tuple((test.path, test.name) for test in correct.tests) == records.tests
        for mutant, result in zip((loud, quiet), results, strict=True):
            assert result is not None
            assert result.outcomes != correct.outcomes, mutant.mutant_id
            assert tuple(t for t in result.tests if t.outcome != "passed") == mutant.failing, mutant.mutant_id


def test_a_batch_gives_what_single_runs_give_and_survives_what_does_not_end() -> None:
    good = {
        "a.py": "def f(n):\n    return n + 1\n",
        "tests/test_a.py": "from a import f\ndef test_f():\n    assert f(1) == 2\n",
    }
    bad = {**good, "a.py": "def f(n):\n    return n - 1\n"}
    endless = {**good, "a.py": "def f(n):\n    while True:\n        pass\n"}
    call = Call("a", "f", (1,))
    done = run_batch([Trial(files, (call,), tests=True) for files in (good, endless, bad)], trial_limit_s=0.5)
    assert done[1] is None
    assert [None if each is None else each.outcomes for each in (done[0], done[2])] == [
        run_calls(good, [call]),
        run_calls(bad, [call]),
    ]
    assert [[test.outcome for test in each.tests] for each in (done[0], done[2]) if each] == [["passed"], ["failed"]]


def test_hidden_calls_are_read_from_their_lines() -> None:
    call = parse_call("slotline", "booking.Room('elm', 6) | book(span.Span(1, 2), 'ana') | _0.span.start | firm")
    assert call.module == "slotline.booking"
    assert [step.name for step in call.then] == ["book", "span.start", "firm"]
    assert call.then[0].args[0] == Call("slotline.span", "Span", (1, 2))
    assert call.then[1].on is not None


def test_an_argument_may_be_an_object_that_its_own_steps_made() -> None:
    files = {"a.py": "class Box(list):\n    pass\ndef size(box):\n    return len(box)\n"}
    filled = Call("a", "Box", then=(Method("append", (1,)), Method("append", (2,))))
    assert run_calls(files, [Call("a", "size", (filled,))]) == (Outcome(("2",)),)


def test_a_mutation_is_taken_out_by_its_own_repair() -> None:
    files = dict(package_files("slotline"))
    for mutation in [*list(mutations("slotline", files))[:40], *(written(files, bug) for bug in lore("slotline").bugs)]:
        planted = mutation.planted(files)
        assert planted != files
        assert apply_patch(planted, mutation.repair()) == files
        assert apply_patch(files, mutation.harm()) == planted


def test_one_wrong_line_can_be_turned_into_another() -> None:
    files = dict(package_files("slotline"))
    first, second = next(
        (a, b)
        for a in mutations("slotline", files)
        for b in mutations("slotline", files)
        if (a.path, a.line) == (b.path, b.line) and a.wrong != b.wrong
    )
    assert apply_patch(first.planted(files), instead(first, second)) == second.planted(files)


def test_tidying_a_function_changes_its_text_and_nothing_else_of_the_file() -> None:
    source = "def f(a):\n    total = a + 1\n    return total * 2\n\n\ndef g():\n    return 1\n"
    assert unfolded(source, "f", Stream("x")) != source
    assert "def g():\n    return 1\n" in (unfolded(source, "f", Stream("x")) or "")
    assert "total" not in (renamed(source, "f", Stream("x")) or "total")
    assert swapped(source, "f", ("    return total * 2",), ("    return 0",)) == source.replace("total * 2", "0")
    assert swapped(source, "g", ("    return total * 2",), ("    return 0",)) is None
    assert list(functions(untested(source, "f") or "")) == ["g"]


# What an outline asks for


@each_sample
def test_the_outline_is_obeyed(difficulty: Difficulty, number: int) -> None:
    asked, scenario = _outline(difficulty, number), _case(difficulty, number)
    public, hidden = scenario.public, scenario.hidden
    assert scenario.scenario_id == asked.scenario_id
    assert len(public.subtasks) == asked.questions
    assert any(subtask.slot is not None for subtask in public.subtasks) is asked.slot
    survey = [truth for truth in hidden.subtasks if truth.subtask_id == "survey"]
    assert [len(_needed(scenario, truth)) for truth in survey] == ([asked.wide_facts] if asked.wide_facts else [])
    low, high = asked.facts
    assert all(low <= len(_needed(scenario, t)) <= high for t in hidden.subtasks if t.subtask_id != "survey")
    assert (CacheValidity.VALID in hidden.cache.values()) is asked.valid_cache
    assert {CacheValidity.STALE, CacheValidity.WRONG_VERSION} <= set(hidden.cache.values())
    assert 3 <= len(public.cache_entries) <= 5
    assert hidden.verdicts["none"] is asked.no_fault


@each_sample
def test_sizes_and_counts_are_those_of_the_difficulty(difficulty: Difficulty, number: int) -> None:
    asked, public = _outline(difficulty, number), _case(difficulty, number).public
    low, high = asked.artifact_tokens
    assert low <= sum(public.segment_tokens[YARDSTICK]) <= high
    most = {Difficulty.EASY: 9, Difficulty.MEDIUM: 9, Difficulty.HARD: 16, Difficulty.MARATHON: 20}[difficulty]
    assert 5 <= len(public.artifacts) <= most
    assert len({artifact.artifact_id for artifact in public.artifacts}) == len(public.artifacts)


@each_sample
def test_what_is_asked_and_answered_is_short_and_says_no_answer(difficulty: Difficulty, number: int) -> None:
    scenario = _case(difficulty, number)
    brief = scenario.public.brief
    assert _size(brief) <= 110
    assert all(_size(subtask.question) <= QUESTION_CAP_TOKENS for subtask in scenario.public.subtasks)
    for field in scenario.hidden.fields:
        for value in field.accepted:
            assert not re.search(rf"(?<!\w){re.escape(value.casefold())}(?!\w)", brief.casefold()), field.name
    function = next(field.accepted[0] for field in scenario.hidden.fields if field.name == "function")
    assert not any(function in subtask.question.split() for subtask in scenario.public.subtasks if "." in function)
    for truth in scenario.hidden.subtasks:
        for candidate in truth.candidates:
            assert _size(candidate.text) <= 70
            values = "; ".join(f"{name}={value}" for name, value in candidate.values.items())
            assert _size(f"{values}\n{candidate.text}") <= 120


@each_sample
def test_every_question_has_one_right_answer_and_two_that_decoys_suggest(difficulty: Difficulty, number: int) -> None:
    scenario = _case(difficulty, number)
    truths = {field.name: field for field in scenario.hidden.fields}
    decoys = {decoy.decoy_id for decoy in scenario.hidden.decoys}
    for truth in scenario.hidden.subtasks:
        assert [candidate.right for candidate in truth.candidates].count(True) == 1
        assert len({tuple(candidate.values.items()) for candidate in truth.candidates}) == len(truth.candidates)
        tempting = [c for c in truth.candidates if not c.right and c.decoy_ids]
        assert len(tempting) >= 2
        assert {name for candidate in tempting for name in candidate.decoy_ids} <= decoys
        for name, value in _right(truth).items():
            if name in truths:
                assert value in truths[name].accepted
                assert set(truths[name].path) <= set(truth.needs)
    for subtask, truth in zip(scenario.public.subtasks, scenario.hidden.subtasks, strict=True):
        if subtask.slot is not None:
            source = next(t for t in scenario.hidden.subtasks if t.subtask_id == subtask.slot.from_subtask_id)
            assert _right(source)[subtask.slot.name] == truth.slot_value


@each_sample
def test_old_results_are_told_apart_by_version_and_age(difficulty: Difficulty, number: int) -> None:
    public, hidden = _case(difficulty, number).public, _case(difficulty, number).hidden
    unchanged = int(re.search(r"for (\d+) hours", public.brief).group(1))  # type: ignore[union-attr]
    truths = {truth.subtask_id: truth for truth in hidden.subtasks}
    for entry in public.cache_entries:
        candidate = next(c for c in truths[entry.subtask_id].candidates if c.values == entry.values)
        validity = hidden.cache[entry.entry_id]
        assert candidate.right is (validity is CacheValidity.VALID)
        assert (entry.version == public.version) is (validity is not CacheValidity.WRONG_VERSION)
        if validity is CacheValidity.VALID:
            assert entry.age_hours < unchanged
        elif validity is CacheValidity.STALE:
            assert entry.age_hours > unchanged


def test_a_marathon_has_three_phases_and_the_last_needs_what_the_first_found() -> None:
    scenario = _case(Difficulty.MARATHON, TRAIN)
    phases = scenario.public.phases
    assert [phase.steps for phase in phases] == [13, 13, 14]
    owned = [artifact_id for phase in phases for artifact_id in phase.artifact_ids]
    assert sorted(owned) == sorted(artifact.artifact_id for artifact in scenario.public.artifacts)
    truths = {truth.subtask_id: truth for truth in scenario.hidden.subtasks}
    for phase in phases:
        for subtask_id in phase.subtask_ids:
            artifacts = {name.rpartition("-s")[0] for name in _needed(scenario, truths[subtask_id])}
            assert artifacts <= set(phase.artifact_ids)
    last = next(s for s in scenario.public.subtasks if s.subtask_id == phases[2].subtask_ids[0])
    assert last.slot is not None
    assert last.slot.from_subtask_id in phases[0].subtask_ids


# Is it found?


def _retriever(scenario: Scenario, subtask_id: str) -> Retriever:
    phase = next((p for p in scenario.public.phases if subtask_id in p.subtask_ids), None)
    names = [a.artifact_id for a in scenario.public.artifacts] if phase is None else phase.artifact_ids
    texts = [(s.segment_id, s.text) for a in scenario.public.artifacts if a.artifact_id in names for s in a.segments]
    return Retriever(texts)


def test_questions_in_the_words_of_their_evidence_are_found_by_them() -> None:
    for _, scenario in _all():
        for subtask, truth in zip(scenario.public.subtasks, scenario.hidden.subtasks, strict=True):
            if not truth.lexical:
                continue
            asked = subtask.question.replace("{commit}", "")
            hits = [h.segment_id for h in _retriever(scenario, truth.subtask_id).search(asked, 8)]
            needed = _needed(scenario, truth)
            if truth.subtask_id == "survey":
                assert sum(name in needed for name in hits) >= 6
            else:
                assert set(needed) <= set(hits)
            if truth.subtask_id not in ("survey", "begin", "run"):
                assert 2 * sum(name in hits[:4] for name in needed) >= len(needed)


def test_about_as_many_questions_use_the_words_of_their_evidence_as_asked_for() -> None:
    for difficulty in (Difficulty.EASY, Difficulty.MEDIUM):
        some = [(asked, scenario) for asked, scenario in _all() if asked.difficulty is difficulty]
        wanted = sum(asked.lexical_share * asked.questions for asked, _ in some)
        found = sum(truth.lexical for _, scenario in some for truth in scenario.hidden.subtasks)
        total = sum(asked.questions for asked, _ in some)
        assert abs(found - wanted) / total <= 0.15


def test_an_attentive_reader_finds_most_of_easy_and_of_medium_and_not_all() -> None:
    shares = {difficulty: _found_share(difficulty) for difficulty in (Difficulty.EASY, Difficulty.MEDIUM)}
    assert 0.6 <= shares[Difficulty.EASY] <= 0.98
    assert 0.35 <= shares[Difficulty.MEDIUM] <= 0.95


def _found_share(difficulty: Difficulty) -> float:
    """Search the question, read what is small, search what the brief quotes, and follow the first ids seen."""
    found = []
    for asked, scenario in _all():
        if asked.difficulty is not difficulty:
            continue
        segments = _segments(scenario)
        facts = {fact.fact_id: {place.segment_id for place in fact.places} for fact in scenario.hidden.facts}
        quoted = re.search(r'"([^"]+)"', scenario.public.brief).group(1)  # type: ignore[union-attr]
        small = [a for a in scenario.public.artifacts if sum(_size(s.text) for s in a.segments) <= 600]
        for subtask, truth in zip(scenario.public.subtasks, scenario.hidden.subtasks, strict=True):
            search = _retriever(scenario, truth.subtask_id).search
            seen = [h.segment_id for h in search(subtask.question.replace("{commit}", truth.slot_value or ""), 8)]
            seen += [s.segment_id for a in small for s in a.segments]
            seen += [h.segment_id for h in search(quoted, 6)]
            ids = [x for name in seen for x in re.findall(r"\b(?=[0-9a-f]*\d)[0-9a-f]{8}\b", segments[name])]
            seen += [h.segment_id for x in list(dict.fromkeys(ids))[:4] for h in search(x, 4)]
            found.append(all(facts[fact_id] & set(seen) for fact_id in truth.needs))
    return sum(found) / len(found)


# Nothing gives the answer away


PAIRS = range(TRAIN + 200, TRAIN + 232)


@cache
def _pair(number: int) -> tuple[Scenario, Scenario]:
    asked = _outline(Difficulty.EASY, number)
    return write_case(replace(asked, no_fault=False)), write_case(replace(asked, no_fault=True))


def test_a_case_without_fault_looks_like_one_with_a_fault() -> None:
    """The same number with and without a fault: where both come from the same draw, all but the evidence is equal."""
    pairs = [_pair(number) for number in PAIRS]
    same_draw = [(a, b) for a, b in pairs if a.public.brief == b.public.brief]
    assert len(same_draw) >= 0.75 * len(pairs)
    for faulty, sound in same_draw:
        left, right = faulty.public, sound.public
        assert left.title == right.title
        assert [(a.artifact_id, a.kind) for a in left.artifacts] == [(a.artifact_id, a.kind) for a in right.artifacts]
        assert [s.subtask_id for s in left.subtasks] == [s.subtask_id for s in right.subtasks]
        assert left.answer_fields == right.answer_fields
        assert len(left.cache_entries) == len(right.cache_entries)
        assert [e.subtask_id for e in left.cache_entries] == [e.subtask_id for e in right.cache_entries]


def test_lengths_do_not_tell_whether_there_is_a_fault() -> None:
    def measured(scenario: Scenario) -> tuple[int, ...]:
        public = scenario.public
        return (
            sum(public.segment_tokens[YARDSTICK]),
            sum(len(artifact.segments) for artifact in public.artifacts),
            sum(_size(subtask.question) for subtask in public.subtasks),
            _size(public.brief),
        )

    faulty = [measured(_pair(number)[0]) for number in PAIRS]
    sound = [measured(_pair(number)[1]) for number in PAIRS]
    for left, right in zip(zip(*faulty, strict=True), zip(*sound, strict=True), strict=True):
        mean, other = sum(left) / len(left), sum(right) / len(right)
        assert abs(mean - other) <= 0.06 * mean


def test_the_guilty_file_stands_anywhere_among_the_choices() -> None:
    places: Counter[int] = Counter()
    sizes: Counter[int] = Counter()
    for number in PAIRS:
        for scenario in _pair(number):
            field = next(field for field in scenario.public.answer_fields if field.name == "file")
            truth = next(field for field in scenario.hidden.fields if field.name == "file")
            places[field.choices.index(truth.accepted[0])] += 1
            sizes[len(field.choices)] += 1
    assert set(sizes) == {4}
    assert all(places[place] >= 0.1 * sum(places.values()) for place in range(4))


def test_the_guilty_commit_is_neither_newest_nor_oldest_nor_the_only_one_of_its_kind() -> None:
    ranks = []
    for number in PAIRS[:12]:
        asked = replace(_outline(Difficulty.EASY, number), no_fault=False, wide_facts=None, slot=True)
        scenario = write_case(asked)
        history = next(a for a in scenario.public.artifacts if a.artifact_id == "history")
        shas = re.findall(r"^commit (\w{8})$", "".join(s.text for s in history.segments), re.MULTILINE)
        origin = next((f for f in scenario.hidden.facts if f.fact_id == "origin"), None)
        if origin is not None:
            ranks.append(shas.index(origin.places[0].text.removeprefix("commit ")))
    assert len(ranks) >= 5
    assert min(ranks) >= 3
    assert len(set(ranks)) >= 3


def test_a_suspect_is_as_often_talked_about_as_the_guilty_function() -> None:
    """Two of four functions are named: guilt must not change how often one's own is."""
    named = 0
    for number in PAIRS:
        scenario = _pair(number)[0]
        talk = next(a for a in scenario.public.artifacts if a.artifact_id == "chat")
        function = next(f.accepted[0] for f in scenario.hidden.fields if f.name == "function")
        text = "".join(s.text for s in talk.segments)
        named += bool(re.search(rf"(?<![\w.`(]){re.escape(function)}(?![\w.(])", text))
    assert 0.25 <= named / len(PAIRS) <= 0.8


def test_no_fault_is_drawn_from_the_same_packages_as_faults() -> None:
    asked = _outline(Difficulty.EASY, TRAIN)
    assert draw_plot(replace(asked, no_fault=True), 0).bug == draw_plot(replace(asked, no_fault=False), 0).bug


# Held out


def _masked(text: str) -> frozenset[tuple[str, ...]]:
    plain = re.sub(r"\d+", "#", re.sub(r"\b[0-9a-f]{7,}\b", "#", text))
    words = re.findall(r"\w+|[^\w\s]", plain)
    return frozenset(tuple(words[at : at + 5]) for at in range(len(words) - 4))


def _evidence_segments(cases: Iterable[Scenario]) -> list[frozenset[tuple[str, ...]]]:
    found = []
    for scenario in cases:
        segments = _segments(scenario)
        clues = (*scenario.hidden.facts, *scenario.hidden.decoys)
        found += [_masked(segments[name]) for name in sorted({p.segment_id for clue in clues for p in clue.places})]
    return found


def test_test_shares_no_evidence_with_train_however_numbers_are_masked() -> None:
    train = _evidence_segments(s for asked, s in _all() if asked.split is Split.TRAIN)
    test = _evidence_segments(s for asked, s in _all() if asked.split is Split.TEST)
    alike = sum(any(len(a & b) > 0.6 * len(a | b) for a in train) for b in test)
    assert alike / len(test) < 0.01


@pytest.mark.parametrize("number, split", [(TRAIN, Split.TRAIN), (TEST, Split.TEST), (VALIDATION, Split.VALIDATION)])
def test_a_split_uses_its_own_packages(number: int, split: Split) -> None:
    for step in range(6):
        plot = draw_plot(_outline(Difficulty.MEDIUM, number + step), 0)
        assert {plot.package, *plot.neighbours} <= set(packages_of(split))


# Pure, real, solvable


def test_the_same_outline_is_the_same_bytes_in_any_process_and_order() -> None:
    wanted = [(Difficulty.EASY, TRAIN + 1), (Difficulty.MEDIUM, TEST + 1), (Difficulty.MARATHON, TRAIN)]
    program = (
        "import sys; from TokenOptEnv.config import Difficulty; from TokenOptEnv.task_defs.family import write_case; "
        "from TokenOptEnv.task_defs.generation import outline; "
        f"wanted = {[(d.value, n) for d, n in reversed(wanted)]!r}; "
        "made = [write_case(outline('bugfix', Difficulty(d), n)) for d, n in wanted]; "
        "sys.stdout.write(' '.join(scenario.content_hash for scenario in made))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.split() == [_case(*sample).content_hash for sample in reversed(wanted)]


def _some(samples: Sequence[tuple[Difficulty, int]], step: int) -> list[Scenario]:
    return [_case(*sample) for sample in samples[::step]]


def test_verdicts_and_reports_come_out_of_running_the_case() -> None:
    for scenario in _some(SAMPLES, 9):
        assert verify_scenario(scenario) == []


def test_a_verdict_that_is_not_true_is_found_out() -> None:
    scenario = _case(Difficulty.EASY, TRAIN)
    turned = {patch: not passed for patch, passed in scenario.hidden.verdicts.items()}
    forged = Scenario(scenario.public, scenario.hidden.model_copy(update={"verdicts": turned}))
    assert len(verify_scenario(forged)) >= len(turned)


def test_the_code_is_right_where_nothing_is_at_fault_and_wrong_elsewhere() -> None:
    for asked, scenario in _all()[::6]:
        shown = shown_code(scenario.public)
        package = next(iter(shown)).partition("/")[0]
        is_original = all(package_files(package)[path].strip() == text.strip() for path, text in shown.items())
        assert is_original is asked.no_fault
        assert len(hidden_tests(package)) >= 10


def test_stamps_of_commits_and_nights_run_in_their_order() -> None:
    for _, scenario in _all()[::5]:
        history = next(a for a in scenario.public.artifacts if a.artifact_id == "history")
        text = "".join(s.text for s in history.segments)
        assert history.kind is ArtifactKind.DIFF
        days = re.findall(r"^Date:   \w{3} (\w{3}) (\d+) (\d\d:\d\d:\d\d) (\d{4})", text, re.MULTILINE)
        months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        stamps = [(int(year), months.index(month), int(day), clock) for month, day, clock, year in days]
        assert stamps == sorted(stamps, reverse=True)


@pytest.mark.parametrize("difficulty", [Difficulty.EASY, Difficulty.MEDIUM])
def test_the_reference_planner_solves_generated_cases(difficulty: Difficulty) -> None:
    numbers = [number for kind, number in SAMPLES if kind is difficulty][:10]
    for number in numbers:
        for world in (0, 1):
            plan = make_reference_plan(_case(difficulty, number), world, EpisodeConfig())
            assert plan.nano_usd > 0
