"""`camre mcp`, as a client sees it: real sessions over standard input and output, with either version of `mcp`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.adapters.played import FIRST, run_example
from TokenOptEnv import LocalEnv, policies
from TokenOptEnv.adapters.mcp_server import Desk
from TokenOptEnv.errors import EpisodeNotRunning
from TokenOptEnv.models import ActionType, TokenOptEnvAction
from TokenOptEnv.prompt import item_text, render_text
from TokenOptEnv.text_actions import Numbering

Call = Callable[..., Awaitable[str]]
_ABOUT = ("scenarios", "reset", "look", "state")
_V1 = ("read", "cache", "squeeze", "ask", "submit")
_V2 = ("find", "load", "drop", "up", "note", "recall")


class ToolFailed(Exception):
    pass


@asynccontextmanager
async def _session(*options: str) -> AsyncIterator[ClientSession]:
    code = "from TokenOptEnv.cli.main import main; main()"
    server = StdioServerParameters(command=sys.executable, args=["-c", code, "mcp", *options])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        yield session


async def _call(session: ClientSession, name: str, **arguments: Any) -> str:
    result = (await session.call_tool(name, arguments)).model_dump(by_alias=True, mode="json")
    text = str(result["content"][0]["text"])
    if result["isError"]:
        raise ToolFailed(text)
    return text


def _as_call(action: TokenOptEnvAction, numbering: Numbering) -> tuple[str, dict[str, Any]]:
    """The tool call that says what a policy wants."""
    things = [numbering.things[name] for name in action.context_segment_ids]
    match action.action_type:
        case ActionType.SEARCH_ARTIFACTS:
            return "find", {"words": action.query, "most": action.top_k}
        case ActionType.ROUTE_SUBTASK:
            question = 1 + numbering.subtasks.index(action.subtask_id or "")
            model = 1 + numbering.models.index(action.model_id or "")
            return "ask", {"question": question, "model": model, "context": things, "effort": action.effort}
        case ActionType.SUBMIT_ANSWER:
            return "submit", {"findings": [numbering.finding_items[name] for name in action.finding_ids]}
        case other:
            raise AssertionError(f"the policy never does this: {other}")


def test_a_policy_plays_through_tools_to_the_grade_it_has_in_this_process() -> None:
    async def play() -> str:
        async with _session() as session:
            env, policy = LocalEnv(), policies.make("cheapest", 0)
            seen = env.reset(scenario_id=FIRST, seed=0)
            assert await _call(session, "reset", scenario_id=FIRST) == render_text(seen)
            told = ""
            while not seen.done:
                action = policy.act(seen)
                name, arguments = _as_call(action, Numbering.of(seen))
                known = {item.item_id for item in seen.working_memory.items}
                seen = env.step(action)
                told = await _call(session, name, **arguments)
                new = [item for item in seen.working_memory.items if item.item_id not in known]
                assert told.startswith("".join(map(item_text, new)))
                assert seen.done or await _call(session, "look") == render_text(seen)
            assert seen.score is not None
            state = json.loads(await _call(session, "state"))
            assert (state["done"], state["step_count"]) == (True, seen.step)
            return f"return {seen.score.total_return:g}, SCE {seen.score.sce:g}" + "|" + told

    expected, told = anyio.run(play).split("|", 1)
    assert expected in told


@pytest.mark.parametrize(("profile", "tools"), [("v1", (*_ABOUT, *_V1)), ("v2", (*_ABOUT, *_V1, *_V2))])
def test_the_tools_are_the_verbs_of_the_profile_and_say_what_they_do(profile: str, tools: tuple[str, ...]) -> None:
    async def listed() -> dict[str, str]:
        async with _session("--profile", profile) as session:
            return {tool.name: tool.description or "" for tool in (await session.list_tools()).tools}

    found = anyio.run(listed)
    assert tuple(found) == tools
    assert all(found.values())


def test_what_is_wrong_is_told_and_the_session_goes_on() -> None:
    async def faults() -> list[str]:
        told = []
        async with _session() as session:
            for name, arguments in (
                ("find", {"words": "error"}),
                ("reset", {"scenario_id": f"{FIRST[:-1]}"}),
                ("scenarios", {"split": "cora"}),
            ):
                with pytest.raises(ToolFailed) as fault:
                    await _call(session, name, **arguments)
                told.append(str(fault.value))
            assert await _call(session, "reset", scenario_id=FIRST)
            told.append(await _call(session, "load", segments=[999]))
        return told

    before_reset, misspelt, no_split, refused = anyio.run(faults)
    assert before_reset.endswith("no episode is running; call reset first")
    assert f"did you mean {FIRST!r}?" in misspelt
    assert "did you mean 'core'?" in no_split
    assert re.search(r"refused: NOT_SURFACED context_segment_ids=#999", refused)


def test_an_answer_in_own_words_may_hold_any_sign() -> None:
    desk = Desk(track="solver")
    desk.reset(scenario_id=FIRST)
    found = re.search(r"^(\d+) A\d+ s\d+", desk.find("price"), flags=re.MULTILINE)
    assert found is not None
    desk.load([int(found[1])])
    assert "saved 1" in desk.note("first; field=value: k3\nsecond")
    patch = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a = 1; b: 2\n+a = 2\n"
    told = desk.submit([], evidence=[int(found[1])], answer={"patch": patch, "file": "x.py"})
    assert "## Over" in told
    with pytest.raises(EpisodeNotRunning, match="the episode is over"):
        desk.drop([1])


def test_the_example_runs() -> None:
    tools, reset, find, state = run_example("mcp_client.py").splitlines()
    assert tools.split()[1:] == [*_ABOUT, *_V1, *_V2]
    assert reset.startswith("reset: memory 0/")
    assert re.match(r"find: memory [1-9]\d*/", find)
    assert json.loads(state.removeprefix("state: "))["step_count"] == 1
