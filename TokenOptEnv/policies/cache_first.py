"""Ask the cache before anybody else; trust what is of this version and young, read again what it cites, else cascade.

All questions are put to the cache before the first model is asked: an outdated result that came later would be
the latest word on its question.
"""

from __future__ import annotations

from TokenOptEnv import questions
from TokenOptEnv.config import CACHE_MAX_HITS, FINDING_CAP_TOKENS, Profile
from TokenOptEnv.models import Finding, TokenOptEnvObservation
from TokenOptEnv.policies import desk, errands, provenance
from TokenOptEnv.policies.base import PolicyInfo
from TokenOptEnv.policies.cascade import Cascade
from TokenOptEnv.policies.script import Steps

_YOUNG_HOURS = 24


class CacheFirst(Cascade):
    def prepare(self, observation: TokenOptEnvObservation) -> Steps:
        for subtask in observation.task.subtasks:
            if subtask.subtask_id in self.done or self.spare_steps(observation) < 2:
                continue
            observation = yield from errands.make_room(observation, CACHE_MAX_HITS * FINDING_CAP_TOKENS)
            if desk.room_tokens(observation) < CACHE_MAX_HITS * FINDING_CAP_TOKENS:
                break
            query = questions.wording(observation, subtask)
            observation = yield from errands.query_cache(observation, query)
            self.done.update(finding.subtask_id for finding in trusted(observation, _YOUNG_HOURS))
        self.distrusted.update(finding.finding_id for finding in outdated(observation, _YOUNG_HOURS))
        return (yield from settle(observation, _YOUNG_HOURS))


def trusted(observation: TokenOptEnvObservation, most_hours: int) -> tuple[Finding, ...]:
    """The youngest current result to each question."""
    current = [each for each in observation.findings if provenance.is_current(each, observation, most_hours)]
    youngest: dict[str, Finding] = {}
    for finding in sorted(current, key=lambda each: (each.age_hours or 0, each.finding_id)):
        youngest.setdefault(finding.subtask_id, finding)
    return tuple(youngest.values())


def outdated(observation: TokenOptEnvObservation, most_hours: int) -> tuple[Finding, ...]:
    """Cached results to questions of this phase that are not trusted. What earlier phases noted down is not judged."""
    asked = {subtask.subtask_id for subtask in observation.task.subtasks}
    kept = trusted(observation, most_hours)
    return tuple(
        finding
        for finding in observation.findings
        if finding.source == "cache" and finding.subtask_id in asked and finding not in kept
    )


def settle(observation: TokenOptEnvObservation, most_hours: int) -> Steps:
    """Drop the results that are not trusted, and read what the others cite: a cached finding grounds only that."""
    others = {finding.finding_id for finding in outdated(observation, most_hours)}
    items = [item for item in observation.working_memory.items if others.intersection(item.finding_ids)]
    purge = desk.purge(observation, items)
    if purge is not None:
        observation = yield purge
    cites = [cite for finding in trusted(observation, most_hours) for cite in finding.cites]
    if cites and observation.task.profile is not Profile.V1:
        cited = [handle for handle in observation.surfaced if handle.segment_id in cites]
        needed = sum(handle.tokens + errands.HEADER_TOKENS for handle in cited)
        observation = yield from errands.make_room(observation, needed)
        observation = yield from errands.load(observation, cites)
    return observation


POLICY = PolicyInfo(
    "cache-first", "trusts young results of this version and reads their evidence, else cascade", CacheFirst
)
