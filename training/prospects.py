"""What an episode is worth on average over all draws that might have been: the same deeds with less luck in them.

Whether a model that read the evidence is right is drawn once by world. So is a success, and it weighs more than all
that a policy can save: what two ways of asking differ by drowns in who happened to be right. Training may know the odds
that were drawn from (`SimulatedBackend.prospect`), and average over the draw instead of learning from it. What came of
the episode on the way is left as it was: a question that was asked again because the first reply was no answer, or that
was about the wrong commit because an earlier one had been answered wrongly. Worlds in which nobody can answer are drawn
anew, so real successes are some hundredths more.

Nothing of it reaches a prompt. Checks and all that is reported go by what was drawn, as everywhere else.
"""

from __future__ import annotations

from math import prod
from statistics import fmean
from typing import NamedTuple

from TokenOptEnv import rewards
from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.models import FieldScore, Finding, ScoreBreakdown
from TokenOptEnv.simulators.backend import RouteReply, RouteRequest
from TokenOptEnv.simulators.routing import SimulatedBackend
from TokenOptEnv.world import World


class Expected(NamedTuple):
    success: float
    total_return: float
    sce: float


class Overheard:
    """A backend whose calls are remembered, in the order of the episode's routes."""

    def __init__(self, backend: SimulatedBackend) -> None:
        self._backend = backend
        self._requests: list[RouteRequest] = []

    def answer(self, request: RouteRequest) -> RouteReply:
        self._requests.append(request)
        return self._backend.answer(request)

    def chance(self, finding: Finding, route_id: str) -> float:
        """That it is right and grounded."""
        number = int(route_id.rpartition("-")[2])
        found = self._backend.prospect(self._requests[number - 1], finding.confidence)
        return found.chance if found.is_whole else 0.0


def expected(state: EpisodeState, score: ScoreBreakdown, world: World, heard: Overheard) -> Expected:
    """Of an episode that has ended."""
    by_field = [_resting_on(each, state) for each in score.fields]
    chances = [_chance(each, finding, heard) for each, finding in zip(score.fields, by_field, strict=True)]
    questions = {
        "" if finding is None else finding.finding_id: chance for finding, chance in zip(by_field, chances, strict=True)
    }
    success = prod(questions.values())  # of one question all fields are right together
    stakes = rewards.stakes(state, score, world)
    in_part = stakes.per_share * (fmean(chances) - success)  # of what is failed
    total_return = success * stakes.if_solved + (1.0 - success) * stakes.if_failed + in_part
    return Expected(success, total_return, success * rewards.sce(True, score.cost_nano_usd, score.reference_nano_usd))


def _resting_on(field: FieldScore, state: EpisodeState) -> Finding | None:
    """Of what was handed in, the latest that says something about this field."""
    if state.submission is None:
        return None
    return next((each for each in reversed(state.submission.findings) if field.name in each.values), None)


def _chance(field: FieldScore, finding: Finding | None, heard: Overheard) -> float:
    """What was cached was not drawn; and what is right but rests on nothing would not be helped by other draws."""
    if finding is None:
        return 0.0
    is_good = field.right and field.backed and field.grounded
    if finding.route_id is None or (field.right and not is_good):
        return float(is_good)
    return heard.chance(finding, finding.route_id)
