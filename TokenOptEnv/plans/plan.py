"""A plan: actions that solve one scenario in one world, and what they were seen to cost."""

from __future__ import annotations

from TokenOptEnv.models import TokenOptEnvAction
from TokenOptEnv.models.base import Frozen


class Plan(Frozen):
    scenario_id: str
    world_index: int
    actions: tuple[TokenOptEnvAction, ...]
    nano_usd: int
    routed_nano_usd: int
