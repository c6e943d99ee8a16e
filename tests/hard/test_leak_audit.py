"""Everything that a server says, recorded twice: with the truth, and with another truth under the same tool results.

Until an episode ends, the two recordings are equal to the byte: bodies, lengths, statuses and headers of every
endpoint, every frame of every session, every error, and what the server writes into its log.
"""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass, field, replace
from functools import cache

import httpx
import pytest
from fastapi.routing import APIRoute

from tests.cases import ScriptedBackend, right_values
from tests.hard.fuzz_engine import secrets
from tests.server.live import Address, ask, thread
from TokenOptEnv import LocalEnv, TokenOptEnvAction, TokenOptEnvState, local_env, policies, scenario_store, world
from TokenOptEnv.scenario import CacheValidity, HiddenScenario, Scenario
from TokenOptEnv.server.app import build_app
from TokenOptEnv.server.settings import Settings
from TokenOptEnv.server.studio import routes as studio_routes
from TokenOptEnv.server.studio.table import Table
from TokenOptEnv.world import ReferenceCosts

REAL = (
    "incident-medium-kafka-backpressure",
    next(name for name in scenario_store.ids("core") if name.startswith("bugfix-easy-")),
    next(name for name in scenario_store.ids("core") if name.startswith("ci-easy-")),
)
_WATCHED = ("expert", "random")
_SOME_COSTS = ReferenceCosts(nano_usd=10_000_000, routed_nano_usd=5_000_000)
_OWN_HEADERS = {"date", "server", "set-cookie"}
"""Of the machine and the moment."""


# --- another truth


def other_truth(hidden: HiddenScenario) -> HiddenScenario:
    """Nothing of it stays: what is right, what is accepted, where the facts are, what is stale, which patches pass."""
    places = [*(fact.places for fact in hidden.facts), *(decoy.places for decoy in hidden.decoys)]
    turned = [*places[1:], places[0]]
    facts = [fact.model_copy(update={"places": at, "why": "?"}) for fact, at in zip(hidden.facts, turned, strict=False)]
    behind = turned[len(hidden.facts) :]
    decoys = [decoy.model_copy(update={"places": at}) for decoy, at in zip(hidden.decoys, behind, strict=True)]
    subtasks = []
    for subtask in hidden.subtasks:
        right = [candidate.right for candidate in subtask.candidates]
        turned_right = zip(subtask.candidates, [*right[1:], right[0]], strict=True)
        candidates = tuple(candidate.model_copy(update={"right": is_right}) for candidate, is_right in turned_right)
        subtasks.append(subtask.model_copy(update={"candidates": candidates, "slot_value": None, "needs": ()}))
    valid, stale = CacheValidity.VALID, CacheValidity.STALE
    return HiddenScenario(
        facts=tuple(facts),
        decoys=tuple(decoys),
        subtasks=tuple(subtasks),
        fields=tuple(each.model_copy(update={"accepted": (_SAID,), "path": ()}) for each in hidden.fields),
        cache={name: stale if validity is valid else valid for name, validity in hidden.cache.items()},
        verdicts={patch: not passed for patch, passed in hidden.verdicts.items()},
    )


_SAID = "what the models say here"


@cache
def _real(scenario_id: str) -> Scenario:
    return scenario_store.load(scenario_id)


@cache
def _other(scenario_id: str) -> Scenario:
    return replace(_real(scenario_id), hidden=other_truth(_real(scenario_id).hidden))


def _tool_results(scenario: Scenario) -> ScriptedBackend:
    """The same answers in both worlds. In the second one they happen to be right."""
    names = right_values(scenario)
    return ScriptedBackend({subtask: dict.fromkeys(values, _SAID) for subtask, values in names.items()})


@dataclass(frozen=True)
class Told:
    """What came back, in order, each with what was asked."""

    before_the_end: list[tuple[str, object]] = field(default_factory=list)
    at_the_end: list[tuple[str, object]] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)

    def add(self, asked: str, came: object, done: bool = False) -> None:
        (self.at_the_end if done else self.before_the_end).append((asked, came))


class Recorder:
    """Asks a server for everything it has."""

    def __init__(self, here: Address, web: httpx.Client, scenario_id: str, told: Told) -> None:
        self._here = here
        self._scenario_id = scenario_id
        self._told = told
        self._web = web

    def http(self, method: str, path: str, body: object = None, done: bool = False) -> bytes:
        answer = self._web.request(method, path, json=body) if body is not None else self._web.request(method, path)
        headers = sorted((name, value) for name, value in answer.headers.items() if name not in _OWN_HEADERS)
        came = answer.status_code, headers, answer.content
        asked = f"{method} {path} {json.dumps(body)[:120]}"
        self._told.add(asked, _without_port(repr(came), self._here), done)
        return answer.content

    def endpoints(self) -> None:
        """Each that can be had by its address alone."""
        paths = _readable_paths()
        assert {"/health", "/metadata", "/schema", "/state", "/studio/api/lobby", "/web/state"} <= paths
        plain = sorted(path for path in paths if "{" not in path)
        assets = ("studio.js", "server.js", "style.css")
        named = ("/token_opt_env/splits", "/studio/api/cases/core/0", *(f"/studio/assets/{name}" for name in assets))
        for path in (*plain, "/docs", "/redoc", "/openapi.json", *named, "/no/such/place"):
            self.http("GET", path)
        for path in ("tasks", "num_tasks", "task", "task_range"):
            self.http("POST", f"/token_opt_env/{path}", {"split": "core", "index": 0, "start": 0, "stop": 2})
        self.http("POST", "/mcp", {"jsonrpc": "2.0", "method": "tools/list", "id": 1})

    def stateless(self, actions: list[TokenOptEnvAction]) -> None:
        for options in ({"scenario_id": self._scenario_id}, {"scenario_id": "no-such"}, {"reveal": True}, {"seed": -1}):
            self.http("POST", "/reset", options)
        self.http("POST", "/step", {"action": actions[0].model_dump(mode="json")})
        self.http("POST", "/web/reset", {"scenario_id": self._scenario_id})
        for action in actions[:-1]:
            self.http("POST", "/web/step", {"action": action.model_dump(mode="json")})
        self.http("GET", "/web/state")

    def session(self, actions: list[TokenOptEnvAction]) -> None:
        """An episode on the socket, asked for its state and spoken nonsense to after each step."""
        with self._here.connect() as socket:

            def say(message: object, done: bool = False) -> None:
                text = message if isinstance(message, str) else json.dumps(message)
                socket.send(text)
                self._told.add(text[:200], socket.recv(timeout=30), done)

            say({"type": "reset", "data": {"scenario_id": self._scenario_id, "seed": 1, "reveal": True}})
            say({"type": "reset", "data": {"scenario_id": self._scenario_id, "seed": 1}})
            for action in actions:
                last = action is actions[-1]
                say({"type": "step", "data": action.model_dump(mode="json")}, done=last)
                say({"type": "state"}, done=last)
                say('{"type":"step","data":{"action_type":"FLY"}}')
                say({"type": "reset", "data": {"scenario_id": f"{self._scenario_id}x"}})

    def studio(self, actions: list[TokenOptEnvAction]) -> None:
        sitting = {"scenario_id": self._scenario_id, "seed": 2}
        self.http("POST", "/studio/api/episode", sitting)
        played: list[object] = []
        for action in actions:
            move = {"sitting": {**sitting, "actions": played}, "action": action.model_dump(mode="json")}
            self.http("POST", "/studio/api/step", move, done=action is actions[-1])
            played = [*played, action.model_dump(mode="json")]
        for policy in _WATCHED:
            self._watch({**sitting, "policy": policy})
        for knowing in (name for name in policies.names() if policies.info(name).knows_truth):
            self.http("POST", "/studio/api/episode", {**sitting, "policy": knowing})

    def _watch(self, sitting: dict[str, object]) -> None:
        played: list[object] = []
        while True:
            came = json.loads(self.http("POST", "/studio/api/next", {**sitting, "actions": played}))
            if came["observation"]["done"]:
                last = self._told.before_the_end.pop()
                self._told.at_the_end.append(last)
                return
            played = [*played, came["action"]]


@cache
def _readable_paths() -> frozenset[str]:
    routes = [*build_app(Settings(web=True)).routes, *studio_routes.router(Table(reveal=False)).routes]
    return frozenset(each.path for each in routes if isinstance(each, APIRoute) and "GET" in (each.methods or ()))


def _without_port(text: str, here: Address) -> str:
    """Behind a host alone: the same number may be the size of a case in the lobby, there behind a quoted name."""
    return re.sub(rf"(?<=\w):{here.port}\b", ":PORT", text)


def _script(scenario_id: str) -> list[TokenOptEnvAction]:
    """What an agent does that plays well, and everything wrong that it could do besides; the last ends the episode."""
    env = LocalEnv(_tool_results(_real(scenario_id)))
    seen = env.reset(scenario_id=scenario_id, seed=1)
    policy = policies.make("expert", 0)
    script: list[TokenOptEnvAction] = []
    odd = [
        {"action_type": "READ_ARTIFACT", "artifact_id": "nowhere"},
        {"action_type": "HYDRATE_SEGMENTS", "context_segment_ids": [seen.artifacts[-1].artifact_id + "-s1"]},
        {"action_type": "QUERY_CACHE", "query": seen.task.subtasks[0].question},
        {"action_type": "SEARCH_ARTIFACTS", "query": seen.task.subtasks[-1].question, "top_k": 8},
        {"action_type": "WRITE_CHECKPOINT", "note": "so far"},
        {"action_type": "ESCALATE_ROUTE", "route_id": "route-1"},
    ]
    while not seen.done:
        fields = odd[len(script) // 2] if len(script) % 2 and len(script) // 2 < len(odd) else None
        action = TokenOptEnvAction.model_validate(fields) if fields else policy.act(seen)
        script.append(action)
        seen = env.step(action)
    return script


@pytest.fixture
def fixed_tool_results(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """What a model answers, and what the reference costs, no longer follow from the truth."""
    monkeypatch.setattr(local_env, "_reference", lambda *_: _SOME_COSTS)
    monkeypatch.setattr(world, "_simulated", lambda scenario, *_: _tool_results(_real(scenario.scenario_id)))
    return monkeypatch


def _recorded(
    scenario: Scenario, script: list[TokenOptEnvAction], patch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> Told:
    told = Told()
    caplog.clear()
    with patch.context() as patched, caplog.at_level(logging.INFO):
        patched.setattr(scenario_store, "load", lambda name: scenario if name == scenario.scenario_id else _load(name))
        with thread(Settings(web=True)) as here, httpx.Client(base_url=here.url, timeout=60) as web:
            recorder = Recorder(here, web, scenario.scenario_id, told)
            recorder.endpoints()
            recorder.stateless(script)
            recorder.session(script)
            recorder.studio(script)
        told.logged.extend(record.getMessage() for record in caplog.records)
    return told


_load = scenario_store.load


@pytest.mark.parametrize("scenario_id", REAL)
def test_with_another_truth_the_server_says_the_same_until_the_end(
    scenario_id: str, fixed_tool_results: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    script = _script(scenario_id)
    first = _recorded(_real(scenario_id), script, fixed_tool_results, caplog)
    second = _recorded(_other(scenario_id), script, fixed_tool_results, caplog)
    assert len(first.before_the_end) > 100
    for real, other in zip(first.before_the_end, second.before_the_end, strict=True):
        assert real == other, real[0]
    assert first.at_the_end != second.at_the_end, "the swap swapped nothing that is graded"
    words = secrets(_real(scenario_id))
    assert not [word for word in words for line in (*first.logged, *second.logged) if word in line]


def test_a_server_whose_state_depends_on_the_truth_is_found_out(
    fixed_tool_results: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The audit can fail: here the session's state counts the letters of the right answer."""
    honest = LocalEnv.state.fget  # type: ignore[attr-defined]  # it is a property

    def telling(env: LocalEnv) -> TokenOptEnvState:
        letters = 0 if env._scenario is None else len(env._scenario.hidden.fields[0].accepted[0])
        told: TokenOptEnvState = honest(env).model_copy(update={"seed": letters})
        return told

    fixed_tool_results.setattr(LocalEnv, "state", property(telling))
    script = _script(REAL[0])[:3]
    first = _recorded(_real(REAL[0]), script, fixed_tool_results, caplog)
    second = _recorded(_other(REAL[0]), script, fixed_tool_results, caplog)
    differing = {one[0] for one, other in zip(first.before_the_end, second.before_the_end, strict=True) if one != other}
    assert differing == {'{"type": "state"}', "GET /web/state null"}


@pytest.mark.parametrize("reveal", [False, True])
def test_an_agent_cannot_ask_for_the_truth_unless_the_server_was_told_to_reveal(reveal: bool) -> None:
    answer = {"action_type": "SUBMIT_ANSWER", "answer": {"service": "?"}}
    with thread(Settings(reveal=reveal)) as here, here.connect() as socket:
        came = ask(socket, {"type": "reset", "data": {"scenario_id": REAL[0], "reveal": True}})
        assert (came["type"] == "observation") is reveal
        assert httpx.post(f"{here.url}/reset", json={"reveal": True}).status_code == (200 if reveal else 400)
        if reveal:
            assert ask(socket, {"type": "step", "data": answer})["data"]["observation"]["revealed"] is not None
        else:
            assert "reveal is not granted here" in came["data"]["message"]
