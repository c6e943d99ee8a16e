"""The figures of a run, from its metrics and nothing else.

    python -m training.plots --metrics assets/metrics --out assets/plots

`assets/metrics` holds what the run behind the published adapter left: grpo.jsonl, its metrics, and baselines.json,
what heuristics reach on the same validation box (`training.evaluate --summary`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from TokenOptEnv.errors import BadInput, CamreError

Row = dict[str, Any]
PROGRESS, DIAGNOSTICS = "camre_v2_reward_progress.png", "camre_v2_training_diagnostics.png"
_SMOOTHING = 0.7
_BLUE, _ORANGE, _GREY = "#2563eb", "#ea580c", "#6b7280"
_PANELS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    ("Loss of the policy gradient", (("loss", "loss"),)),
    ("Gradient length", (("gradient", "before clipping"),)),
    ("Entropy, nats a token", (("entropy", "entropy"),)),
    ("Divergence, nats a token", (("kl_start", "from the warm start"), ("kl_step", "within an iteration"))),
    ("Clipped tokens", (("clip_fraction", "share"),)),
    ("Groups that teach something", (("groups_kept", "share"),)),
    ("Refused and malformed actions", (("refused_share", "refused"), ("malformed_share", "malformed"))),
    ("Ungrounded submits", (("ungrounded_share", "of episodes"),)),
    ("Milestones farmed by failures", (("farmed_reward", "reward"),)),
    ("Guardrails", (("guardrail_reward", "reward"),)),
    ("Steps an episode", (("steps", "steps"),)),
    ("Tokens", (("prompt_tokens", "a prompt"), ("action_tokens", "an action"))),
    ("Cost, usd an episode", (("usd", "usd"),)),
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Draw the figures of a run.")
    parser.add_argument("--metrics", type=Path, default=Path("assets/metrics"))
    parser.add_argument("--out", type=Path, default=Path("assets/plots"))
    chosen = parser.parse_args(arguments)
    try:
        for file in draw(chosen.metrics, chosen.out):
            sys.stdout.write(f"written: {file}\n")
    except CamreError as fault:
        raise SystemExit(f"plots: {fault}") from None


def draw(metrics: Path, out: Path) -> list[Path]:
    rows = _rows(metrics / "grpo.jsonl")
    baselines = _baselines(metrics / "baselines.json")
    out.mkdir(parents=True, exist_ok=True)
    return [_progress(rows, baselines, out / PROGRESS), _diagnostics(rows, out / DIAGNOSTICS)]


def _rows(file: Path) -> list[Row]:
    if not file.is_file():
        raise BadInput(f"there are no metrics {str(file)!r}; copy them from a run's metrics.jsonl")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    if not rows:
        raise BadInput(f"{str(file)!r} is empty; copy the metrics of a run that has had an iteration")
    return rows


def _baselines(file: Path) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return found


def _progress(rows: Sequence[Row], baselines: dict[str, dict[str, float]], file: Path) -> Path:
    """Training and validation beside the heuristics: return, success, SCE."""
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.5), layout="constrained")
    for axis, (key, title) in zip(axes, (("return", "Return"), ("success", "Solved"), ("sce", "SCE")), strict=True):
        _line(axis, rows, key, "training, sampled", _BLUE)
        checks = [row for row in rows if f"check_{key}" in row]
        axis.plot(
            [row["iteration"] + 1 for row in checks],
            [row[f"check_{key}"] for row in checks],
            color=_ORANGE,
            marker="o",
            label="validation, greedy",
        )
        for name, found in sorted(baselines.items(), key=lambda each: -each[1][key]):
            axis.axhline(found[key], color=_GREY, linewidth=0.8, linestyle="--")
            axis.annotate(
                name, (1.0, found[key]), xycoords=("axes fraction", "data"), fontsize=7, ha="right", va="bottom"
            )
        axis.set(title=title, xlabel="iteration")
        axis.legend(fontsize=8, loc="best")
    return _saved(figure, file)


def _diagnostics(rows: Sequence[Row], file: Path) -> Path:
    """What a red team looks at: does it learn the task, or the reward?"""
    figure, axes = plt.subplots(4, 4, figsize=(18, 14), layout="constrained")
    for axis, (title, lines) in zip(axes.flat, _PANELS, strict=False):
        for (key, label), colour in zip(lines, (_BLUE, _ORANGE), strict=False):
            _line(axis, rows, key, label, colour)
        axis.set(title=title, xlabel="iteration")
        axis.legend(fontsize=8)
    _action_mix(axes.flat[len(_PANELS)], rows)
    for axis in axes.flat[len(_PANELS) + 1 :]:  # the mix needs the room for its legend
        axis.set_axis_off()
    return _saved(figure, file)


def _action_mix(axis: Axes, rows: Sequence[Row]) -> None:
    names = sorted({name for row in rows for name in row if name.startswith("action_") and name != "action_tokens"})
    shares = [[row.get(name, 0.0) for row in rows] for name in names]
    labels = [name.removeprefix("action_").replace("_", " ") for name in names]
    axis.stackplot([row["iteration"] + 1 for row in rows], shares, labels=labels)
    axis.set(title="Action mix", xlabel="iteration", ylim=(0.0, 1.0))
    axis.legend(fontsize=6, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _line(axis: Axes, rows: Sequence[Row], key: str, label: str, colour: str) -> None:
    """As measured, faint; smoothed over it."""
    told = [(row["iteration"] + 1, float(row[key])) for row in rows if key in row]
    if not told:
        return
    places, values = zip(*told, strict=True)
    axis.plot(places, values, color=colour, alpha=0.3, linewidth=1)
    axis.plot(places, _smoothed(values), color=colour, label=label)


def _smoothed(values: Sequence[float]) -> list[float]:
    found: list[float] = []
    for value in values:
        found.append(value if not found else _SMOOTHING * found[-1] + (1.0 - _SMOOTHING) * value)
    return found


def _saved(figure: Any, file: Path) -> Path:
    figure.savefig(file, dpi=110, metadata={"Software": None})
    plt.close(figure)
    return file


if __name__ == "__main__":
    main()
