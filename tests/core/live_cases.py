"""A question of the toy case, a server that answers it, and what came of asking: for tests of live backends."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.cases import Play, find_everything, right_values, segment_with, toy, world_of
from tests.core.live_server import Body, LiveServer, Step, said, serving
from TokenOptEnv import backends
from TokenOptEnv.backends import LiveSettings
from TokenOptEnv.models import Effort
from TokenOptEnv.simulators.backend import Backend, ContextPiece, RouteReply, RouteRequest

ROOT = Path(__file__).resolve().parents[2]
SECRET = "sk-do-not-tell-4711"
GATEWAY = segment_with(toy(), "req-7f3a failed")
_QUESTION = re.compile(r"^Question: (.*)$", flags=re.MULTILINE)
_BRACKETS = re.compile(r"^\[([\w, -]+)\] ", flags=re.MULTILINE)


def right(body: Body, **usage: int) -> Step:
    """What a model says that is right, and cites all it was given."""
    prompt = body["messages"][1]["content"]
    question = _QUESTION.findall(prompt)[-1]
    known = {each.question: each.subtask_id for each in toy().public.subtasks}
    subtask_id = next((known[begins] for begins in known if question.startswith(begins)), "q-cause")
    cites = [each.strip() for ids in _BRACKETS.findall(prompt) for each in ids.split(",")]
    answer = {"text": "So it stands.", "values": right_values(toy())[subtask_id], "confidence": 0.8, "cites": cites}
    return said(answer, **usage)


def right_answer(**usage: Any) -> Step:
    """To `request()`, whatever is asked."""
    return said({"text": "", "values": {"request_id": "req-7f3a"}, "confidence": 0.9, "cites": [GATEWAY]}, **usage)


def settings(tmp_path: Path, **changes: Any) -> LiveSettings:
    usual: dict[str, Any] = {"record": tmp_path / "answers.jsonl", "waits_s": (0.01, 0.01), "timeout_s": 10.0}
    return LiveSettings(**{**usual, **changes})


@contextmanager
def live(server: LiveServer, told: LiveSettings) -> Iterator[Backend]:
    with backends.opened(f"live:{server.url}", told) as backend:
        assert backend is not None
        yield backend


def request(**changes: Any) -> RouteRequest:
    text = next(s.text for a in toy().public.artifacts for s in a.segments if s.segment_id == GATEWAY)
    asked = RouteRequest(
        subtask_id="q-request",
        question="Which request failed at the gateway?",
        slot_value=None,
        model_id="gpt-5-mini",
        effort=Effort.MEDIUM,
        context=(ContextPiece(GATEWAY, text, (GATEWAY,)),),
        context_tokens=300,
        public=toy().public,
    )
    return replace(asked, **changes)


def another_request(number: int) -> RouteRequest:
    return request(question=f"{request().question} ({number})")


def asked_once(tmp_path: Path, *script: Step, **changes: Any) -> tuple[RouteReply, LiveServer]:
    """One question, put to a server that plays the script and is right from then on."""
    with serving(right, *script) as server, live(server, settings(tmp_path, **changes)) as backend:
        return backend.answer(request()), server


def recorded(tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]


def episode(backend: Backend) -> Play:
    """The toy case, solved."""
    play = Play(world_of(toy(), backend=backend))
    find_everything(play)
    play.submit(*play.finding_ids)
    return play
