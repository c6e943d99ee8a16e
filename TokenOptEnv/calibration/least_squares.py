"""Damped least squares (Levenberg-Marquardt) for a few dozen residuals: small, deterministic, without dependencies."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

_STEP = 1e-5
_ROUNDS = 300
_GAIN = 1e-12
_MAX_DAMPING = 1e12

Vector = list[float]
Residuals = Callable[[Vector], Vector]


def minimise(residuals: Residuals, start: Vector) -> Vector:
    """Where the sum of squared residuals is least, near `start`. Parameters are free: how they are read bounds them."""
    place, left, damping = list(start), residuals(start), 1e-2
    for _ in range(_ROUNDS):
        rows = _gradients(residuals, place, left)
        taken: tuple[Vector, Vector] | None = None
        while taken is None and damping < _MAX_DAMPING:
            there = [at + move for at, move in zip(place, _move(rows, left, damping), strict=True)]
            found = _tried(residuals, there)
            if _squares(found) < _squares(left):
                taken = there, found
                damping = max(damping / 10.0, 1e-9)
            else:
                damping *= 10.0
        if taken is None:
            return place
        gained = _squares(left) - _squares(taken[1])
        place, left = taken
        if gained <= _GAIN * _squares(left):
            return place
    return place


def _tried(residuals: Residuals, place: Vector) -> Vector:
    try:
        return residuals(place)
    except OverflowError:
        return [inf]


def _squares(values: Vector) -> float:
    return sum(value * value for value in values)


def _gradients(residuals: Residuals, place: Vector, left: Vector) -> list[Vector]:
    """By parameter: how each residual moves with it."""
    rows: list[Vector] = []
    for index in range(len(place)):
        moved = [value + (_STEP if other == index else 0.0) for other, value in enumerate(place)]
        rows.append([(after - before) / _STEP for after, before in zip(residuals(moved), left, strict=True)])
    return rows


def _move(rows: list[Vector], left: Vector, damping: float) -> Vector:
    matrix = [[sum(a * b for a, b in zip(one, two, strict=True)) for two in rows] for one in rows]
    for index in range(len(rows)):
        matrix[index][index] = matrix[index][index] * (1.0 + damping) + 1e-12
    return _solve(matrix, [-sum(a * b for a, b in zip(row, left, strict=True)) for row in rows])


def _solve(matrix: list[Vector], right: Vector) -> Vector:
    """Gaussian elimination with pivots."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda index: abs(rows[index][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for index in range(column + 1, size):
            factor = rows[index][column] / rows[column][column]
            rows[index] = [value - factor * above for value, above in zip(rows[index], rows[column], strict=True)]
    solution = [0.0] * size
    for index in reversed(range(size)):
        known = sum(rows[index][other] * solution[other] for other in range(index + 1, size))
        solution[index] = (rows[index][size] - known) / rows[index][index]
    return solution
