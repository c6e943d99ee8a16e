"""Small plots of how quantities spread over groups: a panel a quantity, a row a group, a dot a case, a bar the median.

Plain SVG text: it follows the reader's light or dark theme, and the same numbers give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from statistics import median

_WIDTH = 760
_LABEL_WIDTH = 92
_RIGHT_MARGIN = 28
_ROW_HEIGHT = 20
_TITLE_HEIGHT = 26
_AXIS_HEIGHT = 26
_LOG_FROM = 20.0
"""A quantity whose most is so many times its least is drawn on a logarithmic axis."""
_TICKS = (1, 2, 5)
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#333}.t{font-weight:600}.g{stroke:#ddd}.d{fill:#3367a8;fill-opacity:.45}"
    ".m{stroke:#c2410c;stroke-width:2.5}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.g{stroke:#444}.d{fill:#7fb0f0}.m{stroke:#fb923c}}"
)


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    rows: Mapping[str, Sequence[int]]
    """By group: one number a case."""


@dataclass(frozen=True, slots=True)
class _Axis:
    low: float
    high: float
    is_log: bool

    def x(self, value: float) -> float:
        low, high, at = (log10(each) if self.is_log else each for each in (self.low, self.high, value))
        share = (at - low) / (high - low)
        return _LABEL_WIDTH + share * (_WIDTH - _LABEL_WIDTH - _RIGHT_MARGIN)

    def ticks(self) -> list[int]:
        powers = range(floor(log10(max(1.0, self.low))), ceil(log10(self.high)) + 1)
        if self.is_log:
            steps = [step * 10**power for power in powers for step in _TICKS]
        else:
            step = next(
                step * 10**power for power in range(9) for step in _TICKS if self.high / (step * 10**power) <= 8
            )
            steps = list(range(0, int(self.high) + 1, step))
        return [step for step in steps if self.low <= step <= self.high]


def spread_plot(title: str, panels: Sequence[Panel]) -> str:
    body: list[str] = []
    top = 0.0
    for panel in panels:
        body += _panel(panel, top)
        top += _height(panel)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top:.0f}" width="{_WIDTH}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            *body,
            "</svg>",
            "",
        ]
    )


def _height(panel: Panel) -> float:
    return _TITLE_HEIGHT + _ROW_HEIGHT * len(panel.rows) + _AXIS_HEIGHT


def _panel(panel: Panel, top: float) -> list[str]:
    axis = _axis([number for numbers in panel.rows.values() for number in numbers])
    bottom = top + _TITLE_HEIGHT + _ROW_HEIGHT * len(panel.rows)
    lines = [f'<text class="t" x="0" y="{top + 16:.0f}">{escape(panel.title)}</text>']
    for tick in axis.ticks():
        x = axis.x(tick)
        lines.append(f'<path class="g" d="M{x:.1f} {top + _TITLE_HEIGHT:.0f}V{bottom:.0f}"/>')
        lines.append(f'<text x="{x:.1f}" y="{bottom + 14:.0f}" text-anchor="middle">{_short(tick)}</text>')
    for place, (name, numbers) in enumerate(panel.rows.items()):
        y = top + _TITLE_HEIGHT + _ROW_HEIGHT * (place + 0.5)
        lines.append(f'<text x="0" y="{y + 4:.0f}">{escape(name)}</text>')
        lines += [f'<circle class="d" cx="{axis.x(number):.1f}" cy="{y:.0f}" r="4"/>' for number in sorted(numbers)]
        if numbers:
            lines.append(f'<path class="m" d="M{axis.x(median(numbers)):.1f} {y - 7:.0f}v14"/>')
    return lines


def _axis(numbers: Sequence[int]) -> _Axis:
    low, high = min(numbers, default=0), max(numbers, default=1)
    if low > 0 and high / low >= _LOG_FROM:
        return _Axis(low / 1.2, high * 1.2, is_log=True)
    return _Axis(0.0, max(1.0, high * 1.05), is_log=False)


def _short(number: int) -> str:
    return f"{number // 1_000}k" if number >= 1_000 and number % 1_000 == 0 else str(number)
