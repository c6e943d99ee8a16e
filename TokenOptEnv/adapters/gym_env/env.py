"""The environment itself: `LocalEnv` behind Gymnasium's interface, for policies that speak numbers.

The controller track alone is offered: an answer in one's own words is no number.
"""

from __future__ import annotations

from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from TokenOptEnv.adapters.gym_env import features
from TokenOptEnv.adapters.gym_env.board import Board, Notes
from TokenOptEnv.adapters.gym_env.features import Features
from TokenOptEnv.adapters.gym_env.slots import Slots
from TokenOptEnv.config import Profile, Track
from TokenOptEnv.errors import BadInput, EpisodeNotRunning, UnknownName
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.models import TokenOptEnvObservation
from TokenOptEnv.prompt import render_text

_SEEDS: Final = 2**31
_RESET_OPTIONS: Final = ("scenario_id", "split", "index")


class CamreGymEnv(gymnasium.Env[Features, NDArray[np.int64]]):
    """`info["observation"]` is the typed observation, and `info["action_mask"]` says what may be chosen next."""

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012  # as the base declares it

    def __init__(
        self, profile: str = Profile.V2, split: str = "core", render_mode: str | None = None, **options: Any
    ) -> None:
        """`options` are those of an episode, as in `LocalEnv`: catalog, reward_mode, memory_tokens and the like."""
        if options.get("track", Track.CONTROLLER) != Track.CONTROLLER:
            raise BadInput("only the controller track has numbered actions; play the solver track through LocalEnv")
        self.render_mode = render_mode
        self._env = LocalEnv(profile=profile, **options)
        self._split = split
        self.slots = Slots(Profile(profile))
        self.action_space = spaces.MultiDiscrete(list(self.slots.sizes.values()))
        self.observation_space = features.space()
        self._seen: TokenOptEnvObservation | None = None
        self._notes = Notes()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Features, dict[str, Any]]:
        """A seed chooses the scenario and its world, as in `LocalEnv`; without one they follow from the last seed.

        `options` may name another `scenario_id`, or a `split` and `index`.
        """
        super().reset(seed=seed)
        drawn = seed if seed is not None else int(self.np_random.integers(_SEEDS))
        for name in options or {}:
            if name not in _RESET_OPTIONS:
                raise UnknownName("reset option", str(name), _RESET_OPTIONS, "docs/adapters.md")
        self._notes = Notes()
        return self._shown(self._env.reset(seed=drawn, **{"split": self._split, **(options or {})}))

    def step(self, action: NDArray[np.int64]) -> tuple[Features, float, bool, bool, dict[str, Any]]:
        numbers = np.asarray(action)
        if not self.action_space.contains(numbers):
            sizes = " ".join(map(str, self.slots.sizes.values()))
            raise BadInput(f"an action is {len(self.slots.sizes)} whole numbers of 0 or more, each below: {sizes}")
        seen = self._now
        wanted = self.slots.action(self.slots.chosen(numbers.tolist()), seen, Board.of(seen), self._notes)
        after = self._env.step(wanted)
        shown, info = self._shown(after)
        return shown, after.reward or 0.0, after.terminated, after.truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Of every slot in turn, in one row: the form that maskable policies ask for."""
        return self.slots.mask(self._now, Board.of(self._now)).astype(bool)

    def sample_mask(self) -> tuple[NDArray[np.int8], ...]:
        """The same, slot by slot: `env.action_space.sample(mask=env.unwrapped.sample_mask())`."""
        return self.slots.by_slot(self.slots.mask(self._now, Board.of(self._now)))

    def render(self) -> str | None:
        """The prompt that a language model would read here."""
        return render_text(self._now) if self.render_mode == "ansi" else None

    def close(self) -> None:
        self._env.close()
        self._seen = None

    @property
    def _now(self) -> TokenOptEnvObservation:
        if self._seen is None:
            raise EpisodeNotRunning("no episode is running; call reset first")
        return self._seen

    def _shown(self, seen: TokenOptEnvObservation) -> tuple[Features, dict[str, Any]]:
        self._seen = seen
        self._notes.see(seen)
        board = Board.of(seen)
        info: dict[str, Any] = {"action_mask": self.slots.mask(seen, board), "observation": seen}
        if seen.score is not None:
            info["is_success"] = seen.score.success
        return features.features(seen, board, self._notes), info
