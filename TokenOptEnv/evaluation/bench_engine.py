"""How fast the engine steps, measured through `LocalEnv` with every observation built.

The same episodes are played again and again, so these are times of a warm process: token counts, compressions and
replies to what was handed over before are kept by the engine, and a first meeting with a text costs more. Searches and
cache queries are never the same twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from statistics import median
from time import perf_counter_ns, process_time_ns

from TokenOptEnv import scenario_store
from TokenOptEnv.config import Difficulty
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation.bench_machine import Machine, this_machine
from TokenOptEnv.evaluation.bench_mix import VARIANTS, Script
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.models import ActionType
from TokenOptEnv.models.base import Frozen

_NANO = 1_000_000_000
_DECIMALS = 2


class ActionTime(Frozen):
    action_type: ActionType
    steps: int
    p50_us: float


class BenchReport(Frozen):
    machine: Machine
    scenarios: tuple[str, ...]
    episodes: int
    steps: int
    refused: int
    steps_per_s: float
    """Of the time inside `step`, its observation included; resets are told apart."""
    cpu_steps_per_s: float
    """The same of processor time. Far above the other, it says that the machine was busy with something else."""
    reset_p50_us: float
    actions: tuple[ActionTime, ...]
    late_to_early: float
    """A step in an episode's second round by the same action in its first: the median over the actions. 1 is flat."""


def medium_scenarios() -> tuple[str, ...]:
    rows = scenario_store.index().scenarios
    return tuple(row.scenario_id for row in rows if row.difficulty == Difficulty.MEDIUM.value)


def run(seconds: float) -> BenchReport:
    """Whole sweeps over the scenarios and variants, until the time is up; one sweep before it warms what is kept."""
    if not 0.0 < seconds <= 3600.0:
        raise BadInput(f"seconds must be above 0 and at most 3600, not {seconds:g}")
    machine = this_machine()
    scenario_ids = medium_scenarios()
    if not scenario_ids:
        raise BadInput("there is no medium scenario to play; build them: camre scenarios build")
    _Sweep(scenario_ids).play(range(VARIANTS))
    sweep = _Sweep(scenario_ids)
    ends_at = perf_counter_ns() + round(seconds * _NANO)
    for number in count(VARIANTS):
        sweep.play([number])
        if perf_counter_ns() >= ends_at and number + 1 >= 2 * VARIANTS:
            break
    return sweep.report(machine)


class _Sweep:
    def __init__(self, scenario_ids: tuple[str, ...]) -> None:
        self._scenario_ids = scenario_ids
        self._env = LocalEnv()
        self._resets: list[int] = []
        self._early: dict[ActionType, list[int]] = {}
        self._late: dict[ActionType, list[int]] = {}
        self._refused = 0
        self._cpu_ns = 0

    def play(self, numbers: Sequence[int]) -> None:
        for scenario_id in self._scenario_ids:
            for number in numbers:
                self._episode(scenario_id, number)

    def _episode(self, scenario_id: str, number: int) -> None:
        script = Script(number)
        began = perf_counter_ns()
        seen = self._env.reset(scenario_id=scenario_id, seed=number % VARIANTS)
        self._resets.append(perf_counter_ns() - began)
        while not seen.done:
            turn = script.next(seen)
            cpu_before, began = process_time_ns(), perf_counter_ns()
            seen = self._env.step(turn.action)
            took = perf_counter_ns() - began
            self._cpu_ns += process_time_ns() - cpu_before
            times = self._late if turn.is_late else self._early
            times.setdefault(turn.action.action_type, []).append(took)
            self._refused += seen.last_tool_result is not None and seen.last_tool_result.refusal is not None

    def report(self, machine: Machine) -> BenchReport:
        kinds = [kind for kind in ActionType if kind in self._early]
        both = {kind: self._early[kind] + self._late.get(kind, []) for kind in kinds}
        steps = sum(len(times) for times in both.values())
        spent = sum(sum(times) for times in both.values())
        ratios = [median(self._late[kind]) / median(self._early[kind]) for kind in kinds if kind in self._late]
        return BenchReport(
            machine=machine,
            scenarios=self._scenario_ids,
            episodes=len(self._resets),
            steps=steps,
            refused=self._refused,
            steps_per_s=round(steps * _NANO / spent, 1),
            cpu_steps_per_s=round(steps * _NANO / self._cpu_ns, 1),
            reset_p50_us=_us(self._resets),
            actions=tuple(
                ActionTime(action_type=kind, steps=len(both[kind]), p50_us=_us(both[kind])) for kind in kinds
            ),
            late_to_early=round(median(ratios), _DECIMALS),
        )


def _us(times: list[int]) -> float:
    return round(median(times) / 1_000, 1)
