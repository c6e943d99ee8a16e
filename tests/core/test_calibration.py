"""The fit to published figures: within its limits, repeatable to the byte, and what the catalogs and pages hold."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from math import exp
from pathlib import Path
from statistics import fmean

import pytest

from TokenOptEnv.calibration.confidence import fit_confidence
from TokenOptEnv.calibration.correlation import fit_rho, moved_to, oracle
from TokenOptEnv.calibration.curves import SlopeFamily, fit_curves, left_out
from TokenOptEnv.calibration.figures import load_figures
from TokenOptEnv.calibration.fit import Fit, fit
from TokenOptEnv.calibration.ladder import divide
from TokenOptEnv.calibration.least_squares import minimise
from TokenOptEnv.calibration.residuals import Point, left_out_errors, parameter_counts, points
from TokenOptEnv.calibration.run import Calibration, calibrate
from TokenOptEnv.calibration.verdict import Verdict, judge
from TokenOptEnv.catalog import CATALOGS, load_behaviours, load_catalog
from TokenOptEnv.catalog.snapshot import load_parameters
from TokenOptEnv.cli import main as cli
from TokenOptEnv.cli import pages
from TokenOptEnv.models import Effort, Tier
from TokenOptEnv.scenario import QuestionKind
from TokenOptEnv.simulators.odds import kept_at_length

ROOT = Path(__file__).parents[2]
FIGURES = load_figures()


@cache
def _fit() -> Fit:
    return fit(FIGURES)


@cache
def _calibration() -> Calibration:
    return calibrate()


@cache
def _points() -> tuple[Point, ...]:
    return points(_fit(), FIGURES, load_parameters("measured"))


# --- limits


def test_fitted_points_are_off_by_at_most_four_and_held_out_ones_by_at_most_five() -> None:
    verdict = _calibration().verdict
    assert verdict.faults == ()
    assert verdict.fitted_error <= 4.0
    assert verdict.held_out_error <= 5.0


def test_there_are_at_least_two_fitted_points_for_each_parameter() -> None:
    verdict = _calibration().verdict
    assert 2 * verdict.parameters <= verdict.fitted_points
    assert verdict.parameters == sum(parameter_counts(_fit()).values())


def test_each_length_table_alone_has_two_points_for_each_parameter() -> None:
    """Ceilings and halves as rows have them, and the shared ones once: fewer than the fitted points by half."""
    fitted = sum(not point.held_out for point in _points() if point.table in {"NoLiMa", "RULER", "LOCA-bench"})
    assert 2 * _fit().curves.parameters <= fitted == 47


def test_what_is_held_out_is_what_was_fixed() -> None:
    held = {(point.table, point.at) for point in _points() if point.held_out}
    assert held == {("NoLiMa", "2K"), ("NoLiMa", "8K"), ("NoLiMa", "16K"), ("RULER", "16K"), ("LOCA-bench", "64K")}
    assert sum(point.held_out for point in _points()) == 3 * 5 + 3 + 3


def test_held_out_points_do_not_move_the_fit() -> None:
    """Were they looked at, other values there would give another fit."""
    spoilt = tuple(
        table.model_copy(
            update={
                "rows": {
                    model: tuple(
                        1.0 if tokens in table.held_out_tokens else value
                        for tokens, value in zip(table.tokens, row, strict=True)
                    )
                    for model, row in table.rows.items()
                }
            }
        )
        for table in FIGURES.lengths
    )
    assert fit_curves(FIGURES.model_copy(update={"lengths": spoilt})) == _fit().curves


@pytest.mark.parametrize(
    ("update", "fault"),
    [
        ({"parameters": 40}, "40 parameters are too many for 69 fitted points"),
        ({"fitted_error": 4.01}, "fitted points are off by 4.01, at most 4 is allowed"),
        ({"held_out_error": 6.5}, "held-out points are off by 6.50, at most 5 is allowed"),
    ],
)
def test_a_broken_limit_is_named(update: dict[str, float], fault: str) -> None:
    good = Verdict(parameters=31, fitted_points=69, fitted_error=1.0, held_out_points=21, held_out_error=2.0)
    assert good.faults == ()
    assert good.model_copy(update=update).faults == (fault,)


def test_errors_are_means_of_absolute_values() -> None:
    found = (
        Point("t", "a", "1K", 50.0, 53.0),
        Point("t", "b", "1K", 50.0, 49.0),
        Point("t", "a", "2K", 40.0, 34.0, held_out=True),
    )
    verdict = judge(found, 1)
    assert (verdict.fitted_points, verdict.fitted_error) == (2, 2.0)
    assert (verdict.held_out_points, verdict.held_out_error) == (1, 6.0)


def test_every_counted_model_is_also_left_out_once() -> None:
    found = left_out_errors(FIGURES)
    rows = sum(len(table.rows) for table in FIGURES.lengths) + len(FIGURES.task_table("swe-bench").rows)
    assert len(found) == rows
    assert fmean(each.mean_error for each in found) > _calibration().verdict.held_out_error


def test_a_model_left_out_is_expected_at_the_mean_of_its_table() -> None:
    expected = left_out(FIGURES, "nolima", "Claude-3.5-Sonnet")
    assert expected.family is SlopeFamily.HYPERBOLIC
    others = [curve for curve in _fit().curves.rows if curve.table == "nolima" and curve.model != expected.model]
    assert expected.ceiling == pytest.approx(fmean(curve.ceiling for curve in others), abs=1e-3)


# --- what the figures are


def test_every_table_names_its_source() -> None:
    tables = (*FIGURES.lengths, *FIGURES.tasks, *FIGURES.confidence)
    named = [*(table.source for table in tables), FIGURES.discrimination.source, FIGURES.distractors.source]
    named += [FIGURES.reductions.source, FIGURES.routing.source]
    assert all(len(source) > 10 for source in named)
    assert all("†" not in source for source in named)


def test_tables_that_share_no_model_with_another_count_neither_points_nor_parameters() -> None:
    uncounted = {table.title for table in FIGURES.tasks if not table.counted}
    assert uncounted == {"RootCauseBench", "ITBench-AA"}
    assert not uncounted & {point.table for point in _points()}
    hle = {model for table in FIGURES.confidence for model in table.rows}
    assert set(FIGURES.task_table("swe-bench").rows) & hle == {"o3", "o4-mini"}


# --- the parts


def test_least_squares_finds_the_curve_that_made_the_points() -> None:
    at = [0.5 * step for step in range(12)]
    made = [3.0 * exp(-0.7 * x) + 1.0 for x in at]
    found = minimise(
        lambda p: [p[0] * exp(-p[1] * x) + p[2] - y for x, y in zip(at, made, strict=True)], [1.0, 0.1, 0.0]
    )
    assert found == pytest.approx([3.0, 0.7, 1.0], abs=1e-5)


def test_least_squares_survives_a_step_into_overflow() -> None:
    found = minimise(lambda p: [exp(p[0]) - 2.0], [-7.0])
    assert found == pytest.approx([0.693147], abs=1e-4)


def test_a_ladder_is_cut_where_the_gaps_are() -> None:
    values = {"a": 1.0, "b": 1.2, "c": 5.0, "d": 5.1, "e": 9.0}
    assert divide(values, 3) == (("a", "b"), ("c", "d"), ("e",))
    assert divide(values, 1) == (("a", "b", "c", "d", "e"),)
    assert divide(values, 5) == (("a",), ("b",), ("c",), ("d",), ("e",))


def test_more_shared_errors_bring_the_oracle_nearer_to_the_best_model() -> None:
    shares = moved_to([0.9, 0.8, 0.7, 0.6], 0.731)
    assert max(shares) == pytest.approx(0.731)
    reached = [oracle(shares, rho) for rho in (0.1, 0.5, 0.9)]
    assert reached == sorted(reached, reverse=True)
    assert reached[-1] > 0.731
    rho = fit_rho(FIGURES.routing, [0.9, 0.8, 0.7, 0.6])
    assert oracle(shares, rho) == pytest.approx(0.916, abs=1e-3) or rho < 0.02


def test_the_least_overconfident_group_is_the_first_and_each_states_what_was_published() -> None:
    confidence = fit_confidence(FIGURES)
    biases = [group.bias for group in confidence.groups]
    assert biases == sorted(biases)
    for table in FIGURES.confidence:
        for model, row in table.rows.items():
            stated, _ = confidence.stated(confidence.of(model).bias, row.accuracy / 100.0)
            assert stated > row.accuracy + 15.0
            assert abs(stated - row.stated) < 7.0


# --- what the catalogs hold


def test_the_catalogs_and_pages_hold_what_the_fit_gives() -> None:
    made = _calibration()
    assert pages.stale(made.parameters, made.pages) == ()
    assert {name: load_parameters(name) for name in CATALOGS} == made.parameters


def test_nonlexical_accuracy_falls_with_length_as_nolima_measured() -> None:
    behaviours = load_behaviours("measured")[1]
    names = {"GPT-4o": "gpt-4o", "Llama-3.3-70B": "llama-3.3-70b", "GPT-4o-mini": "gpt-4o-mini"}
    table = FIGURES.length_table("nolima")
    for published, model_id in names.items():
        base = table.rows[published][0]
        for tokens, accuracy in zip(table.tokens, table.rows[published], strict=True):
            assert abs(base * kept_at_length(behaviours[model_id].nonlexical_length, tokens) - accuracy) < 4.5


def test_strong_models_are_right_on_short_plain_lookups_and_weak_ones_often() -> None:
    _, behaviours = load_behaviours("measured")
    cards = load_catalog("measured").cards
    spans = {Tier.FRONTIER: (0.93, 0.97), Tier.MID: (0.83, 0.95), Tier.SMALL: (0.6, 0.9)}
    for model_id, behaviour in behaviours.items():
        low, high = spans[cards[model_id].tier]
        for curve in (behaviour.lexical_length, behaviour.nonlexical_length):
            assert low <= behaviour.ceiling[QuestionKind.LOOKUP] * kept_at_length(curve, 600) <= high


@pytest.mark.parametrize("kind", QuestionKind)
def test_a_tier_is_better_than_the_one_below_on_every_kind_of_question(kind: QuestionKind) -> None:
    _, behaviours = load_behaviours("measured")
    cards = load_catalog("measured").cards
    means = [
        fmean(behaviour.ceiling[kind] for model_id, behaviour in behaviours.items() if cards[model_id].tier is tier)
        for tier in Tier
    ]
    assert means == sorted(means)
    assert means[-1] > means[0] + 0.05


def test_models_that_think_first_gain_more_by_effort() -> None:
    _, behaviours = load_behaviours("measured")
    assert behaviours["gpt-5"].effort_gain[Effort.HIGH] > behaviours["gpt-4o"].effort_gain[Effort.HIGH] > 0.0


# --- the command


def test_the_check_prints_errors_and_parameter_count_and_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["calibrate", "--check"]) == 0
    shown = capsys.readouterr().out
    verdict = _calibration().verdict
    assert f"{verdict.parameters} parameters on {verdict.fitted_points} fitted points" in shown
    assert f"held out: {verdict.held_out_error:.2f} on {verdict.held_out_points} points" in shown


def test_the_check_fails_where_a_page_was_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pages, "docs_folder", lambda: tmp_path)
    assert cli.run(["calibrate", "--check", "--json"]) == 1
    faults = json.loads(capsys.readouterr().out)["faults"]
    assert any(fault.endswith("calibration.md is not what the fit gives; run camre calibrate") for fault in faults)


@pytest.mark.parametrize("hash_seed", ["0", "77"])
def test_the_fit_gives_the_same_bytes_in_every_process(hash_seed: str) -> None:
    code = (
        "from TokenOptEnv.calibration.run import calibrate; c = calibrate();"
        "print(*[p.model_dump_json() for p in c.parameters.values()], *c.pages.values())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": hash_seed}
    )
    made = _calibration()
    expected = [*(each.model_dump_json() for each in made.parameters.values()), *made.pages.values()]
    assert done.stdout == " ".join(expected) + "\n"


def test_every_plot_of_the_page_is_made_with_it() -> None:
    made = _calibration().pages
    shown = re.findall(r"\]\((assets/[^)]+)\)", made["calibration.md"])
    assert sorted(shown) == sorted(name for name in made if name.endswith(".svg"))
    for name in shown:
        assert (ROOT / "docs" / name).is_file()
        assert made[name].count("<circle") >= 15
