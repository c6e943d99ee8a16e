"""What a run leaves behind: metrics, timings, checkpoints. After a kill it goes on as if nothing had happened.

Every draw of a run comes from a stream named by the run's seed and the iteration, so the network, the optimizer and the
number of the iteration are all there is to restore. Metrics are a function of the run alone and are compared byte for
byte; times go to a file of their own. Lines written after the last checkpoint are cut off: they will be written again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

Metrics = Mapping[str, float | int | str]
_STATE = "state.pt"


class RunLog:
    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.metrics_file = folder / "metrics.jsonl"
        self.timings_file = folder / "timings.jsonl"
        self._board = _board(folder / "tensorboard")

    def resume(self, device: torch.device) -> dict[str, Any] | None:
        """The last checkpoint, or None at the start of a run."""
        file = self.folder / _STATE
        state: dict[str, Any] | None = None
        if file.is_file():
            state = torch.load(file, map_location=device, weights_only=True)
        done = -1 if state is None else int(state["iteration"])
        for lines in (self.metrics_file, self.timings_file):
            _cut(lines, done)
        return state

    def checkpoint(self, iteration: int, state: Mapping[str, Any]) -> None:
        """Written aside and renamed: a kill leaves the one before, whole."""
        draft = self.folder / f".{_STATE}"
        torch.save({**state, "iteration": iteration}, draft)
        draft.replace(self.folder / _STATE)

    def metrics(self, iteration: int, values: Metrics) -> None:
        _append(self.metrics_file, {"iteration": iteration, **values})
        if self._board is not None:
            for name, value in values.items():
                if not isinstance(value, str):
                    self._board.add_scalar(name, value, iteration)

    def timings(self, iteration: int, values: Metrics) -> None:
        _append(self.timings_file, {"iteration": iteration, **values})


def _append(file: Path, row: Metrics) -> None:
    rounded = {name: round(value, 6) if isinstance(value, float) else value for name, value in row.items()}
    with file.open("a", encoding="utf-8", newline="\n") as lines:
        lines.write(json.dumps(rounded) + "\n")


def _cut(file: Path, last: int) -> None:
    if not file.is_file():
        return
    kept = [line for line in file.read_text(encoding="utf-8").splitlines() if _iteration(line) <= last]
    file.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")


def _iteration(line: str) -> float:
    """A line that a kill cut in two counts as the last of all."""
    try:
        return int(json.loads(line)["iteration"])
    except ValueError:
        return float("inf")


def _board(folder: Path) -> Any:
    """TensorBoard's writer, where it is installed."""
    if find_spec("tensorboard") is None:
        return None
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(folder))
