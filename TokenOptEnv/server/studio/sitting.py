"""What goes between the page and the server: an episode so far, and what one action made of it.

The page says each time what was played: the case, the options, every action. An episode is a function of these, so
any process can go on with it, after a restart as well; the environments that are kept (`seats`) only save time.
"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from TokenOptEnv.config import SIZES, Profile, Track
from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.server.studio.forms import ActionForm

_MOST_ACTIONS: Final = max(sizes.steps for sizes in SIZES.values())
_LARGEST_SEED: Final = 2**31 - 1

Name = Annotated[str, Field(max_length=120)]


class Sitting(Frozen):
    """An episode as far as it was played."""

    scenario_id: Name
    seed: int = Field(0, ge=0, le=_LARGEST_SEED)
    profile: Profile = Profile.V2
    track: Track = Track.CONTROLLER
    catalog: Name = "measured"
    policy: Name | None = None
    """Who plays; None is the visitor."""
    actions: tuple[TokenOptEnvAction, ...] = Field((), max_length=_MOST_ACTIONS)


class Move(Frozen):
    """A visitor's next action, on top of what was played."""

    sitting: Sitting
    action: TokenOptEnvAction


class Frame(Frozen):
    """What is shown after an action, or before the first."""

    action: TokenOptEnvAction | None
    said: str
    """The action in its short form, which is what its output is billed as."""
    observation: TokenOptEnvObservation
    forms: tuple[ActionForm, ...]
    """What the visitor may do next; nothing where a policy plays."""
