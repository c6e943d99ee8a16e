"""How fast an episode steps in this process, beside environments that others have published.

A step is not the same work everywhere: a toy moves on a board of sixteen squares, this environment prices a prompt,
searches the evidence and bills a model. So how much each returns at a step is told too, and the figure to read is the
ratio, taken in the same run. Counted is the processor's time inside `reset` and `step`; choosing
the action is not. A peer that is not installed is named and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from statistics import median
from time import thread_time_ns
from typing import Any, Final, TypeVar

from TokenOptEnv import scenario_store
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation.bench_engine import medium_scenarios
from TokenOptEnv.evaluation.bench_machine import Machine, this_machine
from TokenOptEnv.evaluation.bench_mix import Script
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.streams import Stream
from TokenOptEnv.version import VERSION

T = TypeVar("T")

_NANO: Final = 1_000_000_000
_WARM_STEPS: Final = 200
_MOST_STEPS: Final = 1_000_000


class PeerSpeed(Frozen):
    name: str
    version: str
    played: str
    steps: int
    steps_per_s: float
    """The median over the rounds."""
    shown_bytes: int
    """What a step returns, as text: the median. Ours is the whole observation, others tell what is new."""
    ratio: float
    """Our steps per second by its own, in the same round: the median. Below 1 it is the faster."""
    least_ratio: float
    most_ratio: float
    """Over the rounds."""


class PeersBench(Frozen):
    machine: Machine
    rounds: int
    seconds: float
    """Of each peer in each round."""
    peers: tuple[PeerSpeed, ...]
    """Ours first."""
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Peer:
    name: str
    """Of its distribution."""
    module: str
    played: str
    play: Callable[[Clock], Iterator[str]]
    """Steps for as long as it is asked, timing what is the environment's; gives what was shown."""


class Clock:
    """Runs only while the environment works."""

    def __init__(self) -> None:
        self.spent_ns = 0

    def timed(self, call: Callable[..., T], *arguments: Any, **options: Any) -> T:
        began = thread_time_ns()
        result = call(*arguments, **options)
        self.spent_ns += thread_time_ns() - began
        return result


def run(rounds: int = 3, seconds: float = 0.5) -> PeersBench:
    if not 0.0 < seconds <= 600.0:
        raise BadInput(f"seconds must be above 0 and at most 600, not {seconds:g}")
    machine = this_machine()
    here = [OURS, *(peer for peer in PEERS if _installed(peer))]
    going = {peer.name: _Going(peer) for peer in here}
    for _ in range(rounds):
        for each in going.values():
            each.play(round(seconds * _NANO))
    ours = going[OURS.name]
    return PeersBench(
        machine=machine,
        rounds=rounds,
        seconds=seconds,
        peers=tuple(each.speed(ours) for each in going.values()),
        missing=tuple(peer.name for peer in PEERS if peer not in here),
    )


def _installed(peer: Peer) -> bool:
    try:
        version(peer.name)
        import_module(peer.module)
    except (PackageNotFoundError, ImportError):
        return False
    return True


class _Going:
    """One environment through the rounds."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._clock = Clock()
        self._steps = peer.play(self._clock)
        self._sizes = [len(next(self._steps).encode()) for _ in range(_WARM_STEPS)]
        self.counted = 0
        self.rates: list[float] = []

    def play(self, budget_ns: int) -> None:
        began_ns = self._clock.spent_ns
        sizes: list[int] = []
        while self._clock.spent_ns - began_ns < budget_ns and len(sizes) < _MOST_STEPS:
            sizes.append(len(next(self._steps).encode()))
        self._sizes = sizes
        self.counted += len(sizes)
        self.rates.append(len(sizes) * _NANO / (self._clock.spent_ns - began_ns))

    def speed(self, ours: _Going) -> PeerSpeed:
        ratios = [own / rate for own, rate in zip(ours.rates, self.rates, strict=True)]
        return PeerSpeed(
            name=self._peer.name,
            version=VERSION if self._peer is OURS else version(self._peer.name),
            played=self._peer.played,
            steps=self.counted,
            steps_per_s=round(median(self.rates), 1),
            shown_bytes=round(median(self._sizes)),
            ratio=round(median(ratios), 4),
            least_ratio=round(min(ratios), 4),
            most_ratio=round(max(ratios), 4),
        )


def _ours(clock: Clock) -> Iterator[str]:
    env = LocalEnv()
    scenario_ids = medium_scenarios() or scenario_store.ids("core")
    for number in count():
        script = Script(number)
        seen = clock.timed(env.reset, scenario_id=scenario_ids[number % len(scenario_ids)], seed=number)
        while not seen.done:
            seen = clock.timed(env.step, script.next(seen).action)
            yield seen.model_dump_json()


def _frozen_lake(clock: Clock) -> Iterator[str]:
    import gymnasium

    env = gymnasium.make("FrozenLake-v1")
    moves = Stream("bench-peers", "frozen-lake")
    for number in count():
        clock.timed(env.reset, seed=number)
        over = False
        while not over:
            seen, _, terminated, truncated, _ = clock.timed(env.step, moves.integer(0, 3))
            over = terminated or truncated
            yield str(seen)


def _mastermind(clock: Clock) -> Iterator[str]:
    import textarena

    guesses = Stream("bench-peers", "mastermind")
    for number in count():
        env = textarena.make("Mastermind-v0-raw")
        clock.timed(env.reset, num_players=1, seed=number)
        over = False
        while not over:
            _, seen = clock.timed(env.get_observation)
            yield "".join(message for _, message, _ in seen)
            guess = " ".join(str(1 + digit) for digit in guesses.shuffled(range(6))[:4])
            over, _ = clock.timed(env.step, f"[{guess}]")


def _chain_sum(clock: Clock) -> Iterator[str]:
    """A task has one step: it is set, answered and scored."""
    import reasoning_gym

    tasks = reasoning_gym.create_dataset("chain_sum", size=_MOST_STEPS, seed=7)
    for number in count():
        task = clock.timed(tasks.__getitem__, number % _MOST_STEPS)
        clock.timed(tasks.score_answer, task["answer"], task)
        yield task["question"]


OURS: Final = Peer("TokenOptEnv", "TokenOptEnv", "the mix of `camre bench engine`, medium cases", _ours)
PEERS: Final = (
    Peer("gymnasium", "gymnasium", "FrozenLake-v1, any move", _frozen_lake),
    Peer("textarena", "textarena", "Mastermind-v0, any guess", _mastermind),
    Peer("reasoning-gym", "reasoning_gym", "chain_sum, the right answer", _chain_sum),
)
