"""`make golden` finds interpreters that run, and no others."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.golden import every_python

_HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


def _program(folder: Path, version: str, body: str) -> None:
    folder.mkdir(exist_ok=True)
    file = folder / f"python{version}"
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)


def test_a_shim_that_does_not_run_is_passed_over_for_one_that_does(tmp_path: Path) -> None:
    _program(tmp_path / "shims", _HERE, "echo 'command not found' >&2; exit 127")
    _program(tmp_path / "real", _HERE, f'exec {sys.executable} "$@"')
    path = os.pathsep.join([str(tmp_path / "shims"), "", str(tmp_path / "real")])
    assert every_python.found(_HERE, path) == tmp_path / "real" / f"python{_HERE}"


def test_an_interpreter_of_another_version_is_not_taken(tmp_path: Path) -> None:
    _program(tmp_path / "wrong", "3.99", f'exec {sys.executable} "$@"')
    assert every_python.found("3.99", str(tmp_path / "wrong")) is None


def test_a_python_that_is_missing_is_told_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert every_python.main(("3.12", "3.13")) == 0
    assert capsys.readouterr().out == "Python 3.12: not found on PATH\nPython 3.13: not found on PATH\n"
