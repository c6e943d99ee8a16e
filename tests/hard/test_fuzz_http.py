"""Hostile requests to every route, the Studio's included: a short answer with a fitting status, and never a bug."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from random import Random
from typing import Any

import httpx
import pytest

from tests.hard import hostile
from tests.hard.fuzz_socket import INSIDE
from tests.server.live import KAFKA, Address, thread
from TokenOptEnv import LocalEnv
from TokenOptEnv.server.settings import Settings

_ROUTES = (
    *("/reset", "/step", "/mcp", "/web/reset", "/web/step"),
    *("/token_opt_env/tasks", "/token_opt_env/num_tasks", "/token_opt_env/task", "/token_opt_env/task_range"),
    *("/studio/api/episode", "/studio/api/step", "/studio/api/next"),
)
_ALLOWED = {200, 400, 404, 405, 409, 413, 422}
_LONGEST_ERROR = 1_400
_NONSENSE = (
    b"\r\n\r\n",
    b"GET\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
    b"POST /reset HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    b"POST /reset HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
    b"POST /reset HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n{}",
    b"POST /reset HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n{}\r\n0\r\n\r\n",
    b"GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    b"GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 99\r\n\r\n",
    b"GET http://[ HTTP/1.1\r\nHost: [\r\nOrigin: [\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: a\r\nOrigin: https://evil.example\r\n\r\n",
)


@pytest.fixture(scope="module")
def here() -> Iterator[Address]:
    with thread(Settings(web=True)) as address:
        yield address


def _body(draw: Random, seen: Any) -> Any:
    """Something like what a route takes, with something wrong in it; or anything."""
    action = hostile.fields(draw, seen)
    sitting = {
        "scenario_id": draw.choice((KAFKA, hostile.text(draw))),
        "seed": draw.choice((0, 1, draw.choice(hostile.WHOLES))),
        "policy": draw.choice((None, "rag", "reference", hostile.text(draw)[:200])),
        "actions": [action] * draw.randrange(3),
    }
    if draw.random() < 0.5:
        sitting[draw.choice((*sitting, "more"))] = hostile.anything(draw)
    match draw.randrange(6):
        case 0:
            return hostile.anything(draw)
        case 1:
            return {"action": action}
        case 2:
            return {"split": draw.choice(("core", hostile.text(draw)[:100])), "index": draw.choice(hostile.WHOLES[:9])}
        case 3:
            return {"sitting": sitting, "action": action}
        case 4:
            return hostile.options(draw)
        case _:
            return sitting


def test_no_request_finds_a_bug_or_looks_inside(here: Address) -> None:
    draw = Random(11)
    seen = LocalEnv().reset(scenario_id=KAFKA)
    statuses: set[int] = set()
    with httpx.Client(base_url=here.url, timeout=60, headers={"content-type": "application/json"}) as web:
        for number in range(600):
            path = _ROUTES[number % len(_ROUTES)]
            content = json.dumps(_body(draw, seen), ensure_ascii=False).encode()
            if draw.random() < 0.1:
                content = content[: draw.randrange(1 + len(content))] + b"\xff"
            answer = web.post(path, content=content)
            where = f"{path} {content[:300]!r} {answer.content[:300]!r}"
            assert answer.status_code in _ALLOWED, where
            statuses.add(answer.status_code)
            if answer.status_code != 200:
                assert len(answer.content) < _LONGEST_ERROR, where
                assert not INSIDE.search(answer.json()["detail"]), where
    assert {200, 400, 422} <= statuses, "the attack was too tame"


def test_what_is_no_http_ends_its_own_connection_and_no_other(here: Address) -> None:
    with httpx.Client(base_url=here.url) as web:
        for nonsense in _NONSENSE:
            with socket.create_connection(("127.0.0.1", here.port), timeout=10) as peer:
                peer.sendall(nonsense)
                peer.shutdown(socket.SHUT_WR)
                came = b""
                try:
                    while part := peer.recv(65_536):
                        came += part
                except ConnectionError:
                    pass
            assert not came or came.startswith(b"HTTP/1.1 "), came[:100]
            assert b" 500 " not in came[:20] and not INSIDE.search(came.decode("latin-1")), nonsense[:80]
            assert web.get("/health").status_code == 200


@pytest.mark.parametrize("path", ["/studio/assets/..%2f..%2fsettings.py", "/studio/assets/%2e%2e/routes.py", "/..%2f"])
def test_no_address_reaches_a_file(here: Address, path: str) -> None:
    answer = httpx.get(f"{here.url}{path}")
    assert answer.status_code == 404
    assert "import" not in answer.text
