"""First tries: a training case is played a few times to find out what its right answers rest on.

Only what a player is shown is written down: what a reply cited and, once an episode is over, which fields its score
calls right. Models and segments are drawn at random, because who always asks the same finds the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from TokenOptEnv.config import DEFAULT_WORLDS, EpisodeConfig
from TokenOptEnv.episode_runtime import advance, start
from TokenOptEnv.models import Effort, ModelCard, Subtask, TokenOptEnvObservation
from TokenOptEnv.policies.expert import Expert, is_about_all
from TokenOptEnv.policies.script import Steps
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.streams import Stream
from TokenOptEnv.world import build_world
from training.standing import Evidence

_TRIES = 2 * DEFAULT_WORLDS


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a finished episode: what its answer cited, and whether it was right."""

    subtask_id: str
    cites: tuple[str, ...]
    right: bool


class FirstTry(Expert):
    """Plays like `expert`, but asks anybody, and not always about what the search ranked first."""

    def __init__(self, draw: Stream) -> None:
        super().__init__(0)
        self._draw = draw

    def ask(self, observation: TokenOptEnvObservation, subtask: Subtask, wanted: Sequence[str]) -> Steps:
        is_mixed = not is_about_all(subtask.question) and self._draw.chance(0.5)
        return (yield from super().ask(observation, subtask, self._draw.shuffled(wanted) if is_mixed else wanted))

    def offer(
        self, observation: TokenOptEnvObservation, context_tokens: int, share_nano_usd: int
    ) -> tuple[ModelCard, Effort] | None:
        return self._draw.choice(observation.models), self._draw.choice(tuple(Effort))


def tried(scenario: Scenario, config: EpisodeConfig) -> tuple[Asked, ...]:
    """Every world twice."""
    calls: list[Asked] = []
    for number in range(_TRIES):
        player = FirstTry(Stream("first try", scenario.scenario_id, number))
        world = build_world(scenario, number % DEFAULT_WORLDS, config, reference=lambda: None)
        now = start(world, f"{scenario.scenario_id}@{number}")
        while not now.observation.done:
            now = advance(now.state, player.act(now.observation), world)
        calls += asked(now.observation)
    return tuple(calls)


def asked(ended: TokenOptEnvObservation) -> tuple[Asked, ...]:
    """The last answer to each graded question."""
    assert ended.score is not None
    right = {each.name: each.right for each in ended.score.fields}
    findings = {finding.finding_id: finding for finding in ended.findings}
    fields = {subtask.subtask_id: [name for name in subtask.fields if name in right] for subtask in ended.task.subtasks}
    last = {route.subtask_id: route for route in ended.routing.routes if route.finding_id in findings}
    return tuple(
        Asked(
            subtask_id=name,
            cites=findings[route.finding_id].cites,
            right=all(right[each] for each in fields[name]),
        )
        for name, route in last.items()
        if fields.get(name) and route.finding_id is not None
    )


def evidence(tries: Iterable[Asked]) -> Evidence:
    """By question what right answers cited most often: the least of it, where several were cited as often."""
    cited: dict[str, Counter[tuple[str, ...]]] = {}
    for each in tries:
        if each.right and each.cites:
            cited.setdefault(each.subtask_id, Counter())[tuple(sorted(each.cites))] += 1
    return {name: min(counts, key=lambda cites: (-counts[cites], len(cites), cites)) for name, counts in cited.items()}
