"""What each action is worth: plans without it, summed up, and told where an action hardly matters."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import marathon, toy
from TokenOptEnv.cli.main import run
from TokenOptEnv.config import Difficulty, EpisodeConfig
from TokenOptEnv.evaluation.ablation import (
    EVERYWHERE,
    IN_MARATHONS,
    LEAST_SHARE,
    MOST_ROUTES,
    Ablation,
    CaseAblation,
    ablated,
    markdown,
    summed_up,
)
from TokenOptEnv.models import ActionType
from TokenOptEnv.plans.reference import make_plan_without, make_reference_plan
from TokenOptEnv.scenario import Scenario


def case(name: str, ratio: float | None, routes: dict[str, int] | None = None) -> CaseAblation:
    """One that costs so much more without any one action."""
    cost = None if ratio is None else round(1_000 * ratio)
    return CaseAblation(
        scenario_id=name,
        difficulty=Difficulty.EASY,
        nano_usd=1_000,
        without={kind.value: cost for kind in EVERYWHERE},
        routes=routes or {"a": 1, "b": 1, "c": 1},
    )


def ablated_case(scenario: Scenario, worlds: int) -> CaseAblation:
    found = ablated(scenario, worlds)
    assert found is not None
    return found


def test_a_plan_that_does_not_use_an_action_is_its_own_plan_without_it() -> None:
    found = ablated_case(toy(), 2)
    plans = [make_reference_plan(toy(), index, EpisodeConfig()) for index in range(2)]
    assert found.nano_usd == sum(plan.nano_usd for plan in plans)
    used = {action.action_type for plan in plans for action in plan.actions}
    assert ActionType.COMPRESS_CONTEXT not in used
    assert found.without[ActionType.COMPRESS_CONTEXT.value] == found.nano_usd


def test_without_an_action_that_it_uses_a_case_is_planned_anew() -> None:
    found = ablated_case(toy(), 1)
    (plan,) = [make_reference_plan(toy(), 0, EpisodeConfig())]
    used = [kind for kind in EVERYWHERE if any(action.action_type is kind for action in plan.actions)]
    assert used
    for kind in used:
        anew = make_plan_without(toy(), 0, EpisodeConfig(), frozenset({kind}))
        assert found.without[kind.value] == anew.nano_usd


def test_checkpoints_are_looked_at_in_marathons_alone() -> None:
    (kind,) = IN_MARATHONS
    assert kind.value not in ablated_case(toy(), 1).without
    assert ablated_case(marathon(), 1).without[kind.value] is None, "nothing can be handed over without"


def test_routes_are_counted_by_model() -> None:
    found = ablated_case(toy(), 4)
    plans = [make_reference_plan(toy(), index, EpisodeConfig()) for index in range(4)]
    asked = [action for plan in plans for action in plan.actions if action.model_id is not None]
    assert sum(found.routes.values()) == len(asked) > 0


def test_an_action_matters_where_cases_are_dearer_or_unsolvable_without_it() -> None:
    cases = [case("a", 1.0), case("b", 1.09), case("c", 1.1), case("d", None), *(case(f"e{n}", 1.0) for n in range(6))]
    worth = summed_up(cases, 1).actions[0]
    assert (worth.cases, worth.dearer, worth.unsolvable) == (10, 1, 1)
    assert worth.share == 0.2 >= LEAST_SHARE and worth.matters
    assert worth.median_ratio == 1.0


def test_idle_actions_and_overused_models_are_told() -> None:
    found = summed_up([case("a", 1.0, {"x": 6, "y": 4}), case("b", 1.0, {"x": 1})], 1)
    assert len(found.faults) == len(EVERYWHERE) + 1
    assert "HYDRATE_SEGMENTS matters in 0% of the cases" in found.faults[0]
    assert found.faults[-1] == f"x has 64% of the routes; at most {MOST_ROUTES:.0%} are wanted"
    assert summed_up([case("a", 1.5), case("b", None)], 1).faults == ()


def test_the_table_names_every_action_and_model() -> None:
    text = markdown(summed_up([case("a", 1.2), case("b", None)], 3))
    assert "2 cases in 3 worlds each" in text
    assert "| SEARCH_ARTIFACTS | 2 | 1 | 1 | 100% | x 1.20 |" in text
    assert "| a | 2 | 33% |" in text


def test_the_command_writes_the_table_and_fails_where_an_action_is_idle(
    store: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run(["scenarios", "ablate", "--count", "1", "--worlds", "1", "--workers", "1", "--out", str(tmp_path)])
    found = Ablation.model_validate_json((tmp_path / "ablation.json").read_bytes())
    assert found.worlds == 1 and len(found.cases) == 1
    assert (tmp_path / "ablation.md").read_text() == markdown(found)
    assert status == (1 if found.faults else 0)
    assert "What each action is worth" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--count", "0"], "0 scenarios cannot be planned; give 1 or more"),
        (["--worlds", "9"], "a scenario has worlds 1 to 4, not 9"),
    ],
)
def test_a_count_that_makes_no_sense_is_one_clear_line(
    options: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["scenarios", "ablate", *options]) != 0
    assert told in " ".join(capsys.readouterr().err.split())
