"""Is the fit good enough to be believed? The limits, and whether they are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from TokenOptEnv.calibration.residuals import Point, mean_error
from TokenOptEnv.models.base import Frozen

MAX_FITTED_ERROR: Final = 4.0
MAX_HELD_OUT_ERROR: Final = 5.0
MIN_POINTS_PER_PARAMETER: Final = 2


class Verdict(Frozen):
    """Errors are mean absolute errors in percentage points."""

    parameters: int
    fitted_points: int
    fitted_error: float
    held_out_points: int
    held_out_error: float

    @property
    def faults(self) -> tuple[str, ...]:
        found = []
        if self.fitted_points < MIN_POINTS_PER_PARAMETER * self.parameters:
            found.append(f"{self.parameters} parameters are too many for {self.fitted_points} fitted points")
        if self.fitted_error > MAX_FITTED_ERROR:
            found.append(f"fitted points are off by {self.fitted_error:.2f}, at most {MAX_FITTED_ERROR:g} is allowed")
        if self.held_out_error > MAX_HELD_OUT_ERROR:
            found.append(
                f"held-out points are off by {self.held_out_error:.2f}, at most {MAX_HELD_OUT_ERROR:g} is allowed"
            )
        return tuple(found)


def judge(found: Sequence[Point], parameters: int) -> Verdict:
    return Verdict(
        parameters=parameters,
        fitted_points=sum(not point.held_out for point in found),
        fitted_error=round(mean_error(found, held_out=False), 4),
        held_out_points=sum(point.held_out for point in found),
        held_out_error=round(mean_error(found, held_out=True), 4),
    )
