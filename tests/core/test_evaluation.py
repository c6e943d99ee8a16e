"""Evaluation: episodes become numbers, numbers a table, and a broken scenario a line that says where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from TokenOptEnv import LocalEnv, scenario_store
from TokenOptEnv.config import Difficulty
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation import bench_engine, leaderboard, marked_block
from TokenOptEnv.evaluation.checks import plans
from TokenOptEnv.evaluation.episodes import EpisodeResult, play
from TokenOptEnv.evaluation.faults import Level
from TokenOptEnv.evaluation.validate import CHECKS, validate
from TokenOptEnv.models import ActionType
from TokenOptEnv.plans import reference_plan
from TokenOptEnv.scenario import CacheValidity, HiddenScenario, Place, PublicScenario, Scenario

CORE = scenario_store.ids("core")
WITH_SLOT = next(
    name
    for name in bench_engine.medium_scenarios()
    if any(subtask.slot is not None for subtask in scenario_store.load(name).public.subtasks)
)


@pytest.fixture(scope="module")
def result() -> EpisodeResult:
    return play("cheapest", CORE[0], 1, LocalEnv()).result


def test_a_result_agrees_with_the_trace_it_comes_from() -> None:
    played = play("random", CORE[0], 2, LocalEnv())
    steps, result = played.trace.steps, played.result
    assert result.cost_nano_usd == sum(entry.nano_usd for step in steps for entry in step.entries)
    assert result.routed_nano_usd == sum(
        entry.nano_usd for step in steps for entry in step.entries if entry.who == "worker"
    )
    assert result.steps == len(steps) == sum(result.action_counts.values())
    assert result.refused == sum(step.refusal is not None for step in steps)
    assert round(sum(step.reward for step in steps), 6) == pytest.approx(result.total_return, abs=1e-5)
    assert 0 < result.largest_prompt_tokens <= result.tokens


def _result(base: EpisodeResult, policy: str, sce: float, cost_nano_usd: int, scenario_id: str) -> EpisodeResult:
    changes = {"success": sce > 0, "sce": sce, "cost_nano_usd": cost_nano_usd}
    score = base.score.model_copy(update=changes)
    return base.model_copy(update={"policy": policy, "score": score, "scenario_id": scenario_id})


def _board(result: EpisodeResult, name: str = "cheapest") -> leaderboard.Board:
    """On twenty cases: a reference, a good policy, one as good but for a hair, and a bad one."""
    results = [
        _result(result, policy, sce, cost, f"case-{number}")
        for number in range(20)
        for policy, sce, cost in (
            ("reference", 1.0, 1_000_000),
            (name, 0.25, 4_000_000),
            ("twin", 0.25 + (0.002 if number % 2 else -0.003), 4_000_000),
            ("brute-force", 0.0, 999_000_000),
        )
    ]
    return leaderboard.board(results, {"reference"}, "all")


def test_the_leaderboard_puts_the_best_sce_first_and_fits_80_columns(result: EpisodeResult) -> None:
    console = Console(width=80, file=StringIO(), markup=False)
    console.print(leaderboard.table(_board(result)))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    lines = [line.rstrip() for line in text.splitlines()]
    order = [line.removeprefix("= ").split()[0] for line in lines[3:]]
    assert order == ["reference*", "cheapest", "twin", "brute-force"]
    assert "$/solved" in text and "…" not in text
    assert all(len(line) <= 80 for line in lines)


def test_a_long_name_is_folded_and_no_number_is_cut(result: EpisodeResult) -> None:
    console = Console(width=80, file=StringIO(), markup=False)
    console.print(leaderboard.table(_board(result, "llm:some-house/some-very-long-model-name-of-2026")))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "…" not in text and "20/20" in text
    assert all(len(line.rstrip()) <= 80 for line in text.splitlines())


def test_a_rank_that_chance_may_have_made_is_marked(result: EpisodeResult) -> None:
    board = _board(result)
    assert [(step.better, step.worse) for step in board.steps] == [("cheapest", "twin"), ("twin", "brute-force")]
    assert board.steps[0].p >= 0.05 > board.steps[1].p
    shown = leaderboard.markdown(board)
    assert "| = twin |" in shown and "| brute-force |" in shown and "| reference* |" in shown
    assert leaderboard.TIE_NOTE in shown and "\\* knows the hidden truth" in shown


def test_the_front_is_of_contestants_alone(result: EpisodeResult) -> None:
    board = _board(result)
    assert board.truth_knowers == ("reference",)
    assert board.front == ("cheapest",)
    assert 0.0 < board.hypervolume < 1.0


BLOCK = "# Title\n<!-- board: begin -->\nold\n<!-- board: end -->\nrest\n"


def test_a_marked_block_is_replaced_and_nothing_else_is_touched(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(BLOCK, encoding="utf-8")
    for _ in range(2):
        marked_block.rewrite(page, "board", "new \\1 line")
        assert page.read_text(encoding="utf-8") == BLOCK.replace("old", "new \\1 line")


@pytest.mark.parametrize(
    "page", ["", BLOCK.replace("begin", "start"), BLOCK + BLOCK, "\n".join(BLOCK.split("\n")[::-1])]
)
def test_a_page_without_one_such_block_is_an_error(page: str) -> None:
    with pytest.raises(BadInput, match="has no block to write to"):
        marked_block.replaced(page, "board", "new", "page.md")


@pytest.mark.parametrize("scenario_id", CORE)
def test_every_core_scenario_keeps_its_contract(scenario_id: str) -> None:
    faults = [fault for check in CHECKS for fault in check(scenario_store.load(scenario_id))]
    assert [fault.line for fault in faults if fault.level is Level.ERROR] == []


@pytest.mark.parametrize("scenario_id", CORE)
def test_every_shipped_plan_solves_its_world_at_the_cost_it_states(scenario_id: str) -> None:
    assert [fault.line for fault in plans.check(scenario_store.load(scenario_id))] == []


Change = Callable[[PublicScenario, HiddenScenario], tuple[PublicScenario, HiddenScenario]]


def _public(**changes: object) -> Change:
    return lambda public, hidden: (public.model_copy(update=changes), hidden)


def _hidden(make: Callable[[PublicScenario, HiddenScenario], dict[str, object]]) -> Change:
    return lambda public, hidden: (public, hidden.model_copy(update=make(public, hidden)))


def _first(items: Sequence[object], **changes: object) -> tuple[object, ...]:
    first, *rest = items
    return (first.model_copy(update=changes), *rest)  # type: ignore[attr-defined]


def _long_segment(public: PublicScenario, hidden: HiddenScenario) -> tuple[PublicScenario, HiddenScenario]:
    artifact = public.artifacts[0]
    segments = _first(artifact.segments, text="alpha beta gamma " * 400)
    return public.model_copy(update={"artifacts": _first(public.artifacts, segments=segments)}), hidden


def _one_count_off(public: PublicScenario, hidden: HiddenScenario) -> tuple[PublicScenario, HiddenScenario]:
    first, *rest = public.segment_tokens["llama3"]
    counts = {**public.segment_tokens, "llama3": (first + 1, *rest)}
    return public.model_copy(update={"segment_tokens": counts}), hidden


def _said(public: PublicScenario, hidden: HiddenScenario) -> tuple[PublicScenario, HiddenScenario]:
    return public.model_copy(update={"brief": f"It is {hidden.fields[0].accepted[0]} again."}), hidden


def _repeated_artifact(public: PublicScenario, hidden: HiddenScenario) -> tuple[PublicScenario, HiddenScenario]:
    return public.model_copy(update={"artifacts": (*public.artifacts, public.artifacts[0])}), hidden


def _broken_slot(public: PublicScenario, hidden: HiddenScenario) -> tuple[PublicScenario, HiddenScenario]:
    subtasks = tuple(
        each if each.slot is None else each.model_copy(update={"slot": each.slot.model_copy(update={"name": "other"})})
        for each in public.subtasks
    )
    return public.model_copy(update={"subtasks": subtasks}), hidden


def _late_source(public: PublicScenario, hidden: HiddenScenario) -> tuple[PublicScenario, HiddenScenario]:
    return public.model_copy(update={"subtasks": tuple(reversed(public.subtasks))}), hidden


def _same_age_and_version(public: PublicScenario, hidden: HiddenScenario) -> tuple[PublicScenario, HiddenScenario]:
    entries = tuple(
        each.model_copy(update={"version": public.version, "age_hours": 1}) for each in public.cache_entries
    )
    return public.model_copy(update={"cache_entries": entries}), hidden


def _dropped_wrong(public: PublicScenario, hidden: HiddenScenario) -> dict[str, object]:
    right = tuple(candidate for candidate in hidden.subtasks[0].candidates if candidate.right)
    return {"subtasks": _first(hidden.subtasks, candidates=right)}


def _two_right(public: PublicScenario, hidden: HiddenScenario) -> dict[str, object]:
    both = tuple(candidate.model_copy(update={"right": True}) for candidate in hidden.subtasks[0].candidates[:2])
    return {"subtasks": _first(hidden.subtasks, candidates=(*both, *hidden.subtasks[0].candidates[2:]))}


def _wordy(public: PublicScenario, hidden: HiddenScenario) -> dict[str, object]:
    candidates = _first(hidden.subtasks[0].candidates, text="word " * 200)
    return {"subtasks": _first(hidden.subtasks, candidates=candidates)}


def _everywhere(public: PublicScenario, hidden: HiddenScenario) -> dict[str, object]:
    segments = [segment for artifact in public.artifacts for segment in artifact.segments][:13]
    places = tuple(Place(segment_id=each.segment_id, text=each.text[:1]) for each in segments)
    return {"facts": _first(hidden.facts, places=places)}


BROKEN: dict[str, tuple[Change, str]] = {
    "a name out of form": (_public(scenario_id="incident_medium_x"), "scenario_id: is not family-difficulty-slug"),
    "a long brief": (_public(brief="why " * 130), "brief: takes"),
    "a brief that tells": (_said, "brief: says the answer to"),
    "a long segment": (_long_segment, f"tokens of {300}"),
    "a wrong count": (_one_count_off, "segment_tokens llama3"),
    "a missing vocabulary": (_public(segment_tokens={}), "segment_tokens qwen3: has 0 counts"),
    "an artifact twice": (_repeated_artifact, "its id is used 2 times"),
    "the wrong size": (_public(difficulty=Difficulty.EASY), "easy is 6000 to 15000"),
    "a small menu": (_public(menus={"measured": ("gpt-5",), "current": ()}), "menu measured: has 1 models"),
    "a menu from nowhere": (
        _public(menus={"measured": ("a", "b", "c", "d"), "current": ()}),
        "no model 'a' in this catalog",
    ),
    "a blank that is no slot": (_broken_slot, "let them agree"),
    "a slot filled too late": (_late_source, "fills its slot"),
    "an unasked field": (_public(subtasks=()), "no subtask yields it"),
    "no cache": (_public(cache_entries=()), "cache: has no valid entry"),
    "an old entry that looks fresh": (_same_age_and_version, "cannot be told from a valid one"),
    "only valid entries": (
        _hidden(lambda public, hidden: {"cache": dict.fromkeys(hidden.cache, CacheValidity.VALID)}),
        "cache: has no stale and no wrong-version entry",
    ),
    "a fact that is not there": (
        _hidden(
            lambda public, hidden: {
                "facts": _first(hidden.facts, places=(Place(segment_id="nowhere-s1", text="nothing"),))
            }
        ),
        "in nowhere-s1: the span 'nothing' is not there",
    ),
    "a decoy that is not there": (
        _hidden(
            lambda public, hidden: {
                "decoys": _first(hidden.decoys, places=(Place(segment_id="nowhere-s1", text="nothing"),))
            }
        ),
        "in nowhere-s1: the span 'nothing' is not there",
    ),
    "a fact that is everywhere": (_hidden(_everywhere), "stands in 13 segments of at most 12"),
    "no wrong candidate": (_hidden(_dropped_wrong), "has 0 wrong candidates that rest on decoys"),
    "two right candidates": (_hidden(_two_right), "has 2 right candidates"),
    "a wordy candidate": (_hidden(_wordy), "tokens of 120"),
    "a right answer that is not accepted": (
        _hidden(
            lambda public, hidden: {
                "fields": tuple(each.model_copy(update={"accepted": ("something else",)}) for each in hidden.fields)
            }
        ),
        "is not accepted",
    ),
    "a path that nobody needs": (
        _hidden(
            lambda public, hidden: {
                "subtasks": tuple(each.model_copy(update={"needs": ()}) for each in hidden.subtasks)
            }
        ),
        "which no subtask needs",
    ),
    "no truth": (_hidden(lambda public, hidden: {"subtasks": (), "fields": ()}), "has no truth"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_scenario_is_told_with_its_place(what: str) -> None:
    change, expected = BROKEN[what]
    sound = scenario_store.load(WITH_SLOT)
    broken = Scenario(*change(sound.public, sound.hidden))
    lines = [fault.line for fault in validate(broken)]
    assert any(expected in line for line in lines), lines
    assert not any(expected in fault.line for check in CHECKS for fault in check(sound))
    assert all("\n" not in line and line.count(": ") >= 2 and "; " in line for line in lines)


def test_a_hard_bug_fix_of_another_size_is_only_a_warning() -> None:
    sound = scenario_store.load(next(name for name in CORE if name.startswith("bugfix-easy")))
    public = sound.public.model_copy(update={"difficulty": Difficulty.HARD})
    sizes = [fault for check in CHECKS for fault in check(Scenario(public, sound.hidden)) if fault.place == "artifacts"]
    assert [fault.level for fault in sizes] == [Level.WARNING]
    assert sizes[0].line.startswith("warning: ")


def test_a_plan_that_states_another_cost_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def dearer(*arguments: object) -> object:
        plan = reference_plan(*arguments)  # type: ignore[arg-type]
        return plan.model_copy(update={"nano_usd": plan.nano_usd + 1})

    monkeypatch.setattr(plans, "reference_plan", dearer)
    causes = [fault.cause for fault in plans.check(scenario_store.load(CORE[0]))]
    assert len(causes) == 4
    assert all(cause.startswith("the plan states") for cause in causes)


def test_a_plan_that_does_not_solve_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(*arguments: object) -> object:
        plan = reference_plan(*arguments)  # type: ignore[arg-type]
        return plan.model_copy(update={"actions": plan.actions[:-1]})

    monkeypatch.setattr(plans, "reference_plan", cut)
    causes = [fault.cause for fault in plans.check(scenario_store.load(CORE[0]))]
    assert causes == ["the plan does not solve it"] * 4


def test_the_bench_plays_every_action_about_as_often_and_is_never_refused() -> None:
    report = bench_engine.run(0.01)
    assert report.refused == 0
    assert {row.action_type for row in report.actions} == set(ActionType) - {ActionType.MALFORMED}
    counts = [row.steps for row in report.actions]
    assert sum(counts) == report.steps
    assert max(counts) <= 1.5 * min(counts)
    assert report.steps_per_s > 0 and report.late_to_early > 0


@pytest.mark.parametrize("seconds", [0.0, -1.0, 3601.0, float("nan")])
def test_the_bench_refuses_a_time_it_cannot_keep(seconds: float) -> None:
    with pytest.raises(BadInput, match="seconds must be above 0"):
        bench_engine.run(seconds)
