"""`camre scenarios new`: a case or a family to begin with, which works as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

app = typer.Typer(help="Begin a case or a family that works as it is.")

_CASE_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_FAMILY_NAME = re.compile(r"[a-z]{2,24}")


@app.callback()
def _group() -> None:
    """Begin a case or a family that works as it is."""


@app.command("case")
def new_case(
    name: Annotated[str, typer.Argument(help="Lower case and hyphens, like checkout-outage.")],
    folder: Annotated[Path | None, typer.Option(help="Where to write; a folder of that name when left out.")] = None,
) -> None:
    """Write logs and a spec that quotes them; `camre scenarios import` takes it as it is."""
    from TokenOptEnv.cli import screen
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.importing.scaffold import case_files

    if not _CASE_NAME.fullmatch(name) or len(name) > 40:
        raise BadInput(f"a case is named in lower case, digits and single hyphens, not {name[:60]!r}")
    place = folder if folder is not None else Path(name)
    _write(case_files(name), place)
    screen.line(f"next: camre scenarios import {place / 'import.toml'}")


@app.command("family")
def new_family(
    name: Annotated[str, typer.Argument(help="One word in lower case, like storage.")],
    folder: Annotated[Path | None, typer.Option(help="A checkout; the one this runs from when left out.")] = None,
) -> None:
    """Write a family of one case, where discovery finds it, and the test that holds it to its contract."""
    from importlib.resources import files

    from TokenOptEnv.cli import screen
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.importing.scaffold import family_files

    if not _FAMILY_NAME.fullmatch(name):
        raise BadInput(f"a family is named by one word of 2 to 24 lower-case letters, not {name[:60]!r}")
    place = folder if folder is not None else Path(str(files("TokenOptEnv"))).parent
    if not (place / "TokenOptEnv" / "task_defs").is_dir():
        raise BadInput(f"{str(place)!r} is no checkout of TokenOptEnv, and a family is part of one; give one: --folder")
    made = family_files(name)
    _write(made, place)
    screen.line(f"next: pytest {next(path for path in made if path.name.startswith('test_'))}")


def _write(made: Mapping[PurePosixPath, str], folder: Path) -> None:
    from TokenOptEnv.cli import screen
    from TokenOptEnv.errors import BadInput

    for path in made:
        if (folder / path).exists():
            raise BadInput(f"{str(folder / path)!r} is there already; choose another name or folder")
    for path, text in made.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
        screen.line(f"written: {file}")
