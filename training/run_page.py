"""The tables of a run in its pages, from its metrics and timings: its checks in all, its gains and pace in the first.

python -m training.run_page --metrics results/metrics --page results/README.md --page artifacts/camre-v2/README.md
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, stdev

from TokenOptEnv.errors import BadInput, CamreError
from TokenOptEnv.evaluation import marked_block
from training.plot_data import Row, Run, Stage, read
from training.results import REACHED

BLOCK = "checks"
GAINS_BLOCK = "gains"
PACE_BLOCK = "pace"
TRIED_BLOCK = "tried"
PAGES = (Path("results/README.md"), Path("artifacts/camre-v2/README.md"))
_QUARTERS = 4
_COLUMNS = {
    "success": "success",
    "sce": "SCE",
    "return": "return",
    "refused_share": "refused",
    "submitted_share": "submitted",
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write the checks of a run into a page.")
    parser.add_argument("--metrics", type=Path, default=Path("results/metrics"))
    parser.add_argument("--page", type=Path, action="append", help="repeat for more; the run's own and its card")
    parser.add_argument("--timings", type=Path, default=Path("results/timings"), help="what each iteration took")
    parser.add_argument("--tried", type=Path, help="metrics of other runs, whose last checks go into the first page")
    chosen = parser.parse_args(arguments)
    try:
        run = read(chosen.metrics)
        told = table(run)
        pages = chosen.page or PAGES
        for page in pages:
            if not page.is_file():
                raise BadInput(f"there is no page {str(page)!r}; name one with --page")
            marked_block.rewrite(page, BLOCK, told)
        marked_block.rewrite(pages[0], GAINS_BLOCK, gains_table(run))
        marked_block.rewrite(pages[0], PACE_BLOCK, pace_table(chosen.timings))
        if chosen.tried is not None:
            marked_block.rewrite(pages[0], TRIED_BLOCK, tried_table(chosen.tried))
    except CamreError as fault:
        raise SystemExit(f"run_page: {fault}") from None


def table(run: Run) -> str:
    """Every check on validation, in order, above what heuristics reach on the same cases, the best first."""
    lines = [*_head("policy"), *(_line(name, row, "check_") for name, row in _checks(run))]
    best = sorted(run.baselines.items(), key=lambda each: -each[1]["sce"])
    return "\n".join([*lines, *(_line(f"`{name}`", reached, "") for name, reached in best)])


def gains_table(run: Run) -> str:
    """The policy's less the heuristic's on the same training cases: by quarter of the first stage, then by seed."""
    lines = ["| iterations | return | success | SCE |", "|---|---:|---:|---:|"]
    played = [place for place in run.first if place > 0]
    for quarter in range(_QUARTERS):
        places = played[quarter * len(played) // _QUARTERS : (quarter + 1) * len(played) // _QUARTERS]
        if places:
            rows = [run.first[place] for place in places]
            lines.append(_gains(f"{places[0]} to {places[-1]}", rows))
    for number, stage in enumerate(run.seeds, start=1):
        lines.append(_gains(f"{min(stage)} to {max(stage)}, seed {number}", list(stage.values())))
    return "\n".join(lines)


def _gains(name: str, rows: Sequence[Row]) -> str:
    cells = []
    for key in REACHED:
        gains = [row[f"gained_{key}"] for row in rows if f"gained_{key}" in row]
        error = f" ± {stdev(gains) / math.sqrt(len(gains)):.3f}" if len(gains) > 1 else ""
        cells.append(f"{fmean(gains):+.3f}{error}" if gains else "-")
    return f"| {name} | " + " | ".join(cells) + " |"


def pace_table(folder: Path) -> str:
    """By stage, over all the time that it played and learnt."""
    if not folder.is_dir():
        raise BadInput(f"there is no folder of timings {str(folder)!r}; name one with --timings")
    lines = ["| stage | iterations | environment steps a minute | the environment's share |", "|---|---:|---:|---:|"]
    for file in sorted(folder.glob("*.jsonl")):
        rows = [row for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()) if "play_s" in row]
        if rows:
            spans = [row["play_s"] + row["learn_s"] for row in rows]
            steps, share = (
                sum(span * row[key] for span, row in zip(spans, rows, strict=True)) / sum(spans)
                for key in ("env_steps_per_minute", "env_share")
            )
            lines.append(f"| {file.stem} | {len(rows)} | {steps:,.0f} | {share:.1%} |")
    return "\n".join(lines)


def tried_table(folder: Path) -> str:
    """The last check of each."""
    if not folder.is_dir():
        raise BadInput(f"there is no folder of metrics {str(folder)!r}; name one with --tried")
    lines = _head("metrics")
    for file in sorted(folder.glob("*.jsonl")):
        rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        lines += [_line(f"`{file.name}`", row, "check_") for row in rows if "check_sce" in row][-1:]
    return "\n".join(lines)


def _head(first: str) -> list[str]:
    return [f"| {first} | " + " | ".join(_COLUMNS.values()) + " |", "|---|" + "---:|" * len(_COLUMNS)]


def _checks(run: Run) -> Iterator[tuple[str, Row]]:
    for place, row in _checked(run.first):
        yield "warm start" if place == 0 else f"after {place} iterations", row
    for number, stage in enumerate(run.seeds, start=1):
        yield from ((f"after {place} iterations, seed {number}", row) for place, row in _checked(stage))


def _checked(stage: Stage) -> Iterator[tuple[int, Row]]:
    return ((place, row) for place, row in stage.items() if "check_sce" in row)


def _line(name: str, row: Row, prefix: str) -> str:
    cells = (f"{row[prefix + key]:.3f}" if prefix + key in row else "-" for key in _COLUMNS)
    return f"| {name} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
