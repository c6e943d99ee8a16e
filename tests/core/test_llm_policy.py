"""`llm:MODEL` against a real HTTP server: what it sends, what it counts, and what it never tells."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests import cases
from TokenOptEnv import LocalEnv, policies, render_text
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation import runner, suite
from TokenOptEnv.evaluation.episodes import play
from TokenOptEnv.evaluation.run_folder import RunFolder
from TokenOptEnv.evaluation.suite import RunOptions
from TokenOptEnv.models import ActionType
from TokenOptEnv.policies import llm

KEY = "sk-very-secret-0123456789"
MODEL = "tiny-model"
Reply = tuple[int, dict[str, str], str]


class Server:
    """Answers with what `reply` makes of each request; keeps the requests."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.reply: Callable[[dict[str, Any]], Reply] = lambda body: said("submit")
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(({**self.headers, "path": self.path}, body))
                status, headers, text = outer.reply(body)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *ignored: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._http.server_address[1]}/v1"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


def said(text: str | None, completion_tokens: int | None = 3) -> Reply:
    usage = {
        "prompt_tokens": 900,
        "completion_tokens": completion_tokens,
        "prompt_tokens_details": {"cached_tokens": 512},
    }
    message = {"role": "assistant", "content": text}
    return 200, {}, json.dumps({"choices": [{"message": message}], "usage": usage if completion_tokens else None})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, store: tuple[str, ...]) -> Iterator[Server]:
    made = Server()
    monkeypatch.setenv("CAMRE_LLM_BASE_URL", made.address)
    monkeypatch.setenv("CAMRE_LLM_API_KEY", KEY)
    monkeypatch.setattr(llm, "_WAITS_S", (0.0, 0.0, 0.0))
    llm._endpoint.cache_clear()
    yield made
    made.close()


def test_it_sends_the_prompt_that_is_billed_and_plays_what_it_is_told(server: Server) -> None:
    lines = iter(["find pool exhausted k2", "read 1", "gibberish"])
    server.reply = lambda body: said(next(lines, "submit 1"))
    env = LocalEnv()
    first = env.reset(scenario_id=cases.TOY, seed=0)
    played = play(f"llm:{MODEL}", cases.TOY, 0, env)
    kinds = [step.action.action_type for step in played.trace.steps[:3]]
    assert kinds == [ActionType.SEARCH_ARTIFACTS, ActionType.READ_ARTIFACT, ActionType.MALFORMED]
    headers, body = server.requests[0]
    assert headers["path"] == "/v1/chat/completions" and headers["Authorization"] == f"Bearer {KEY}"
    assert body["model"] == MODEL and body["temperature"] == 0
    assert body["messages"] == [{"role": "user", "content": render_text(first)}]
    used = played.result.own_usage
    assert used is not None
    assert used.calls == len(server.requests) == played.result.steps
    assert used.prompt_tokens >= 900 * used.calls and used.cached_tokens == 512 * used.calls


def test_what_it_thought_is_billed_and_is_no_action(server: Server) -> None:
    server.reply = lambda body: said("<think>\nread 7? no, I should search.\n</think>\nfind pool k2", 400)
    observation = LocalEnv().reset(scenario_id=cases.TOY)
    action = policies.make(f"llm:{MODEL}", 0).act(observation)
    assert action.action_type is ActionType.SEARCH_ARTIFACTS
    assert 390 <= action.reasoning_tokens <= 400


def test_a_server_that_counts_less_than_is_seen_is_not_believed(server: Server) -> None:
    thought = "<think>" + "many words were thought here " * 40 + "</think>find pool"
    for claimed in (1, None):
        server.reply = lambda body, claimed=claimed: said(thought, claimed)  # type: ignore[misc]
        action = policies.make(f"llm:{MODEL}", 0).act(LocalEnv().reset(scenario_id=cases.TOY))
        assert action.reasoning_tokens > 150


def test_a_reply_without_a_text_is_malformed_and_played_on(server: Server) -> None:
    server.reply = lambda body: said(None)
    assert (
        policies.make(f"llm:{MODEL}", 0).act(LocalEnv().reset(scenario_id=cases.TOY)).action_type
        is ActionType.MALFORMED
    )


def test_a_server_that_knows_no_temperature_is_asked_plainly_from_then_on(server: Server) -> None:
    server.reply = lambda body: (400, {}, "unsupported") if "temperature" in body else said("find pool")
    observation = LocalEnv().reset(scenario_id=cases.TOY)
    for _ in range(2):
        policies.make(f"llm:{MODEL}", 0).act(observation)
    assert [set(body) for _, body in server.requests] == [
        {"model", "messages", "temperature", "max_tokens"},
        {"model", "messages"},
        {"model", "messages"},
    ]


def test_a_busy_server_is_asked_again(server: Server) -> None:
    replies = iter([(503, {}, "busy"), (429, {}, "busy"), said("find pool")])
    server.reply = lambda body: next(replies)
    assert policies.make(f"llm:{MODEL}", 0).act(LocalEnv().reset(scenario_id=cases.TOY)).query == "pool"
    assert len(server.requests) == 3


FAULTS: dict[str, tuple[Reply, str]] = {
    "a wrong key": ((401, {}, KEY), "it answered 401; check CAMRE_LLM_API_KEY"),
    "no such model": ((404, {}, "no"), "it answered 404; check the model's name"),
    "always busy": ((503, {}, "busy"), "it still answered 503 after 4 tries"),
    "a redirect": ((302, {"Location": "http://127.0.0.1:9/steal"}, ""), "it answered 302; redirects are not followed"),
    "no JSON": ((200, {}, "<html>"), "its reply is no JSON"),
    "no choices": ((200, {}, "{}"), "its reply holds no choices"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_one_line_that_tells_neither_key_nor_prompt_nor_address(server: Server, what: str) -> None:
    """Whatever the server says: here it repeats all it was sent."""
    (status, headers, text), expected = FAULTS[what]
    server.reply = lambda body: (status, headers, text if status == 200 else text + KEY + json.dumps(body))
    observation = LocalEnv().reset(scenario_id=cases.TOY)
    with pytest.raises(BadInput, match=expected) as fault:
        policies.make(f"llm:{MODEL}", 0).act(observation)
    told = str(fault.value) + repr(fault.value.__cause__)
    assert KEY not in told and observation.task.brief not in told and server.address not in told
    assert "\n" not in str(fault.value)


def test_a_server_that_is_not_there_is_one_line(server: Server) -> None:
    server.close()
    with pytest.raises(BadInput, match="it could not be reached in 4 tries"):
        policies.make(f"llm:{MODEL}", 0).act(LocalEnv().reset(scenario_id=cases.TOY))


def test_without_an_address_or_a_model_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CAMRE_LLM_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BadInput, match="needs CAMRE_LLM_BASE_URL"):
        policies.make("llm:x", 0)
    with pytest.raises(BadInput, match="names no model"):
        policies.info("llm:")
    monkeypatch.setenv("CAMRE_LLM_BASE_URL", "file:///etc/passwd")
    with pytest.raises(BadInput, match="must begin with http"):
        policies.make("llm:x", 0)


def test_nothing_of_the_key_the_address_or_the_prompt_is_left_in_a_run(server: Server, tmp_path: Path) -> None:
    spec = suite.run_spec([f"llm:{MODEL}"], "core", [cases.TOY], [0], RunOptions())
    with RunFolder.opened(tmp_path, spec) as folder:
        list(runner.play(spec, folder, workers=1))
    brief = LocalEnv().reset(scenario_id=cases.TOY).task.brief
    texts = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.is_file()]
    assert len(texts) == 3
    assert not any(secret in text for text in texts for secret in (KEY, server.address, brief))


def test_to_name_it_on_a_board_takes_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAMRE_LLM_BASE_URL", raising=False)
    about = policies.info("llm:some/model:tag")
    assert about.name == "llm:some/model:tag" and not about.knows_truth
