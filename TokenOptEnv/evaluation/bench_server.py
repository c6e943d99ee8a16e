"""Steps per second over the WebSocket, beside an environment that returns the same observations without any work.

Three servers, each a real uvicorn process on loopback: this environment; the echo on this same server, which shows
what the engine costs; the echo on OpenEnv's own server, which shows what an idle environment costs there. The runs
alternate, so that a machine that slows down slows all, and the figures are medians over the rounds. The client sends
prepared frames and reads the answers without decoding them: what is measured is the server. Where the system tells a
process's own time, it is reported too: unlike the clock's, it hardly depends on what else the machine does.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Final

from TokenOptEnv import scenario_store
from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.errors import BadInput
from TokenOptEnv.models import TokenOptEnvAction
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.plans import reference_plan

SCENARIO_ID: Final = "incident-medium-kafka-backpressure"
SEED: Final = 7
SESSIONS: Final = (1, 32)
_APPS: Final = {
    "env": "TokenOptEnv.server.app:app",
    "echo": "TokenOptEnv.server.echo:app",
    "openenv_echo": "TokenOptEnv.server.echo:openenv_app",
}
_ADDRESS: Final = re.compile(r"running on http://[\d.]+:(\d+)")
_END_SECONDS: Final = 10


class Speed(Frozen):
    """One server under one number of sessions: medians over the rounds."""

    steps_per_second: float
    p50_ms: float
    p99_ms: float
    cpu_us: float | None
    """The server's processor time for a step, resets included."""


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
    ratio_to_openenv_echo: float
    cpu_ratio_to_echo: float | None
    """Of processor time."""
    cpu_ratio_to_openenv_echo: float | None


class ServerBench(Frozen):
    scenario_id: str
    rounds: int
    steps: int
    """Counted in each run."""
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True, slots=True)
class _Server:
    port: int
    process_id: int

    def cpu_ns(self) -> int | None:
        """What its threads have taken so far. One that ends takes its share along, but the one that serves stays."""
        tasks = Path(f"/proc/{self.process_id}/task")
        try:
            return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir())
        except OSError:
            return None


@dataclass(frozen=True, slots=True)
class _Run:
    seconds: float
    latencies: list[float]
    cpu_ns: int | None

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    @property
    def cpu_us(self) -> float | None:
        return None if self.cpu_ns is None else self.cpu_ns / 1_000 / len(self.latencies)

    def percentile_ms(self, share: float) -> float:
        ordered = sorted(self.latencies)
        return 1_000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def run(
    rounds: int = 7,
    steps: int = 1_000,
    sessions: Sequence[int] = SESSIONS,
    tell: Callable[[str], None] = lambda line: None,
) -> ServerBench:
    """What `camre bench server` shows; `tell` hears of each run as it ends."""
    if find_spec("openenv") is None:
        raise BadInput("the server bench needs OpenEnv; install it: pip install 'openenv-TokenOptEnv[server]'")
    messages = _messages()
    with _servers() as servers:
        for server in servers.values():
            _run(server, messages, 1, 2 * len(messages))
        made = []
        for count in sessions:
            runs: dict[str, list[_Run]] = {name: [] for name in _APPS}
            for number in range(rounds):
                for name in list(_APPS) if number % 2 == 0 else reversed(_APPS):
                    runs[name].append(_run(servers[name], messages, count, steps))
                    tell(f"{count} sessions, round {number + 1}: {name} {runs[name][-1].rate:,.0f} step/s")
            made.append(_compared(count, runs))
    return ServerBench(scenario_id=SCENARIO_ID, rounds=rounds, steps=steps, comparisons=tuple(made))


def _compared(sessions: int, runs: dict[str, list[_Run]]) -> Comparison:
    return Comparison(
        sessions=sessions,
        env=_speed(runs["env"]),
        echo=_speed(runs["echo"]),
        openenv_echo=_speed(runs["openenv_echo"]),
        ratio_to_echo=_ratio(runs["env"], runs["echo"]),
        ratio_to_openenv_echo=_ratio(runs["env"], runs["openenv_echo"]),
        cpu_ratio_to_echo=_cpu_ratio(runs["env"], runs["echo"]),
        cpu_ratio_to_openenv_echo=_cpu_ratio(runs["env"], runs["openenv_echo"]),
    )


def _ratio(runs: list[_Run], others: list[_Run]) -> float:
    return round(median(run.rate / other.rate for run, other in zip(runs, others, strict=True)), 3)


def _cpu_ratio(runs: list[_Run], others: list[_Run]) -> float | None:
    pairs = [(run.cpu_us, other.cpu_us) for run, other in zip(runs, others, strict=True)]
    ratios = [other / own for own, other in pairs if own and other]
    return round(median(ratios), 3) if ratios else None


def _speed(runs: list[_Run]) -> Speed:
    cpu_us = [run.cpu_us for run in runs if run.cpu_us is not None]
    return Speed(
        steps_per_second=round(median(run.rate for run in runs), 1),
        p50_ms=round(median(run.percentile_ms(0.50) for run in runs), 3),
        p99_ms=round(median(run.percentile_ms(0.99) for run in runs), 3),
        cpu_us=round(median(cpu_us), 1) if cpu_us else None,
    )


def _messages() -> tuple[str, ...]:
    """A whole episode, as frames: a reset, then the actions of the reference plan, the last one a submission."""
    plan = reference_plan(scenario_store.load(SCENARIO_ID), SEED, EpisodeConfig())
    return (
        f'{{"type":"reset","data":{{"scenario_id":"{SCENARIO_ID}","seed":{SEED}}}}}',
        *(_step_message(action) for action in plan.actions),
    )


def _step_message(action: TokenOptEnvAction) -> str:
    return f'{{"type":"step","data":{action.model_dump_json(exclude_defaults=True)}}}'


def _run(server: _Server, messages: tuple[str, ...], sessions: int, steps: int) -> _Run:
    before = server.cpu_ns()
    seconds, latencies = asyncio.run(_played(server.port, messages, sessions, steps))
    after = server.cpu_ns()
    return _Run(seconds, latencies, None if before is None or after is None else after - before)


async def _played(port: int, messages: tuple[str, ...], sessions: int, steps: int) -> tuple[float, list[float]]:
    """Sessions that play episode after episode, each its share of the steps; resets are played but not counted."""
    from websockets.asyncio.client import connect

    latencies: list[float] = []
    ready = asyncio.Barrier(sessions + 1)

    async def play() -> None:
        async with connect(f"ws://127.0.0.1:{port}/ws", compression=None, max_size=None, proxy=None) as socket:
            await ready.wait()
            played = 0
            while played < steps // sessions:
                for place, message in enumerate(messages):
                    started = time.perf_counter()
                    await socket.send(message)
                    answer = await socket.recv(decode=False)
                    if not answer.startswith(b'{"type":"observation"'):
                        raise BadInput(f"the server answered {answer[:200]!r}")
                    if place > 0:
                        latencies.append(time.perf_counter() - started)
                        played += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(sessions):
            group.create_task(play())
        await ready.wait()
        began = time.perf_counter()
    return time.perf_counter() - began, latencies


@contextmanager
def _servers() -> Iterator[dict[str, _Server]]:
    """Each application in a uvicorn process of its own, on a free port of loopback; all start at once."""
    processes = {name: _started(application) for name, application in _APPS.items()}
    try:
        yield {name: _Server(_port(process, _APPS[name]), process.pid) for name, process in processes.items()}
    finally:
        for process in processes.values():
            process.terminate()
        for process in processes.values():
            _ended(process)


def _started(application: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "uvicorn", application, "--host", "127.0.0.1", "--port", "0"]
    command += ["--ws-per-message-deflate", "false", "--no-access-log"]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})


def _ended(process: subprocess.Popen[str]) -> None:
    try:
        process.communicate(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def _port(process: subprocess.Popen[str], application: str) -> int:
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if found := _ADDRESS.search(line):
            return int(found[1])
    raise BadInput(f"{application} did not start: {''.join(said[-3:]).strip()[:300]}")
