"""What an episode is played under: sizes, budgets and options, all public and all data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Profile(StrEnum):
    V1 = "v1"
    V2 = "v2"


class Track(StrEnum):
    CONTROLLER = "controller"
    SOLVER = "solver"


class RewardMode(StrEnum):
    DENSE = "dense"
    TERMINAL = "terminal"


class Difficulty(StrEnum):
    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"
    MARATHON = "marathon"


YARDSTICK: Final = "qwen3"
"""The vocabulary that sizes are measured in (segments, memory, caps), whoever is billed.

One fixed yardstick keeps a scenario the same under every controller model; this one splits digits
as small open models do, so a memory budget means about the same to the policies trained here.
Bills are counted in each model's own vocabulary.
"""

SEGMENT_CAP_TOKENS: Final = 300
FULL_READ_CAP_TOKENS: Final = 600
PREVIEW_CAP_TOKENS: Final = 400
PREVIEW_PAGE_SEGMENTS: Final = 8
FINDING_CAP_TOKENS: Final = 120
SEARCH_HIT_CAP_TOKENS: Final = 60
SEARCH_MAX_TOP_K: Final = 8
CACHE_RESULT_CAP_TOKENS: Final = 240
CHECKPOINT_CAP_TOKENS: Final = 600
ROUTE_MAX_HANDLES: Final = 4
DEFAULT_WORLDS: Final = 4


@dataclass(frozen=True, slots=True)
class Sizes:
    """The fixed sizes of one difficulty."""

    memory_tokens: int
    steps: int
    artifact_tokens: tuple[int, int]


SIZES: Final[dict[Difficulty, Sizes]] = {
    Difficulty.EASY: Sizes(1_500, 12, (6_000, 15_000)),
    Difficulty.MEDIUM: Sizes(3_000, 16, (15_000, 60_000)),
    Difficulty.HARD: Sizes(5_000, 24, (60_000, 250_000)),
    Difficulty.MARATHON: Sizes(5_000, 40, (60_000, 250_000)),
}
BUGFIX_HARD_ARTIFACT_TOKENS: Final = (25_000, 60_000)


@dataclass(frozen=True, slots=True)
class EpisodeConfig:
    """The options of `reset`; everything here is stamped in the trace."""

    profile: Profile = Profile.V2
    track: Track = Track.CONTROLLER
    reward_mode: RewardMode = RewardMode.DENSE
    catalog: str = "measured"
    controller_model: str = "gpt-5-mini"
    anonymous_models: bool = False
    memory_tokens: int | None = None
    """A larger memory for a larger agent; outside the leaderboard's default."""
    reveal: bool = False
    """Show truth and plan in the final observation; refused on the test split."""
