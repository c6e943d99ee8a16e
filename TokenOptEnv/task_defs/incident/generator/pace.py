"""How long, how busy and how wordy cases of a difficulty are."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.config import Difficulty


@dataclass(frozen=True, slots=True)
class Pace:
    minutes: int
    per_minute: int
    since_minute: tuple[int, int]
    """When the fault is put in."""
    tokens: tuple[int, int]
    """The size aimed at, well inside what the difficulty allows."""
    other_changes: int
    """Between two of the suspects' entries in the list of changes."""
    small_talk: int
    further_logs: int
    """Of services that are not suspects."""


PACES = {
    Difficulty.EASY: Pace(14, 9, (3, 4), (8_000, 10_000), 4, 1, 0),
    Difficulty.MEDIUM: Pace(16, 12, (4, 5), (20_000, 27_000), 5, 3, 0),
    Difficulty.HARD: Pace(24, 15, (6, 9), (66_000, 82_000), 9, 6, 2),
    Difficulty.MARATHON: Pace(34, 12, (8, 11), (66_000, 82_000), 9, 6, 2),
}
