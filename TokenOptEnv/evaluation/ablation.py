"""What each action is worth: what the reference plan costs where it may not be used.

An action that could be left out at no loss would be decoration. A plan that does not use an action is its own plan
without it; all others are made anew, by the same planner. Worlds in which even the reference has to look up whom to ask
are left out: nothing can be told from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Final

from TokenOptEnv.config import Difficulty, EpisodeConfig
from TokenOptEnv.errors import PlanNotFound
from TokenOptEnv.models import ActionType
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.plans import Plan
from TokenOptEnv.plans.reference import make_plan_without
from TokenOptEnv.scenario import Scenario

EVERYWHERE: Final = (
    ActionType.HYDRATE_SEGMENTS,
    ActionType.COMPRESS_CONTEXT,
    ActionType.QUERY_CACHE,
    ActionType.SEARCH_ARTIFACTS,
    ActionType.ESCALATE_ROUTE,
)
IN_MARATHONS: Final = (ActionType.WRITE_CHECKPOINT,)
DEARER: Final = 1.10
"""From this ratio on, doing without an action costs something."""
LEAST_SHARE: Final = 0.15
"""Of the cases in which each action must be worth that much."""
MOST_ROUTES: Final = 0.5
"""The share of routes that one model may have."""


class CaseAblation(Frozen):
    scenario_id: str
    difficulty: Difficulty
    nano_usd: int
    """What the reference costs, over the worlds looked at."""
    without: dict[str, int | None]
    """By action type: what it costs without; None where some world has no plan then."""
    routes: dict[str, int]
    """By model: how often the reference asks it."""

    def ratio(self, kind: ActionType) -> float | None:
        """How much dearer it is without; None where it cannot be solved."""
        cost = self.without[kind.value]
        return None if cost is None else cost / self.nano_usd


class ActionWorth(Frozen):
    action_type: str
    cases: int
    unsolvable: int
    dearer: int
    median_ratio: float | None
    """Of the cases that can be solved without it."""

    @property
    def share(self) -> float:
        return (self.unsolvable + self.dearer) / self.cases

    @property
    def matters(self) -> bool:
        return self.share >= LEAST_SHARE


class ModelShare(Frozen):
    model_id: str
    routes: int
    share: float


class Ablation(Frozen):
    worlds: int
    cases: tuple[CaseAblation, ...]
    actions: tuple[ActionWorth, ...]
    models: tuple[ModelShare, ...]
    """The most asked first."""

    @property
    def faults(self) -> tuple[str, ...]:
        """What the suite should have and has not, one line each."""
        idle = [
            f"{worth.action_type} matters in {worth.share:.0%} of the cases; at least {LEAST_SHARE:.0%} are wanted"
            for worth in self.actions
            if not worth.matters
        ]
        overused = [
            f"{model.model_id} has {model.share:.0%} of the routes; at most {MOST_ROUTES:.0%} are wanted"
            for model in self.models
            if model.share > MOST_ROUTES
        ]
        return (*idle, *overused)


def ablated(scenario: Scenario, worlds: int) -> CaseAblation | None:
    """None where no world can be compared."""
    config = EpisodeConfig()
    difficulty = scenario.public.difficulty
    found = (_plan(scenario, index, config, frozenset()) for index in range(worlds))
    plans = [plan for plan in found if plan is not None]
    if not plans:
        return None
    kinds = EVERYWHERE + (IN_MARATHONS if difficulty is Difficulty.MARATHON else ())
    routes = Counter(action.model_id for plan in plans for action in plan.actions if action.model_id is not None)
    return CaseAblation(
        scenario_id=scenario.scenario_id,
        difficulty=difficulty,
        nano_usd=sum(plan.nano_usd for plan in plans),
        without={kind.value: _cost_without(kind, scenario, plans, config) for kind in kinds},
        routes=dict(sorted(routes.items())),
    )


def summed_up(cases: Sequence[CaseAblation], worlds: int) -> Ablation:
    routes = Counter[str]()
    for case in cases:
        routes.update(case.routes)
    kinds = [kind for kind in (*EVERYWHERE, *IN_MARATHONS) if any(kind.value in case.without for case in cases)]
    return Ablation(
        worlds=worlds,
        cases=tuple(sorted(cases, key=lambda case: case.scenario_id)),
        actions=tuple(_worth(kind, [case for case in cases if kind.value in case.without]) for kind in kinds),
        models=tuple(
            ModelShare(model_id=model_id, routes=count, share=round(count / routes.total(), 4))
            for model_id, count in sorted(routes.items(), key=lambda each: (-each[1], each[0]))
        ),
    )


def markdown(found: Ablation) -> str:
    lines = [
        "# What each action is worth",
        "",
        f"Written by `camre scenarios ablate`: {len(found.cases)} cases in {found.worlds} worlds each, planned by the"
        " reference planner without one action after the other.",
        "",
        f"| without | cases | unsolvable | at least {DEARER - 1:.0%} dearer | matters in | median cost |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for worth in found.actions:
        ratio = "" if worth.median_ratio is None else f"x {worth.median_ratio:.2f}"
        counts = f"{worth.cases} | {worth.unsolvable} | {worth.dearer} | {worth.share:.0%}"
        lines.append(f"| {worth.action_type} | {counts} | {ratio} |")
    lines += ["", "| model | routes | share |", "|---|---:|---:|"]
    lines += [f"| {model.model_id} | {model.routes} | {model.share:.0%} |" for model in found.models]
    if found.faults:
        lines += ["", *(f"- {line}" for line in found.faults)]
    return "\n".join(lines) + "\n"


def _cost_without(kind: ActionType, scenario: Scenario, plans: Iterable[Plan], config: EpisodeConfig) -> int | None:
    total = 0
    for plan in plans:
        without: Plan | None = plan
        if any(action.action_type is kind for action in plan.actions):
            without = _plan(scenario, plan.world_index, config, frozenset({kind}))
        if without is None:
            return None
        total += without.nano_usd
    return total


def _plan(scenario: Scenario, index: int, config: EpisodeConfig, forbidden: frozenset[ActionType]) -> Plan | None:
    try:
        return make_plan_without(scenario, index, config, forbidden)
    except PlanNotFound:
        return None


def _worth(kind: ActionType, cases: Sequence[CaseAblation]) -> ActionWorth:
    ratios = [case.ratio(kind) for case in cases]
    solvable = [ratio for ratio in ratios if ratio is not None]
    return ActionWorth(
        action_type=kind.value,
        cases=len(cases),
        unsolvable=len(cases) - len(solvable),
        dearer=sum(ratio >= DEARER for ratio in solvable),
        median_ratio=round(median(solvable), 4) if solvable else None,
    )
