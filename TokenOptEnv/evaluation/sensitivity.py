"""How far a ranking rests on what was assumed: played again under each variation, and compared with the default.

The reference under a variation is the default's plan, priced anew: all policies share it, so it hardly moves a ranking.
Only another catalog, whose models are others, has plans of its own. Where a plan no longer solves its case, what it
cost by default stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from TokenOptEnv import policies, scenario_store
from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.episode_runtime import advance, start
from TokenOptEnv.errors import PlanNotFound
from TokenOptEnv.evaluation import pool
from TokenOptEnv.evaluation.variations import DEFAULT, VARIATIONS, Variation
from TokenOptEnv.models import ScoreBreakdown
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.plans import reference_plan
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.world import ReferenceCosts

_DECIMALS = 4


class Cell(NamedTuple):
    """What one policy came to in one episode of one variation."""

    variation: int
    policy: str
    sce: float
    total_return: float


class _Work(NamedTuple):
    variation: int
    scenario_id: str


class Row(Frozen):
    about: str
    variation: str
    tau: float | None
    """Kendall's, between this ranking and the default's; None where a ranking has only one place."""
    best: str
    mean_sce: dict[str, float]
    """By policy, the best first."""


def study(
    policy_names: Sequence[str], scenario_ids: Sequence[str], seeds: Sequence[int], workers: int
) -> Iterator[Cell]:
    work = [_Work(number, scenario_id) for scenario_id in scenario_ids for number in range(len(VARIATIONS))]
    for cells in pool.results(partial(_played, tuple(policy_names), tuple(seeds)), work, workers):
        yield from cells


def rows(cells: Sequence[Cell]) -> tuple[Row, ...]:
    scores = [_scores([cell for cell in cells if cell.variation == number]) for number in range(len(VARIATIONS))]
    default = scores[VARIATIONS.index(DEFAULT)]
    return tuple(_row(variation, score, default) for variation, score in zip(VARIATIONS, scores, strict=True))


def markdown(found: Sequence[Row], title: str) -> str:
    lines = [f"{title}.", "", "| assumption | instead | tau | best | its SCE |", "|---|---|---:|---|---:|"]
    for row in found:
        tau = "-" if row.tau is None else f"{row.tau:.2f}"
        lines.append(f"| {row.about} | {row.variation} | {tau} | {row.best} | {row.mean_sce[row.best]:.3f} |")
    return "\n".join(lines)


def kendall_tau(left: Sequence[tuple[float, ...]], right: Sequence[tuple[float, ...]]) -> float | None:
    """Tau-b: pairs that tie in both rankings say nothing, those that tie in one count against it."""
    agree = ties_left = ties_right = pairs = 0
    for i in range(len(left)):
        for j in range(i):
            ours, theirs = _sign(left[i], left[j]), _sign(right[i], right[j])
            pairs += 1
            agree += ours * theirs
            ties_left += ours == 0
            ties_right += theirs == 0
    scale = ((pairs - ties_left) * (pairs - ties_right)) ** 0.5
    return round(agree / scale, _DECIMALS) if scale else None


def _row(variation: Variation, scores: dict[str, tuple[float, float]], default: dict[str, tuple[float, float]]) -> Row:
    names = sorted(scores, key=lambda name: (scores[name], name), reverse=True)
    return Row(
        about=variation.about,
        variation=variation.name,
        tau=kendall_tau([scores[name] for name in names], [default[name] for name in names]),
        best=names[0],
        mean_sce={name: round(scores[name][0], _DECIMALS) for name in names},
    )


def _scores(cells: Sequence[Cell]) -> dict[str, tuple[float, float]]:
    """What a leaderboard ranks by: SCE, then return."""
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.policy, []).append(cell)
    return {
        name: (sum(c.sce for c in held) / len(held), sum(c.total_return for c in held) / len(held))
        for name, held in found.items()
    }


def _sign(left: tuple[float, ...], right: tuple[float, ...]) -> int:
    return (left > right) - (left < right)


def _played(policy_names: tuple[str, ...], seeds: tuple[int, ...], work: _Work) -> tuple[Cell, ...]:
    variation, scenario = VARIATIONS[work.variation], scenario_store.load(work.scenario_id)
    cells = []
    for seed in seeds:
        for name in policy_names:
            score = _score(name, scenario, seed, variation)
            cells.append(Cell(work.variation, name, score.sce, score.total_return))
    return tuple(cells)


def _score(policy_name: str, scenario: Scenario, seed: int, variation: Variation) -> ScoreBreakdown:
    policy = policies.make(policy_name, seed)
    world = variation.world(scenario, seed, partial(_reference, scenario, seed, variation))
    outcome = start(world, "")
    while outcome.score is None:
        outcome = advance(outcome.state, policy.act(outcome.observation), world)
    return outcome.score


@lru_cache(maxsize=256)
def _reference(scenario: Scenario, seed: int, variation: Variation) -> ReferenceCosts | None:
    config = variation.config if variation.config.catalog != EpisodeConfig().catalog else EpisodeConfig()
    try:
        plan = reference_plan(scenario, seed, config)
    except PlanNotFound:
        return None
    world = variation.world(scenario, seed)
    outcome = start(world, "")
    for action in plan.actions:
        if outcome.score is None:
            outcome = advance(outcome.state, action, world)
    if outcome.score is None or not outcome.score.success:
        return ReferenceCosts(plan.nano_usd, plan.routed_nano_usd)
    return ReferenceCosts(outcome.score.cost_nano_usd, outcome.score.routed_nano_usd)
