"""One calibration from figures to pages: what `camre calibrate` writes, and what its check compares."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.calibration.figures import load_figures
from TokenOptEnv.calibration.fit import fit
from TokenOptEnv.calibration.page import pages
from TokenOptEnv.calibration.parameters import parameter_files
from TokenOptEnv.calibration.residuals import left_out_errors, parameter_counts, points
from TokenOptEnv.calibration.verdict import Verdict, judge
from TokenOptEnv.catalog.snapshot import BehavioursFile


@dataclass(frozen=True, slots=True)
class Calibration:
    parameters: dict[str, BehavioursFile]
    """By catalog."""
    pages: dict[str, str]
    """By path under `docs`."""
    verdict: Verdict
    left_out_error: float


def calibrate() -> Calibration:
    figures = load_figures()
    fitted = fit(figures)
    parameters = parameter_files(fitted, figures)
    measured = parameters["measured"]
    found = points(fitted, figures, measured)
    verdict = judge(found, sum(parameter_counts(fitted).values()))
    left_out = left_out_errors(figures)
    return Calibration(
        parameters=parameters,
        pages=pages(fitted, figures, measured, found, left_out, verdict),
        verdict=verdict,
        left_out_error=round(sum(each.mean_error for each in left_out) / len(left_out), 4),
    )
