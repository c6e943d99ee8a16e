"""Run a notebook, or copy it without its outputs.

    python -m training.notebooks run notebooks/CAMRE_GRPO_Training_V2.ipynb
    python -m training.notebooks strip notebooks/CAMRE_GRPO_Training_V2.ipynb notebooks/COPY.ipynb

Of what a run says, only standard output is kept: warnings name files of the machine, and progress bars are noise.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

_MOST_SECONDS_A_CELL = 24 * 3_600


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Run a notebook, or copy it without its outputs.")
    parser.add_argument("what", choices=["run", "strip"])
    parser.add_argument("notebook", type=Path)
    parser.add_argument("copy", type=Path, nargs="?", help="where to; the notebook itself when left out")
    chosen = parser.parse_args(arguments)
    copy = chosen.copy or chosen.notebook
    copy.write_text(run(chosen.notebook) if chosen.what == "run" else stripped(chosen.notebook), encoding="utf-8")
    sys.stdout.write(f"written: {copy}\n")


def run(file: Path) -> str:
    """Every cell in order, from the root of the checkout."""
    notebook = nbformat.read(file, as_version=4)
    NotebookClient(notebook, timeout=_MOST_SECONDS_A_CELL, resources={"metadata": {"path": "."}}).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return _text(notebook)


def stripped(file: Path) -> str:
    """What a reader runs: neither outputs nor the traces of having been run."""
    notebook = nbformat.read(file, as_version=4)
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return _text(notebook)


def _text(notebook: Any) -> str:
    """One form whoever wrote it; run times would make every run a change."""
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main()
