"""Memory-true rollouts: at each step the policy sees exactly the prompt it is billed for, and nothing it saw before.

All live episodes advance together, one batch of prompts a step. An episode steps in its own process as soon as its
action has ended, while the accelerator works on longer ones.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """By step and token, as sampled."""
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
    pool.send(Start(slot, task.scenario_id, task.seed) for slot, task in enumerate(tasks))


def begin_beside(tasks: Sequence[Task], pool: EnvPool, policy: str) -> None:
    """Let a heuristic play the same, in a pool of its own: nobody waits for it until all is played."""
    pool.send(Compare(slot, task.scenario_id, task.seed, policy) for slot, task in enumerate(tasks))


def beside(pool: EnvPool) -> list[Outcome]:
    return [reply.outcome for reply in pool.receive() if isinstance(reply, Compared)]


def play(tasks: Sequence[Task], pool: EnvPool, sampler: Sampler, tokenizer: Tokenizer) -> tuple[list[Played], Pace]:
    """To their ends the episodes that were begun."""
    began, waited = perf_counter(), pool.waited_s
    episodes = [Played(task) for task in tasks]
    env_steps = 0
    while shown := _still_live(pool, episodes):
        slots = sorted(shown)

        def heard(places: list[int], said: list[Said], slots: list[int] = slots, shown: dict[int, Ids] = shown) -> None:
            texts = tokenizer.decode_batch([each.ids.tolist() for each in said], skip_special_tokens=True)
            chosen = [slots[place] for place in places]
            for slot, each in zip(chosen, said, strict=True):
                episodes[slot].samples.append(Sample(shown[slot], each.ids))
                episodes[slot].logprobs.append(each.logprobs)
            pool.send(Say(slot, text) for slot, text in zip(chosen, texts, strict=True))

        sampler.say([shown[slot] for slot in slots], heard)
        env_steps += len(slots)
    return episodes, Pace(env_steps, perf_counter() - began, pool.waited_s - waited)


def _still_live(pool: EnvPool, episodes: list[Played]) -> dict[int, Ids]:
    """What those still running show; the others' ends are written down."""
    live: dict[int, Ids] = {}
    for reply in pool.receive():
        assert isinstance(reply, Shown)
        episode = episodes[reply.slot]
        if episode.samples:
            episode.refused.append(reply.was_refused)
        if reply.prompt_ids is not None:
            live[reply.slot] = reply.prompt_ids
        else:
            episode.outcome = reply.outcome
    return live
