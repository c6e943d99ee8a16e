"""The notebooks run from top to bottom, on a tiny model, and the clean one is the other without its outputs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.train.conftest import ROOT, command, environment
from training.notebooks import stripped

V1, V2, CLEAN = (ROOT / "notebooks" / f"CAMRE_GRPO_Training{name}.ipynb" for name in ("", "_V2", "_V2_Clean"))


@pytest.mark.parametrize("notebook", [V1, CLEAN], ids=lambda file: file.stem)
def test_a_notebook_runs_from_top_to_bottom(notebook: Path, tmp_path: Path) -> None:
    runs = {"CAMRE_TINY": "1", "CAMRE_RUNS": str(tmp_path)}
    done = subprocess.run(
        command("notebooks", "run", notebook, tmp_path / "ran.ipynb"),
        cwd=ROOT,
        env={**environment(), **runs},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    cells = json.loads((tmp_path / "ran.ipynb").read_text(encoding="utf-8"))["cells"]
    said = [output for cell in cells if cell["cell_type"] == "code" for output in cell["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in said)


def test_the_clean_notebook_is_the_other_without_its_outputs() -> None:
    assert CLEAN.read_text(encoding="utf-8") == stripped(V2)


@pytest.mark.parametrize("notebook", [V1, V2, CLEAN], ids=lambda file: file.stem)
def test_no_notebook_tells_of_the_machine_it_ran_on(notebook: Path) -> None:
    text = notebook.read_text(encoding="utf-8")
    assert str(ROOT) not in text and str(Path.home()) not in text
