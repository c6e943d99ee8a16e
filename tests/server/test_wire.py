"""Episodes over the socket are the episodes played here: observations, traces, 64 sessions at a time."""

from __future__ import annotations

import asyncio
import json

import pytest
from openenv.core.env_server.serialization import serialize_observation
from openenv.core.env_server.types import WSObservationResponse

from tests.server.live import KAFKA, Address, plan, played
from TokenOptEnv import scenario_store
from TokenOptEnv.client import TokenOptEnvClient
from TokenOptEnv.errors import EpisodeNotRunning
from TokenOptEnv.server.observation_writer import ObservationWriter
from TokenOptEnv.traces import Trace

_IDS = scenario_store.ids("core")


@pytest.mark.parametrize("scenario_id", _IDS)
def test_a_frame_holds_what_openenvs_own_server_would_have_sent(scenario_id: str) -> None:
    writer = ObservationWriter()
    for seen in played(scenario_id, 3)[0]:
        stock = WSObservationResponse(data=serialize_observation(seen)).model_dump_json()
        assert json.loads(writer.frame(seen)) == json.loads(stock)


def test_a_writer_that_served_one_scenario_serves_another() -> None:
    writer = ObservationWriter()
    for scenario_id in (_IDS[0], _IDS[1], _IDS[0]):
        seen = played(scenario_id, 0)[0][0]
        assert json.loads(writer.frame(seen))["data"]["observation"]["task"]["scenario_id"] == scenario_id


@pytest.mark.parametrize("scenario_id", _IDS)
def test_the_client_sees_and_records_what_was_played_here(server: Address, scenario_id: str) -> None:
    seen, trace = played(scenario_id, 7)
    with TokenOptEnvClient(base_url=server.url).sync() as env:
        assert env.reset(scenario_id=scenario_id, seed=7).observation == seen[0]
        for action, expected in zip(plan(scenario_id, 7), seen[1:], strict=True):
            result = env.step(action)
            assert result.observation == expected
            assert (result.reward, result.done) == (expected.reward, expected.done)
        assert env.trace.to_jsonl() == trace.to_jsonl()
        state = env.state()
        assert (state.step_count, state.done, state.scenario_id) == (len(seen) - 1, True, scenario_id)


def test_64_interleaved_sessions_each_equal_their_own_episode(server: Address) -> None:
    cases = [(_IDS[number % len(_IDS)], number) for number in range(64)]

    async def one(scenario_id: str, seed: int, turn: asyncio.Barrier) -> str:
        async with TokenOptEnvClient(base_url=server.url) as env:
            await turn.wait()
            await env.reset(scenario_id=scenario_id, seed=seed)
            for action in plan(scenario_id, seed):
                await env.step(action)
            trace: Trace = env.trace
            return trace.to_jsonl()

    async def all_at_once() -> list[str]:
        turn = asyncio.Barrier(len(cases))
        return await asyncio.gather(*(one(*case, turn) for case in cases))

    for case, text in zip(cases, asyncio.run(all_at_once()), strict=True):
        assert text == played(*case)[1].to_jsonl(), case


def test_a_second_reset_begins_a_trace_of_its_own(server: Address) -> None:
    with TokenOptEnvClient(base_url=server.url).sync() as env:
        with pytest.raises(EpisodeNotRunning):
            _ = env.trace
        env.reset(scenario_id=KAFKA, seed=1)
        env.step(plan(KAFKA, 1)[0])
        assert len(env.trace.steps) == 1
        env.reset(split="core", index=0)
        assert (env.trace.header.scenario_id, env.trace.steps) == (_IDS[0], [])


def test_a_fault_reaches_the_client_as_one_error_and_the_episode_goes_on(server: Address) -> None:
    with TokenOptEnvClient(base_url=server.url).sync() as env:
        env.reset(scenario_id=KAFKA, seed=1)
        with pytest.raises(RuntimeError, match="did you mean 'incident-medium-kafka-backpressure'"):
            env.reset(scenario_id="incident-medim-kafka-backpressure")
        assert env.step(plan(KAFKA, 1)[0]).observation.step == 1
        assert len(env.trace.steps) == 1
