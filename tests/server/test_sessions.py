"""Slots: taken by live connections alone, freed by every way of leaving."""

from __future__ import annotations

import asyncio
import json
import os
import socket as sockets
import time
from contextlib import ExitStack

from websockets.asyncio.client import connect

from tests.server.live import CAPACITY, KAFKA, Address, ask, thread, wait_until
from TokenOptEnv.server.settings import Settings

_VANISHING = int(os.environ.get("CAMRE_VANISHING_CLIENTS", "300"))
"""`CAMRE_VANISHING_CLIENTS=2000` is the long form of the test."""
_RESET = {"type": "reset", "data": {"scenario_id": KAFKA, "seed": 7}}
_SEARCH = {"type": "step", "data": {"action_type": "SEARCH_ARTIFACTS", "query": "balance timeout"}}


def _all_slots_are_free(address: Address) -> bool:
    """As many sessions as there are slots, and not one more."""
    with ExitStack() as stack:
        opened = [stack.enter_context(address.connect()) for _ in range(CAPACITY)]
        return all(ask(one, {"type": "state"})["type"] == "state" for one in opened)


def test_one_session_too_many_is_told_so_and_closed(small: Address) -> None:
    with ExitStack() as stack:
        for _ in range(CAPACITY):
            ask(stack.enter_context(small.connect()), _RESET)
        refused = stack.enter_context(small.connect())
        answer = json.loads(refused.recv(timeout=10))
        assert answer["data"]["code"] == "CAPACITY_REACHED"
        assert (answer["data"]["active_sessions"], answer["data"]["max_sessions"]) == (CAPACITY, CAPACITY)
    wait_until(lambda: _all_slots_are_free(small))


def test_a_session_that_says_goodbye_leaves_its_slot(small: Address) -> None:
    for _ in range(3 * CAPACITY):
        with small.connect() as socket:
            ask(socket, _RESET)
            socket.send('{"type":"close"}')
    wait_until(lambda: _all_slots_are_free(small))


def test_joining_a_session_of_another_is_refused(small: Address) -> None:
    from websockets.sync.client import connect as connect_sync

    with connect_sync(f"ws://127.0.0.1:{small.port}/ws?session_id=abc", proxy=None) as socket:
        assert "cannot be joined" in json.loads(socket.recv(timeout=10))["data"]["message"]
    wait_until(lambda: _all_slots_are_free(small))


def test_clients_that_vanish_mid_step_leave_no_slot_and_no_memory(small: Address) -> None:
    async def vanish() -> None:
        """Ask for a step, and be gone before the answer, without a word."""
        socket = await connect(f"ws://127.0.0.1:{small.port}/ws", proxy=None, compression=None)
        await socket.send(json.dumps(_RESET))
        if json.loads(await socket.recv())["type"] == "error":  # those before have not been noticed yet
            await asyncio.sleep(0.05)
        else:
            await socket.send(json.dumps(_SEARCH))
        socket.transport.abort()

    async def many(count: int) -> None:
        for start in range(0, count, CAPACITY):
            await asyncio.gather(*(vanish() for _ in range(min(CAPACITY, count - start))))

    asyncio.run(many(100))
    before = small.resident_kib
    asyncio.run(many(_VANISHING))
    wait_until(lambda: _all_slots_are_free(small))
    grown = small.resident_kib - before
    assert grown < 8 * 1_024, f"{_VANISHING} clients left {grown} KiB behind"


def test_an_idle_session_lives_on_and_a_dead_peer_is_found() -> None:
    with thread(Settings(capacity=2, ping_seconds=1)) as here, here.connect() as idle:
        ask(idle, _RESET)
        with _deaf_peer(here), here.connect() as third:
            assert json.loads(third.recv(timeout=10))["data"]["code"] == "CAPACITY_REACHED"
            wait_until(lambda: _is_served(here), seconds=10)
        time.sleep(1.5)
        assert ask(idle, _SEARCH)["data"]["observation"]["step"] == 1


def _is_served(address: Address) -> bool:
    with address.connect() as socket:
        return bool(ask(socket, {"type": "state"})["type"] == "state")


def _deaf_peer(address: Address) -> sockets.socket:
    """A peer that shakes hands and then never answers a ping, as one does whose machine is gone."""
    peer = sockets.create_connection(("127.0.0.1", address.port))
    peer.sendall(
        b"GET /ws HTTP/1.1\r\nHost: camre\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    assert b"101" in peer.recv(4_096)
    return peer
