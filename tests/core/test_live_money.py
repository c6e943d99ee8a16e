"""Real money: billed as the server counted, capped before it is spent, whoever spends it and whoever is killed."""

from __future__ import annotations

import inspect
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.core.live_cases import (
    ROOT,
    another_request,
    asked_once,
    episode,
    live,
    recorded,
    request,
    right,
    right_answer,
    settings,
)
from tests.core.live_server import Body, Step, said, serving
from TokenOptEnv.backends.recorded import RecordedBackend
from TokenOptEnv.backends.recording import read
from TokenOptEnv.catalog import load_catalog
from TokenOptEnv.errors import CapReached
from TokenOptEnv.models import Effort
from TokenOptEnv.simulators.backend import Backend, RouteReply, RouteRequest
from TokenOptEnv.simulators.tokens import count

# --- what is billed


def test_what_the_server_counted_is_what_the_ledger_bills(tmp_path: Path) -> None:
    def usual(body: Body) -> Step:
        return right(body, prompt_tokens=1_000, cached_tokens=256, completion_tokens=300, reasoning_tokens=250)

    with serving(usual) as server, live(server, settings(tmp_path)) as backend:
        play = episode(backend)
    card = load_catalog("measured").card("gpt-5-mini")
    for entry in [e for step in play.trace.steps for e in step.entries if e.who == "worker"]:
        assert (entry.fresh_tokens, entry.cached_tokens, entry.output_tokens) == (744, 256, 300)
        pico = 744 * card.input_pico_usd + 256 * card.cache_read_pico_usd + 300 * card.output_pico_usd
        assert entry.nano_usd == -(-pico // 1_000)
    entries = [entry for step in play.trace.steps for entry in step.entries]
    budgets = play.observation.budgets
    assert budgets.nano_usd.spent == sum(entry.nano_usd for entry in entries)
    assert budgets.tokens.spent == sum(e.fresh_tokens + e.cached_tokens + e.output_tokens for e in entries)


def test_a_repair_is_billed_with_what_it_repaired(tmp_path: Path) -> None:
    first = said("sorry", prompt_tokens=800, completion_tokens=10)
    reply, server = asked_once(tmp_path, first)
    assert len(server.asked) == 2
    assert reply.usage is not None
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (800 + 900, 10 + 40)
    assert recorded(tmp_path)[-1]["replies"] == 2


def _without_usage() -> Step:
    return Step(body=json.dumps({k: v for k, v in json.loads(right_answer().body).items() if k != "usage"}).encode())


UNTRUE: dict[str, Step] = {
    "no usage": _without_usage(),
    "no object": right_answer(usage=["many"]),
    "no counts": right_answer(usage={"prompt_tokens": "900", "completion_tokens": None}),
    "truth values": right_answer(usage={"prompt_tokens": True, "completion_tokens": True}),
    "less than nothing": right_answer(usage={"prompt_tokens": -5, "completion_tokens": 40}),
    "more cached than sent": right_answer(prompt_tokens=900, cached_tokens=901),
    "more thought than written": right_answer(completion_tokens=40, reasoning_tokens=41),
    "next to nothing": right_answer(prompt_tokens=3),
    "a fortune": right_answer(prompt_tokens=10**12),
    "an endless reply": right_answer(completion_tokens=10**12),
    "details that are no counts": right_answer(
        usage={"prompt_tokens": 900, "completion_tokens": 40, "prompt_tokens_details": {"cached_tokens": "all"}}
    ),
}


@pytest.mark.parametrize("step", UNTRUE.values(), ids=UNTRUE.keys())
def test_usage_that_cannot_be_true_is_counted_here(step: Step, tmp_path: Path) -> None:
    reply, server = asked_once(tmp_path, step)
    prompt = server.asked[0].prompt
    content = json.loads(step.body)["choices"][0]["message"]["content"]
    assert reply.usage is not None
    assert reply.usage.prompt_tokens == count("o200k_base", prompt)
    assert reply.usage.completion_tokens == count("o200k_base", content)
    assert recorded(tmp_path)[-1]["counted_by"] == "here"


def test_reasoning_that_a_server_counts_apart_is_billed_too(tmp_path: Path) -> None:
    details = {"completion_tokens_details": {"reasoning_tokens": 500}}
    step = right_answer(usage={"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 1_440, **details})
    reply, _ = asked_once(tmp_path, step)
    assert reply.usage is not None and reply.usage.completion_tokens == 540
    assert reply.reasoning_tokens == 500


# --- the cap


def test_a_cap_of_one_cent_stops_cleanly_with_everything_recorded(tmp_path: Path) -> None:
    dear = {"prompt_tokens": 900, "completion_tokens": 1_200}
    told = settings(tmp_path, cap_nano_usd=10_000_000)
    answered = []
    with serving(lambda body: right(body, **dear)) as server, live(server, told) as backend:
        with pytest.raises(CapReached, match=r"is left of the cap of \$0\.010000; what was answered is recorded"):
            for number in range(100):
                answered.append(backend.answer(another_request(number)))
        asked = len(server.asked)
    tally = read(tmp_path / "answers.jsonl")
    assert 1 <= len(answered) == asked == len(tally.answers)
    assert [each.reply() for each in tally.answers.values()] == answered
    assert tally.spent_nano_usd <= 10_000_000
    replayed = RecordedBackend(tmp_path / "answers.jsonl")
    assert replayed.answer(another_request(0)) == answered[0]


def test_a_call_whose_worst_case_is_over_the_cap_is_never_sent(tmp_path: Path) -> None:
    with serving(right) as server, live(server, settings(tmp_path, cap_nano_usd=1_000)) as backend:
        with pytest.raises(CapReached, match=r"the next call may cost \$0\.\d+, and \$0\.000001 is left"):
            backend.answer(request())
        assert not server.asked
    assert len(recorded(tmp_path)) == 1


def test_a_repair_that_the_cap_does_not_allow_leaves_what_was_paid_in_the_recording(tmp_path: Path) -> None:
    with serving(right) as server, live(server, settings(tmp_path)) as backend:
        backend.answer(request())
    worst = recorded(tmp_path)[1]["worst_nano_usd"]
    (tmp_path / "answers.jsonl").unlink()
    with pytest.raises(CapReached):
        asked_once(tmp_path, said("prose"), cap_nano_usd=worst + 1)
    last = recorded(tmp_path)[-1]
    assert last["kind"] == "unanswered" and 0 < last["nano_usd"] < worst


def test_the_cap_counts_what_earlier_runs_left_in_the_recording(tmp_path: Path) -> None:
    asked_once(tmp_path)
    spent = read(tmp_path / "answers.jsonl").spent_nano_usd
    assert spent > 0
    with serving(right) as server, live(server, settings(tmp_path, cap_nano_usd=spent + 1_000)) as backend:
        assert backend.answer(request()).values, "what is recorded costs nothing"
        with pytest.raises(CapReached):
            backend.answer(request(effort=Effort.LOW))


def test_no_tokeniser_makes_a_call_dearer_than_its_worst_case(tmp_path: Path) -> None:
    def a_token_a_byte(body: Body) -> Step:
        sent = sum(len(message["content"].encode()) for message in body["messages"])
        return right_answer(prompt_tokens=sent + 128, completion_tokens=body["max_tokens"])

    with serving(a_token_a_byte) as server, live(server, settings(tmp_path)) as backend:
        backend.answer(request())
    call, answer = recorded(tmp_path)[1:]
    assert answer["counted_by"] == "server"
    assert answer["nano_usd"] == call["worst_nano_usd"]


def test_a_process_killed_during_a_call_loses_neither_answers_nor_money(tmp_path: Path) -> None:
    told = inspect.cleandoc(
        """
        import sys
        from pathlib import Path
        from tests.core.live_cases import request
        from TokenOptEnv import backends
        from TokenOptEnv.backends import LiveSettings
        with backends.opened("live:" + sys.argv[1], LiveSettings(record=Path(sys.argv[2]))) as backend:
            backend.answer(request())
            backend.answer(request(question="And which one next?"))
        """
    )
    script = [right_answer(), Step(wait_s=30.0)]
    with serving(right, *script) as server:
        command = [sys.executable, "-c", told, server.url, str(tmp_path / "answers.jsonl")]
        child = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
        try:
            _until(lambda: len(server.asked) == 2 or child.poll() is not None)
        finally:
            child.send_signal(signal.SIGKILL)
            child.wait()
    lines = recorded(tmp_path)
    assert [line.get("kind") for line in lines] == [None, "call", "answered", "call"]
    with serving(right) as server, live(server, settings(tmp_path)) as backend:
        assert backend.answer(request()).values == {"request_id": "req-7f3a"}
        assert not server.asked
    spent = read(tmp_path / "answers.jsonl").spent_nano_usd
    assert spent == lines[2]["nano_usd"] + lines[3]["worst_nano_usd"]


def _until(done: Any, most_s: float = 60.0) -> None:
    end = time.monotonic() + most_s
    while not done():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


# --- several at once


def _together(backend: Backend, requests: list[RouteRequest]) -> list[RouteReply]:
    replies: list[RouteReply | None] = [None] * len(requests)

    def ask(place: int) -> None:
        replies[place] = backend.answer(requests[place])

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(len(requests))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [reply for reply in replies if reply is not None]


def test_no_more_questions_are_under_way_than_allowed(tmp_path: Path) -> None:
    def slow(body: Body) -> Step:
        return replace(right(body), wait_s=0.05)

    requests = [another_request(number) for number in range(9)]
    with serving(slow) as server, live(server, settings(tmp_path, at_once=3)) as backend:
        assert len(_together(backend, requests)) == 9
    assert server.most_at_once == 3
    assert len(read(tmp_path / "answers.jsonl").answers) == 9


def test_who_asks_the_same_at_the_same_time_waits_for_that_answer(tmp_path: Path) -> None:
    def slow(body: Body) -> Step:
        return replace(right(body), wait_s=0.05)

    with serving(slow) as server, live(server, settings(tmp_path)) as backend:
        replies = _together(backend, [request()] * 4)
    assert len(server.asked) == 1 and len(replies) == 4 and len(set(map(str, replies))) == 1


def test_the_cap_holds_whoever_spends(tmp_path: Path) -> None:
    def slow(body: Body) -> Step:
        return replace(right(body, completion_tokens=1_200), wait_s=0.02)

    refused = []

    def ask(backend: Backend, number: int) -> None:
        try:
            backend.answer(another_request(number))
        except CapReached:
            refused.append(number)

    with serving(slow) as server, live(server, settings(tmp_path, cap_nano_usd=20_000_000, at_once=8)) as backend:
        threads = [threading.Thread(target=ask, args=(backend, number)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert refused and server.asked
    assert read(tmp_path / "answers.jsonl").spent_nano_usd <= 20_000_000
