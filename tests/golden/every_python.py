"""The golden traces on every Python that is supported and found: `make golden`.

Each interpreter gets an environment of its own under `.venv-golden`, with the pinned dependencies of the core, and runs
`tests/golden`. One that is not found is told in a line; one whose traces differ by a byte fails the command.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("3.11", "3.12", "3.13")
_TESTING = ("hypothesis", "pytest")
_ASK = "import sys; print('%d.%d' % sys.version_info[:2])"


def found(version: str, path: str) -> Path | None:
    """The first on the path that runs and is what its name says: version managers leave shims that are neither."""
    for folder in path.split(os.pathsep):
        program = Path(folder) / f"python{version}"
        if folder and os.access(program, os.X_OK) and _answers(program) == version:
            return program
    return None


def _answers(program: Path) -> str:
    try:
        ended = subprocess.run([program, "-c", _ASK], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ended.stdout.strip() if ended.returncode == 0 else ""


def prepared(version: str, program: Path) -> Path:
    """The interpreter of its environment, made once and brought up to date."""
    folder = ROOT / ".venv-golden" / version
    if not (folder / "bin" / "python").exists():
        subprocess.run([program, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "-c", ROOT / "constraints.txt", *_needed(), *_TESTING], check=True)
    return python


def _needed() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return list(project["dependencies"])


def main(versions: Sequence[str] = PYTHONS) -> int:
    failed = False
    for version in versions:
        program = found(version, os.environ.get("PATH", ""))
        if program is None:
            sys.stdout.write(f"Python {version}: not found on PATH\n")
            continue
        command = [prepared(version, program), "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/golden"]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        last = (ended.stdout.strip().splitlines() or [ended.stderr.strip()])[-1]
        sys.stdout.write(f"Python {version}: {last}\n")
        if ended.returncode != 0:
            failed = True
            sys.stdout.write(ended.stdout + ended.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
