"""The tests of many trees in one interpreter: a week of runs for the price of a few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.task_defs.execution import TestOutcome, TestResult, TestRun, Trial, run_batch
from TokenOptEnv.task_defs.execution_report import render


def run_each(trees: Sequence[Mapping[str, str]], roots: Sequence[str]) -> tuple[TestRun, ...]:
    """What `run_tests` says of each, verbosely."""
    runs = []
    for tree, result in zip(trees, run_batch([Trial(tree, tests=True) for tree in trees], roots=roots), strict=True):
        if result is None:
            raise ScenarioInvalid("a designed run came to no end")
        results = tuple(
            TestResult(test.test_id, TestOutcome(test.outcome), test.fault.text if test.fault else "")
            for test in result.tests
        )
        runs.append(TestRun(results, render(result.tests, tree, verbose=True)))
    return tuple(runs)
