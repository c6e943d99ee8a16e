"""Environments in play: one for each visitor's episode, bounded in number, dropped when nobody comes back.

A seat is taken out while it is played on and put back under what has been played by then. Nothing is lost with a
seat: whoever comes back to a dropped one has the actions, and they are played again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Final

from TokenOptEnv import policies
from TokenOptEnv.by_hand.choices import Choices, Sightings
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.models import TokenOptEnvAction
from TokenOptEnv.server.studio.forms import forms
from TokenOptEnv.server.studio.sitting import Frame, Sitting
from TokenOptEnv.text_actions import Numbering, write

MOST_SEATS: Final = 64
IDLE_S: Final = 1_800.0


class Seat:
    """One episode, and the policy that plays it where the visitor watches."""

    def __init__(self, sitting: Sitting, reveal: bool) -> None:
        self._env = LocalEnv(profile=sitting.profile, track=sitting.track, catalog=sitting.catalog, reveal=reveal)
        self._policy = None if sitting.policy is None else policies.make(sitting.policy, sitting.seed)
        self._sightings = Sightings()
        self._seen = self._env.reset(scenario_id=sitting.scenario_id, seed=sitting.seed)

    def first(self) -> Frame:
        return self._frame(None, "")

    def decided(self) -> TokenOptEnvAction:
        """What the policy does next. Asked once a step, since a policy remembers."""
        assert self._policy is not None
        return self._policy.act(self._seen)

    def play(self, action: TokenOptEnvAction) -> Frame:
        said = write(action, Numbering.of(self._seen))
        self._seen = self._env.step(action)
        return self._frame(action, said)

    def again(self, action: TokenOptEnvAction) -> Frame:
        """An action that was played before; a policy goes through what it thought then."""
        if self._policy is not None and not self._seen.done:
            self.decided()
        return self.play(action)

    def _frame(self, action: TokenOptEnvAction | None, said: str) -> Frame:
        self._sightings.note(self._seen)
        by_hand = self._policy is None and not self._seen.done
        return Frame(
            action=action,
            said=said,
            observation=self._seen,
            forms=forms(Choices(self._seen, self._sightings)) if by_hand else (),
        )


class Seats:
    def __init__(
        self, most: int = MOST_SEATS, idle_s: float = IDLE_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._idle_s = idle_s
        self._clock = clock
        self._kept: dict[str, tuple[float, Seat]] = {}
        """By what was played, the longest idle first."""
        self._lock = Lock()

    def take(self, sitting: Sitting) -> Seat | None:
        """The seat of this very episode so far, for the taker alone."""
        with self._lock:
            self._drop_idle()
            kept = self._kept.pop(_key(sitting), None)
        return None if kept is None else kept[1]

    def put(self, sitting: Sitting, seat: Seat) -> None:
        with self._lock:
            self._kept.pop(_key(sitting), None)
            self._kept[_key(sitting)] = self._clock(), seat
            self._drop_idle()
            while len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]

    def __len__(self) -> int:
        return len(self._kept)

    def _drop_idle(self) -> None:
        oldest = self._clock() - self._idle_s
        while self._kept and next(iter(self._kept.values()))[0] < oldest:
            del self._kept[next(iter(self._kept))]


def _key(sitting: Sitting) -> str:
    return sitting.model_dump_json()
