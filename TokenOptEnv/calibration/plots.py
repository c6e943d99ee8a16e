"""Small plots as SVG: the page on calibration needs no plotting library, and its bytes are the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import log2
from typing import Final

from TokenOptEnv.calibration.curves import Curve
from TokenOptEnv.calibration.figures import LengthTable
from TokenOptEnv.calibration.residuals import Point

_WIDTH: Final = 680
_HEIGHT: Final = 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 190, 34, 44
_COLOURS: Final = ("#1f5fa8", "#c2541b", "#2f7d4f", "#8a3f8f", "#7a6a00", "#4a4a4a", "#b3123b")
_INK: Final = "#222222"
_GRID: Final = "#dddddd"
_SAMPLES: Final = 60
_LABEL_GAP: Final = 14.0


@dataclass(frozen=True, slots=True)
class _Frame:
    """From values to places on the page."""

    low: float
    high: float

    def x(self, value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (value - self.low) / (self.high - self.low)

    def y(self, percent: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * percent / 100.0


def length_plot(table: LengthTable, curves: Sequence[Curve]) -> str:
    """Fitted curves as lines, published points as dots, held-out ones hollow; tokens on a logarithmic scale."""
    places = [_place(tokens) for tokens in table.tokens]
    frame = _Frame(places[0], places[-1])
    ticks = [(place, _tokens(tokens)) for place, tokens in zip(places, table.tokens, strict=True)]
    parts = [_axes(frame, f"{table.title}: accuracy by tokens of context", ticks, "tokens of context")]
    heights = _spread([frame.y(curve.percent(table.tokens[-1])) for curve in curves])
    for curve, colour, height in zip(curves, _COLOURS, heights, strict=False):
        steps = [places[0] + (places[-1] - places[0]) * step / _SAMPLES for step in range(_SAMPLES + 1)]
        path = " ".join(f"{frame.x(at):.1f},{frame.y(curve.percent(_back(at))):.1f}" for at in steps)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        for tokens, place, percent in zip(table.tokens, places, table.rows[curve.model], strict=True):
            parts.append(_dot(frame.x(place), frame.y(percent), colour, hollow=tokens in table.held_out_tokens))
        parts.append(_text(_WIDTH - _RIGHT + 10, height + 4, curve.model, colour))
    return _svg(parts)


def agreement_plot(points: Sequence[Point]) -> str:
    """Fitted against published: on the diagonal, nothing is left to explain."""
    frame = _Frame(0.0, 100.0)
    ticks = [(float(value), str(value)) for value in range(0, 101, 20)]
    corners = f'x1="{frame.x(0):.1f}" y1="{frame.y(0):.1f}" x2="{frame.x(100):.1f}" y2="{frame.y(100):.1f}"'
    parts = [
        _axes(frame, "Fitted against published, in %", ticks, "published"),
        f'<line {corners} stroke="{_GRID}" stroke-width="1.5"/>',
    ]
    tables = tuple(dict.fromkeys(point.table for point in points))
    for place, table in enumerate(tables):
        colour = _COLOURS[place % len(_COLOURS)]
        for point in points:
            if point.table == table:
                parts.append(_dot(frame.x(point.published), frame.y(point.fitted), colour, hollow=point.held_out))
        parts.append(_dot(_WIDTH - _RIGHT + 14, _TOP + 16 * place + 10, colour, hollow=False))
        parts.append(_text(_WIDTH - _RIGHT + 22, _TOP + 16 * place + 14, table.partition(",")[0], _INK))
    return _svg(parts)


def _place(tokens: int) -> float:
    """In doublings; the base stands one doubling before the first thousand."""
    return log2(max(tokens, 500) / 1000.0)


def _back(place: float) -> int:
    """Evenly from the base to the first thousand, in doublings from there on."""
    return round(1000.0 * 2.0**place) if place > 0.0 else round(1000.0 * (place + 1.0))


def _tokens(tokens: int) -> str:
    return f"{tokens // 1000}K" if tokens else "base"


def _axes(frame: _Frame, title: str, ticks: Sequence[tuple[float, str]], label: str) -> str:
    parts = [_text(_LEFT, 20, title, _INK, size=14)]
    for percent in range(0, 101, 20):
        y = frame.y(percent)
        parts.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" stroke="{_GRID}"/>')
        parts.append(_text(_LEFT - 8, y + 4, str(percent), _INK, anchor="end"))
    for value, name in ticks:
        parts.append(_text(frame.x(value), _HEIGHT - _BOTTOM + 16, name, _INK, anchor="middle"))
    parts.append(_text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8, label, _INK, anchor="middle"))
    return "\n".join(parts)


def _spread(heights: list[float]) -> list[float]:
    """Labels moved apart where curves end close together, in their order from the top."""
    order = sorted(range(len(heights)), key=lambda index: heights[index])
    placed = list(heights)
    for above, below in pairwise(order):
        placed[below] = max(placed[below], placed[above] + _LABEL_GAP)
    return placed


def _dot(x: float, y: float, colour: str, *, hollow: bool) -> str:
    fill = "#ffffff" if hollow else colour
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>'


def _text(x: float, y: float, text: str, colour: str, *, anchor: str = "start", size: int = 12) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" font-size="{size}" text-anchor="{anchor}">{escape(text)}</text>'
    )


def _svg(parts: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
        ' font-family="sans-serif">'
    )
    return "\n".join([head, '<rect width="100%" height="100%" fill="#ffffff"/>', *parts, "</svg>"]) + "\n"
