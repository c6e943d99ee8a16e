"""A line of an index: what is told of a case without loading it."""

from __future__ import annotations

from TokenOptEnv.config import YARDSTICK
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.scenario import Scenario


class IndexRow(Frozen):
    scenario_id: str
    family: str
    difficulty: str
    title: str
    artifact_tokens: int
    content_hash: str


def row_of(scenario: Scenario) -> IndexRow:
    public = scenario.public
    return IndexRow(
        scenario_id=public.scenario_id,
        family=public.family,
        difficulty=public.difficulty.value,
        title=public.title,
        artifact_tokens=sum(public.segment_tokens[YARDSTICK]),
        content_hash=scenario.content_hash,
    )
