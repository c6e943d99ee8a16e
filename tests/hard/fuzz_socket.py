"""Malformed and hostile frames through the socket, beside a session that plays as if nothing happened.

    python -m tests.hard.fuzz_socket --frames 100000

A frame that is no message is answered with one short error and its session goes on; one that breaks the protocol may
end its own connection. The server stays, its slots come back, and the witness sees every byte that it would see alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import time
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from tests.hard import hostile
from tests.hard.raw_socket import BINARY, CLOSE, PING, TEXT, Gone, Peer, frame, peer
from tests.server.live import KAFKA, Address, process
from TokenOptEnv import LocalEnv, TokenOptEnvAction, TokenOptEnvObservation, policies
from TokenOptEnv.server.observation_writer import ObservationWriter

ATTACKERS: Final = 6
CAPACITY: Final = 2 * ATTACKERS
INSIDE: Final = re.compile(r"internal error|Traceback|File \"|site-packages|\.py\b|/home/|0x[0-9a-f]{6}")
_LONGEST_ERROR: Final = 1_400
_CODES: Final = {"INVALID_JSON", "UNKNOWN_TYPE", "VALIDATION_ERROR", "EXECUTION_ERROR"}


@dataclass
class Tally:
    frames: int = 0
    connections: int = 0
    closed_by_server: int = 0
    grown_kib: int = 0
    answers: Counter[str] = field(default_factory=Counter)

    def told(self, took_s: float) -> str:
        return (
            f"{self.frames} frames in {took_s:.0f} s ({self.frames / took_s:.0f}/s) on {self.connections} connections,"
            f" {self.closed_by_server} of them closed by the server; it grew by {self.grown_kib} KiB\n"
            f"answers {dict(self.answers.most_common())}\n"
        )


class Attacker:
    def __init__(self, seed: int, tally: Tally) -> None:
        self._draw = Random(seed)
        self._tally = tally
        env = LocalEnv()
        self._first = env.reset(scenario_id=KAFKA, seed=0)
        self._seen = self._first

    async def run(self, port: int, frames: int) -> None:
        sent = 0
        while sent < frames:
            self._tally.connections += 1
            async with peer(port) as socket:
                try:
                    if self._draw.random() < 0.8:
                        begin = _reset(self._draw.randrange(4))
                        self._judge(await socket.ask(begin.decode()), begin)
                    for _ in range(self._draw.randrange(1, 80)):
                        sent += 1
                        self._tally.frames += 1
                        await self._one(socket)
                        if sent >= frames:
                            break
                except Gone:
                    self._tally.closed_by_server += 1

    async def _one(self, socket: Peer) -> None:
        chance = self._draw.random()
        if chance < 0.03:
            await self._break_the_protocol(socket)
        elif chance < 0.06:
            await self._in_pieces(socket)
        else:
            data = self._message()
            opcode = BINARY if chance > 0.98 else TEXT
            socket.send(frame(opcode, data))
            if _is_utf8(data) or opcode == BINARY:
                self._judge(await socket.hear(), data)
            else:
                await self._expect_the_end(socket)

    def _message(self) -> bytes:
        draw = self._draw
        match draw.randrange(12):
            case 0:
                return _reset(draw.randrange(4))
            case 1:
                return _to_json({"type": "reset", "data": hostile.options(draw)})
            case 2:
                return _to_json({"type": draw.choice(("state", "reset", "step", "mcp", hostile.text(draw)))})
            case 3:
                return _to_json(hostile.anything(draw))
            case 4:
                return hostile.text(draw).encode()
            case 5:
                return self._bent(_to_json({"type": "step", "data": hostile.sensible(draw, self._seen)}))
            case 6:
                kind = draw.choice(("[", '{"a":', '{"type":"step","data":{"metadata":{"a":['))
                return (kind * draw.choice((10, 200, 20_000))).encode()
            case 7:
                number = draw.choice(("NaN", "-Infinity", "1e999", "9" * 5_000, "-0", "0x10", "1_000", "١"))
                return f'{{"type":"step","data":{{"action_type":"READ_ARTIFACT","page":{number}}}}}'.encode()
            case 8 if draw.randrange(20) == 0:
                return b'{"type":"reset","data":{"scenario_id":"' + b"x" * draw.choice((1_000_000, 1_048_577)) + b'"}}'
            case _:
                return _to_json({"type": "step", "data": hostile.fields(draw, self._seen)})

    def _bent(self, data: bytes) -> bytes:
        """A few bytes of a good message changed, dropped or doubled; often no UTF-8 any more."""
        bent = bytearray(data)
        for _ in range(self._draw.randrange(1, 4)):
            place = self._draw.randrange(len(bent))
            match self._draw.randrange(4):
                case 0:
                    bent[place] = self._draw.randrange(256)
                case 1:
                    del bent[place:]
                case 2:
                    bent[place:place] = bent[: self._draw.randrange(20)]
                case _:
                    bent[place:place] = self._draw.choice((b'"', b"\\", b"\\ud800", b"\x00", b"}", b"\xf0\x9f"))
            if not bent:
                break
        return bytes(bent)

    async def _break_the_protocol(self, socket: Peer) -> None:
        draw = self._draw
        half = self._message()[:100]
        match draw.randrange(9):
            case 0:
                broken = frame(TEXT, b"{}", masked=False)
            case 1:
                broken = frame(draw.choice((3, 7, 11, 15)), b"{}")
            case 2:
                broken = frame(TEXT, b"{}", reserved=draw.randrange(1, 8))
            case 3:
                broken = frame(PING, b"x" * 126)
            case 4:
                broken = frame(0, b"going on with nothing")
            case 5:
                broken = frame(TEXT, b'{"type"', fin=False) + frame(TEXT, b"begun anew")
            case 6:
                broken = frame(TEXT, b"x", claimed=draw.choice((1 << 40, (1 << 63) - 1)))
            case 7:
                broken = frame(CLOSE, draw.choice((b"", b"\x03", b"\x03\xe8\xff", b"\x00\x01", b"\xff\xff")))
            case _:
                socket.send(frame(TEXT, half, claimed=len(half) + 50))
                socket.vanish()
                raise Gone
        socket.send(broken)
        await self._expect_the_end(socket)

    async def _in_pieces(self, socket: Peer) -> None:
        """A good message in fragments, with a ping between them, and byte after byte on the wire."""
        data = _to_json({"type": "state"})
        cut = self._draw.randrange(1, len(data))
        whole = frame(TEXT, data[:cut], fin=False) + frame(PING, b"still there?") + frame(0, data[cut:])
        for start in range(0, len(whole), 7):
            socket.send(whole[start : start + 7])
            await asyncio.sleep(0)
        self._judge(await socket.hear(), data)

    async def _expect_the_end(self, socket: Peer) -> None:
        """The connection ends, without another word than perhaps one that was under way."""
        while True:
            await socket.hear()

    def _judge(self, answer: bytes, asked: bytes) -> None:
        told = json.loads(answer)
        kind = told["type"]
        where = f"after {asked[:300]!r}"
        if kind == "error":
            assert told["data"]["code"] in _CODES, (told, where)
            assert len(answer) < _LONGEST_ERROR, where
            assert not INSIDE.search(told["data"]["message"]), (told, where)
            self._tally.answers[told["data"]["code"]] += 1
        else:
            assert kind in ("observation", "state"), where
            self._tally.answers[kind] += 1
        if kind == "observation":
            seen = TokenOptEnvObservation.model_validate(
                {**told["data"]["observation"], "reward": told["data"]["reward"], "done": told["data"]["done"]}
            )
            self._seen = self._first if seen.done else seen


async def witness(port: int, stop: asyncio.Event, alone: list[tuple[bytes, bytes]]) -> int:
    """Plays one episode over and over; gives how often. Every answer must be what it is without an attack."""
    times = 0
    async with peer(port) as socket:
        while not stop.is_set() or times == 0:
            for said, expected in alone:
                assert await socket.ask(said.decode()) == expected, "the witness saw something else than alone"
            times += 1
    return times


def played_alone() -> list[tuple[bytes, bytes]]:
    """What the witness says, and hears where nobody attacks; played in this process."""
    env, writer = LocalEnv(), ObservationWriter()
    policy = policies.make("expert", 0)
    seen = env.reset(scenario_id=KAFKA, seed=3)
    spoken = [(_reset(3), writer.frame(seen).encode())]
    while not seen.done:
        action: TokenOptEnvAction = policy.act(seen)
        seen = env.step(action)
        said = _to_json({"type": "step", "data": action.model_dump(mode="json", exclude_defaults=True)})
        spoken.append((said, writer.frame(seen).encode()))
    return spoken


async def all_slots_are_free(port: int, capacity: int, seconds: float = 20.0) -> bool:
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        async with AsyncExitStack() as stack:
            opened = [await stack.enter_async_context(peer(port)) for _ in range(capacity)]
            answers = [json.loads(await one.ask('{"type":"state"}')) for one in opened]
        if all(answer["type"] == "state" for answer in answers):
            return True
        await asyncio.sleep(0.05)
    return False


def attack(address: Address, frames: int, seed: int) -> Tally:
    tally = Tally()

    async def all_at_once(count: int, first_seed: int) -> None:
        stop = asyncio.Event()
        watching = asyncio.create_task(witness(address.port, stop, alone))
        attackers = [Attacker(first_seed + number, tally) for number in range(ATTACKERS)]
        try:
            await asyncio.gather(*(each.run(address.port, -(-count // ATTACKERS)) for each in attackers))
        finally:
            stop.set()
        assert await watching > 0
        assert await all_slots_are_free(address.port, CAPACITY)

    alone = played_alone()
    asyncio.run(all_at_once(frames // 5, seed))
    settled_kib = address.resident_kib
    asyncio.run(all_at_once(frames - frames // 5, seed + ATTACKERS))
    tally.grown_kib = max(0, address.resident_kib - settled_kib)
    return tally


def _reset(seed: int) -> bytes:
    return _to_json({"type": "reset", "data": {"scenario_id": KAFKA, "seed": seed}})


def _to_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def main() -> None:
    wanted = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    wanted.add_argument("--frames", type=int, default=100_000)
    wanted.add_argument("--seed", type=int, default=0)
    given = wanted.parse_args()
    with process("server.app:app", CAMRE_CAPACITY=str(CAPACITY)) as address:
        began_s = time.monotonic()
        tally = attack(address, given.frames, given.seed)
        sys.stdout.write(tally.told(time.monotonic() - began_s))


if __name__ == "__main__":
    main()
