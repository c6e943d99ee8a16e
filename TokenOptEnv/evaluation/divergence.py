"""Where two policies part: the first step at which they act differently on the same case, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation.recorded import Recorded, read_trace
from TokenOptEnv.evaluation.run_folder import TRACES
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.text_actions import describe
from TokenOptEnv.traces import TraceStep


class Side(Frozen):
    success: bool
    total_return: float | None
    """None where the trace has no end."""
    cost_nano_usd: int
    steps: int
    next_actions: tuple[str, ...]
    """From the step at which the two part."""
    next_nano_usd: tuple[int, ...]
    """What each of them took."""


class Divergence(Frozen):
    scenario_id: str
    seed: int
    parts_at_step: int | None
    """None: the same actions to the end."""
    left: Side
    right: Side


def diverge(left: Recorded, right: Recorded) -> Divergence:
    here, there = left.header, right.header
    if (here.scenario_id, here.seed) != (there.scenario_id, there.seed):
        raise BadInput(
            f"one trace is of {here.scenario_id}@{here.seed} and the other of {there.scenario_id}@{there.seed};"
            " compare traces of one case and seed"
        )
    if here != there:
        raise BadInput("the two traces were played under different options; play both under the same")
    shared = _shared_steps(left, right)
    same = shared == len(left.steps) == len(right.steps)
    return Divergence(
        scenario_id=here.scenario_id,
        seed=here.seed,
        parts_at_step=None if same else shared + 1,
        left=_side(left, shared),
        right=_side(right, shared),
    )


def diverge_all(left: Path, right: Path) -> Iterator[Divergence]:
    """Over the episodes that two folders of traces share, by name."""
    ours, theirs = _files(left), _files(right)
    shared = sorted(ours.keys() & theirs.keys())
    if not shared:
        raise BadInput(f"{str(left)!r} and {str(right)!r} have no episode in common; let both play the same cases")
    for name in shared:
        yield diverge(read_trace(ours[name]), read_trace(theirs[name]))


def _files(folder: Path) -> dict[str, Path]:
    """The traces of one policy: its folder, or a run in which it is the only one."""
    inside = folder / TRACES
    if inside.is_dir():
        played = sorted(each for each in inside.iterdir() if each.is_dir())
        if len(played) != 1:
            names = ", ".join(each.name for each in played)
            raise BadInput(f"{str(folder)!r} holds traces of several policies ({names}); name one: {inside}/POLICY")
        folder = played[0]
    return {file.name: file for file in folder.glob("*.jsonl")}


def _shared_steps(left: Recorded, right: Recorded) -> int:
    for number, (ours, theirs) in enumerate(zip(left.steps, right.steps, strict=False)):
        if ours.action != theirs.action:
            return number
    return min(len(left.steps), len(right.steps))


def _side(trace: Recorded, shared: int) -> Side:
    later = trace.steps[shared:]
    score = trace.steps[-1].score if trace.steps else None
    return Side(
        success=trace.success,
        total_return=None if score is None else score.total_return,
        cost_nano_usd=trace.cost_nano_usd,
        steps=len(trace.steps),
        next_actions=tuple(_said(step) for step in later),
        next_nano_usd=tuple(sum(entry.nano_usd for entry in step.entries) for step in later),
    )


def _said(step: TraceStep) -> str:
    refused = f" (refused: {step.refusal.value})" if step.refusal is not None else ""
    return describe(step.action) + refused
