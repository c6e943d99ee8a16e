"""Who is served: a token where there is one, no foreign pages, nobody too often; over HTTP and on the socket alike."""

from __future__ import annotations

import hmac
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from tests.server.live import KAFKA, Address, ask, thread
from TokenOptEnv import ActionType, TokenOptEnvAction
from TokenOptEnv.client import TokenOptEnvClient
from TokenOptEnv.server import access
from TokenOptEnv.server.rate import Bucket, Buckets
from TokenOptEnv.server.settings import Settings

_TOKEN = "a-token-that-nobody-guesses"
_BEARER = {"Authorization": f"Bearer {_TOKEN}"}
_STATE = {"type": "state"}
_PATHS = ("/reset", "/step", "/state", "/schema", "/metadata", "/docs", "/openapi.json", "/mcp", "/nowhere", "/ws", "/")


def _basic(name: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + b64encode(f"{name}:{password}".encode()).decode()}


@contextmanager
def _refused(status: int) -> Iterator[None]:
    with pytest.raises(InvalidStatus) as caught:
        yield
    assert caught.value.response.status_code == status


@pytest.fixture(scope="module")
def locked() -> Iterator[Address]:
    with thread(Settings(token=_TOKEN, origins=("https://camre.example",))) as address:
        yield address


# --- the token


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": _TOKEN},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer " + _TOKEN[:-1]},
        {"Authorization": f"Bearer {_TOKEN}x"},
        {"Authorization": f"Bearer {_TOKEN.upper()}"},
        {"Authorization": "Basic !!!"},
        {"Authorization": "Basic \xff\xfe"},
        {"Cookie": f"token={_TOKEN}"},
        _basic(_TOKEN, "wrong"),
    ],
    ids=str,
)
def test_without_the_token_nothing_is_served(locked: Address, headers: dict[str, str]) -> None:
    sent = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    with httpx.Client(base_url=locked.url, headers=sent) as web:
        for path, method in product(_PATHS, ("GET", "POST")):
            answer = web.request(method, path)
            assert answer.status_code == 401
            assert answer.headers.get_list("www-authenticate")[0] == "Bearer"
            assert _TOKEN not in answer.text and len(answer.content) < 200
    with _refused(401):
        locked.connect(**headers)


@pytest.mark.parametrize(
    "headers", [_BEARER, {"authorization": f"bearer {_TOKEN}"}, _basic("anybody", _TOKEN)], ids=str
)
def test_with_the_token_everything_is(locked: Address, headers: dict[str, str]) -> None:
    assert httpx.get(f"{locked.url}/schema", headers=headers).status_code == 200
    with locked.connect(**headers) as socket:
        assert ask(socket, _STATE)["type"] == "state"


def test_the_token_is_not_read_from_an_address(locked: Address) -> None:
    """Addresses are logged."""
    assert httpx.get(f"{locked.url}/schema?token={_TOKEN}&access_token={_TOKEN}").status_code == 401


def test_whether_the_server_lives_may_be_asked_by_everybody(locked: Address) -> None:
    assert httpx.get(f"{locked.url}/health").status_code == 200
    for path in ("/health/", "/health/../schema", "//health", "/HEALTH"):
        assert httpx.get(f"{locked.url}{path}", follow_redirects=False).status_code != 200


def test_the_client_plays_with_the_token_and_not_without(locked: Address) -> None:
    read = TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id="ticket-9602")
    with TokenOptEnvClient(base_url=locked.url, headers=_BEARER).sync() as env:
        env.reset(scenario_id=KAFKA)
        assert env.step(read).observation.step == 1
    with pytest.raises(Exception, match="401"), TokenOptEnvClient(base_url=locked.url).sync():
        pass


def test_a_wrong_token_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert access._knows(b"right", "Bearer right")
    assert not access._knows(b"right", "Bearer wrong")
    assert not access._knows(b"right", "")
    assert compared == [(b"right", b"right"), (b"right", b"wrong"), (b"right", b"")]


# --- origins


def test_a_foreign_page_is_let_in_neither_over_http_nor_on_the_socket() -> None:
    with thread(Settings()) as here, httpx.Client(base_url=here.url) as web:
        for origin in ("https://evil.example", "http://127.0.0.1:1", "null", "", "http://[", "file://"):
            assert web.post("/reset", json={}, headers={"Origin": origin}).status_code == 403
            with _refused(403):
                here.connect(Origin=origin)
        rebound = {"Origin": f"http://evil.example:{here.port}", "Host": f"evil.example:{here.port}"}
        assert web.post("/reset", json={}, headers=rebound).status_code == 403


def test_the_servers_own_page_and_a_listed_one_are_let_in(locked: Address) -> None:
    for origin in (locked.url, "https://camre.example", "https://CAMRE.example"):
        with locked.connect(Origin=origin, **_BEARER) as socket:
            assert ask(socket, _STATE)["type"] == "state"
    by_name = {"Origin": f"http://localhost:{locked.port}", "Host": f"localhost:{locked.port}", **_BEARER}
    assert httpx.post(f"{locked.url}/mcp", content="{}", headers=by_name).status_code == 200


def test_on_a_network_address_the_name_it_was_reached_by_is_its_own() -> None:
    gate = access.Access(lambda *_: None, Settings())  # type: ignore[arg-type]
    scope = {"type": "http", "server": ("10.0.0.7", 8000), "client": None, "path": "/reset"}
    for host, origin, welcome in (
        ("camre.example", "https://camre.example", True),
        ("camre.example", "https://other.example", False),
        ("10.0.0.7:8000", "http://10.0.0.7:8000", True),
    ):
        headers = [(b"host", host.encode()), (b"origin", origin.encode())]
        assert (gate._refusal({**scope, "headers": headers}) is None) is welcome


@pytest.mark.parametrize(
    ("host", "welcome"),
    [
        ("localhost:8000", True),
        ("camre.localhost:8000", True),
        ("127.0.0.1:8000", True),
        ("[::1]:8000", True),
        ("0.0.0.0:8000", True),
        ("evil.example:8000", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example", False),
        ("[", False),
        ("", False),
    ],
)
def test_on_loopback_no_name_is_believed_that_could_point_anywhere(host: str, welcome: bool) -> None:
    gate = access.Access(lambda *_: None, Settings())  # type: ignore[arg-type]
    headers = [(b"host", host.encode()), (b"origin", f"http://{host}".encode())]
    scope = {"type": "http", "server": ("127.0.0.1", 8000), "client": None, "path": "/reset", "headers": headers}
    assert (gate._refusal(scope) is None) is welcome


def test_every_origin_is_let_in_where_that_was_asked_for() -> None:
    gate = access.Access(lambda *_: None, Settings(origins=("*",)))  # type: ignore[arg-type]
    headers = [(b"host", b"a"), (b"origin", b"https://b")]
    assert gate._refusal({"type": "http", "path": "/", "headers": headers}) is None


# --- rates


def test_a_bucket_gives_what_is_due_and_no_more() -> None:
    now = [0.0]
    bucket = Bucket(10, lambda: now[0])
    assert [bucket.wait_s() for _ in range(10)] == [0.0] * 10
    assert [round(bucket.wait_s(), 3) for _ in range(3)] == [0.1, 0.2, 0.3]
    now[0] = 100.0
    assert [bucket.is_due() for _ in range(12)] == [True] * 10 + [False] * 2
    now[0] = 100.125
    assert [bucket.is_due(), bucket.is_due()] == [True, False]


def test_addresses_are_counted_apart_and_bounded_in_number() -> None:
    buckets = Buckets(1, lambda: 0.0)
    assert [buckets.is_due("a"), buckets.is_due("a"), buckets.is_due("b")] == [True, False, True]
    for number in range(10_000):
        buckets.is_due(str(number))
    assert len(buckets) == 4_096


def test_an_address_that_asks_too_often_is_told_to_come_back_and_a_session_is_slowed() -> None:
    with thread(Settings(messages_per_second=20)) as here, here.connect() as socket:
        began = time.monotonic()
        for _ in range(30):
            assert ask(socket, _STATE)["type"] == "state"
        assert time.monotonic() - began > 0.4
        with httpx.Client(base_url=here.url) as web:
            answers = [web.get("/metadata") for _ in range(60)]
            assert {answer.status_code for answer in answers} == {200, 429}
            assert {answer.headers.get("retry-after") for answer in answers} == {None, "1"}
            assert web.get("/health").status_code == 200
