"""What the README shows a newcomer; its commands are typed by `test_docs_commands.py`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_quick_start_runs_as_written() -> None:
    (code,) = blocks("python")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.startswith("preview ('log-reconciler-5521-s1',")
    assert "('first-look', 'evidence-held')" in run.stdout


def test_every_place_the_readme_names_is_there() -> None:
    tree = README.split("## The tree")[1].split("```")[1]
    named = [line.split()[0] for line in tree.splitlines() if line.startswith("  ")]
    assert len(named) > 20
    assert [name for name in named if not (ROOT / "TokenOptEnv" / name).exists()] == []


def test_make_knows_the_targets_the_readme_names() -> None:
    targets = re.findall(r"^make (\w+)", README, flags=re.MULTILINE)
    assert {"demo", "test"} <= set(targets)
    for target in targets:
        subprocess.run(["make", "-n", target], capture_output=True, check=True, cwd=ROOT)
