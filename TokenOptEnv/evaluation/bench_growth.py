"""How the time of a step and the size of an observation grow: with steps played, artifacts, tokens and episodes.

One of the four grows at a time, on cases made for it; the others stay. What is told is an exponent, the slope of the
logarithms: 0 is flat, 1 is proportional. It says the same on a fast machine and on a slow one. Times are of the
processor, so that others who want it do not count.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from math import log
from statistics import fmean, median
from time import thread_time_ns
from typing import Final

from TokenOptEnv import scenario_store
from TokenOptEnv.config import DEFAULT_WORLDS, EpisodeConfig
from TokenOptEnv.episode_runtime import StepOutcome, advance, start
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation.bench_case import bench_case
from TokenOptEnv.evaluation.bench_machine import Machine, this_machine
from TokenOptEnv.evaluation.bench_mix import Script
from TokenOptEnv.models import ActionType, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.world import VisibleWorld, World, build_world

SCENARIO_ID: Final = "incident-medium-kafka-backpressure"
STEPS: Final = (25, 50, 100, 200, 400)
ARTIFACTS: Final = (4, 8, 16, 32, 64)
TOKENS: Final = (6_000, 15_000, 60_000, 250_000)
EPISODES: Final = (1, 10, 100, 1_000)
_FIXED_ARTIFACTS: Final = 8
_FIXED_TOKENS: Final = 30_000
_ROUND_TURNS: Final = 14
"""Of the mix, its submission left out."""
_SHORT_EPISODES: Final = 10
"""For each repeat: after so many of the mix every action was played late in one."""
_KEPT_SAMPLES: Final = 24
"""Of the times at a point: enough to see their spread in a plot."""


class ActionGrowth(Frozen):
    """One kind of action along an axis: p50 at each amount. A mix hides what only one action in ten does."""

    action_type: ActionType
    p50_us: tuple[float, ...]
    exponent: float


class GrowthPoint(Frozen):
    amount: int
    steps: int
    refused: int
    mean_us: float
    p50_us: float
    p99_us: float
    observation_bytes: int
    """The median."""
    slowest_us: float
    """One step, whatever held it up."""
    slowest_collecting_us: float
    """Of the slowest step: Python's garbage collector, which looks through all that is alive."""
    first_us: float | None
    """Where each amount is a case of its own: the slowest step of the first episode on it, which makes what all later
    ones share, the search index above all."""
    sample_us: tuple[int, ...]
    """At equal distances in the order of size."""


class GrowthAxis(Frozen):
    name: str
    what: str
    points: tuple[GrowthPoint, ...]
    actions: tuple[ActionGrowth, ...]
    """The steepest first."""
    time_exponent: float
    """Of the mean: every action weighs in it."""
    bytes_exponent: float
    first_exponent: float | None


class GrowthBench(Frozen):
    machine: Machine
    repeats: int
    axes: tuple[GrowthAxis, ...]


@dataclass(frozen=True, slots=True)
class _Step:
    action_type: ActionType
    is_refused: bool
    took_ns: int
    collecting_ns: int
    size: int


class _Collector:
    """How long Python's garbage collector has worked since it was watched."""

    def __init__(self) -> None:
        self.spent_ns = 0
        self._began_ns = 0

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._began_ns = thread_time_ns()
        else:
            self.spent_ns += thread_time_ns() - self._began_ns


@contextmanager
def _watched_collector() -> Iterator[None]:
    gc.callbacks.append(_COLLECTOR)
    try:
        yield
    finally:
        gc.callbacks.remove(_COLLECTOR)


_COLLECTOR: Final = _Collector()


class _Times:
    """The steps timed at one amount."""

    def __init__(self, amount: int, *, own_case: bool = False) -> None:
        self.amount = amount
        self.steps: list[_Step] = []
        self._own_case = own_case
        self._first_ns: list[int] = []

    def step(
        self, before: StepOutcome, action: TokenOptEnvAction, *, warms: bool = False
    ) -> tuple[StepOutcome, TokenOptEnvObservation]:
        """One step, its observation included, as `LocalEnv` makes it."""
        collected_ns, began = _COLLECTOR.spent_ns, thread_time_ns()
        after = advance(before.state, action, before.world)
        seen = after.observation
        took_ns = thread_time_ns() - began
        if warms:
            self._first_ns.append(took_ns)
        else:
            collecting_ns = _COLLECTOR.spent_ns - collected_ns
            is_refused = seen.last_tool_result is not None and seen.last_tool_result.refusal is not None
            size = len(seen.model_dump_json())
            self.steps.append(_Step(action.action_type, is_refused, took_ns, collecting_ns, size))
        return after, seen

    def p50_us(self, action_type: ActionType) -> float:
        return _us(median(step.took_ns for step in self.steps if step.action_type is action_type))

    def point(self) -> GrowthPoint:
        ordered = sorted(step.took_ns for step in self.steps)
        last = len(ordered) - 1
        slowest = max(self.steps, key=lambda step: step.took_ns)
        return GrowthPoint(
            amount=self.amount,
            steps=len(ordered),
            refused=sum(step.is_refused for step in self.steps),
            mean_us=_us(fmean(ordered)),
            p50_us=_us(median(ordered)),
            p99_us=_us(ordered[last * 99 // 100]),
            observation_bytes=round(median(step.size for step in self.steps)),
            slowest_us=_us(slowest.took_ns),
            slowest_collecting_us=_us(slowest.collecting_ns),
            first_us=_us(max(self._first_ns)) if self._own_case else None,
            sample_us=tuple(ordered[place * last // (_KEPT_SAMPLES - 1)] // 1_000 for place in range(_KEPT_SAMPLES)),
        )


def _us(nanoseconds: float) -> float:
    return round(nanoseconds / 1_000, 1)


def run(repeats: int = 3, tell: Callable[[str], None] = lambda line: None) -> GrowthBench:
    if not 1 <= repeats <= 100:
        raise BadInput(f"repeats must be from 1 to 100, not {repeats}")
    machine = this_machine()
    axes = []
    for name, what, measure in (
        ("steps", "steps played in an episode", _by_steps),
        ("artifacts", f"artifacts, {_FIXED_TOKENS:,} tokens in all", _by_artifacts),
        ("tokens", f"tokens of evidence, in {_FIXED_ARTIFACTS} artifacts", _by_tokens),
        ("episodes", "episodes at a time in one process", _by_episodes),
    ):
        with _watched_collector():
            axes.append(_axis(name, what, tuple(measure(repeats))))
        tell(f"{name}: time {axes[-1].time_exponent:+.2f}, bytes {axes[-1].bytes_exponent:+.2f}")
    return GrowthBench(machine=machine, repeats=repeats, axes=tuple(axes))


def _axis(name: str, what: str, measured: tuple[_Times, ...]) -> GrowthAxis:
    points = tuple(times.point() for times in measured)
    kinds = set.intersection(*({step.action_type for step in times.steps} for times in measured))
    amounts = [times.amount for times in measured]
    actions = []
    for kind in sorted(kinds):
        medians = tuple(times.p50_us(kind) for times in measured)
        actions.append(
            ActionGrowth(action_type=kind, p50_us=medians, exponent=exponent(list(zip(amounts, medians, strict=True))))
        )
    firsts = [(each.amount, each.first_us) for each in points if each.first_us is not None]
    return GrowthAxis(
        name=name,
        what=what,
        points=points,
        actions=tuple(sorted(actions, key=lambda each: -each.exponent)),
        time_exponent=exponent([(each.amount, each.mean_us) for each in points]),
        bytes_exponent=exponent([(each.amount, each.observation_bytes) for each in points]),
        first_exponent=exponent(firsts) if firsts else None,
    )


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """The slope of the line through the logarithms that fits best."""
    pairs = [(log(amount), log(value)) for amount, value in points]
    middle_x = sum(x for x, _ in pairs) / len(pairs)
    middle_y = sum(y for _, y in pairs) / len(pairs)
    spread = sum((x - middle_x) ** 2 for x, _ in pairs)
    return round(sum((x - middle_x) * (y - middle_y) for x, y in pairs) / spread, 3)


def _by_steps(repeats: int) -> Iterator[_Times]:
    """One endless episode, timed in stretches: what it has behind it grows, what it holds does not."""
    stretches = [_Times(end) for end in STEPS]
    world = _endless(scenario_store.load(SCENARIO_ID))
    for number in range(-1, repeats):
        now = start(world, "growth")
        seen = now.observation
        turns = _turns(first=1_000 * (number + 1))
        for times, begin in zip(stretches, (0, *STEPS), strict=False):
            for _ in range(times.amount - begin):
                now, seen = times.step(now, next(turns)(seen), warms=number < 0)
    yield from stretches


def _by_artifacts(repeats: int) -> Iterator[_Times]:
    for artifacts in ARTIFACTS:
        yield _rounds(_Times(artifacts, own_case=True), bench_case(artifacts, _FIXED_TOKENS), repeats)


def _by_tokens(repeats: int) -> Iterator[_Times]:
    for tokens in TOKENS:
        yield _rounds(_Times(tokens, own_case=True), bench_case(_FIXED_ARTIFACTS, tokens), repeats)


def _rounds(times: _Times, scenario: Scenario, repeats: int) -> _Times:
    """Short episodes of the mix on one case, one after the other; the first is not counted."""
    for number in range(-1, _SHORT_EPISODES * repeats):
        _abreast(times, scenario, 1, first=number + 1, warms=number < 0)
    return times


def _by_episodes(repeats: int) -> Iterator[_Times]:
    """Many episodes of one case, a step in each by turns; where they are few, more are played.

    No two have a number in common, whatever the amount: a query that was asked before is answered from memory.
    """
    scenario = scenario_store.load(SCENARIO_ID)
    for episodes in EPISODES:
        times = _Times(episodes)
        for batch in range(-1, max(1, repeats * _SHORT_EPISODES // episodes)):
            _abreast(times, scenario, episodes, first=episodes * (1_000_000 + batch + 1), warms=batch < 0)
        yield times


def _abreast(times: _Times, scenario: Scenario, episodes: int, first: int, *, warms: bool) -> None:
    numbers = range(first, first + episodes)
    going = [start(_endless(scenario, number % DEFAULT_WORLDS), f"growth-{number}") for number in numbers]
    shown = [each.observation for each in going]
    turns = [_turns(first=number) for number in numbers]
    for _ in range(_ROUND_TURNS):
        for place in range(episodes):
            going[place], shown[place] = times.step(going[place], next(turns[place])(shown[place]), warms=warms)


@lru_cache(maxsize=64)
def _endless(scenario: Scenario, seed: int = 0) -> World:
    """Steps and money without end, memory as ever. Shared, as the worlds of real episodes are."""
    world = build_world(scenario, seed, EpisodeConfig())
    return replace(world, visible=_unbounded(world.visible))


@lru_cache(maxsize=64)
def _unbounded(visible: VisibleWorld) -> VisibleWorld:
    bounds = replace(visible.limits, tokens=10**12, nano_usd=10**15, steps=10**6, latency_ms=10**12)
    return replace(visible, limits=bounds, phases=tuple(replace(phase, ends_at_step=10**6) for phase in visible.phases))


Turn = Callable[[TokenOptEnvObservation], TokenOptEnvAction]


def _turns(first: int) -> Iterator[Turn]:
    """Rounds of the mix, and after each an empty desk, so that the next one does not find memory full."""
    for number in count(first):
        script = Script(number)
        for _ in range(_ROUND_TURNS):
            yield lambda seen, script=script: script.next(seen).action  # type: ignore[misc]
        yield _cleared


def _cleared(seen: TokenOptEnvObservation) -> TokenOptEnvAction:
    held = tuple(item.item_id for item in seen.working_memory.items)
    return TokenOptEnvAction(action_type=ActionType.PURGE_MEMORY, context_segment_ids=held)
