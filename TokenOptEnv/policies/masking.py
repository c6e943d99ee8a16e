"""Observation masking: retrieve and ask as `rag` does, but keep nothing of a question except what was found.

Published for coding agents as half the cost at the same quality, where dropping old observations is free. Here
it takes an action, and a prompt cache makes keeping cheap: whether it pays is what this policy measures.
"""

from __future__ import annotations

from TokenOptEnv.models import ItemKind, TokenOptEnvObservation
from TokenOptEnv.policies import desk
from TokenOptEnv.policies.base import PolicyInfo
from TokenOptEnv.policies.rag import Rag
from TokenOptEnv.policies.script import Steps


class Masking(Rag):
    def tidy(self, observation: TokenOptEnvObservation) -> Steps:
        used = [
            item
            for item in observation.working_memory.items
            if not item.finding_ids and item.kind is not ItemKind.CHECKPOINT
        ]
        purge = desk.purge(observation, used)
        return observation if purge is None else (yield purge)


POLICY = PolicyInfo("masking", "rag that drops search results and evidence as soon as they are used", Masking)
