"""A frame written from memory says what one written anew would say, however the observation changed in between."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from tests.cases import Play, find_everything, segment_with, simulated_world, toy
from TokenOptEnv import LocalEnv, TokenOptEnvObservation, policies, scenario_store
from TokenOptEnv.server.observation_writer import ObservationWriter


def told(writer: ObservationWriter, seen: TokenOptEnvObservation) -> TokenOptEnvObservation:
    """The observation as a client reads it from the frame."""
    data = json.loads(writer.frame(seen))["data"]
    return TokenOptEnvObservation.model_validate(
        {**data["observation"], "reward": data["reward"], "done": data["done"]}
    )


def played(scenario_id: str, policy: str, seed: int) -> Iterator[TokenOptEnvObservation]:
    env, player = LocalEnv(), policies.make(policy, seed)
    seen = env.reset(scenario_id, seed=seed)
    yield seen
    while not seen.done:
        seen = env.step(player.act(seen))
        yield seen


@pytest.mark.parametrize("policy", ["random", "sliding-window"])
def test_a_session_of_several_episodes_is_told_as_it_was(policy: str) -> None:
    writer = ObservationWriter()
    for seed, scenario_id in enumerate(scenario_store.ids("core")[:6]):
        for seen in played(scenario_id, policy, seed):
            assert told(writer, seen) == seen


def drop_the_first(play: Play) -> None:
    play.purge(play.item_ids[0])


def drop_the_last(play: Play) -> None:
    play.purge(play.item_ids[-1])


def rewrite_in_the_middle(play: Play) -> None:
    orders = segment_with(toy(), "pool exhausted")
    play.hydrate(orders)
    play.read("config-orders")
    play.compress(orders, method="head_tail", target_ratio=0.3)


def be_refused(play: Play) -> None:
    play.read("nowhere")


@pytest.mark.parametrize("change", [drop_the_first, drop_the_last, rewrite_in_the_middle, be_refused])
def test_a_list_that_did_not_just_grow_is_written_anew(change: Callable[[Play], None]) -> None:
    play = Play(simulated_world(toy()))
    find_everything(play)
    change(play)
    play.search("snapshot", 2)
    writer = ObservationWriter()
    for seen in play.observations:
        assert told(writer, seen) == seen


def test_a_writer_that_saw_only_the_end_tells_the_same() -> None:
    play = Play(simulated_world(toy()))
    find_everything(play)
    play.submit(*play.finding_ids)
    all_along = ObservationWriter()
    frames = [all_along.frame(seen) for seen in play.observations]
    assert frames[-1] == ObservationWriter().frame(play.observation)
