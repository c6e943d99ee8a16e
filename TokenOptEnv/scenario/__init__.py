"""A scenario: a frozen task, in two types that never mix.

`PublicScenario` is all an agent may ever be shown. `HiddenScenario` is what the graders and the
simulated models know. The observation builder takes the first and cannot be handed the second.
"""

from TokenOptEnv.scenario.hidden import (
    CacheValidity,
    Candidate,
    Decoy,
    Fact,
    FieldTruth,
    HiddenScenario,
    Place,
    QuestionKind,
    SubtaskTruth,
)
from TokenOptEnv.scenario.public import Artifact, CacheEntry, Phase, PublicScenario, Segment
from TokenOptEnv.scenario.whole import (
    Scenario,
    content_hash,
    dump_scenario,
    load_scenario,
    load_scenario_json,
    public_hash,
    scenario_json,
)

__all__ = [
    "Artifact",
    "CacheEntry",
    "CacheValidity",
    "Candidate",
    "Decoy",
    "Fact",
    "FieldTruth",
    "HiddenScenario",
    "Phase",
    "Place",
    "PublicScenario",
    "QuestionKind",
    "Scenario",
    "Segment",
    "SubtaskTruth",
    "content_hash",
    "dump_scenario",
    "load_scenario",
    "load_scenario_json",
    "public_hash",
    "scenario_json",
]
