"""Finds out which slips break which tests: `python -m TokenOptEnv.task_defs.ci.generator.slip_table`."""

from __future__ import annotations

import json
from pathlib import Path

from TokenOptEnv.task_defs.bugfix.generator.library import packages
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.ci.generator.mutation import slips
from TokenOptEnv.task_defs.ci.generator.trials import Trial, try_all
from TokenOptEnv.task_defs.ci.generator.undo import read

_MOST_FAILING = 3
"""Test functions: a slip that breaks more is seen at a glance."""
_LONGEST_ID = 66
"""A longer id is cut in the summary of a report."""


def rows(name: str) -> list[dict[str, object]]:
    files = dict(package_files(name))
    tests = tuple(path for path in files if path.rpartition("/")[2].startswith("test_"))
    found = [slip for path, text in files.items() if path.startswith(f"{name}/") for slip in slips(read(path, text))]
    spoiled = [{**files, slip.path: files[slip.path].replace(slip.old, slip.new)} for slip in found]
    runs = try_all([Trial(tree, tests, verbose=False) for tree in spoiled])
    table: list[dict[str, object]] = []
    for slip, run in zip(found, runs, strict=True):
        failing = run.failing if run is not None else ()
        functions = {test_id.partition("[")[0] for test_id in failing}
        one_each = len(functions) == len(failing)
        plain = all("::" in test_id and len(test_id) <= _LONGEST_ID for test_id in failing)
        if failing and one_each and plain and len(failing) <= _MOST_FAILING:
            table.append(
                {
                    "path": slip.path,
                    "function": slip.function,
                    "old": slip.old,
                    "new": slip.new,
                    "failing": list(failing),
                }
            )
    return table


def main() -> None:
    table = {name: rows(name) for name in packages()}
    path = Path(__file__).with_name("data") / "slips.json"
    path.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
