"""A run's folder is believed only as far as it can be played again: whatever is changed in it is caught and named."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from tests import cases
from TokenOptEnv import scenario_store
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation import runner, suite, verify_run
from TokenOptEnv.evaluation.divergence import diverge, diverge_all
from TokenOptEnv.evaluation.recorded import parse_trace, read_trace
from TokenOptEnv.evaluation.replay import Replay
from TokenOptEnv.evaluation.result_lines import from_line, to_line
from TokenOptEnv.evaluation.run_folder import RunFolder, load_run, trace_path
from TokenOptEnv.evaluation.suite import Job, RunOptions

JOB = Job("cheapest", cases.TOY, 1)


@pytest.fixture
def folder(tmp_path: Path, store: tuple[str, ...]) -> Iterator[Path]:
    """Two policies on every toy case, finished."""
    spec = suite.run_spec(["cheapest", "random"], "core", store, [0, 1], RunOptions())
    with RunFolder.opened(tmp_path / "run", spec) as held:
        for _ in runner.play(spec, held, workers=1):
            pass
    yield tmp_path / "run"


def faults(folder: Path) -> list[str]:
    return [fault.line for part in verify_run.verify(load_run(folder), workers=1) for fault in part]


def test_an_honest_run_has_no_fault(folder: Path) -> None:
    assert faults(folder) == []


def edit_trace(folder: Path, line: int, change: Callable[[dict], None]) -> None:  # type: ignore[type-arg]
    file = trace_path(folder, JOB)
    lines = file.read_text(encoding="utf-8").splitlines()
    parsed = json.loads(lines[line])
    change(parsed)
    lines[line] = json.dumps(parsed)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def edit_result(folder: Path, **changes: object) -> None:
    """With a fitting checksum, as somebody would who knows how."""
    file = folder / "results.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    for number, line in enumerate(lines):
        result = from_line(line)
        assert result is not None
        if (result.policy, result.scenario_id, result.seed) == JOB:
            score = {name: changes.pop(name) for name in list(changes) if name in type(result.score).model_fields}
            kept = result.score.model_copy(update=score)
            lines[number] = to_line(result.model_copy(update={**changes, "score": kept}))
    file.write_text("".join(lines), encoding="utf-8")


TAMPERED: dict[str, tuple[Callable[[Path], None], str]] = {
    "another action": (
        lambda folder: edit_trace(folder, 1, lambda step: step["action"].update(query="pool exhausted")),
        "the trace was tampered with",
    ),
    "a smaller bill": (
        lambda folder: edit_trace(folder, 2, lambda step: step["entries"][0].update(nano_usd=1)),
        "step 2: entries is",
    ),
    "a larger reward": (
        lambda folder: edit_trace(folder, 2, lambda step: step.update(reward=0.5)),
        "step 2: reward is '0.5'",
    ),
    "a better score": (
        lambda folder: edit_trace(folder, -1, lambda step: step["score"].update(success=True)),
        "score is",
    ),
    "a refusal gone": (
        lambda folder: edit_trace(folder, 1, lambda step: step.update(refusal="TOO_LONG")),
        "refusal is",
    ),
    "another scenario": (
        lambda folder: edit_trace(folder, 0, lambda head: head["stamp"].update(public_hash="0" * 16)),
        "the scenario was another: its hash is 0000000000000000",
    ),
    "another seed": (
        lambda folder: edit_trace(folder, 0, lambda head: head.update(seed=3)),
        f"its trace is of {cases.TOY}@3",
    ),
    "another hash of what was shown": (
        lambda folder: edit_trace(folder, 3, lambda step: step.update(observation_sha256="0" * 16)),
        "step 3: observation_sha256 is",
    ),
    "a step cut off": (
        lambda folder: trace_path(folder, JOB).write_text(
            "\n".join(trace_path(folder, JOB).read_text().splitlines()[:-1]) + "\n"
        ),
        "not over yet",
    ),
    "a line cut in two": (
        lambda folder: trace_path(folder, JOB).write_text(trace_path(folder, JOB).read_text()[:-40]),
        "cannot be read; it is damaged or cut off",
    ),
    "a trace removed": (lambda folder: trace_path(folder, JOB).unlink(), "its trace is missing"),
    "a success claimed": (lambda folder: edit_result(folder, success=True, sce=1.0), "the result says score"),
    "steps claimed": (lambda folder: edit_result(folder, steps=1), "the result says steps 1, and its trace"),
    "a confidence claimed": (
        lambda folder: edit_result(folder, stated_confidence=0.991),
        "the result says stated_confidence",
    ),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_whatever_is_changed_is_caught_and_named(folder: Path, what: str) -> None:
    tamper, expected = TAMPERED[what]
    tamper(folder)
    (line,) = faults(folder)
    assert line.startswith(f"{JOB.policy} on {JOB.scenario_id}@{JOB.seed}: ")
    assert expected in line
    assert "\n" not in line


def test_an_episode_left_out_is_named(folder: Path) -> None:
    file = folder / "results.jsonl"
    first, *rest = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(rest), encoding="utf-8")
    gone = from_line(first)
    assert gone is not None
    assert faults(folder) == [
        f"{gone.policy} on {gone.scenario_id}@{gone.seed}: it is part of the run, and has no result"
    ]


def test_a_scenario_left_out_of_the_suite_is_named(folder: Path) -> None:
    spec = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    spec["scenario_ids"].remove(cases.TOY)
    spec["episodes"] = 4
    (folder / "run.json").write_text(json.dumps(spec), encoding="utf-8")
    found = faults(folder)
    assert f"{JOB.policy} on {cases.TOY}@1: it has a result, and is no part of the run" in found


def test_a_trace_of_nothing_is_named(folder: Path) -> None:
    (folder / "traces" / "cheapest" / "more.jsonl").write_text("{}\n")
    assert faults(folder) == ["traces/cheapest/more.jsonl: it is the trace of no episode of the run"]


def test_a_scenario_that_is_not_the_one_shipped_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verifier's own copy was changed: its episodes play differently, and every one of them says so."""
    shipped = scenario_store.load(cases.TOY)
    altered = type(shipped)(shipped.public.model_copy(update={"brief": "Nothing happened."}), shipped.hidden)
    real = scenario_store.load
    with monkeypatch.context() as patch:
        loaded = lru_cache(maxsize=8)(lambda name: altered if name == cases.TOY else real(name))
        patch.setattr(scenario_store, "load", loaded)
        found = faults(folder)
    assert len(found) == 4
    assert all(cases.TOY in line and "the scenario was another" in line for line in found)


def test_a_run_of_another_scoring_version_is_not_verified(folder: Path) -> None:
    spec = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    spec["scoring_version"] = 99
    (folder / "run.json").write_text(json.dumps(spec), encoding="utf-8")
    with pytest.raises(BadInput, match="was scored by version 99"):
        faults(folder)


@pytest.mark.parametrize(
    "options", [{}, {"profile": "v1"}, {"anonymous_models": True}, {"memory_tokens": 900}, {"catalog": "current"}]
)
def test_a_lone_trace_tells_its_options_and_replays(
    store: tuple[str, ...], tmp_path: Path, options: dict[str, object]
) -> None:
    chosen = suite.options(**options)
    spec = suite.run_spec(["random"], "core", [cases.TOY], [3], chosen)
    with RunFolder.opened(tmp_path, spec) as held:
        list(runner.play(spec, held, workers=1))
    trace = read_trace(trace_path(tmp_path, spec.jobs()[0]))
    replay = Replay(trace)
    assert replay.departure() is None
    assert replay.record.last.done


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", "its first line is no header"), ("{}\n", "its first line is no header"), ("nonsense", "no header")],
)
def test_what_is_no_trace_is_one_clear_line(text: str, expected: str) -> None:
    with pytest.raises(BadInput, match=expected):
        parse_trace(text, "some.jsonl")


def test_two_policies_part_at_the_first_other_action(folder: Path) -> None:
    ours = read_trace(trace_path(folder, JOB))
    theirs = read_trace(trace_path(folder, JOB._replace(policy="random")))
    found = diverge(ours, theirs)
    assert found.parts_at_step is not None
    before = found.parts_at_step - 1
    assert [step.action for step in ours.steps[:before]] == [step.action for step in theirs.steps[:before]]
    assert ours.steps[before].action != theirs.steps[before].action
    assert found.left.next_actions[0] != found.right.next_actions[0]
    assert sum(found.left.next_nano_usd) <= found.left.cost_nano_usd == ours.cost_nano_usd
    assert diverge(ours, ours).parts_at_step is None


def test_traces_of_two_cases_are_not_compared(folder: Path) -> None:
    ours, other = read_trace(trace_path(folder, JOB)), read_trace(trace_path(folder, JOB._replace(seed=0)))
    with pytest.raises(BadInput, match="compare traces of one case and seed"):
        diverge(ours, other)


def test_folders_are_compared_case_by_case_and_a_run_of_several_policies_asks_which(folder: Path) -> None:
    traces = folder / "traces"
    found = list(diverge_all(traces / "cheapest", traces / "random"))
    assert len(found) == 6
    with pytest.raises(BadInput, match=r"several policies \(cheapest, random\); name one"):
        list(diverge_all(folder, folder))
    with pytest.raises(BadInput, match="have no episode in common"):
        list(diverge_all(traces / "cheapest", folder.parent))
