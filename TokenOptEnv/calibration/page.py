"""`docs/calibration.md` and its plots: what was fitted to what, what is left, and what was only set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from textwrap import fill

from TokenOptEnv.calibration.behaviours import GATE_POWER, GUESS, QUESTIONS_PER_TASK
from TokenOptEnv.calibration.figures import Figures
from TokenOptEnv.calibration.fit import DISTRACTORS_PER_DECOY, Fit
from TokenOptEnv.calibration.plots import agreement_plot, length_plot
from TokenOptEnv.calibration.residuals import LeftOut, Point, parameter_counts
from TokenOptEnv.calibration.verdict import (
    MAX_FITTED_ERROR,
    MAX_HELD_OUT_ERROR,
    MIN_POINTS_PER_PARAMETER,
    Verdict,
)
from TokenOptEnv.catalog.snapshot import BehavioursFile

PAGE = "calibration.md"
_PLOTS = "assets/calibration"
_PAGE_WIDTH = 118


def pages(
    fit: Fit,
    figures: Figures,
    measured: BehavioursFile,
    found: Sequence[Point],
    left_out: Sequence[LeftOut],
    verdict: Verdict,
) -> dict[str, str]:
    """By path under `docs`."""
    made = {
        f"{_PLOTS}/{table.name}.svg": length_plot(table, [fit.curves.of(table.name, model) for model in table.rows])
        for table in figures.lengths
    }
    made[f"{_PLOTS}/agreement.svg"] = agreement_plot(found)
    sections = (
        _opening(figures, verdict),
        _summary(found, verdict, fit),
        _plots(figures),
        _curves(fit),
        _levels(fit, figures),
        _confidence(fit, figures),
        _correlation(figures, measured),
        _set(fit, figures),
        _left_out(left_out),
        _residuals(found),
    )
    made[PAGE] = "\n\n".join(sections) + "\n"
    return made


def _opening(figures: Figures, verdict: Verdict) -> str:
    return "\n\n".join(
        (
            "# Calibration",
            _prose(
                f"Made by `camre calibrate`; do not edit. Figures of {figures.date}, with their sources:",
                "`TokenOptEnv/calibration/figures.json`. `camre calibrate --check` fits again and fails when a limit",
                "below is broken, or when what is written here and in the catalogs is not what the fit gives.",
            ),
            "The simulated models answer with",
            "    odds = guess + (ceiling - guess) x gate x length x decoys",
            _prose(
                "(`docs/models.md` explains each part). Fitted are ceilings, length curves, whole-task levels,",
                f"overconfidence and the correlation of errors: **{verdict.parameters} parameters on",
                f"{verdict.fitted_points} points, which are off by {verdict.fitted_error:.2f} percentage points in the",
                f"mean; {verdict.held_out_points} points were held out and are off by {verdict.held_out_error:.2f}**.",
                f"Allowed are {MAX_FITTED_ERROR:g} and {MAX_HELD_OUT_ERROR:g}, and one parameter for every",
                f"{MIN_POINTS_PER_PARAMETER} points. Held out, and fixed before any fit, is each length table's",
                f"{_held_out(figures)}.",
            ),
        )
    )


def _held_out(figures: Figures) -> str:
    return ", ".join(
        f"{' '.join(f'{tokens // 1000}K' for tokens in table.held_out_tokens)} ({table.title})"
        for table in figures.lengths
    )


def _summary(found: Sequence[Point], verdict: Verdict, fit: Fit) -> str:
    rows = []
    for table in dict.fromkeys(point.table for point in found):
        mine = [point for point in found if point.table == table]
        fitted = [abs(point.error) for point in mine if not point.held_out]
        held = [abs(point.error) for point in mine if point.held_out]
        rows.append((table, str(len(fitted)), _error(fitted), str(len(held)), _error(held)))
    rows.append(
        (
            "all",
            str(verdict.fitted_points),
            f"{verdict.fitted_error:.2f}",
            str(verdict.held_out_points),
            f"{verdict.held_out_error:.2f}",
        )
    )
    counts = [(block, str(count)) for block, count in parameter_counts(fit).items()]
    return "\n\n".join(
        (
            "## Errors and parameters",
            _table(("table", "fitted points", "mean error", "held out", "mean error"), rows),
            _table(("block", "parameters"), [*counts, ("all", str(verdict.parameters))]),
        )
    )


def _plots(figures: Figures) -> str:
    images = [f"![{table.title}]({_PLOTS}/{table.name}.svg)" for table in figures.lengths]
    words = "Dots are published, hollow ones were held out, lines are fitted."
    return "\n\n".join(("## Plots", words, *images, f"![Fitted against published]({_PLOTS}/agreement.svg)"))


def _curves(fit: Fit) -> str:
    rows = [
        (
            curve.table,
            curve.model,
            f"{curve.ceiling:.3f}",
            f"{curve.half_tokens:,.0f}",
            f"{curve.slope:.3f}",
            curve.family.value,
        )
        for curve in fit.curves.rows
    ]
    words = _prose(
        "`accuracy = ceiling / (1 + (tokens / half) ** slope)`. Hyperbolic curves have slope 1, unfitted; all steep",
        "ones share one slope; RULER's models share one ceiling, which the simulator takes as `attention`: what even",
        "short, plain lookups leave of a perfect score.",
    )
    return "\n\n".join(
        (
            "## Ceilings and length curves",
            words,
            _table(("table", "model", "ceiling", "half, tokens", "slope", "family"), rows),
        )
    )


def _levels(fit: Fit, figures: Figures) -> str:
    rows = [(f"{percent:.1f} %", ", ".join(models)) for percent, models in reversed(fit.code.levels)]
    questions = ", ".join(f"{_title(figures, table)} {count}" for table, count in QUESTIONS_PER_TASK.items())
    models = sum(len(names) for _, names in fit.code.levels)
    words = _prose(
        f"SWE-bench's {models} models share {len(fit.code.levels)} levels: those within its sampling error are not",
        "told apart. A whole task takes several right answers in a row, a routed question one, so a question's ceiling",
        "is `attention x level ** (1 / questions per task)`; questions per task are stated, not measured:",
        f"{questions}. A tier step, by which `catalog/lineage.py` moves a model from its kin, is {fit.tier_step:.3f}",
        "in log-odds of a whole task.",
    )
    return "\n\n".join(("## Levels of whole-task success", words, _table(("level", "models"), rows)))


def _confidence(fit: Fit, figures: Figures) -> str:
    rows = [(f"{group.bias:.3f}", ", ".join(group.models)) for group in fit.confidence.groups]
    limits = figures.discrimination
    words = _prose(
        "A model states `logistic(slope x log-odds of its odds + bias ± signal + noise x z)`, plus when it is right.",
        "Three biases are fitted. The signal is set so that stated confidence tells right from wrong with an AUROC of",
        f"{(limits.low + limits.high) / 2:.3f}, the middle of {limits.low:g} to {limits.high:g} (published:",
        f"{limits.verbalised:g} verbalised, {limits.white_box:g} white-box); it counts as a parameter without a point.",
        f"Slope {fit.confidence.slope:g} and noise {fit.confidence.noise:g} are stated, not measured; the signal is",
        f"{fit.confidence.signal:.3f}.",
    )
    return "\n\n".join(("## Stated confidence", words, _table(("bias", "models"), rows)))


def _correlation(figures: Figures, measured: BehavioursFile) -> str:
    routing = figures.routing
    words = _prose(
        f"`rho` = {measured.constants.rho:g}: with the models of `measured` at their spread on code, moved so that the",
        f"best single one scores {routing.best_single:g} %, an oracle over all of them scores {routing.oracle:g} %",
        "(LLMRouterBench).",
    )
    return f"## Correlation of errors\n\n{words}"


def _set(fit: Fit, figures: Figures) -> str:
    rootcause = figures.task_table("rootcause")
    rows = [
        ("RootCauseBench", rootcause.source, "the causal levels of its four models, read off; the rest by kin"),
        (
            "RootCauseBench, abstention",
            "the same",
            f"`insufficient_share` {fit.abstention:.2f}: its mean",
        ),
        (
            "ITBench-AA",
            figures.task_table("itbench").source,
            "the place of Gemma 4 31B among larger models, by judgement",
        ),
        (
            "Lost in the Middle",
            figures.distractors.source,
            f"the weakest reader loses {100 * fit.decoy_loss:.0f} % of its odds to one decoy (taken for"
            f" {DISTRACTORS_PER_DECOY} ordinary distractors); others in proportion to their misses on lookups",
        ),
        (
            "LogDx-CI",
            figures.reductions.source,
            f"high effort adds {fit.effort_gain:.2f} to the ceiling's log-odds, low takes as much (single shot against"
            " agent, where the reduced log keeps the evidence); half of it for models that do not think first",
        ),
        ("OpenRCA 2.0", "one correct service 76.0 %, exact set 20.7 %", f"`gate_power` {GATE_POWER:g}, by judgement"),
        ("none", "answers are names out of many", f"`guess` {GUESS:g}, by judgement"),
    ]
    words = _prose(
        "Tables that share no model with another cannot tell an easy table from able models: they set how hard things",
        "are, and count neither as points nor as parameters.",
    )
    return "\n\n".join(("## Set, not fitted", words, _table(("table", "figures", "what it sets"), rows)))


def _left_out(left_out: Sequence[LeftOut]) -> str:
    rows = [(each.table, each.model, f"{each.mean_error:.1f}") for each in left_out]
    mean = fmean(each.mean_error for each in left_out)
    words = _prose(
        "Each model in turn is left out of the fit and expected at the mean of its table, on its family's slope: how",
        f"far the figures of others tell those of a model that nobody measured. Mean error {mean:.1f} points; there is",
        "no limit on it, and it is the reason why borrowed behaviour is called borrowed.",
    )
    return "\n\n".join(("## Leaving a model out", words, _table(("table", "model", "mean error"), rows)))


def _residuals(found: Iterable[Point]) -> str:
    rows = [
        (
            point.table,
            point.model,
            point.at,
            f"{point.published:.1f}",
            f"{point.fitted:.1f}",
            f"{point.error:+.1f}",
            "held out" if point.held_out else "",
        )
        for point in found
    ]
    heads = ("table", "model", "at", "published", "fitted", "error", "")
    return "\n\n".join(("## Residuals", "In percentage points.", _table(heads, rows)))


def _title(figures: Figures, name: str) -> str:
    titles = {table.name: table.title for table in figures.tasks}
    titles |= {table.name: table.title for table in figures.lengths}
    return titles[name]


def _prose(*parts: str) -> str:
    return fill(" ".join(parts), _PAGE_WIDTH, break_long_words=False, break_on_hyphens=False)


def _error(errors: Sequence[float]) -> str:
    return f"{fmean(errors):.2f}" if errors else "-"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in (heads, ["---"] * len(heads), *rows))
