"""Episodes of a text policy are the environment's, byte for byte, in whatever process they run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from TokenOptEnv import LocalEnv, policies, render_text
from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.errors import BadInput
from TokenOptEnv.text_actions import parse
from training import rollouts
from training.cases import CaseBox, dump_scenario
from training.collect import read_traces
from training.env_pool import ForkedPool, InlinePool, Replay, Replayed, Room, Say, Shown, Start, open_pool
from training.episode import Episode
from training.prompt_tokens import Ids
from training.rollouts import Task, begin, begin_beside, beside, play
from training.sampler import Said


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


@pytest.mark.parametrize("processes", [0, 1, 2])
def test_a_lane_waits_for_nothing_that_was_sent_in_another(room: Room, data: Path, processes: int) -> None:
    trace = read_traces(data.with_suffix(".jsonl"))[0]
    pool = open_pool(room, processes, block=1)
    for lane in (0, 1):
        pool.send([Start(slot, trace.scenario_id, trace.seed) for slot in (2 * lane, 2 * lane + 1)], lane)
    pool.send([Say(3, trace.actions[0])], 1)
    assert [reply.slot for reply in pool.receive(1)] == [2, 3, 3]
    pool.send([Say(0, trace.actions[0])], 0)
    assert [reply.slot for reply in pool.receive(0)] == [0, 0, 1]
    assert [pool.receive(lane) for lane in (0, 1)] == [[], []]
    pool.close()


class _Tracing:
    """Says what a trace said, whoever asks: the prompt tells at which step."""

    def __init__(self, tokenizer: Tokenizer, said: dict[bytes, str]) -> None:
        self._tokenizer, self._said = tokenizer, said
        self.batches: list[int] = []

    def say(
        self, prompts: Sequence[Ids], heard: Callable[[list[int], list[Said]], None], temperatures: None = None
    ) -> None:
        self.batches.append(len(prompts))
        for place in reversed(range(len(prompts))):
            ids = np.asarray(self._tokenizer.encode(self._said[prompts[place].tobytes()]).ids, dtype=np.int32)
            heard([place], [Said(ids, *np.zeros((2, len(ids)), dtype=np.float32))])


@pytest.mark.parametrize("processes", [0, 2])
def test_halves_that_take_turns_play_what_one_batch_plays(
    room: Room, data: Path, processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = read_traces(data.with_suffix(".jsonl"))[0]
    inline = InlinePool(room)
    inline.send([Replay(0, trace.scenario_id, trace.seed, trace.actions)])
    (replay,) = inline.receive()
    assert isinstance(replay, Replayed) and replay.outcome is not None
    said = {prompt.tobytes(): text for prompt, text in zip(replay.prompts, trace.actions, strict=True)}
    tokenizer = Tokenizer.from_file(str(room.tokenizer))
    tasks = [Task(trace.scenario_id, trace.seed)] * 5
    steps = len(trace.actions)
    for most_together, batches in ((5, [5] * steps), (0, [3, 2] * steps), (4, [3] + [2, 3] * steps)):
        monkeypatch.setattr(rollouts, "_MOST_TOGETHER", most_together)
        sampler = _Tracing(tokenizer, said)
        pool = open_pool(room, processes, block=1)
        begin(tasks, pool)
        played, pace = play(tasks, pool, sampler, tokenizer)  # type: ignore[arg-type]
        pool.close()
        assert sampler.batches[: 2 * steps] == batches[: 2 * steps]
        assert pace.env_steps == 5 * steps
        for each in played:
            assert each.ended == replay.outcome
            assert [sample.prompt_ids.tobytes() for sample in each.samples] == list(said)
            assert each.refused == [False] * steps


def test_more_prompts_than_a_pipe_holds_are_ready_before_anyone_reads(room: Room, data: Path) -> None:
    """Episodes go on while nobody reads: else they would stand still as long as an accelerator samples."""
    trace = read_traces(data.with_suffix(".jsonl"))[0]
    pool = ForkedPool(room, processes=1, block=1)
    pool.send([Start(slot, trace.scenario_id, trace.seed) for slot in range(400)])
    for slot in range(400):
        pool.send([Say(slot, trace.actions[0])])
    time.sleep(5)
    before = pool.waited_s
    replies = pool.receive()
    size = sum(
        reply.prompt_ids.nbytes for reply in replies if isinstance(reply, Shown) and reply.prompt_ids is not None
    )
    assert len(replies) == 800 and size > 1 << 20
    assert pool.waited_s - before < 1.0
    pool.close()


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
