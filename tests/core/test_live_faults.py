"""Servers that are busy, broken, slow or strange; and secrets, which none of them gets out."""

from __future__ import annotations

import json
import logging
import re
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from tests.cases import toy
from tests.core.live_cases import (
    SECRET,
    asked_once,
    episode,
    live,
    recorded,
    request,
    right,
    settings,
)
from tests.core.live_server import Body, Step, said, serving
from TokenOptEnv import backends
from TokenOptEnv.backends.live import SCHEME as LIVE
from TokenOptEnv.backends.live_settings import KEY
from TokenOptEnv.backends.recorded import RecordedBackend
from TokenOptEnv.backends.recording import read
from TokenOptEnv.catalog import load_catalog
from TokenOptEnv.errors import BackendFailed, BadInput
from TokenOptEnv.models import Effort

# --- servers that fail


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again_and_its_refusals_cost_nothing(status: int, tmp_path: Path) -> None:
    reply, server = asked_once(tmp_path, Step(status=status), Step(status=status))
    assert reply.values == {"request_id": "req-7f3a"}
    assert len(server.asked) == 3
    calls, answer = recorded(tmp_path)[1:-1], recorded(tmp_path)[-1]
    assert [line["kind"] for line in calls] == ["call"] * 3
    card = load_catalog("measured").card("gpt-5-mini")
    assert answer["nano_usd"] == -(-(900 * card.input_pico_usd + 40 * card.output_pico_usd) // 1_000)


@pytest.mark.parametrize("how", ["seconds", "date"])
def test_a_server_that_says_when_to_come_back_is_given_that_time(how: str, tmp_path: Path) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    wait = "0.4" if how == "seconds" else later
    begun = time.monotonic()
    asked_once(tmp_path, Step(status=429, headers={"Retry-After": wait}))
    assert time.monotonic() - begun > 0.35


def test_a_server_that_wants_an_hour_is_not_waited_for(tmp_path: Path) -> None:
    with pytest.raises(BackendFailed, match=r"answered 429 and asks to wait 3600 s; try later"):
        asked_once(tmp_path, Step(status=429, headers={"Retry-After": "3600"}))


def test_a_server_that_stays_broken_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(BackendFailed) as failed:
        asked_once(tmp_path, *[Step(status=500, body=b"trace of the prompt")] * 3)
    assert str(failed.value) == (
        "the server of model 'gpt-5-mini' fails: it answered 500, 3 times; is it running, and is this its address?"
        " what was answered is recorded: run again to go on"
    )
    assert recorded(tmp_path)[-1]["kind"] == "unanswered"
    assert recorded(tmp_path)[-1]["nano_usd"] == 0


BROKEN: dict[str, tuple[Step, str]] = {
    "a body cut short": (Step(body=b'{"choices": [', promised_bytes=5_000), "its reply broke off"),
    "no JSON": (Step(body=b"<html>busy</html>"), "its reply is no JSON"),
    "JSON that is no object": (Step(body=b"[1, 2]"), "its reply is no JSON object"),
    "nothing": (Step(body=b""), "its reply is no JSON"),
    "no UTF-8": (Step(body=b"\xff\xfe\xfa"), "its reply is no JSON"),
    "an abyss of brackets": (Step(body=b"[" * 100_000), "its reply is no JSON"),
    "a reply that begins too late": (Step(body=b"{}", wait_s=0.8), "it took more than 0.25 s"),
    "a reply that drips": (Step(body=b" " * 40, drip_s=0.02), "it took more than 0.25 s"),
}


@pytest.mark.parametrize(("step", "cause"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_reply_is_asked_for_again_and_counts_as_paid_in_full(step: Step, cause: str, tmp_path: Path) -> None:
    reply, server = asked_once(tmp_path, step, timeout_s=0.25)
    assert reply.values == {"request_id": "req-7f3a"} and len(server.asked) == 2
    lines = recorded(tmp_path)
    assert lines[-1]["nano_usd"] > lines[1]["worst_nano_usd"]


@pytest.mark.parametrize(("step", "cause"), BROKEN.values(), ids=BROKEN.keys())
def test_a_reply_that_stays_broken_says_how(step: Step, cause: str, tmp_path: Path) -> None:
    with pytest.raises(BackendFailed, match=re.escape(f"fails: {cause}, 2 times;")):
        asked_once(tmp_path, step, step, timeout_s=0.25, waits_s=(0.0,))
    assert recorded(tmp_path)[-1]["nano_usd"] == 2 * recorded(tmp_path)[1]["worst_nano_usd"]


UNUSABLE: dict[str, Step] = {
    "no choices": Step(body=b'{"object": "list", "data": []}'),
    "an empty list of choices": Step(body=b'{"choices": []}'),
    "a choice that is no object": Step(body=b'{"choices": ["yes"]}'),
    "content that is no text": said("", choices=[{"message": {"content": [1]}}]),
}


@pytest.mark.parametrize("step", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_what_is_no_chat_completion_is_not_asked_for_again(step: Step, tmp_path: Path) -> None:
    with serving(right, step) as server, live(server, settings(tmp_path)) as backend:
        with pytest.raises(BackendFailed, match="is it OpenAI-compatible"):
            backend.answer(request())
        assert len(server.asked) == 1


def test_nobody_at_the_address_is_one_clear_line_and_costs_nothing(tmp_path: Path) -> None:
    with serving(right) as server:
        url = server.url
    with backends.opened(f"live:{url}", settings(tmp_path)) as backend:
        assert backend is not None
        with pytest.raises(BackendFailed, match="it could not be reached, 3 times"):
            backend.answer(request())
    assert read(tmp_path / "answers.jsonl").spent_nano_usd == 0


@pytest.mark.parametrize(
    ("status", "remedy"),
    [(401, f"check the key in {KEY}"), (403, KEY), (404, "check the model's name"), (400, "none of the forms")],
)
def test_a_refusal_says_what_to_check(status: int, remedy: str, tmp_path: Path) -> None:
    with pytest.raises(BackendFailed, match=remedy):
        asked_once(tmp_path, *[Step(status=status)] * 5)


def test_a_redirect_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, SECRET)
    with serving(right) as elsewhere:
        step = Step(status=307, headers={"Location": f"{elsewhere.url}/chat/completions"})
        with pytest.raises(BackendFailed, match="redirects are not followed"):
            asked_once(tmp_path, step)
        assert not elsewhere.asked


def test_a_server_that_does_not_know_a_field_is_asked_without_it_and_that_is_remembered(tmp_path: Path) -> None:
    def plain_only(body: Body) -> Step:
        return Step(status=400) if {"response_format", "reasoning_effort"} & body.keys() else right(body)

    with serving(plain_only) as server, live(server, settings(tmp_path)) as backend:
        backend.answer(request())
        first = len(server.asked)
        backend.answer(request(effort=Effort.HIGH))
        assert first > 1 and len(server.asked) == first + 1
        assert all("max_tokens" in asked.body or "max_completion_tokens" in asked.body for asked in server.asked)


def test_a_reasoning_model_is_asked_in_its_own_form(tmp_path: Path) -> None:
    def reasoning(body: Body) -> Step:
        return Step(status=400) if {"max_tokens", "temperature"} & body.keys() else right(body)

    with serving(reasoning) as server, live(server, settings(tmp_path)) as backend:
        backend.answer(request(effort=Effort.HIGH))
    body = server.asked[-1].body
    assert body["reasoning_effort"] == "high" and body["max_completion_tokens"] >= 600 + 1_200
    assert body["response_format"]["type"] == "json_schema"


# --- secrets


def test_the_key_is_sent_and_stands_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(KEY, f" {SECRET}\n")
    with caplog.at_level(logging.DEBUG), serving(right) as server, live(server, settings(tmp_path)) as backend:
        play = episode(backend)
        assert SECRET not in repr(vars(backend)) and SECRET not in repr(settings(tmp_path))
    assert {asked.headers["Authorization"] for asked in server.asked} == {f"Bearer {SECRET}"}
    told = "".join(capfd.readouterr()) + caplog.text + play.trace.to_jsonl()
    file = (tmp_path / "answers.jsonl").read_text()
    assert SECRET not in told + file
    for asked in server.asked:
        assert SECRET not in json.dumps(asked.body)
    prompt_line = toy().public.artifacts[0].segments[0].text.split("\n")[0]
    assert toy().public.brief not in told + file and prompt_line not in told + file


def test_without_a_key_none_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    _, server = asked_once(tmp_path)
    assert "Authorization" not in server.asked[0].headers


def test_a_server_that_repeats_the_key_is_not_written_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, SECRET)
    echo: dict[str, object] = {"text": f"You sent {SECRET}.", "values": None, "confidence": 0.5, "cites": []}
    with pytest.raises(BackendFailed, match="its reply repeats the key") as failed:
        asked_once(tmp_path, said(echo))
    assert SECRET not in str(failed.value) + (tmp_path / "answers.jsonl").read_text()


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_what_a_server_says_in_an_error_is_never_repeated(
    status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, SECRET)
    step = Step(status=status, body=f"{SECRET} and {request().context[0].text}".encode())
    with pytest.raises(BackendFailed) as failed:
        asked_once(tmp_path, *[step] * 5)
    file = (tmp_path / "answers.jsonl").read_text()
    for secret in (SECRET, "req-7f3a failed"):
        assert secret not in str(failed.value) + repr(failed.value.__context__) + file
    assert "\n" not in str(failed.value)


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel"])
def test_a_key_that_cannot_be_one_is_refused_without_being_repeated(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, key)
    with pytest.raises(BadInput, match=f"the key in {KEY} has characters") as refused:
        LIVE.open("http://127.0.0.1:9/v1", settings(tmp_path))
    assert key not in str(refused.value)


def test_texts_are_recorded_only_if_asked_for(tmp_path: Path) -> None:
    asked_once(tmp_path)
    assert "messages" not in recorded(tmp_path)[-1]
    (tmp_path / "answers.jsonl").unlink()
    _, server = asked_once(tmp_path, said("prose"), keep_texts=True)
    kept = recorded(tmp_path)[-1]["messages"]
    assert [each["role"] for each in kept] == ["system", "user", "assistant", "user", "assistant"]
    assert kept[:4] == server.asked[1].body["messages"]
    assert RecordedBackend(tmp_path / "answers.jsonl").answer(request()).values == {"request_id": "req-7f3a"}
