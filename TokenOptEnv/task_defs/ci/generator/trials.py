"""Runs many test selections over many states of a package, in one child interpreter.

Every report that a generated log prints comes from here: from that commit's files, under the test modules that the
job selects. What differs between two runs is fixed or normalised as in `execution`, whose runner this uses.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.task_defs import execution
from TokenOptEnv.task_defs.execution import FIXED_ADDRESS, TestOutcome, TestResult, TestRun
from TokenOptEnv.task_defs.execution_report import ReportedTest, render

_CHILD = Path(__file__).with_name("trials_child.py")
_RUNNER = Path(execution.__file__).with_name("execution_child.py")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
_FIXED_ROOT = "/build"
_FOLDER = "build"
_TIME_LIMIT_S = 300.0
SITE = "site-packages"
"""Where the packages that a job installs are found."""


@dataclass(frozen=True, eq=False)
class Trial:
    """One process of one job: the files it sees and the test modules it runs, in this order."""

    files: Mapping[str, str]
    tests: tuple[str, ...]
    verbose: bool
    roots: tuple[str, ...] = (".", SITE)

    @property
    def key(self) -> tuple[object, ...]:
        """Two trials with one key have one outcome: what is not Python is not run."""
        code = tuple((path, text) for path, text in self.files.items() if path.endswith(".py"))
        return code, self.tests, self.verbose, self.roots


def run_all(trials: Sequence[Trial]) -> tuple[TestRun, ...]:
    """The run of each trial, in order; equal trials are run once."""
    runs = []
    for trial, run in zip(trials, try_all(trials), strict=True):
        if run is None:
            raise ScenarioInvalid(f"a trial of {', '.join(trial.tests)} did not come to an end")
        runs.append(run)
    return tuple(runs)


def try_all(trials: Sequence[Trial]) -> tuple[TestRun | None, ...]:
    """As `run_all`, with None where a trial did not come to an end."""
    distinct: dict[tuple[object, ...], Trial] = {}
    for trial in trials:
        distinct.setdefault(trial.key, trial)
    runs = dict(zip(distinct, _run(tuple(distinct.values())), strict=True))
    return tuple(runs[trial.key] for trial in trials)


def _run(trials: tuple[Trial, ...]) -> list[TestRun | None]:
    texts: dict[str, int] = {}
    for trial in trials:
        for path, text in trial.files.items():
            if path.endswith(".py"):
                texts.setdefault(text, len(texts))
    with TemporaryDirectory(prefix="trials-") as folder:
        home = Path(folder).resolve()
        job = {
            "runner": str(_RUNNER),
            "folder": _FOLDER,
            "texts": list(texts),
            "trials": [
                {
                    "answer": f"{number}.json",
                    "files": {path: texts[text] for path, text in trial.files.items() if path.endswith(".py")},
                    "tests": trial.tests,
                    "roots": trial.roots,
                }
                for number, trial in enumerate(trials)
            ],
        }
        command = [sys.executable, "-s", "-S", "-P", "-B", "-X", "utf8", str(_CHILD)]
        try:
            subprocess.run(
                command,
                input=json.dumps(job),
                env={"PYTHONHASHSEED": "0", "TZ": "UTC"},
                cwd=home,
                capture_output=True,
                encoding="utf-8",
                timeout=_TIME_LIMIT_S,
                check=True,
            )
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as fault:
            raise ScenarioInvalid(f"the trials did not come to an end: {type(fault).__name__}") from None
        return [_read(home, number, trial) for number, trial in enumerate(trials)]


def _read(home: Path, number: int, trial: Trial) -> TestRun | None:
    answer = home / f"{number}.json"
    if not answer.exists():
        return None
    text = answer.read_text(encoding="utf-8").replace(str(home / _FOLDER), _FIXED_ROOT)
    reported = [ReportedTest.model_validate(result) for result in json.loads(_ADDRESS.sub(FIXED_ADDRESS, text))]
    results = tuple(
        TestResult(
            test_id=test.test_id, outcome=TestOutcome(test.outcome), message=test.fault.text if test.fault else ""
        )
        for test in reported
    )
    return TestRun(results=results, report=render(reported, trial.files, verbose=trial.verbose))
