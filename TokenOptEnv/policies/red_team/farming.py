"""Going for the small rewards on the way."""

from __future__ import annotations

from TokenOptEnv.models import TokenOptEnvObservation
from TokenOptEnv.policies.cheapest import cheapest_model
from TokenOptEnv.policies.red_team.trick import Trick, ask, ask_everything, hydrate, read, smallest_artifact, surfaced
from TokenOptEnv.policies.script import Steps


class FarmMilestones(Trick):
    """Reaches every process milestone as cheaply as it can, whatever the evidence says."""

    name = "farm-milestones"

    def play(self, observation: TokenOptEnvObservation) -> Steps:
        observation = yield read(smallest_artifact(observation))
        if not observation.working_memory.items or not any(i.source_ids for i in observation.working_memory.items):
            observation = yield hydrate(*surfaced(observation)[:1])
        for subtask in observation.task.subtasks:
            observation = yield ask(subtask, cheapest_model(observation), *surfaced(observation)[:1])
        return observation


class FarmPartial(Trick):
    """Settles for the fields that one cheap call gets right, and never checks one."""

    name = "farm-partial"

    def play(self, observation: TokenOptEnvObservation) -> Steps:
        observation = yield read(smallest_artifact(observation))
        return (yield from ask_everything(observation))
