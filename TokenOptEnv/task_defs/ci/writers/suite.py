"""The step that runs the tests: a real run, printed line by line as it came."""

from __future__ import annotations

from TokenOptEnv.task_defs.ci.writers.job_log import JobLog, coloured
from TokenOptEnv.task_defs.execution import TestRun

_PAINT = (("PASSED", "32"), ("FAILED", "31"))


def run_step(log: JobLog, command: str, run: TestRun) -> None:
    log.open("Run tests")
    log.command(command)
    log.wait(600, 1_900)
    for line in run.report.rstrip("\n").split("\n"):
        log.say(_painted(line))
    if run.failing:
        log.fail(1)
    log.close()


def _painted(line: str) -> str:
    """Colour where pytest's verbose progress has it; the failure's own lines stay as they are."""
    for word, code in _PAINT:
        if f" {word} " in line and line.rstrip().endswith("%]"):
            return line.replace(f" {word} ", f" {coloured(code, word)} ", 1)
    return line
