"""The clients of the server bench: sessions that play whole episodes and look at every answer they get.

A session plays the reference plan of its case, again and again, under an episode name of its own. Every frame that
comes back is compared, byte for byte, with the frame that the same episode had when nobody else was playing: an answer
that carries anything of another session stops the bench. Frames are compared and not decoded, so what is measured is
the server.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from TokenOptEnv import scenario_store
from TokenOptEnv.config import Difficulty, EpisodeConfig
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation.bench_processes import BenchServer
from TokenOptEnv.evaluation.bench_watch import watched
from TokenOptEnv.plans import reference_plan
from TokenOptEnv.scenario_store.splits import case_at
from TokenOptEnv.task_defs.generation import Split

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

SCENARIO_ID: Final = "incident-medium-kafka-backpressure"
SEED: Final = 7
_ALONE: Final = "session-alone"
_STATE: Final = '{"type":"state"}'
_QUICK: Final = (Difficulty.EASY.value, Difficulty.MEDIUM.value)


@dataclass(frozen=True, slots=True)
class BenchCase:
    """One episode to play: its options and the frames of its steps, the last one a submission."""

    scenario_id: str
    seed: int
    steps: tuple[str, ...]

    def frames(self, name: str) -> tuple[str, ...]:
        options = {"scenario_id": self.scenario_id, "seed": self.seed, "episode_id": name}
        return (json.dumps({"type": "reset", "data": options}), *self.steps)


Heard = dict[BenchCase, tuple[bytes, ...]]
"""By case: the frames of its episode when it was played alone."""


@dataclass(frozen=True, slots=True)
class Played:
    """All sessions together, from when the last was connected to when the last had played and none had left."""

    seconds: float
    latencies: list[float]
    cpu_ns: int | None
    """The server's."""
    resident_mb: float | None
    """The server's, at the end."""

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    @property
    def cpu_us(self) -> float | None:
        return None if self.cpu_ns is None else self.cpu_ns / 1_000 / len(self.latencies)

    def percentile_ms(self, share: float) -> float:
        ordered = sorted(self.latencies)
        return 1_000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def cases(scenarios: int) -> tuple[BenchCase, ...]:
    """One: the case of the quick start. More: the core suite, then small generated cases, as far as they are needed."""
    if scenarios == 1:
        return (_case(SCENARIO_ID, SEED),)
    wanted = list(scenario_store.ids("core"))[:scenarios]
    place = 0
    while len(wanted) < scenarios:
        case = case_at(Split.TRAIN, place)
        if case.difficulty.value in _QUICK:
            wanted.append(case.scenario_id)
        place += 1
    return tuple(_case(scenario_id, number) for number, scenario_id in enumerate(wanted))


def _case(scenario_id: str, seed: int) -> BenchCase:
    plan = reference_plan(scenario_store.load(scenario_id), seed, EpisodeConfig())
    steps = (f'{{"type":"step","data":{action.model_dump_json(exclude_defaults=True)}}}' for action in plan.actions)
    return BenchCase(scenario_id, seed, tuple(steps))


async def play_alone(server: BenchServer, wanted: Sequence[BenchCase]) -> Heard:
    """Every case once, one after the other: it warms the server, and tells what each frame should be."""
    client = _Client(server.port)

    async def play() -> Heard:
        async with client.session() as socket:
            return {
                case: tuple([await client.asked(socket, frame) for frame in case.frames(_ALONE)]) for case in wanted
            }

    return await watched(play(), server, client.count)


async def play_together(
    server: BenchServer, wanted: Sequence[BenchCase], heard: Heard | None, sessions: int, steps: int
) -> Played:
    """Each session plays its share of the steps, in whole episodes; resets are played but not counted.

    Without `heard` frames are not compared: an echo has no state that could be another's.
    """
    client = _Client(server.port)
    latencies: list[float] = []
    begin, end = asyncio.Barrier(sessions + 1), asyncio.Barrier(sessions + 1)

    async def play(number: int) -> None:
        case = wanted[number % len(wanted)]
        name = f"session-{number:05d}"
        frames = case.frames(name)
        expected = None if heard is None else _renamed(heard[case], name)
        async with client.session() as socket:
            await client.settled(socket)
            await begin.wait()
            played = 0
            while played < max(1, steps // sessions):
                for place, frame in enumerate(frames):
                    started = time.perf_counter()
                    answer = await client.asked(socket, frame)
                    if place > 0:
                        latencies.append(time.perf_counter() - started)
                        played += 1
                    if expected is not None and answer != expected[place]:
                        raise BadInput(_foreign(name, case, place, answer))
            await end.wait()

    async def play_all() -> Played:
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(sessions):
                    group.create_task(play(number))
                await begin.wait()
                cpu_before, began = server.cpu_ns(), time.perf_counter()
                await end.wait()
                seconds, cpu_after = time.perf_counter() - began, server.cpu_ns()
                resident_mb = server.resident_mb()
        except* BadInput as faults:
            raise faults.exceptions[0] from None
        cpu_ns = None if cpu_before is None or cpu_after is None else cpu_after - cpu_before
        return Played(seconds, latencies, cpu_ns, resident_mb)

    return await watched(play_all(), server, client.count)


async def refused_beyond(server: BenchServer, capacity: int) -> str:
    """What one session too many is told, while as many as there are slots stay connected."""
    client = _Client(server.port)

    async def knock() -> str:
        async with AsyncExitStack() as stack:
            for _ in range(capacity):
                await client.settled(await stack.enter_async_context(client.session()))
            return await client.refused(await stack.enter_async_context(client.session()))

    return await watched(knock(), server, client.count)


def _renamed(frames: tuple[bytes, ...], name: str) -> tuple[bytes, ...]:
    return tuple(frame.replace(_ALONE.encode(), name.encode()) for frame in frames)


class _Client:
    """All sessions of one run: whatever a server does to one of them is an answer, which is counted, or one line."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._door = asyncio.Lock()  # who knock together are all let in by the one worker that wakes first
        self._answers = 0

    def count(self) -> int:
        return self._answers

    @asynccontextmanager
    async def session(self) -> AsyncIterator[ClientConnection]:
        async with self._door:
            socket = await self._connected()
        try:
            yield socket
        except BaseException:
            socket.transport.abort()  # no good-bye to a server that may never answer it
            raise
        finally:
            await socket.close()

    async def settled(self, socket: ClientConnection) -> None:
        """Answered once: the server has given it a slot."""
        await self._answered(socket, _STATE, b'{"type":"state"')

    async def asked(self, socket: ClientConnection, frame: str) -> bytes:
        return await self._answered(socket, frame, b'{"type":"observation"')

    async def refused(self, socket: ClientConnection) -> str:
        from websockets.exceptions import ConnectionClosed

        told: list[bytes] = []
        with suppress(ConnectionClosed):
            while len(told) < 2:
                told.append(await socket.recv(decode=False))
        match told:
            case [refusal] if refusal.startswith(b'{"type":"error"'):
                fault = json.loads(refusal)["data"]
                return f"{fault['code']}: {fault['message']}"
            case _:
                shown = ", then ".join(map(_start_of, told)) or "nothing"
                raise BadInput(f"one session too many should be told so and closed; the server said {shown}")

    async def _connected(self) -> ClientConnection:
        from websockets.asyncio.client import connect
        from websockets.exceptions import InvalidHandshake

        try:
            socket = await connect(
                f"ws://127.0.0.1:{self._port}/ws",
                compression=None,
                max_size=None,
                proxy=None,
                ping_interval=None,
                open_timeout=None,
            )
        except (OSError, EOFError, InvalidHandshake) as fault:
            raise BadInput(f"the server on port {self._port} let no session in: {fault}") from None
        self._answers += 1
        return socket

    async def _answered(self, socket: ClientConnection, frame: str, beginning: bytes) -> bytes:
        """An answer that begins as it should; anything else, a refusal among it, is one line."""
        from websockets.exceptions import ConnectionClosed

        try:
            await socket.send(frame)
            answer = await socket.recv(decode=False)
        except ConnectionClosed as closed:
            raise BadInput(f"the server closed a session: {closed}") from None
        if not answer.startswith(beginning):
            raise BadInput(f"the server answered {_start_of(answer)}")
        self._answers += 1
        return answer


def _start_of(frame: bytes) -> str:
    return frame[:200].decode(errors="replace")


def _foreign(name: str, case: BenchCase, place: int, answer: bytes) -> str:
    told = answer.find(b'"episode_id"')
    return (
        f"{name} got an answer that it would not have got alone, to frame {place} of {case.scenario_id!r}:"
        f" {answer[told : told + 60]!r}"
    )
