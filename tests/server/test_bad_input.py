"""Whatever is sent, one short error comes back, nothing of the server's inside shows, and the session goes on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server.live import KAFKA, Address, ask, thread
from TokenOptEnv import LocalEnv
from TokenOptEnv.server.settings import Settings

_TEN_MEGABYTES = "x" * 10_000_000
_LARGE = "x" * 1_000_000
_RESET = {"type": "reset", "data": {"scenario_id": KAFKA, "seed": 7}}
_READ = {"type": "step", "data": {"action_type": "READ_ARTIFACT", "artifact_id": "ticket-9602"}}
_INSIDE = re.compile(rf"Traceback|File \"|site-packages|\.py\b|{re.escape(str(Path.cwd()))}|/home/|0x[0-9a-f]{{6}}")


def _reset(**options: Any) -> dict[str, Any]:
    return {"type": "reset", "data": options}


def _step(**fields: Any) -> dict[str, Any]:
    return {"type": "step", "data": fields}


_FRAMES: list[tuple[str, Any, str, str]] = [
    ("unknown scenario", _reset(scenario_id="incident-medium-kafka-backpresure"), "EXECUTION_ERROR", "did you mean"),
    ("scenario of 10 MB", _reset(scenario_id=_TEN_MEGABYTES), "VALIDATION_ERROR", "at most 1048576 bytes"),
    ("scenario of 1 MB", _reset(scenario_id=_LARGE), "EXECUTION_ERROR", "no scenario"),
    ("scenario a number", _reset(scenario_id=5), "EXECUTION_ERROR", "scenario_id must be a string"),
    ("seed a word", _reset(scenario_id=KAFKA, seed="abc"), "EXECUTION_ERROR", "seed must be a whole number"),
    ("seed negative", _reset(scenario_id=KAFKA, seed=-5), "EXECUTION_ERROR", "seed must be a whole number"),
    ("seed a truth value", _reset(scenario_id=KAFKA, seed=True), "EXECUTION_ERROR", "seed must be a whole number"),
    ("seed a list", _reset(scenario_id=KAFKA, seed=[_LARGE]), "EXECUTION_ERROR", "seed must be a whole number"),
    ("episode id a number", _reset(scenario_id=KAFKA, episode_id=3), "EXECUTION_ERROR", "episode_id must be"),
    ("episode id of 1 MB", _reset(scenario_id=KAFKA, episode_id=_LARGE), "EXECUTION_ERROR", "episode_id must be"),
    ("index out of the split", _reset(split="core", index=99_999_999), "EXECUTION_ERROR", "index"),
    ("index a word", _reset(split="core", index="two"), "EXECUTION_ERROR", "index must be"),
    ("unknown split", _reset(split="trian"), "EXECUTION_ERROR", "no split"),
    ("unknown option", _reset(scenario_id=KAFKA, profil="v1"), "EXECUTION_ERROR", "did you mean 'profile'"),
    ("option named self", _reset(scenario_id=KAFKA, self=1), "EXECUTION_ERROR", "no option 'self'"),
    ("unknown profile", _reset(scenario_id=KAFKA, profile="v9"), "EXECUTION_ERROR", "profile must be one of"),
    ("memory too small", _reset(scenario_id=KAFKA, memory_tokens=1), "EXECUTION_ERROR", "memory_tokens must be"),
    ("reset data a list", {"type": "reset", "data": [1]}, "VALIDATION_ERROR", "reset.data"),
    ("unknown action", _step(action_type="FLY"), "VALIDATION_ERROR", "action_type"),
    ("action without a type", _step(artifact_id="ticket-9602"), "VALIDATION_ERROR", "action_type"),
    ("page a word", _step(action_type="READ_ARTIFACT", page="one"), "VALIDATION_ERROR", "page"),
    ("unknown field", _step(action_type="READ_ARTIFACT", colour="red"), "VALIDATION_ERROR", "colour"),
    ("field name of 1 MB", _step(action_type="READ_ARTIFACT", **{_LARGE: 1}), "VALIDATION_ERROR", "xxx"),
    ("a thousand unknown fields", _step(**{f"f{n}": 1 for n in range(1000)}), "VALIDATION_ERROR", "more"),
    ("step data a word", {"type": "step", "data": "READ"}, "VALIDATION_ERROR", "step.data"),
    ("step without data", {"type": "step"}, "VALIDATION_ERROR", "data"),
    ("unknown type", {"type": "jump"}, "UNKNOWN_TYPE", "jump"),
    ("type of 1 MB", {"type": _LARGE}, "UNKNOWN_TYPE", "xxx"),
    ("type a list", {"type": [1]}, "UNKNOWN_TYPE", "tag"),
    ("no type", {"data": {}}, "UNKNOWN_TYPE", "type"),
    ("mcp over the session", {"type": "mcp", "data": {}}, "UNKNOWN_TYPE", "mcp"),
    ("not JSON", "hello", "INVALID_JSON", "JSON"),
    ("empty", "", "INVALID_JSON", "JSON"),
    ("a list", "[1, 2]", "VALIDATION_ERROR", "not a message"),
    ("a number", "5", "VALIDATION_ERROR", "not a message"),
    ("null", "null", "VALIDATION_ERROR", "not a message"),
    ("half an object", '{"type": "step", "da', "INVALID_JSON", "JSON"),
    ("nested deeply", '{"type":"reset","data":{"a":' + "[" * 100_000, "INVALID_JSON", "recursion"),
    ("a number of 5,000 digits", '{"type":"reset","data":{"seed":' + "9" * 5_000 + "}}", "INVALID_JSON", "number"),
    ("half a surrogate", '{"type":"reset","data":{"scenario_id":"\\ud800"}}', "INVALID_JSON", "JSON"),
    ("binary", b'{"type": "state"}', "INVALID_JSON", "binary"),
]


@pytest.mark.parametrize(("frame", "code", "part"), [row[1:] for row in _FRAMES], ids=[row[0] for row in _FRAMES])
def test_a_bad_frame_gets_one_short_error_and_the_episode_goes_on(
    server: Address, frame: Any, code: str, part: str
) -> None:
    with server.connect() as socket:
        ask(socket, _RESET)
        answer = ask(socket, frame)
        assert answer["type"] == "error"
        assert answer["data"]["code"] == code, answer
        assert part in answer["data"]["message"]
        assert len(json.dumps(answer)) < 1_200
        assert not _INSIDE.search(answer["data"]["message"])
        assert ask(socket, _READ)["data"]["observation"]["step"] == 1


def test_a_step_before_any_reset_is_told_to_reset(server: Address) -> None:
    with server.connect() as socket:
        assert "call reset first" in ask(socket, _READ)["data"]["message"]
        assert ask(socket, {"type": "state"})["data"]["step_count"] == 0
        assert ask(socket, _RESET)["type"] == "observation"


def test_a_step_after_the_end_is_told_to_reset(server: Address) -> None:
    with server.connect() as socket:
        ask(socket, _RESET)
        last = ask(socket, _step(action_type="SUBMIT_ANSWER", answer={"service": "unknown"}))
        assert last["data"]["done"] is True
        assert "call reset" in ask(socket, _READ)["data"]["message"]
        assert ask(socket, _RESET)["data"]["done"] is False


@pytest.mark.parametrize(
    "fields",
    [
        {"action_type": "SEARCH_ARTIFACTS", "query": _LARGE},
        {"action_type": "WRITE_CHECKPOINT", "note": _LARGE},
        {"action_type": "MALFORMED", "raw_text": _LARGE},
        {"action_type": "SUBMIT_ANSWER", "answer": {"service": _LARGE}},
        {"action_type": "READ_ARTIFACT", "artifact_id": _LARGE},
        {"action_type": "HYDRATE_SEGMENTS", "context_segment_ids": [f"s{n}" for n in range(50_000)]},
        {"action_type": "READ_ARTIFACT", "artifact_id": "ticket-9602", "metadata": {"mine": _LARGE}},
    ],
    ids=lambda fields: f"{fields['action_type']}-{[*fields][-1]}",
)
def test_an_action_of_a_megabyte_is_played_or_refused_and_never_echoed(server: Address, fields: dict[str, Any]) -> None:
    with server.connect() as socket:
        ask(socket, _RESET)
        answer = ask(socket, {"type": "step", "data": fields})
        assert answer["type"] == "observation"
        assert len(json.dumps(answer)) < 60_000


@pytest.mark.parametrize("ratio", ["NaN", "Infinity", "-1e400", "0"])
def test_a_number_that_is_none_is_refused_by_the_rules(server: Address, ratio: str) -> None:
    with server.connect() as socket:
        ask(socket, _RESET)
        ask(socket, _READ)
        frame = (
            '{"type":"step","data":{"action_type":"COMPRESS_CONTEXT","context_segment_ids":["ticket-9602-s1"],'
            f'"method":"extract","query":"timeout","target_ratio":{ratio}}}}}'
        )
        answer = ask(socket, frame)
        told = answer["data"]["message"] if answer["type"] == "error" else answer["data"]["observation"]
        assert answer["type"] == "error" or told["last_tool_result"]["status"] == "refused"


def test_a_bug_is_told_by_its_id_on_every_surface_and_the_session_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with thread(Settings()) as here, here.connect() as socket:
        ask(socket, _RESET)
        with monkeypatch.context() as patched:
            patched.setattr(LocalEnv, "step", _break_down)
            patched.setattr(LocalEnv, "reset", _break_down)
            for frame in (_READ, _RESET):
                message = ask(socket, frame)["data"]["message"]
                assert re.fullmatch(r"internal error [0-9a-f]{8}", message)
            answer = httpx.post(f"{here.url}/reset", json={})
            assert answer.status_code == 500
            assert re.fullmatch(r"internal error [0-9a-f]{8}", answer.json()["detail"])
        assert ask(socket, _READ)["type"] == "observation"


def _break_down(*arguments: Any, **options: Any) -> None:
    raise KeyError("/srv/hidden/truth.json")


_REQUESTS: list[tuple[str, str, Any, int, str]] = [
    ("unknown scenario", "/reset", {"scenario_id": "nope-" + _LARGE[:900_000]}, 400, "no scenario"),
    ("seed a word", "/reset", {"seed": "abc"}, 422, "seed"),
    ("seed negative", "/reset", {"seed": -5}, 422, "seed"),
    ("unknown option", "/reset", {"profil": "v1"}, 400, "did you mean 'profile'"),
    ("step without an episode", "/step", {"action": _READ["data"]}, 409, "call reset first"),
    ("wrong action", "/step", {"action": {"action_type": "FLY" * 1_000}}, 422, "action_type"),
    ("no action", "/step", {}, 422, "action"),
    ("a list", "/reset", [1, _LARGE], 422, "body"),
    ("not JSON", "/reset", "hello", 422, "JSON"),
    ("nested deeply", "/reset", "[" * 100_000, 400, "body"),
    ("10 MB", "/reset", {"scenario_id": _TEN_MEGABYTES}, 413, "1048576"),
    ("unknown split", "/token_opt_env/tasks", {"split": "trian"}, 400, "no split"),
    ("index beyond the split", "/token_opt_env/task", {"split": "core", "index": 10**9}, 400, "index"),
    ("another environment", "/chess/tasks", {"split": "core"}, 404, "unknown environment"),
]


@pytest.mark.parametrize(
    ("path", "body", "status", "part"), [row[1:] for row in _REQUESTS], ids=[row[0] for row in _REQUESTS]
)
def test_a_bad_request_gets_one_short_line_and_its_status(
    server: Address, path: str, body: Any, status: int, part: str
) -> None:
    sent = body if isinstance(body, str) else json.dumps(body)
    answer = httpx.post(f"{server.url}{path}", content=sent, headers={"content-type": "application/json"}, timeout=20)
    assert answer.status_code == status, answer.text[:500]
    detail = answer.json()["detail"]
    assert part in detail
    assert len(answer.content) < 1_200
    assert not _INSIDE.search(detail)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("hello", -32700),
        ("[" * 100_000, -32700),
        ("[]", -32600),
        ("{}", -32600),
        (json.dumps({"jsonrpc": "2.0", "method": _LARGE[:900_000], "id": 1}), -32601),
        (json.dumps({"jsonrpc": "2.0", "method": "openenv/session/create", "id": _LARGE[:900_000]}), -32601),
        (json.dumps({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "step"}, "id": 2}), -32601),
    ],
    ids=["not JSON", "nested", "a list", "no method", "long method", "long id", "tool call"],
)
def test_mcp_answers_in_json_rpc_and_offers_nothing(server: Address, body: str, code: int) -> None:
    answer = httpx.post(f"{server.url}/mcp", content=body, timeout=20)
    assert answer.status_code == 200
    assert (answer.json()["jsonrpc"], answer.json()["error"]["code"]) == ("2.0", code)
    assert len(answer.content) < 1_200
