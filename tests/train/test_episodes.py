"""Episodes of a text policy are the environment's, byte for byte, in whatever process they run."""

from __future__ import annotations

from multiprocessing import get_context
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from TokenOptEnv import LocalEnv, policies, render_text
from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.errors import BadInput
from TokenOptEnv.text_actions import parse
from training.cases import CaseBox, dump_scenario
from training.collect import read_traces
from training.env_pool import ForkedPool, InlinePool, Replay, Replayed, Room, Say, Shown, Start
from training.episode import Episode
from training.rollouts import Task, begin_beside, beside


@pytest.fixture(scope="module")
def room(tiny: Path, data: Path) -> Room:
    return Room(data.with_suffix(".zip"), tiny / "tokenizer.json", EpisodeConfig(), 8_000)


def test_prompts_and_returns_are_those_of_the_environment(data: Path) -> None:
    box = CaseBox(data.with_suffix(".zip"))
    for trace in read_traces(data.with_suffix(".jsonl")):
        episode = Episode(box, trace.scenario_id, trace.seed, EpisodeConfig())
        env = LocalEnv()
        observation = env.reset(scenario_id=trace.scenario_id, seed=trace.seed)
        for text in trace.actions:
            assert episode.prompt == render_text(observation)
            episode.say(text)
            observation = env.step(parse(text, observation))
        assert observation.score is not None
        assert episode.outcome().total_return == observation.score.total_return == trace.total_return


def test_traces_come_from_tutors_who_see_observations_alone(data: Path) -> None:
    traces = read_traces(data.with_suffix(".jsonl"))
    assert traces
    for trace in traces:
        assert trace.policy == "tutor"


def test_a_policy_that_knows_the_truth_is_refused_as_a_teacher(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = run("collect", "--split", "core", "--easy", 1, "--policy", "reference", "--out", tmp_path / "x", code=1)
    assert done.stderr == "collect: policy 'reference' knows the truth and is no teacher; choose another\n"


def test_a_box_read_before_a_fork_is_read_whole_after_it(data: Path) -> None:
    box = _SHARED["box"] = CaseBox(data.with_suffix(".zip"))
    (name,) = box.cases
    whole = dump_scenario(box.load(name))
    with get_context("fork").Pool(2) as pool:
        assert pool.map(_read_again, [name] * 200, chunksize=1) == [whole] * 200


_SHARED: dict[str, CaseBox] = {}


def _read_again(name: str) -> bytes:
    return dump_scenario(_SHARED["box"]._load(name))


def test_forked_episodes_show_what_those_in_this_process_show(room: Room, data: Path) -> None:
    trace = read_traces(data.with_suffix(".jsonl"))[0]
    pools = [InlinePool(room), ForkedPool(room, processes=2, block=1)]
    shown = []
    for pool in pools:
        pool.send([Start(slot, trace.scenario_id, trace.seed) for slot in range(3)])
        first = pool.receive()
        pool.send([Say(slot, trace.actions[0]) for slot in range(3)])
        shown.append([*first, *pool.receive()])
        pool.close()
    assert [reply.slot for reply in shown[0]] == [0, 1, 2, 0, 1, 2]
    for inline, forked in zip(*shown, strict=True):
        assert isinstance(inline, Shown) and isinstance(forked, Shown)
        assert inline.prompt_ids is not None and forked.prompt_ids is not None
        assert inline.prompt_ids.tolist() == forked.prompt_ids.tolist()


def test_a_replayed_trace_shows_its_prompts_and_succeeds(room: Room, data: Path) -> None:
    trace = read_traces(data.with_suffix(".jsonl"))[0]
    pool = InlinePool(room)
    pool.send([Replay(0, trace.scenario_id, trace.seed, trace.actions)])
    (reply,) = pool.receive()
    assert isinstance(reply, Replayed) and reply.outcome is not None
    assert reply.outcome.success and len(reply.prompts) == len(trace.actions)
    first = Tokenizer.from_file(str(room.tokenizer)).decode(reply.prompts[0].tolist())
    assert first == render_text(LocalEnv().reset(scenario_id=trace.scenario_id, seed=trace.seed))


def test_a_heuristic_plays_the_same_beside_as_it_does_alone(room: Room, data: Path) -> None:
    trace = read_traces(data.with_suffix(".jsonl"))[0]
    pool = InlinePool(room)
    begin_beside([Task(trace.scenario_id, world) for world in (0, 1)], pool, "expert")
    _, compared = beside(pool)
    env, policy = LocalEnv(), policies.make("expert", 1)
    observation = env.reset(scenario_id=trace.scenario_id, seed=1)
    while not observation.done:
        observation = env.step(policy.act(observation))
    assert observation.score is not None
    assert (compared.total_return, compared.sce) == (observation.score.total_return, observation.score.sce)


def test_a_fault_in_a_forked_episode_reaches_the_caller(room: Room) -> None:
    pool = ForkedPool(room, processes=1, block=1)
    pool.send([Start(0, "no-such-case", 0)])
    with pytest.raises(KeyError):
        pool.receive()
    pool.close()


def test_a_missing_box_is_one_line_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"there is no case box .*; make one: python -m training.collect"):
        CaseBox(tmp_path / "none.zip")
