"""Clients that are killed, deaf, slow or half open, and servers that are stopped: slots come back, episodes can be."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from tests.hard import abandon
from tests.hard.fuzz_socket import CAPACITY, all_slots_are_free
from tests.hard.raw_socket import HANDSHAKE, Gone, peer
from tests.server.live import KAFKA, ROOT, Address, ask, thread
from TokenOptEnv import LocalEnv, TokenOptEnvAction, policies
from TokenOptEnv.server.settings import Settings
from TokenOptEnv.server.studio.seats import Seats

_RESET = {"type": "reset", "data": {"scenario_id": KAFKA, "seed": 3}}
_STATE = '{"type":"state"}'
_SEARCH = {"type": "step", "data": {"action_type": "SEARCH_ARTIFACTS", "query": "balance timeout"}}
_SESSIONS = 240


def test_sessions_abandoned_in_every_way_leave_no_slot_no_descriptor_and_no_memory(attacked: Address) -> None:
    tally = abandon.abandon(attacked, _SESSIONS, seed=1, capacity=CAPACITY)
    assert len(tally.ways) == len(abandon.WAYS) + 1, "not every way was tried"
    assert tally.descriptors <= 2
    assert tally.grown_kib < 8 * 1_024


def test_a_client_process_that_is_killed_in_the_middle_of_a_step_frees_its_slot(attacked: Address) -> None:
    script = f"""
import json
from websockets.sync.client import connect
socket = connect("ws://127.0.0.1:{attacked.port}/ws", proxy=None, max_size=None)
socket.send({json.dumps(json.dumps(_RESET))})
socket.recv()
print("playing", flush=True)
while True:
    socket.send({json.dumps(json.dumps(_SEARCH))})
    socket.recv()
"""
    killed = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    with killed:
        assert killed.stdout is not None and killed.stdout.readline() == "playing\n"
        killed.send_signal(signal.SIGKILL)
    assert asyncio.run(all_slots_are_free(attacked.port, CAPACITY))


def test_a_peer_that_stops_reading_is_cut_off_and_a_live_one_is_not() -> None:
    """It has asked for more than the buffers hold, reads nothing, and answers no ping: uvicorn alone would keep it."""

    async def stop_reading(port: int) -> None:
        async with peer(port, receive_buffer_bytes=4_096) as deaf, peer(port) as idle:
            await idle.ask(json.dumps(_RESET))
            deaf.reader._transport.pause_reading()  # type: ignore[attr-defined]
            for _ in range(1_500):
                deaf.say(json.dumps(_RESET))
                await asyncio.sleep(0)
            listening = asyncio.create_task(idle.hear())
            assert await _becomes_free(port, 12.0), "the slot of a peer that reads nothing was never freed"
            assert not listening.done(), "a live session was closed"
            idle.say(_STATE)
            assert json.loads(await listening)["data"]["seed"] == 3

    with thread(Settings(capacity=2, ping_seconds=1)) as here:
        asyncio.run(stop_reading(here.port))


async def _becomes_free(port: int, seconds: float) -> bool:
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        async with peer(port) as other:
            try:
                if json.loads(await other.ask(_STATE))["type"] == "state":
                    return True
            except Gone:
                pass
        await asyncio.sleep(0.1)
    return False


def test_doors_that_are_left_open_take_no_slot(attacked: Address) -> None:
    async def knock() -> bool:
        writers = []
        for cut in range(10, len(HANDSHAKE), 8):
            _, writer = await asyncio.open_connection("127.0.0.1", attacked.port)
            writer.write(HANDSHAKE[:cut])
            writers.append(writer)
        assert len(writers) > CAPACITY
        free = await all_slots_are_free(attacked.port, CAPACITY)
        for writer in writers:
            writer.transport.abort()
        return free

    assert asyncio.run(knock())


def test_a_frame_too_large_is_answered_and_one_far_too_large_ends_its_own_connection() -> None:
    with thread(Settings(capacity=2, max_message_bytes=2_048)) as here, here.connect() as beside:
        ask(beside, _RESET)
        with here.connect() as socket:
            assert ask(socket, "x" * 3_000)["data"]["code"] == "VALIDATION_ERROR"
            socket.send("x" * 5_000)
            assert _closed_with(socket) == 1009
        assert asyncio.run(_becomes_free(here.port, 10.0))
        assert ask(beside, _SEARCH)["data"]["observation"]["step"] == 1


def test_an_idle_session_outlives_many_pings_and_a_clock_that_jumps(monkeypatch: pytest.MonkeyPatch) -> None:
    with thread(Settings(capacity=1, ping_seconds=1)) as here, here.connect() as idle:
        ask(idle, _RESET)
        now = time.time
        for jump_s in (10**9, -(10**9)):
            with monkeypatch.context() as patched:
                patched.setattr(time, "time", lambda jump_s=jump_s: now() + jump_s)
                time.sleep(1.3)
        assert ask(idle, _SEARCH)["data"]["observation"]["step"] == 1


def test_a_seat_of_the_studio_is_not_dropped_by_a_clock_that_jumps(monkeypatch: pytest.MonkeyPatch) -> None:
    from TokenOptEnv.server.studio.sitting import Sitting
    from TokenOptEnv.server.studio.table import Table

    seats, sitting = Seats(), Sitting(scenario_id=KAFKA)
    Table(reveal=False, seats=seats).frames(sitting)
    monkeypatch.setattr(time, "time", lambda: 1e12)
    assert seats.take(sitting) is not None


# --- the server is stopped


def _alone() -> tuple[list[TokenOptEnvAction], list[int]]:
    env, policy = LocalEnv(), policies.make("expert", 0)
    seen = env.reset(scenario_id=KAFKA, seed=3)
    actions, bills = [], []
    while not seen.done:
        actions.append(policy.act(seen))
        seen = env.step(actions[-1])
        bills.append(seen.budgets.nano_usd.spent)
    return actions, bills


def _play_half(here: Address, stack: ExitStack, actions: list[TokenOptEnvAction]) -> list[ClientConnection]:
    """Four sessions in the middle of an episode, each with a step under way."""
    sockets = [stack.enter_context(here.connect()) for _ in range(4)]
    for socket in sockets:
        ask(socket, _RESET)
        for action in actions[: len(actions) // 2]:
            ask(socket, _step(action))
        socket.send(json.dumps(_step(actions[len(actions) // 2])))
    return sockets


def _closed_with(socket: ClientConnection) -> int | None:
    """After the answer to what was under way, where it still came."""
    with pytest.raises(ConnectionClosed) as closed:
        for _ in range(3):
            socket.recv(timeout=10)
    return None if closed.value.rcvd is None else closed.value.rcvd.code


def test_a_server_stopped_under_load_says_so_ends_soon_and_its_episodes_can_be_played_again() -> None:
    actions, bills = _alone()
    with ExitStack() as stack:
        with thread(Settings()) as here:
            sockets = _play_half(here, stack, actions)
            began_s = time.monotonic()
        assert time.monotonic() - began_s < 12
        assert {_closed_with(socket) for socket in sockets} == {1012}
    with thread(Settings()) as here, here.connect() as socket:
        ask(socket, _RESET)
        answers = [ask(socket, _step(action)) for action in actions]
    assert [answer["data"]["observation"]["budgets"]["nano_usd"]["spent"] for answer in answers] == bills
    assert answers[-1]["data"]["done"] is True


def _step(action: TokenOptEnvAction) -> dict[str, object]:
    return {"type": "step", "data": action.model_dump(mode="json")}


def test_the_commands_that_run_the_whole_are_documented() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for module in ("fuzz_engine --actions 1000000", "fuzz_socket --frames 100000", "abandon --sessions 10000"):
        assert f"-m tests.hard.{module}" in makefile
