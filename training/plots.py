"""The figures of a run, from its metrics and nothing else.

    python -m training.plots --metrics results/metrics --out assets/plots

What a folder of metrics holds is said in `training.plot_data`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from PIL import Image

from TokenOptEnv.errors import CamreError
from training.plot_data import Run, read
from training.plot_panels import (
    BLUE,
    GREEN,
    GREY,
    POINT,
    PURPLE,
    STYLE,
    VERMILLION,
    X_LABEL,
    Label,
    action_mix,
    check_lines,
    draw_marks,
    label_above,
    label_right,
    legend,
    mark_last_stage,
    stage_lines,
)

PROGRESS, DIAGNOSTICS = "camre_v2_reward_progress.png", "camre_v2_training_diagnostics.png"
_DPI = 120
_COLUMNS = 4
_STEPS = (1, 2, 5, 10)
_COLOURS = (BLUE, VERMILLION, PURPLE)
PANELS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Reward and its parts",
        (("return", "return"), ("process_reward", "milestones"), ("guardrail_reward", "guardrails")),
    ),
    ("Success and SCE", (("sce", "SCE"), ("success", "success"))),
    ("Loss", (("loss", "of the policy gradient"),)),
    ("Gradient length", (("gradient", "before clipping"),)),
    ("Entropy", (("entropy", "nats a token"),)),
    ("Drift from a stage's start", (("kl_start", "nats a token"),)),
    ("Drift in an iteration", (("kl_step", "nats a token"),)),
    ("Clipped tokens", (("clip_fraction", "share"),)),
    ("Steps that teach", (("kept_share", "share"),)),
    ("Failed actions", (("refused_share", "refused"), ("malformed_share", "malformed"))),
    ("Ungrounded submits", (("ungrounded_share", "share of episodes"),)),
    ("Farmed by failures", (("farmed_reward", "reward of milestones"),)),
    ("Guardrails", (("guardrail_reward", "reward"),)),
    ("Steps", (("steps", "an episode"),)),
    ("Tokens of prompts", (("prompt_tokens", "a step"),)),
    ("Tokens of actions", (("action_tokens", "a step"),)),
    ("Cost", (("usd", "usd an episode"),)),
)
"""Title, then the lines: key and name. What the metrics do not hold is left out."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Draw the figures of a run.")
    parser.add_argument("--metrics", type=Path, default=Path("results/metrics"))
    parser.add_argument("--out", type=Path, default=Path("assets/plots"))
    chosen = parser.parse_args(arguments)
    try:
        for file in draw(chosen.metrics, chosen.out):
            sys.stdout.write(f"written: {file}\n")
    except CamreError as fault:
        raise SystemExit(f"plots: {fault}") from None


def draw(metrics: Path, out: Path) -> list[Path]:
    run = read(metrics)
    out.mkdir(parents=True, exist_ok=True)
    with plt.rc_context(STYLE):
        return [_saved(_progress(run), out / PROGRESS), _saved(_diagnostics(run), out / DIAGNOSTICS)]


def _progress(run: Run) -> Figure:
    """Does it get better, on the cases it is trained on and on others, and is it better than heuristics?"""
    is_compared = "gained_return" in run.measured()
    panels = 3 if is_compared else 2
    figure, axes = plt.subplots(panels, 1, figsize=(12, 2 + 3 * panels), sharex=True, layout="constrained")
    training, validation = axes[0], axes[-1]
    training.set_title("Return on training cases", pad=18)
    stage_lines(training, run, "played_return", GREEN, with_band=True)
    if is_compared:
        stage_lines(training, run, "beside_return", GREY)
        label_above(training, [("the policy", GREEN), ("a heuristic on the same cases", GREY)])
        axes[1].set_title("The policy's less the heuristic's", pad=18)
        luck = ", on average over what might have been drawn" if "compared_expected_return" in run.measured() else ""
        label_above(axes[1], [(f"above 0 it is better, whichever cases were drawn{luck}", GREY)])
        axes[1].axhline(0.0, color=GREY, linewidth=1.0)
        stage_lines(axes[1], run, "gained_return", GREEN, with_band=True)
    validation.set_title("Play of validation cases", pad=18)
    label_above(validation, [("success, and SCE: success-weighted cost efficiency", GREY)])
    validation.set(xlabel=X_LABEL, xlim=(-0.5, run.length + 0.5))
    validation.xaxis.set_major_locator(MaxNLocator(10, steps=_STEPS, integer=True))
    _checks(validation, run)
    draw_marks(axes, run, taken=int(is_compared))
    legend(
        figure,
        run,
        Patch(facecolor=GREY, alpha=0.2, label="lowest to highest seed"),
        Line2D([], [], color=GREY, label="a seed's check", **POINT),
    )
    return figure


def _checks(axis: Axes, run: Run) -> None:
    """SCE and success of the checks, beside the best heuristics."""
    labels: list[Label] = []
    for key, name, colour, heuristics in (("sce", "SCE", BLUE, 2), ("success", "success", VERMILLION, 1)):
        ended = check_lines(axis, run, f"check_{key}", colour)
        if ended is not None:
            labels.append(Label(ended, f"{name} {ended:.3f}", colour, is_ours=True))
        best = sorted(run.baselines.items(), key=lambda each: (-each[1][key], each[0]))
        for policy, reached in best[:heuristics]:
            axis.axhline(reached[key], color=colour, linewidth=1.0, linestyle=(0, (5, 4)))
            labels.append(Label(reached[key], f"{policy}: {name} {reached[key]:.3f}", colour))
    axis.set_ylim(0.0, 1.05 * max(0.1, axis.get_ylim()[1]))
    label_right(axis, labels, gap=0.065)


def _diagnostics(run: Run) -> Figure:
    """What a red team looks at: does it learn the task, or the reward?"""
    rows, left = divmod(len(PANELS), _COLUMNS)
    figure = plt.figure(figsize=(12, 13), layout="constrained")
    grid = figure.add_gridspec(rows + 1, _COLUMNS, height_ratios=[1.0] * rows + [1.4])
    measured = run.measured()
    for place, (title, lines) in enumerate(PANELS):
        axis = figure.add_subplot(grid[divmod(place, _COLUMNS)])
        told = [(*line, colour) for line, colour in zip(lines, _COLOURS, strict=False) if line[0] in measured]
        for key, _, colour in told:
            stage_lines(axis, run, key, colour)
        axis.set_xlim(0, run.length + 0.5)
        _finish(axis, run, title, [(name, colour if len(told) > 1 else GREY) for _, name, colour in told])
    mix = figure.add_subplot(grid[rows, left:-1])  # its labels stand in the last column
    action_mix(mix, run)
    _finish(mix, run, "Action mix", [("share of all actions; the numbers are of the last iteration", GREY)])
    for axis in figure.axes[rows * _COLUMNS :]:
        axis.set_xlabel(X_LABEL)
    legend(figure, run, Line2D([], [], color=GREY, linewidth=0.9, label="the last stage begins"))
    return figure


def _finish(axis: Axes, run: Run, title: str, names: Sequence[tuple[str, str]]) -> None:
    axis.set_title(title, pad=18)
    label_above(axis, names)
    mark_last_stage(axis, run)
    axis.xaxis.set_major_locator(MaxNLocator(5, steps=_STEPS, integer=True))
    axis.yaxis.set_major_locator(MaxNLocator(5, steps=_STEPS))


def _saved(figure: Figure, file: Path) -> Path:
    """Coded again in 256 colours: a third of the bytes, and none of them tells of the library's version."""
    drawn = BytesIO()
    figure.savefig(drawn, dpi=_DPI)
    plt.close(figure)
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
            file, optimize=True, dpi=(_DPI, _DPI)
        )
    return file


if __name__ == "__main__":
    main()
