"""The other side of `trials`: one interpreter that forks for every trial, so that none sees another's modules.

A fresh interpreter costs ten times what a fork does, and a case needs a dozen runs of nearly the same files. So the
trials take place one after another in one folder; a file that has not changed is neither written nor compiled again.
It imports the standard library and the runner of `execution` alone.
"""

from __future__ import annotations

import gc
import importlib
import importlib.machinery
import importlib.util
import io
import json
import os
import signal
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

_SHARED = (
    "bisect collections.abc contextlib dataclasses datetime enum functools hashlib heapq itertools json logging math "
    "operator re string textwrap typing"
)
"""What packages import from the standard library: loaded once, before the forks."""

_TIME_LIMIT_S = 5

_Compile = Callable[..., types.CodeType]


def _runner(path: str) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("execution_child", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _remember(loader: Any) -> Callable[[Path], None]:
    """Let a loader compile each text of a file once; returns what does so ahead of the forks."""
    known: dict[tuple[str, bytes], types.CodeType] = {}
    compiled: _Compile = loader.source_to_code

    def source_to_code(self: Any, data: bytes, path: str, **options: Any) -> types.CodeType:
        key = (str(path), bytes(data))
        if key not in known:
            known[key] = compiled(self, data, path, **options)
        return known[key]

    loader.source_to_code = source_to_code

    def prepare(path: Path) -> None:
        try:
            loader("prepared", str(path)).source_to_code(path.read_bytes(), str(path))
        except SyntaxError:
            return

    return prepare


def _lay_out(root: Path, before: dict[str, str], files: dict[str, str]) -> list[str]:
    """Bring the folder from one trial's files to the next one's; returns the paths that changed."""
    for path in before:
        if path not in files:
            (root / path).unlink()
    changed = [path for path, text in files.items() if before.get(path) != text]
    for path in changed:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(files[path], encoding="utf-8")
    return changed


def _attempt(runner: types.ModuleType, root: Path, trial: dict[str, Any]) -> None:
    """In the fork: run one trial and leave the answer beside the folder. An endless loop leaves none."""
    signal.alarm(_TIME_LIMIT_S)
    sys.path[:0] = [str(root / folder) for folder in trial["roots"]]
    done = runner._run_tests(root, {"tests": trial["tests"], "log_level": "WARNING"})
    (root.parent / trial["answer"]).write_text(json.dumps(done), encoding="utf-8")


def main() -> None:
    job = json.load(sys.stdin)
    runner = _runner(job["runner"])
    for name in _SHARED.split():
        importlib.import_module(name)
    prepare_test = _remember(runner._TestLoader)
    prepare_source = _remember(importlib.machinery.SourceFileLoader)
    root = Path.cwd() / job["folder"]
    root.mkdir()
    os.chdir(root)
    sys.stdout = io.StringIO()
    warnings.simplefilter("ignore")
    gc.disable()
    gc.freeze()
    files: dict[str, str] = {}
    for trial in job["trials"]:
        wanted = {path: job["texts"][number] for path, number in trial["files"].items()}
        for path in _lay_out(root, files, wanted):
            is_test = path.rpartition("/")[2].startswith(("test_", "conftest"))
            (prepare_test if is_test else prepare_source)(root / path)
        files = wanted
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                _attempt(runner, root, trial)
                status = 0
            finally:
                os._exit(status)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
