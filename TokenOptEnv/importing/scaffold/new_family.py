"""A family to begin with: one module that discovery finds, with one designed case, and the test that holds it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import PurePosixPath


def family_files(name: str) -> dict[PurePosixPath, str]:
    """By path from the root of a checkout: what to write."""
    return {
        PurePosixPath("TokenOptEnv", "task_defs", name, "__init__.py"): _filled("family.py.txt", name),
        PurePosixPath("tests", "core", f"test_{name}_family.py"): _filled("family_test.py.txt", name),
    }


def _filled(template: str, name: str) -> str:
    return (files(__package__) / template).read_text(encoding="utf-8").replace("@NAME@", name)
