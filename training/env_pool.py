"""Episodes in forked processes: actions go in as text, prompts come out as token ids.

Stepping, rendering and tokenizing cost some milliseconds together, on one core. Spread over processes that work
while the accelerator samples other episodes' actions, most of it is not waited for. Fork before CUDA is touched.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from time import perf_counter
from typing import Protocol

from TokenOptEnv import policies
from TokenOptEnv.config import EpisodeConfig
from training.cases import CaseBox
from training.episode import Episode, Outcome
from training.guise import worn
from training.prompt_tokens import Ids, PromptTokens

_LOOK_EVERY_S = 5.0
"""An idle process looks so often whether the one that forked it still lives: a kill must leave none behind."""


@dataclass(frozen=True, slots=True)
class Start:
    slot: int
    scenario_id: str
    seed: int


@dataclass(frozen=True, slots=True)
class Say:
    slot: int
    text: str


@dataclass(frozen=True, slots=True)
class Replay:
    """Play these actions from the start, and show every prompt on the way."""

    slot: int
    scenario_id: str
    seed: int
    actions: tuple[str, ...]
    guise: int = 0


@dataclass(frozen=True, slots=True)
class Compare:
    """Play what a slot plays with a heuristic, beside it."""

    slot: int
    scenario_id: str
    seed: int
    policy: str


@dataclass(frozen=True, slots=True)
class Shown:
    """What a slot shows next, or how its episode ended."""

    slot: int
    prompt_ids: Ids | None
    outcome: Outcome | None
    was_refused: bool
    """What was said last."""


@dataclass(frozen=True, slots=True)
class Replayed:
    slot: int
    prompts: tuple[Ids, ...]
    outcome: Outcome | None
    """None where an action could not be played: the trace is of another version of the engine."""


@dataclass(frozen=True, slots=True)
class Compared:
    slot: int
    outcome: Outcome


Request = Start | Say | Replay | Compare
Reply = Shown | Replayed | Compared


@dataclass(frozen=True, slots=True)
class Room:
    """What episodes are played in."""

    box: Path
    tokenizer: Path
    config: EpisodeConfig
    most_prompt_tokens: int
    guise: int = 0
    """Which of the guises of its cases is worn; 0 is none."""


class Stage:
    """The episodes of one process, by slot."""

    def __init__(self, room: Room) -> None:
        self._box = CaseBox(room.box)
        self._tokens = PromptTokens(room.tokenizer, room.most_prompt_tokens)
        self._room = room
        self._episodes: dict[int, Episode] = {}

    def answer(self, request: Request) -> Reply:
        match request:
            case Start(slot, scenario_id, seed):
                self._episodes[slot] = self._begun(scenario_id, seed, self._room.guise)
                return self._shown(slot)
            case Say(slot, text):
                self._episodes[slot].say(text)
                return self._shown(slot)
            case Replay():
                return self._replayed(request)
            case Compare(slot, scenario_id, seed, policy):
                episode = self._begun(scenario_id, seed, guise=0)
                return Compared(slot, episode.played_by(policies.make(policy, seed)))

    def _begun(self, scenario_id: str, seed: int, guise: int, is_imitated: bool = False) -> Episode:
        seen_as = worn(guise, scenario_id, seed, self._room.tokenizer, is_imitated)
        return Episode(self._box, scenario_id, seed, self._room.config, seen_as)

    def _shown(self, slot: int) -> Shown:
        episode = self._episodes[slot]
        if not episode.done:
            return Shown(slot, self._tokens.ids(episode.prompt), None, episode.was_refused)
        del self._episodes[slot]
        return Shown(slot, None, episode.outcome(), episode.was_refused)

    def _replayed(self, request: Replay) -> Replayed:
        episode = self._begun(request.scenario_id, request.seed, request.guise, is_imitated=True)
        prompts: list[Ids] = []
        for text in request.actions:
            if episode.done:
                return Replayed(request.slot, tuple(prompts), None)
            prompts.append(self._tokens.ids(episode.prompt))
            episode.say(text)
        return Replayed(request.slot, tuple(prompts), episode.outcome() if episode.done else None)


class EnvPool(Protocol):
    waited_s: float
    """Spent waiting for episodes while nothing else was left to do."""

    def send(self, requests: Iterable[Request], lane: int = 0) -> None: ...

    def receive(self, lane: int = 0) -> list[Reply]:
        """The replies to everything sent in this lane since it was last received from, by slot."""

    def close(self) -> None: ...


class InlinePool:
    """The same in this process, for small machines and for debugging."""

    def __init__(self, room: Room) -> None:
        self._stage = Stage(room)
        self._replies: defaultdict[int, list[Reply]] = defaultdict(list)
        self.waited_s = 0.0

    def send(self, requests: Iterable[Request], lane: int = 0) -> None:
        began = perf_counter()
        self._replies[lane] += [self._stage.answer(request) for request in requests]
        self.waited_s += perf_counter() - began

    def receive(self, lane: int = 0) -> list[Reply]:
        return _by_slot(self._replies.pop(lane, []))

    def close(self) -> None:
        pass


class ForkedPool:
    """A slot belongs to one process for good: `slot // block` turns, so that neighbours share loaded cases."""

    def __init__(self, room: Room, processes: int, block: int) -> None:
        context = get_context("fork")
        self._block = block
        self._links: list[Connection] = []
        self._processes: list[BaseProcess] = []
        self._lanes: list[list[int]] = [[] for _ in range(processes)]
        """By process: of what was sent and not answered yet, in which lane each was."""
        self._replies: defaultdict[int, list[Reply]] = defaultdict(list)
        self.waited_s = 0.0
        for _ in range(processes):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, room), daemon=True)
            process.start()
            theirs.close()
            self._links.append(ours)
            self._processes.append(process)

    def send(self, requests: Iterable[Request], lane: int = 0) -> None:
        shares: list[list[Request]] = [[] for _ in self._links]
        for request in requests:
            shares[request.slot // self._block % len(self._links)].append(request)
        for number, share in enumerate(shares):
            if share:
                self._links[number].send(share)
                self._lanes[number].append(lane)

    def receive(self, lane: int = 0) -> list[Reply]:
        """A process answers in order, so what is of another lane may come first; it is kept."""
        began = perf_counter()
        for link, lanes in zip(self._links, self._lanes, strict=True):
            while lane in lanes:
                self._replies[lanes.pop(0)] += _unpacked(link)
        self.waited_s += perf_counter() - began
        return _by_slot(self._replies.pop(lane, []))

    def close(self) -> None:
        for link in self._links:
            link.close()
        for process in self._processes:
            process.join(timeout=5)


def open_pool(room: Room, processes: int, block: int) -> EnvPool:
    return ForkedPool(room, processes, block) if processes > 0 else InlinePool(room)


def _by_slot(replies: list[Reply]) -> list[Reply]:
    return sorted(replies, key=lambda reply: reply.slot)


def _unpacked(link: Connection) -> Sequence[Reply]:
    got = link.recv()
    if isinstance(got, Exception):
        raise got
    replies: Sequence[Reply] = got
    return replies


def _serve(link: Connection, room: Room) -> None:
    """A fault in an episode is sent back whole: a bug in one process must stop the run, not hang it.

    Replies are sent by a thread: a round of prompts is more than a pipe holds, and nobody reads while the accelerator
    samples. Episodes would stand still until then.
    """
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    parent = os.getppid()
    stage = Stage(room)
    replies: SimpleQueue[list[Reply] | Exception] = SimpleQueue()
    Thread(target=_send_on, args=(replies, link), daemon=True).start()
    while True:
        try:
            while not link.poll(_LOOK_EVERY_S):
                if os.getppid() != parent:
                    return
            requests = link.recv()
        except EOFError:
            return
        try:
            replies.put([stage.answer(request) for request in requests])
        except Exception as fault:
            replies.put(fault)


def _send_on(replies: SimpleQueue[list[Reply] | Exception], link: Connection) -> None:
    """Ends the process with itself, whatever ends it: replies that nobody sends would be waited for forever."""
    try:
        with suppress(BrokenPipeError):
            while True:
                link.send(replies.get())
    finally:
        os._exit(1)
