"""No habit that reads almost nothing solves cases; and the guessers that stand for such habits do what they are for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from tests.cases import toy
from TokenOptEnv.config import Difficulty
from TokenOptEnv.evaluation.shortcuts import MARGIN, Known, Report, known, report
from TokenOptEnv.models import AnswerField, ArtifactKind, FieldKind
from TokenOptEnv.scenario import Artifact, PublicScenario, Scenario, Segment
from TokenOptEnv.scenario_store import packs
from TokenOptEnv.scenario_store.splits import GENERATED_FAMILIES, Case, case_named, generate
from TokenOptEnv.task_defs.generation import TRAIN_NUMBERS, Split, outline

EACH = {"incident": 40, "bugfix": 16, "ci": 8}
"""Generated where no pack is shipped; a pack is read whole."""
ENOUGH = 90
"""From so many cases on a family is judged by itself."""


def fielded(brief: str, text: str, answer: str, no_fault: bool = False) -> Known:
    """A case of one field and one list of changes."""
    segment = Segment(segment_id="changes-s1", title="", text=text)
    artifact = Artifact(artifact_id="changes", kind=ArtifactKind.HISTORY, title="changes", segments=(segment,))
    public: PublicScenario = toy().public.model_copy(
        update={
            "brief": brief,
            "title": "",
            "artifacts": (artifact,),
            "answer_fields": (AnswerField(name="trigger", question="Which?", kind=FieldKind.TEXT),),
        }
    )
    return Known(public, {"trigger": (answer,)}, no_fault)


def success(found: Report, guesser: str) -> float:
    return next(score.success for score in found.scores if score.guesser == guesser)


LEARNT = [fielded("Checkout is slow.", "rel-1001 one\n", f"rel-{number}") for number in range(2_000, 2_010)]


@pytest.mark.parametrize(
    ("guesser", "text"),
    [
        ("first change listed", "rel-4711 two\nset-9 three\nrel-1234 four\n"),
        ("last change listed", "rel-1234 two\nset-9 three\nrel-4711 four\n"),
        ("first artifact", "see rel-4711, then rel-1234\n"),
        ("longest segment", "rel-4711\n"),
    ],
)
def test_a_place_that_always_names_the_answer_is_a_shortcut(guesser: str, text: str) -> None:
    found = report(LEARNT, [fielded("Checkout is slow.", text, "rel-4711")])
    assert success(found, guesser) == 1.0
    assert guesser in {score.guesser for score in found.shortcuts}


def test_a_brief_that_names_the_answer_is_a_shortcut() -> None:
    found = report(LEARNT, [fielded("Slow since rel-4711.", "rel-1 one\n", "rel-4711")])
    assert success(found, "named in the brief") == 1.0


def test_words_of_the_brief_that_go_with_an_answer_are_a_shortcut() -> None:
    learnt = [fielded("Printer on fire.", "x\n", "heat"), fielded("Printer under water.", "x\n", "flood")] * 5
    found = report(learnt, [fielded("Fire again.", "y\n", "heat"), fielded("More water.", "y\n", "flood")])
    assert success(found, "words of the brief") == 1.0
    assert success(found, "most frequent answer") == 0.5


def test_a_usual_answer_is_a_shortcut_and_saying_that_nothing_is_wrong_is_none() -> None:
    usual = report(LEARNT[:1] * 3 + LEARNT[1:2], [fielded("Slow.", "x\n", "rel-2000")] * 4)
    assert success(usual, "most frequent answer") == 1.0
    quiet = [fielded("Slow.", "x\n", "none", no_fault=True)]
    found = report([*LEARNT, *quiet], [*quiet, *(fielded("Slow.", "x\n", "rel-7") for _ in range(4))])
    assert success(found, "always no fault") == found.no_fault_share == 0.2
    assert "always no fault" not in {score.guesser for score in found.shortcuts}


def test_a_patch_is_right_where_it_passes() -> None:
    scenario = generate(Case("bugfix", Difficulty.EASY, TRAIN_NUMBERS.start))
    passing = {patch for patch, passed in scenario.hidden.verdicts.items() if passed}
    assert set(known(scenario, no_fault=False).answers["patch"]) == passing


@cache
def cases() -> Sequence[tuple[Case, Scenario]]:
    """The validation pack, or as many generated cases as a test can wait for."""
    pack = packs.shipped(Split.VALIDATION)
    if pack is None:
        wanted = [
            Case(family, Difficulty.EASY, number)
            for family in GENERATED_FAMILIES
            for number in TRAIN_NUMBERS[500 : 500 + 2 * EACH[family]]
        ]
        return [(case, generate(case)) for case in wanted]
    names = [row.scenario_id for row in pack.index.scenarios]
    return [(case, pack.scenario(name)) for name in names if (case := case_named(name)) is not None]


def halves(family: str | None) -> tuple[list[Known], list[Known]]:
    """What is learnt from, and what is judged: cases of the same making, which is where a habit would show."""
    found = [
        known(scenario, outline(case.family, case.difficulty, case.number).no_fault)
        for case, scenario in cases()
        if family in (None, case.family)
    ]
    return found[::2], found[1::2]


def test_no_guesser_gets_more_than_the_cases_without_fault_and_a_little() -> None:
    learnt, judged = halves(None)
    found = report(learnt, judged)
    assert len(found.scores) == len({score.guesser for score in found.scores}) >= 7
    assert found.shortcuts == ()
    assert 0.05 < found.no_fault_share < 0.35
    assert success(found, "always no fault") > 0.5 * found.no_fault_share


@pytest.mark.parametrize("family", GENERATED_FAMILIES)
def test_no_family_has_a_shortcut_of_its_own(family: str) -> None:
    learnt, judged = halves(family)
    slack = MARGIN if len(judged) >= ENOUGH else 2 * MARGIN
    found = report(learnt, judged)
    assert [score for score in found.scores if score.success > found.no_fault_share + slack] == []
