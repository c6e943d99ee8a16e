"""The parts that the figures of a run are put together from: lines of stages, marks, labels that keep apart."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from training.plot_data import Run, Series, action_shares, band, marks, mean, series

BLUE, VERMILLION, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#AA4499", "#5f6670"
"""Told apart by colour-blind readers too."""
INK = "#2b2f36"
X_LABEL = "iterations done"
STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#9aa0a6",
    "axes.labelcolor": GREY,
    "axes.grid": True,
    "grid.color": "#eceef0",
    "axes.axisbelow": True,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "axes.formatter.useoffset": False,
    "figure.constrained_layout.h_pad": 0.08,
    "figure.constrained_layout.w_pad": 0.08,
}
_THIN: Any = {"linewidth": 0.8, "alpha": 0.4}
_BOLD: Any = {"linewidth": 1.8}
POINT: Any = {"linestyle": "", "marker": "o", "markersize": 4, "markeredgewidth": 0, "alpha": 0.4}
_SQUARE: Any = {"marker": "s", "markersize": 6, "markeredgecolor": GREY, "markeredgewidth": 0.4, "in_layout": False}
_LEAD: Any = {"arrowstyle": "-", "shrinkA": 0, "shrinkB": 0}
_NEAR = 2
_LETTER = 0.008
"""The width of a letter above a panel, as a share of the panel's."""
_RARE, _OTHERS = 0.02, "#d5d8db"
_ACTIONS = {
    "search_artifacts": "#0b4a75",
    "read_artifact": "#3b8bc2",
    "hydrate_segments": "#a6cee8",
    "query_cache": "#dcecf7",
    "route_subtask": "#e69f00",
    "escalate_route": "#f8d58a",
    "compress_context": "#00563f",
    "purge_memory": "#2fa98a",
    "write_checkpoint": "#8fd3c0",
    "restore_checkpoint": "#cdebe3",
    "submit_answer": "#882255",
    "malformed": "#9aa0a6",
}
"""From the bottom up. Looking is blue, asking models orange, memory green: neighbours of a kind differ in lightness."""


class Label(NamedTuple):
    height: float
    text: str
    colour: str
    is_ours: bool = False
    patch: str | None = None
    """A square of this colour before the text, for colours too light to write in."""


def stage_lines(axis: Axes, run: Run, key: str, colour: str, *, with_band: bool = False) -> None:
    """The first stage as measured, faint, and smoothed over it; then every seed, faint, and their mean, smoothed."""
    first, seeds = series(run.first, key), [series(stage, key) for stage in run.seeds]
    for faint in (first, *seeds):
        _plot(axis, faint, color=colour, **_THIN)
    for bold in (first, mean(seeds)):
        _plot(axis, smoothed(bold), color=colour, **_BOLD)
    if with_band and (ends := band(seeds)):
        low, high = zip(*ends.values(), strict=True)
        axis.fill_between(list(ends), low, high, color=colour, alpha=0.15, linewidth=0)


def check_lines(axis: Axes, run: Run, key: str, colour: str) -> float | None:
    """Checks joined by lines, every seed's as points of its own; the mean goes on where the first stage ended.

    The height at which the line ends.
    """
    first, seeds = series(run.first, key), [series(stage, key) for stage in run.seeds]
    means = mean(seeds)
    for seed in seeds:
        _plot(axis, seed, color=colour, **POINT)
    _plot(axis, {**first, **means}, color=colour, marker="o", markersize=5, **_BOLD)
    return list({**first, **means}.values())[-1] if first or means else None


def smoothed(measured: Series) -> Series:
    """Means of neighbours on both sides: unlike a running mean it neither lags nor clings to where a run began."""
    places, values = list(measured), list(measured.values())
    return {place: fmean(values[max(0, at - _NEAR) : at + _NEAR + 1]) for at, place in enumerate(places)}


def mark_last_stage(axis: Axes, run: Run) -> None:
    if run.last_stage_at is not None:
        axis.axvline(run.last_stage_at, color=GREY, linewidth=0.9)


def draw_marks(axes: Sequence[Axes], run: Run, *, taken: int = 0) -> None:
    """Lines through all panels; labels above the first, in rows, so that none covers another or its lead.

    So many rows there are `taken` already.
    """
    rows: list[float] = []  # where the label that was last put into a row begins
    for place, text in reversed(marks(run)):
        style: Any = {"color": GREY, "linewidth": 0.9, "linestyle": "-" if place == run.last_stage_at else ":"}
        for axis in axes:
            axis.axvline(place, **style)
        end = place + len(text) * _LETTER * run.length
        row = next((at for at, begin in enumerate(rows) if end < begin), len(rows))
        rows[row : row + 1] = [place]
        axes[0].annotate(
            f" {text}",
            (place, 1.0),
            (0, 3 + 13 * (taken + row)),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            color=GREY,
            fontsize=8.5,
            arrowprops={"relpos": (0.0, 1.0), **_LEAD, **style},
        )
    axes[0].set_title(axes[0].get_title(loc="left"), pad=6 + 13 * (taken + len(rows)))


def label_right(axis: Axes, labels: Sequence[Label], gap: float, *, in_layout: bool = True) -> None:
    """Beside the panel at their heights, pushed apart to `gap` of the panel's own height where they would touch.

    Out of the layout, the panel makes no room for them: there must be some.
    """
    low, high = axis.get_ylim()
    ordered = sorted(labels, key=lambda label: label.height)
    places = [(label.height - low) / (high - low) for label in ordered]
    for label, place, at in zip(ordered, places, kept_apart(places, gap), strict=True):
        axis.annotate(
            label.text if label.patch is None else f"     {label.text}",
            (1.0, place),
            (1.03, at),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=label.colour,
            fontsize=8.5,
            fontweight="bold" if label.is_ours else "normal",
            va="center",
            arrowprops={"color": label.colour, "linewidth": 0.6, "relpos": (0.0, 0.5), **_LEAD},
        ).set_in_layout(in_layout)
        if label.patch is not None:
            axis.add_line(Line2D([1.042], [at], color=label.patch, transform=axis.transAxes, clip_on=False, **_SQUARE))


def kept_apart(heights: Sequence[float], gap: float) -> list[float]:
    """Heights in order, pushed up until they are `gap` apart, then down again until the highest is at most 1."""
    found: list[float] = []
    for height in heights:
        found.append(max(height, found[-1] + gap) if found else max(height, 0.0))
    ceiling = 1.0
    for at in range(len(found) - 1, -1, -1):
        found[at] = min(found[at], ceiling)
        ceiling = found[at] - gap
    return found


def label_above(axis: Axes, labels: Sequence[tuple[str, str]]) -> None:
    """Names of lines in their colours, in a row between the title and the panel: there they can cover nothing."""
    before: Any = None
    for text, colour in labels:
        before = axis.annotate(
            text,
            (0, 1) if before is None else (1, 0),
            (0, 3) if before is None else (9, 0),
            xycoords="axes fraction" if before is None else before,
            textcoords="offset points",
            color=colour,
            fontsize=8.5,
            va="bottom",
        )


def action_mix(axis: Axes, run: Run) -> None:
    """Shares of all actions, stacked. Those that are always rare are one layer: alone, nobody would see them."""
    shares = action_shares(run)
    rare = [name for name in shares if max(shares[name].values()) < _RARE]
    rare = rare if len(rare) > 1 else []
    common = sorted(set(shares) - set(rare), key=_order)
    layers = [(name.replace("_", " "), _ACTIONS.get(name, GREY), shares[name]) for name in common]
    if rare:
        others = {place: sum(shares[name][place] for name in rare) for place in shares[rare[0]]}
        layers.append((f"{len(rare)} others, each below {_RARE:.0%}:", _OTHERS, others))
    if not layers:
        return
    places = list(layers[0][2])
    heights = [list(share.values()) for _, _, share in layers]
    axis.stackplot(places, heights, colors=[colour for _, colour, _ in layers], edgecolor="white", linewidth=0.4)
    axis.set(xlim=(0, places[-1]), ylim=(0.0, 1.0))
    floor, labels = 0.0, []
    for (name, colour, _), height in zip(layers, heights, strict=True):
        labels.append(Label(floor + height[-1] / 2, f"{name} {height[-1]:.1%}", INK, patch=colour))
        floor += height[-1]
    label_right(axis, labels, gap=0.08, in_layout=False)


def _order(name: str) -> tuple[int, str]:
    return (list(_ACTIONS).index(name) if name in _ACTIONS else len(_ACTIONS)), name


def legend(figure: Figure, run: Run, *others: Line2D | Patch) -> None:
    """One for all panels, in grey: colours are told beside the lines."""
    faint, bold = "each iteration", "smoothed"
    if run.seeds:
        faint, bold = f"{faint} (last stage: each seed)", f"{bold} (last stage: their mean, smoothed)"
    handles = [
        Line2D([], [], color=GREY, label=faint, **_THIN),
        Line2D([], [], color=GREY, label=bold, **_BOLD),
        *(others if run.seeds else ()),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, labelcolor=GREY)


def _plot(axis: Axes, measured: Series, **style: Any) -> None:
    """A line of one point would not be seen."""
    if len(measured) == 1:
        style = {"marker": "o", "markersize": 4, **style}
    axis.plot(list(measured), list(measured.values()), **style)
