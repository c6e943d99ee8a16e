"""Random, hostile and mutated actions through the engine: nothing may break, hang, leak or be paid for twice.

    python -m tests.hard.fuzz_engine --actions 1000000 --processes 2

`make test` runs a small share of it, `make fuzz` the whole.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, Final

from pydantic import ValidationError

from tests.hard import hostile
from TokenOptEnv import LocalEnv, TokenOptEnvAction, TokenOptEnvObservation, policies, render_text, scenario_store
from TokenOptEnv.episode_runtime import StepOutcome
from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.errors import CamreError
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.text_actions import Numbering, parse, write
from TokenOptEnv.world import ReferenceCosts

MAY_CHANGE: Final = frozenset(
    {
        *("step", "spent", "entries", "prompt", "prefix_caches", "left", "must_submit"),  # the bill, and what it leaves
        *("guardrail_events", "full_memory_steps", "paid"),  # the fault, and its penalty
        "end",  # steps or money may be at their end
    }
)
"""What a refused action may change of the state."""
SLOWEST_STEP_S: Final = 10.0
LARGEST_OBSERVATION_BYTES: Final = 1_000_000
_LOOK_CLOSELY_EVERY: Final = 16
_PLAYERS: Final = ("expert", "rag", "random")
_LONGEST_EPISODE_S: Final = 120
_SHORTEST_SECRET: Final = 8
_SOME_COSTS: Final = ReferenceCosts(nano_usd=10_000_000, routed_nano_usd=5_000_000)
_OPTIONS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {},
    {"profile": "v1"},
    {"reward_mode": "terminal"},
    {"memory_tokens": 600},
    {"anonymous_models": True},
    {"catalog": "current"},
)


class Broken(AssertionError):
    """Something that must hold did not; says which attack it was, so that it can be repeated."""


@dataclass
class Tally:
    actions: int = 0
    malformed: int = 0
    refused: int = 0
    episodes: int = 0
    bad_resets: int = 0
    slowest_step_s: float = 0.0
    largest_observation_bytes: int = 0
    grown_kib: int = 0
    """Resident memory at the end over that at a fifth of the way, when every cache has been filled."""
    reasons: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        for name in ("actions", "malformed", "refused", "episodes", "bad_resets"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("slowest_step_s", "largest_observation_bytes", "grown_kib"):
            setattr(self, name, max(getattr(self, name), getattr(other, name)))
        self.reasons += other.reasons
        self.ends += other.ends

    def told(self, took_s: float) -> str:
        return (
            f"{self.actions} actions in {took_s:.0f} s ({self.actions / took_s:.0f}/s), {self.episodes} episodes\n"
            f"malformed {self.malformed}, refused {self.refused}, bad resets {self.bad_resets}\n"
            f"slowest step {self.slowest_step_s * 1_000:.0f} ms,"
            f" largest observation {self.largest_observation_bytes} bytes,"
            f" memory grew by {self.grown_kib} KiB after the first fifth\n"
            f"refusals {dict(self.reasons.most_common())}\n"
            f"ends {dict(self.ends.most_common())}\n"
        )


class Attack:
    """One episode after another, each attacked until it ends."""

    def __init__(self, seed: int, scenario_ids: tuple[str, ...]) -> None:
        self.seed = seed
        self.tally = Tally()
        self._draw = Random(seed)
        self._scenario_ids = scenario_ids
        self._env = LocalEnv()
        self._number = 0

    def run(self, actions: int, watched: bool = False) -> Tally:
        """`watched`: a step that never ends is told with its stack, and ends the process."""
        settled_kib = 0
        while self.tally.actions < actions:
            if watched:
                faulthandler.dump_traceback_later(_LONGEST_EPISODE_S, exit=True)
            self._episode(actions)
            if not settled_kib and self.tally.actions >= actions // 5:
                settled_kib = _resident_kib()
        if watched:
            faulthandler.cancel_dump_traceback_later()
        self.tally.grown_kib = max(0, _resident_kib() - settled_kib)
        return self.tally

    def _episode(self, most: int) -> None:
        scenario = scenario_store.load(self._draw.choice(self._scenario_ids))
        options = {"seed": self._draw.randrange(4), **self._draw.choice(_OPTIONS)}
        self._secrets = secrets(scenario)
        self._seen = self._first = self._env.reset(scenario_id=scenario.scenario_id, **options)
        assert self._env._world is not None  # planning is not what is attacked, and takes seconds
        self._env._world = replace(self._env._world, reference=lambda: _SOME_COSTS)
        self._spent_nano_usd = 0
        self._paid = 0.0
        self.tally.episodes += 1
        self._beginning()
        while not self._seen.done and self.tally.actions < most:
            match self._draw.randrange(40):
                case 0:
                    self._bad_reset()
                case 1 | 2:
                    self._say()
                case _:
                    self._play(hostile.fields(self._draw, self._seen))
        if self._seen.done:
            self.tally.ends[str(self._seen.end_reason)] += 1
            self._after_the_end()

    def _beginning(self) -> None:
        """Well played for a while: an attack on an empty memory finds little."""
        policy = policies.make(self._draw.choice(_PLAYERS), self._number)
        for _ in range(self._draw.randrange(8)):
            if self._seen.done:
                return
            self._play(policy.act(self._seen).model_dump(mode="json", exclude_defaults=True))

    def _play(self, fields: dict[str, Any]) -> None:
        self.tally.actions += 1
        self._number += 1
        try:
            action = TokenOptEnvAction.model_validate_json(_to_json(fields))
        except (ValidationError, UnicodeEncodeError):
            self.tally.malformed += 1
            return
        self._step(action)

    def _say(self) -> None:
        """Through the door of text policies, which never fails."""
        self.tally.actions += 1
        self._number += 1
        spoken = hostile.spoken(self._draw, None)
        try:
            action = parse(spoken, self._seen)
        except Exception as fault:
            raise self._broken(f"{spoken[:200]!r} could not be parsed") from fault
        self._step(action)

    def _step(self, action: TokenOptEnvAction) -> None:
        before = self._outcome.state
        began_s = time.perf_counter()
        try:
            write(action, Numbering.of(self._seen))
            self._seen = self._env.step(action)
        except Exception as fault:
            raise self._broken(f"{action!r:.500}") from fault
        self.tally.slowest_step_s = max(self.tally.slowest_step_s, time.perf_counter() - began_s)
        self._holds(before, self._outcome.state, action)
        if self._number % _LOOK_CLOSELY_EVERY == 0 or self._seen.done:
            self._holds_on_the_wire()

    def _holds(self, before: EpisodeState, after: EpisodeState, action: TokenOptEnvAction) -> None:
        seen, last = self._seen, self._seen.last_tool_result
        self._demand(last is not None and seen.step == before.step + 1, "the step was not counted once")
        assert last is not None
        if last.refusal is not None:
            self.tally.refused += 1
            self.tally.reasons[last.refusal.reason.value] += 1
            self._demand(len(last.refusal.message) < 400, "a refusal of more than a line")
            if before.phase == after.phase:
                changed = {each.name for each in _FIELDS if getattr(before, each.name) != getattr(after, each.name)}
                self._demand(changed <= MAY_CHANGE, f"a refused {action.action_type} changed {changed - MAY_CHANGE}")
        self._spent_nano_usd += sum(entry.nano_usd for entry in seen.ledger)
        self._paid = round(self._paid + (seen.reward or 0.0), 6)
        budgets, memory = seen.budgets, seen.working_memory
        self._demand(budgets.nano_usd.spent == self._spent_nano_usd, "the bill is not the sum of its entries")
        self._demand(self._paid == seen.reward_breakdown.total, "the return is not the sum of what was paid")
        self._demand(-0.15 <= self._paid <= 1.0, "a return out of its bounds")
        self._demand(memory.token_budget is None or memory.token_budget_used <= memory.token_budget, "memory overran")
        over = (budgets.tokens.spent > budgets.tokens.limit) or (budgets.nano_usd.spent > budgets.nano_usd.limit)
        self._demand(not over or after.submission is not None, "a budget was overrun by something else than an answer")
        self._demand(self.tally.slowest_step_s < SLOWEST_STEP_S, f"a step of {self.tally.slowest_step_s:.1f} s")

    def _holds_on_the_wire(self) -> None:
        text = self._seen.model_dump_json()
        self.tally.largest_observation_bytes = max(self.tally.largest_observation_bytes, len(text))
        self._demand(len(text) < LARGEST_OBSERVATION_BYTES, f"an observation of {len(text)} bytes")
        self._demand(TokenOptEnvObservation.model_validate_json(text) == self._seen, "it does not survive the wire")
        told = text + json.dumps(render_text(self._seen), ensure_ascii=False)
        leaked = [word for word in self._secrets if word in told]
        self._demand(not leaked, f"hidden words were shown: {leaked[:3]}")

    def _bad_reset(self) -> None:
        """Wrong arguments are told in one line, and the running episode is untouched."""
        options = hostile.options(self._draw)
        if options.get("scenario_id") is None:
            options["scenario_id"] = "no-such-case"
        before = self._outcome
        self.tally.bad_resets += 1
        try:
            LocalEnv.reset(self._env, **options)
        except CamreError as told:
            self._demand("\n" not in str(told), "an error of several lines")
            self._demand(self._outcome is before, "a refused reset changed the episode")
        except Exception as fault:
            raise self._broken(f"reset {options!r:.500}") from fault
        else:
            raise self._broken(f"a reset to no case was granted: {options!r:.500}")

    def _after_the_end(self) -> None:
        try:
            self._env.step(TokenOptEnvAction.model_validate(hostile.sensible(self._draw, self._first)))
        except CamreError:
            return
        raise self._broken("an episode went on after its end")

    @property
    def _outcome(self) -> StepOutcome:
        outcome = self._env._outcome
        assert outcome is not None
        return outcome

    def _demand(self, holds: bool, what: str) -> None:
        if not holds:
            raise self._broken(what)

    def _broken(self, what: str) -> Broken:
        where = f"{self._seen.task.scenario_id} at step {self._seen.step}"
        return Broken(f"{what} ({where}; action {self._number} of seed {self.seed})")


_FIELDS: Final = fields(EpisodeState)


@lru_cache(maxsize=64)
def secrets(scenario: Scenario) -> tuple[str, ...]:
    """Names and reasons of the hidden half that stand nowhere in the public one, as JSON spells them.

    A short name may be an ordinary word, which an observation holds for reasons of its own.
    """
    hidden = scenario.hidden
    words = {name for fact in hidden.facts for name in (fact.fact_id, fact.why)}
    words |= {name for decoy in hidden.decoys for name in (decoy.decoy_id, decoy.why)}
    words |= {candidate.candidate_id for subtask in hidden.subtasks for candidate in subtask.candidates}
    public = scenario.public.model_dump_json()
    spelt = {json.dumps(word, ensure_ascii=False)[1:-1] for word in words}
    return tuple(sorted(word for word in spelt if len(word) >= _SHORTEST_SECRET and word not in public))


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _resident_kib() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") // 1_024


def attack(seed: int, actions: int) -> Tally:
    return Attack(seed, scenario_store.ids("core")).run(actions, watched=True)


def main() -> None:
    wanted = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    wanted.add_argument("--actions", type=int, default=1_000_000)
    wanted.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    wanted.add_argument("--seed", type=int, default=0)
    given = wanted.parse_args()
    began_s = time.monotonic()
    total = Tally()
    shares = [-(-given.actions // given.processes)] * given.processes
    with ProcessPoolExecutor(given.processes) as pool:
        for tally in pool.map(attack, range(given.seed, given.seed + given.processes), shares):
            total.add(tally)
    sys.stdout.write(total.told(time.monotonic() - began_s))


if __name__ == "__main__":
    main()
