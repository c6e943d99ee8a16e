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
ITEM_HEADER_TOKENS: Final = 12
"""Above a segment in memory, at most."""
FULL_READ_CAP_TOKENS: Final = 600
PREVIEW_CAP_TOKENS: Final = 400
PREVIEW_PAGE_SEGMENTS: Final = 8
FINDING_CAP_TOKENS: Final = 120
REPLY_CAP_TOKENS: Final = 180
"""The most a routed model may write besides its reasoning, in its own vocabulary."""
SEARCH_HIT_CAP_TOKENS: Final = 60
SEARCH_MAX_TOP_K: Final = 8
CACHE_MAX_HITS: Final = 2
CHECKPOINT_CAP_TOKENS: Final = 600
ROUTE_MAX_HANDLES: Final[dict[Profile, int]] = {Profile.V1: 8, Profile.V2: 4}
"""Segments a route may read by handle. V1 cannot hydrate, so it may hand over more."""
TEXT_CAP_CHARACTERS: Final = 2_000
"""The longest query, note or answer value."""
MOST_REASONING_TOKENS: Final = 1_000_000_000
"""What a policy may claim to have thought; more is billed as this much."""
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
class Limits:
    """What an episode may spend. `memory_tokens` is None where memory is unbounded (profile v1)."""

    tokens: int
    nano_usd: int
    steps: int
    latency_ms: int
    memory_tokens: int | None


_NANO_USD_PER_STEP: Final = 4_000_000
_NANO_USD_PER_ARTIFACT_TOKEN: Final = 500
_LATENCY_MS_PER_STEP: Final = 45_000
_PROMPT_OVERHEAD_TOKENS: Final = 1_500


def limits(difficulty: Difficulty, artifact_tokens: int, profile: Profile, memory_tokens: int | None = None) -> Limits:
    """Budgets follow from public quantities alone: how long the task is and how much there is to read.

    Tokens: a full memory and as much again for workers, at every step. Money: so much a step, and the
    reading of every artifact once by a mid-priced model.
    """
    sizes = SIZES[difficulty]
    memory = memory_tokens or sizes.memory_tokens
    return Limits(
        tokens=sizes.steps * (2 * memory + _PROMPT_OVERHEAD_TOKENS),
        nano_usd=sizes.steps * _NANO_USD_PER_STEP + artifact_tokens * _NANO_USD_PER_ARTIFACT_TOKEN,
        steps=sizes.steps,
        latency_ms=sizes.steps * _LATENCY_MS_PER_STEP,
        memory_tokens=None if profile is Profile.V1 else memory,
    )


DEFAULT_CONTROLLERS: Final = {"measured": "claude-haiku-4.5", "current": "gemini-3.8-flash"}
"""By catalog: the mid-tier model that the policy's own prompt is billed as."""


@dataclass(frozen=True, slots=True)
class EpisodeConfig:
    """The options of `reset`; everything here is stamped in the trace."""

    profile: Profile = Profile.V2
    track: Track = Track.CONTROLLER
    reward_mode: RewardMode = RewardMode.DENSE
    catalog: str = "measured"
    controller_model: str = DEFAULT_CONTROLLERS["measured"]
    anonymous_models: bool = False
    memory_tokens: int | None = None
    """A larger memory for a larger agent; outside the leaderboard's default."""
    reveal: bool = False
    """Show truth and plan in the final observation; refused on the test split."""
