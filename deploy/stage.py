"""Stages a copy that `openenv push` accepts: python deploy/stage.py FOLDER, then openenv push FOLDER.

OpenEnv expects a client and models at the root of an environment; here the root belongs to the package, so they
are added to the copy alone. Nothing is uploaded by this script.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Final

import typer

ROOT: Final = Path(__file__).resolve().parent.parent
STAGED: Final = (
    "Dockerfile",
    "LICENSE",
    "README.md",
    "TokenOptEnv",
    "constraints.txt",
    "openenv.yaml",
    "pyproject.toml",
    "server",
    "validation",
)


def stage(folder: Path) -> None:
    if folder.exists() and any(folder.iterdir()):
        raise typer.BadParameter(f"{folder} is not empty; name a folder that is, or that does not exist yet")
    folder.mkdir(parents=True, exist_ok=True)
    for name in STAGED:
        _copy(ROOT / name, folder / name)
    for door in sorted((ROOT / "deploy" / "root").glob("*.py")):
        _copy(door, folder / door.name)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    else:
        shutil.copy2(source, target)


def main(folder: Annotated[Path, typer.Argument(help="Where the copy goes; empty or new.")]) -> None:
    stage(folder)
    typer.echo(f"staged in {folder}; next: openenv push {folder}")


if __name__ == "__main__":
    typer.run(main)
