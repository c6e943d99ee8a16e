"""`camre calibrate`."""

from __future__ import annotations

from typing import Annotated

import typer


def calibrate(
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Write nothing; fail if a limit is broken or what is written is not what the fit gives."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Fit the simulated models to the published figures; write their parameters and docs/calibration.md."""
    from TokenOptEnv.calibration.run import calibrate as run
    from TokenOptEnv.calibration.verdict import Verdict
    from TokenOptEnv.cli import pages, screen
    from TokenOptEnv.models.base import Frozen

    class Outcome(Frozen):
        verdict: Verdict
        left_out_error: float
        faults: tuple[str, ...]

    made = run()
    verdict = made.verdict
    stale = pages.stale(made.parameters, made.pages) if check else ()
    faults = (*verdict.faults, *(f"{name} is not what the fit gives; run camre calibrate" for name in stale))
    if not check and not verdict.faults:
        pages.keep_parameters(made.parameters)
        pages.keep_pages(made.pages)
    if as_json:
        screen.json(Outcome(verdict=verdict, left_out_error=made.left_out_error, faults=faults))
    else:
        screen.line(f"{verdict.parameters} parameters on {verdict.fitted_points} fitted points")
        screen.line(f"mean absolute error, fitted: {verdict.fitted_error:.2f} percentage points")
        screen.line(f"mean absolute error, held out: {verdict.held_out_error:.2f} on {verdict.held_out_points} points")
        screen.line(f"mean absolute error, model left out: {made.left_out_error:.2f}")
        for fault in faults:
            screen.line(fault)
    if faults:
        raise typer.Exit(1)
