"""CAMRE under verifiers: a model behind a real endpoint plays, and each step is a sample of its own."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import camre_v1
import pytest
import verifiers.v1 as vf
from camre_v1 import CamreEnv, load_environment

from tests.adapters.played import FIRST, ROOT, Spoken, run_example, spoken
from tests.core.live_server import LiveServer, said, serving
from tests.surface import documented
from TokenOptEnv import scenario_store

PLAYED = spoken()
EDITABLE = "examples/verifiers"


@contextmanager
def _model(played: Spoken = PLAYED) -> Iterator[LiveServer]:
    """Says what the policy said, one after the other; then nothing that means anything."""
    script = [
        said(reply, completion_tokens=played.tokens(step), created=1, model="parrot")
        for step, reply in enumerate(played.replies)
    ]
    with serving(lambda body: said("?", created=1, model="parrot"), *script) as server:
        yield server


def _episode(env: vf.Env, server: LiveServer) -> vf.Episode:
    async def run() -> vf.Episode:
        client = vf.EvalClientConfig(base_url=server.url, api_key_var="CAMRE_NO_SUCH_KEY")
        async with env.serving():
            return await env.run_episode(next(iter(env.taskset)), vf.ModelContext(model="parrot", client=client))

    return asyncio.run(run())


@pytest.fixture(scope="module")
def played() -> tuple[vf.Trace, LiveServer]:
    with _model() as server:
        episode = _episode(load_environment(episodes=1), server)
    assert episode.ok, [error.message for error in episode.errors]
    (trace,) = episode.traces
    return trace, server


def test_the_model_is_shown_each_prompt_alone(played: tuple[vf.Trace, LiveServer]) -> None:
    _, server = played
    shown = [asked.body["messages"] for asked in server.asked]
    assert shown == [[{"role": "user", "content": prompt}] for prompt in PLAYED.prompts]


def test_each_step_is_a_sample_of_its_own(played: tuple[vf.Trace, LiveServer]) -> None:
    trace, _ = played
    samples = [tuple(message.content for message in branch.messages) for branch in trace.branches]
    assert samples == list(zip(PLAYED.prompts, PLAYED.replies, strict=True))


def test_the_rubric_is_the_grade_of_the_environment(played: tuple[vf.Trace, LiveServer]) -> None:
    trace, _ = played
    assert trace.reward == PLAYED.score.total_return
    assert trace.metrics == {
        "success": float(PLAYED.score.success),
        "sce": PLAYED.score.sce,
        "cost_usd": PLAYED.score.cost_nano_usd / 1e9,
    }


def test_a_limit_of_the_run_ends_an_episode_where_it_stands() -> None:
    config = {"taskset": {"id": "camre-v1", "episodes": 1}, "agent": {"max_turns": 2}}
    env = vf.load_environment(vf.resolve_env_config(config))
    assert isinstance(env, CamreEnv)
    with _model() as server:
        (trace,) = _episode(env, server).traces
    assert (trace.stop_condition, len(trace.branches), trace.errors) == ("max_turns", 2, [])
    assert trace.state.score is None


def test_the_taskset_is_a_split_in_its_order() -> None:
    env = load_environment(split="core", seeds=2)
    expected = [f"{scenario_id}@{seed}" for scenario_id in scenario_store.ids("core") for seed in range(2)]
    assert [task.data.id for task in env.taskset] == expected
    first = next(iter(env.taskset))
    assert (first.data.scenario_id, first.data.prompt) == (FIRST, PLAYED.prompts[0])


def test_the_reference_plan_validates_a_task() -> None:
    task = next(iter(load_environment(episodes=1).taskset))
    assert asyncio.run(task.validate(None)) is True


def test_the_command_of_verifiers_evaluates_it(tmp_path: Path) -> None:
    """As the page types it, on one episode; what the page installs before is what this environment has."""
    installs, evaluates = documented.typed_by(__file__)
    assert f"-e {EDITABLE}" in installs and (ROOT / EDITABLE / "camre_v1" / "__init__.py").samefile(camre_v1.__file__)
    options = ["--client.api-key-var", "CAMRE_NO_SUCH_KEY", "--output-dir", str(tmp_path)]
    with _model() as server:
        given = {"MODEL": "parrot", "http://127.0.0.1:8001/v1": server.url, "10": "1"}
        program, *words = [given.get(word, word) for word in shlex.split(evaluates)]
        typed = [str(Path(sys.executable).parent / program), *words, *options]
        done = subprocess.run(typed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (file,) = tmp_path.rglob("traces.jsonl")
    (episode,) = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert f'"score": {PLAYED.score.total_return}' in json.dumps(episode)


def test_the_example_runs() -> None:
    with _model() as server:
        told = run_example("verifiers_episode.py", server.url, "parrot")
    steps = len(PLAYED.replies)
    assert told == f"{FIRST}@0: reward {PLAYED.score.total_return:g} in {steps} steps, each a sample of its own\n"
