"""Sessions that are opened and abandoned, at every moment and in every way: no slot, descriptor or memory stays taken.

python -m tests.hard.abandon --sessions 10000
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from tests.hard.fuzz_socket import all_slots_are_free
from tests.hard.raw_socket import HANDSHAKE, TEXT, Gone, Peer, frame, peer
from tests.server.live import KAFKA, Address, process

CAPACITY: Final = 12
_AT_ONCE: Final = 8
_RESET: Final = json.dumps({"type": "reset", "data": {"scenario_id": KAFKA, "seed": 3}})
_SEARCH: Final = json.dumps({"type": "step", "data": {"action_type": "SEARCH_ARTIFACTS", "query": "timeout balance"}})


async def _before_a_word(socket: Peer) -> None:
    socket.vanish()


async def _in_the_middle_of_a_frame(socket: Peer) -> None:
    socket.send(frame(TEXT, _RESET.encode())[:30])
    socket.vanish()


async def _before_the_answer(socket: Peer) -> None:
    socket.say(_RESET)
    socket.vanish()


async def _in_the_middle_of_a_step(socket: Peer) -> None:
    await socket.ask(_RESET)
    socket.say(_SEARCH)
    socket.vanish()


async def _with_many_steps_under_way(socket: Peer) -> None:
    await socket.ask(_RESET)
    for _ in range(12):
        socket.say(_SEARCH)
    await asyncio.sleep(0)
    socket.vanish()


async def _with_a_half_close(socket: Peer) -> None:
    """No more is sent, and nothing that comes is read."""
    await socket.ask(_RESET)
    socket.writer.write_eof()
    await asyncio.sleep(0.01)


async def _by_breaking_the_protocol(socket: Peer) -> None:
    await socket.ask(_RESET)
    socket.send(frame(TEXT, b"\xff\xfe"))
    await socket.hear()


async def _after_a_goodbye_that_is_not_waited_for(socket: Peer) -> None:
    await socket.ask(_RESET)
    socket.say('{"type":"close"}')
    socket.vanish()


WAYS: Final[tuple[Callable[[Peer], Awaitable[None]], ...]] = (
    _before_a_word,
    _in_the_middle_of_a_frame,
    _before_the_answer,
    _in_the_middle_of_a_step,
    _with_many_steps_under_way,
    _with_a_half_close,
    _by_breaking_the_protocol,
    _after_a_goodbye_that_is_not_waited_for,
)


@dataclass
class Tally:
    sessions: int = 0
    grown_kib: int = 0
    descriptors: int = 0
    """More than before."""
    ways: Counter[str] = field(default_factory=Counter)

    def told(self, took_s: float) -> str:
        return (
            f"{self.sessions} sessions abandoned in {took_s:.0f} s ({self.sessions / took_s:.0f}/s):"
            f" every slot is free, {self.grown_kib} KiB and {self.descriptors} descriptors more than before\n"
        )


async def _abandoned(port: int, draw: Random, tally: Tally) -> None:
    if draw.randrange(12) == 0:  # a handshake that is never finished
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HANDSHAKE[: draw.randrange(len(HANDSHAKE))])
        await asyncio.sleep(0)
        writer.transport.abort()
        tally.ways["_at_the_door"] += 1
        return
    way = draw.choice(WAYS)
    try:
        async with peer(port) as socket:
            await way(socket)
    except Gone:
        pass
    tally.ways[way.__name__] += 1


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def abandon(address: Address, sessions: int, seed: int, capacity: int) -> Tally:
    """In the first fifth every cache is filled; what is measured is what the others leave behind."""
    tally = Tally()

    async def many(count: int, draw: Random) -> None:
        for start in range(0, count, _AT_ONCE):
            share = range(min(_AT_ONCE, count - start))
            await asyncio.gather(*(_abandoned(address.port, draw, tally) for _ in share))
            tally.sessions += len(share)
        assert await all_slots_are_free(address.port, capacity), "a session was abandoned, and its slot is still taken"

    asyncio.run(many(sessions // 5, Random(seed)))
    kib, opened = address.resident_kib, descriptors(address.pid)
    asyncio.run(many(sessions - sessions // 5, Random(seed + 1)))
    time.sleep(0.3)
    tally.grown_kib = max(0, address.resident_kib - kib)
    tally.descriptors = max(0, descriptors(address.pid) - opened)
    return tally


def main() -> None:
    wanted = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    wanted.add_argument("--sessions", type=int, default=10_000)
    wanted.add_argument("--seed", type=int, default=0)
    given = wanted.parse_args()
    with process("server.app:app", CAMRE_CAPACITY=str(CAPACITY)) as address:
        began_s = time.monotonic()
        tally = abandon(address, given.sessions, given.seed, CAPACITY)
        sys.stdout.write(tally.told(time.monotonic() - began_s))


if __name__ == "__main__":
    main()
