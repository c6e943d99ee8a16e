"""One adapter from several that went on from the same one: the mean of their weights.

    python -m training.average runs/seed-1/adapter runs/seed-2/adapter runs/seed-3/adapter --out runs/mean

Seeds of a last stage differ by what they happened to draw. Their mean keeps what they agree on, and costs nothing to
play. So does the mean of where reinforcement began and where it ended: what was learnt about training cases alone is
halved with all else, and on cases of other kinds little is lost by that. It means something only where all began with
the same weights: the factors of an adapter are averaged, not their products.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from TokenOptEnv.errors import BadInput, CamreError

WEIGHTS, CONFIG = "adapter_model.safetensors", "adapter_config.json"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Average adapters that began as one.")
    parser.add_argument("adapters", type=Path, nargs="+", help="their folders")
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    try:
        average(chosen.adapters, chosen.out)
    except CamreError as fault:
        raise SystemExit(f"average: {fault}") from None
    sys.stdout.write(f"written: {chosen.out}\n")


def average(folders: Sequence[Path], out: Path) -> None:
    for folder in folders:
        if not ((folder / WEIGHTS).is_file() and (folder / CONFIG).is_file()):
            raise BadInput(f"there is no adapter in {str(folder)!r}; name folders that a recipe wrote")
    several = [load_file(folder / WEIGHTS) for folder in folders]
    shapes = [{name: each.shape for name, each in weights.items()} for weights in several]
    for folder, found in zip(folders, shapes, strict=True):
        if found != shapes[0]:
            raise BadInput(f"{str(folder)!r} has other weights than {str(folders[0])!r}; average adapters of one rank")
    mean = {
        name: torch.stack([weights[name].float() for weights in several]).mean(0).to(first.dtype)
        for name, first in several[0].items()
    }
    out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(folders[0] / CONFIG, out / CONFIG)
    save_file(mean, out / WEIGHTS)


if __name__ == "__main__":
    main()
