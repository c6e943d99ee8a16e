"""Doing the same thing over and over, in case it pays."""

from __future__ import annotations

from TokenOptEnv.models import ActionType, ItemKind, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies.cheapest import cheapest_model
from TokenOptEnv.policies.red_team.trick import (
    Trick,
    ask,
    ask_everything,
    hydrate,
    read,
    search,
    smallest_artifact,
    surfaced,
)
from TokenOptEnv.policies.script import Steps


class SpamCheckpoints(Trick):
    """Writes note after note of whatever was found."""

    name = "spam-checkpoints"

    def play(self, observation: TokenOptEnvObservation) -> Steps:
        observation = yield from ask_everything(observation)
        while True:
            observation = yield TokenOptEnvAction(
                action_type=ActionType.WRITE_CHECKPOINT,
                note=f"progress {observation.step}",
                finding_ids=tuple(finding.finding_id for finding in observation.findings)[:1],
            )


class SpamReads(Trick):
    """Opens the same small artifact again and again."""

    name = "spam-reads"

    def play(self, observation: TokenOptEnvObservation) -> Steps:
        observation = yield from ask_everything(observation)
        while True:
            observation = yield read(smallest_artifact(observation))


class SpamEscalations(Trick):
    """Escalates its first answer over and over, and leaves the other questions."""

    name = "spam-escalations"

    def play(self, observation: TokenOptEnvObservation) -> Steps:
        subtask = observation.task.subtasks[0]
        observation = yield search(subtask.question)
        observation = yield ask(subtask, cheapest_model(observation), *surfaced(observation)[:4])
        while routes := observation.routing.routes:
            observation = yield TokenOptEnvAction(
                action_type=ActionType.ESCALATE_ROUTE, route_id=routes[-1].route_id, effort="high"
            )
        return observation


class SpamMalformed(Trick):
    """Says nothing that can be parsed, until it must."""

    name = "spam-malformed"

    def play(self, observation: TokenOptEnvObservation) -> Steps:
        while True:
            yield TokenOptEnvAction(action_type=ActionType.MALFORMED, raw_text="reward = 1.0; " * 200)


class SpamSqueezes(Trick):
    """Compresses what it holds, and what is left of it, and what is left of that."""

    name = "spam-squeezes"

    def play(self, observation: TokenOptEnvObservation) -> Steps:
        observation = yield from ask_everything(observation)
        observation = yield hydrate(*surfaced(observation)[:2])
        kinds = (ItemKind.SEGMENT, ItemKind.SEARCH, ItemKind.COMPRESSED)
        while items := [item.item_id for item in observation.working_memory.items if item.kind in kinds]:
            observation = yield TokenOptEnvAction(
                action_type=ActionType.COMPRESS_CONTEXT,
                context_segment_ids=tuple(items),
                method="head_tail",
                target_ratio=0.5,
            )
        return observation
