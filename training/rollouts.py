"""Memory-true rollouts: at each step the policy sees exactly the prompt it is billed for, and nothing it saw before.

Episodes advance in two halves by turns, one batch of prompts a step: while the accelerator samples for one half, the
other steps, each episode in its own process as soon as its action has ended. When few are left the halves go together:
a batch takes its time however small it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from training.env_pool import Compare, Compared, EnvPool, Say, Shown, Start
from training.episode import Outcome
from training.prefix_tree import Sample
from training.prompt_tokens import Ids
from training.sampler import Said, Sampler

_LANES = 2
_MOST_TOGETHER = 512
"""With more live episodes than this the halves take turns."""


@dataclass(frozen=True, slots=True)
class Task:
    scenario_id: str
    seed: int


@dataclass(slots=True)
class Played:
    """An episode: the samples to learn from are its steps."""

    task: Task
    samples: list[Sample] = field(default_factory=list)
    logprobs: list[NDArray[np.float32]] = field(default_factory=list)
    """By step and token: the network's own."""
    boldness: list[NDArray[np.float32]] = field(default_factory=list)
    """By step and token: by what those that were drawn with exceed them."""
    refused: list[bool] = field(default_factory=list)
    """By step."""
    outcome: Outcome | None = None

    @property
    def ended(self) -> Outcome:
        assert self.outcome is not None
        return self.outcome


@dataclass(frozen=True, slots=True)
class Pace:
    env_steps: int
    seconds: float
    env_seconds: float
    """Of these, spent waiting for episodes alone."""

    @property
    def env_share(self) -> float:
        return self.env_seconds / self.seconds

    @property
    def steps_per_minute(self) -> float:
        return 60.0 * self.env_steps / self.seconds


def begin(tasks: Sequence[Task], pool: EnvPool) -> None:
    """Start the episodes. Early, where there is other work: a case that is met for the first time is indexed then."""
    for lane in range(_LANES):
        slots = (slot for slot in range(len(tasks)) if _lane(slot, tasks) == lane)
        pool.send((Start(slot, tasks[slot].scenario_id, tasks[slot].seed) for slot in slots), lane)


def _lane(slot: int, tasks: Sequence[Task]) -> int:
    """Halves, and not every other: episodes of a group show the same at first, and are read once."""
    return slot * _LANES // len(tasks)


def begin_beside(tasks: Sequence[Task], pool: EnvPool, policy: str) -> None:
    """Let a heuristic play the same, in a pool of its own: nobody waits for it until all is played."""
    pool.send(Compare(slot, task.scenario_id, task.seed, policy) for slot, task in enumerate(tasks))


def beside(pool: EnvPool) -> list[Outcome]:
    return [reply.outcome for reply in pool.receive() if isinstance(reply, Compared)]


def play(
    tasks: Sequence[Task],
    pool: EnvPool,
    sampler: Sampler,
    tokenizer: Tokenizer,
    temperature: Callable[[int, int], float] | None = None,
) -> tuple[list[Played], Pace]:
    """To their ends the episodes that were begun; `temperature` is by slot and step, where it is not the sampler's."""
    began, waited = perf_counter(), pool.waited_s
    episodes = [Played(task) for task in tasks]
    env_steps = turn = 0
    while live := sum(each.outcome is None for each in episodes):
        lanes = range(_LANES) if live <= _MOST_TOGETHER else [turn % _LANES]
        turn += 1
        shown: dict[int, Ids] = {}
        for lane in lanes:
            shown |= _still_live(pool, lane, episodes)
        if not shown:
            continue
        slots = sorted(shown)

        def heard(places: list[int], said: list[Said], slots: list[int] = slots, shown: dict[int, Ids] = shown) -> None:
            texts = tokenizer.decode_batch([each.ids.tolist() for each in said], skip_special_tokens=True)
            chosen = [slots[place] for place in places]
            for slot, each in zip(chosen, said, strict=True):
                episodes[slot].samples.append(Sample(shown[slot], each.ids))
                episodes[slot].logprobs.append(each.logprobs)
                episodes[slot].boldness.append(each.boldness)
            told = dict(zip(chosen, texts, strict=True))
            for lane in range(_LANES):
                pool.send((Say(slot, told[slot]) for slot in chosen if _lane(slot, tasks) == lane), lane)

        heat = None if temperature is None else [temperature(slot, len(episodes[slot].samples)) for slot in slots]
        sampler.say([shown[slot] for slot in slots], heard, heat)
        env_steps += len(slots)
    return episodes, Pace(env_steps, perf_counter() - began, pool.waited_s - waited)


def play_in_turn(
    tasks: Sequence[Task], pool: EnvPool, sampler: Sampler, tokenizer: Tokenizer
) -> Iterator[tuple[list[Played], Pace]]:
    """Begin and play, as many at a time as suits the sampler; a case's worlds together, as they show the same first."""
    order = sorted(tasks, key=lambda task: task.scenario_id)
    for first in range(0, len(order), sampler.most_live):
        portion = order[first : first + sampler.most_live]
        begin(portion, pool)
        yield play(portion, pool, sampler, tokenizer)


def _still_live(pool: EnvPool, lane: int, episodes: list[Played]) -> dict[int, Ids]:
    """What those of a lane that still run show; the others' ends are written down."""
    live: dict[int, Ids] = {}
    for reply in pool.receive(lane):
        assert isinstance(reply, Shown)
        episode = episodes[reply.slot]
        if episode.samples:
            episode.refused.append(reply.was_refused)
        if reply.prompt_ids is not None:
            live[reply.slot] = reply.prompt_ids
        else:
            episode.outcome = reply.outcome
    return live
