"""Steps per second over the WebSocket, beside an environment that returns the same observations without any work.

Three servers, each a real uvicorn process on loopback: this environment; the echo on this same server, which shows
what the engine costs; the echo on OpenEnv's own server, which shows what an idle environment costs there. The runs
alternate, so that a machine that slows down slows all, and the figures are medians over the rounds. Where the system
tells a process's own time, it is reported too: it depends less than the clock's on what else the machine does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from statistics import median
from typing import Final

from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation import bench_processes, bench_sessions
from TokenOptEnv.evaluation.bench_machine import Machine, this_machine
from TokenOptEnv.evaluation.bench_processes import BenchServer
from TokenOptEnv.evaluation.bench_sessions import BenchCase, Heard, Played
from TokenOptEnv.models.base import Frozen

SESSIONS: Final = (1, 32)
MOST_SESSIONS: Final = 4_096
_OURS: Final = "env"
_AS_SERVED: Final = ("--ws", "TokenOptEnv.server.protocol:SessionProtocol")
"""What `camre serve` tells uvicorn, and so what is measured; OpenEnv's server has uvicorn's own choice."""
_APPS: Final[dict[str, tuple[str, ...]]] = {
    _OURS: ("TokenOptEnv.server.app:app", *_AS_SERVED),
    "echo": ("TokenOptEnv.server.echo:app", *_AS_SERVED),
    "openenv_echo": ("TokenOptEnv.server.echo:openenv_app",),
}
_WARM_SESSIONS: Final = 8
"""For each worker: the system hands connections to workers as it likes, and every one should have seen every case."""


class Speed(Frozen):
    """One server under one number of sessions: medians over the rounds."""

    steps_per_second: float
    p50_ms: float
    p99_ms: float
    cpu_us: float | None
    """The server's processor time for a step, resets included."""
    resident_mb: float | None
    """The server's memory with all sessions connected: the most of the rounds."""


class Comparison(Frozen):
    """Ratios above 1 say that this environment is the faster; each is the median over the rounds."""

    sessions: int
    env: Speed
    echo: Speed
    """The echo on this server."""
    openenv_echo: Speed
    """The echo on OpenEnv's own server."""
    ratio_to_echo: float
    """Of steps per second."""
    ratios_to_echo: tuple[float, ...]
    """Round by round: how far they lie apart says how much the median is worth."""
    ratio_to_openenv_echo: float
    ratios_to_openenv_echo: tuple[float, ...]
    cpu_ratio_to_echo: float | None
    """Of processor time."""
    cpu_ratio_to_openenv_echo: float | None


class ServerBench(Frozen):
    machine: Machine
    scenarios: int
    workers: int
    rounds: int
    steps: int
    """Counted in each run, at least: episodes are played to their end."""
    answers_compared: int
    """Every answer of this environment, with the same episode's when it was played alone; all were the same."""
    refusal: str | None
    """What one session too many was told. With several workers nobody knows which of them is full."""
    comparisons: tuple[Comparison, ...]


def run(
    rounds: int = 7,
    steps: int = 1_000,
    sessions: Sequence[int] = SESSIONS,
    scenarios: int = 1,
    workers: int = 1,
    tell: Callable[[str], None] = lambda line: None,
) -> ServerBench:
    """What `camre bench server` shows; `tell` hears of each run as it ends."""
    if find_spec("openenv") is None:
        raise BadInput("the server bench needs OpenEnv; install it: pip install 'openenv-TokenOptEnv[server]'")
    for count in sessions:
        if not 1 <= count <= MOST_SESSIONS:
            raise BadInput(f"sessions must be from 1 to {MOST_SESSIONS}, not {count}")
    machine = this_machine()
    wanted = bench_sessions.cases(scenarios)
    compared = 0
    capacity = max(sessions) if workers == 1 else max(*sessions, _WARM_SESSIONS * workers)
    with bench_processes.running(_APPS, capacity, workers) as servers:
        heard = _warmed(servers, wanted, workers)
        made = []
        for count in sessions:
            runs: dict[str, list[Played]] = {name: [] for name in _APPS}
            for number in range(rounds):
                for name in list(_APPS) if number % 2 == 0 else reversed(_APPS):
                    known = heard if name == _OURS else None
                    runs[name].append(_run(servers[name], wanted, known, count, steps))
                    tell(f"{count} sessions, round {number + 1}: {name} {runs[name][-1].rate:,.0f} step/s")
            compared += sum(len(one.latencies) for one in runs[_OURS])
            made.append(_compared(count, runs))
        refusal = None
        if workers == 1:
            refusal = asyncio.run(bench_sessions.refused_beyond(servers[_OURS], capacity))
    return ServerBench(
        machine=machine,
        scenarios=len(wanted),
        workers=workers,
        rounds=rounds,
        steps=steps,
        answers_compared=compared,
        refusal=refusal,
        comparisons=tuple(made),
    )


def _warmed(servers: dict[str, BenchServer], wanted: Sequence[BenchCase], workers: int) -> Heard:
    """Every process has played every case; what ours answered to somebody alone is what it must always answer."""
    alone = {name: asyncio.run(bench_sessions.play_alone(server, wanted)) for name, server in servers.items()}
    if workers > 1:
        for name, server in servers.items():
            known = alone[name] if name == _OURS else None
            for first in range(len(wanted)):
                _run(server, wanted[first : first + 1], known, _WARM_SESSIONS * workers, 1)
    return alone[_OURS]


def _compared(sessions: int, runs: dict[str, list[Played]]) -> Comparison:
    to_echo, to_openenv_echo = (_ratios(runs[_OURS], runs[name]) for name in ("echo", "openenv_echo"))
    return Comparison(
        sessions=sessions,
        env=_speed(runs["env"]),
        echo=_speed(runs["echo"]),
        openenv_echo=_speed(runs["openenv_echo"]),
        ratio_to_echo=round(median(to_echo), 3),
        ratios_to_echo=to_echo,
        ratio_to_openenv_echo=round(median(to_openenv_echo), 3),
        ratios_to_openenv_echo=to_openenv_echo,
        cpu_ratio_to_echo=_cpu_ratio(runs["env"], runs["echo"]),
        cpu_ratio_to_openenv_echo=_cpu_ratio(runs["env"], runs["openenv_echo"]),
    )


def _ratios(runs: list[Played], others: list[Played]) -> tuple[float, ...]:
    return tuple(round(run.rate / other.rate, 3) for run, other in zip(runs, others, strict=True))


def _cpu_ratio(runs: list[Played], others: list[Played]) -> float | None:
    pairs = [(run.cpu_us, other.cpu_us) for run, other in zip(runs, others, strict=True)]
    ratios = [other / own for own, other in pairs if own and other]
    return round(median(ratios), 3) if ratios else None


def _speed(runs: list[Played]) -> Speed:
    cpu_us = [run.cpu_us for run in runs if run.cpu_us is not None]
    return Speed(
        steps_per_second=round(median(run.rate for run in runs), 1),
        p50_ms=round(median(run.percentile_ms(0.50) for run in runs), 3),
        p99_ms=round(median(run.percentile_ms(0.99) for run in runs), 3),
        cpu_us=round(median(cpu_us), 1) if cpu_us else None,
        resident_mb=max((run.resident_mb for run in runs if run.resident_mb is not None), default=None),
    )


def _run(server: BenchServer, wanted: Sequence[BenchCase], heard: Heard | None, sessions: int, steps: int) -> Played:
    return asyncio.run(bench_sessions.play_together(server, wanted, heard, sessions, steps))
