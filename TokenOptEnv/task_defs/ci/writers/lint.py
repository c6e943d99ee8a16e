"""The lint job: short, green, and in every log."""

from __future__ import annotations

from TokenOptEnv.task_defs.ci.writers.job_log import JobLog


def lint(log: JobLog, files: int) -> None:
    log.open("Lint")
    log.command("ruff check . && ruff format --check .")
    log.wait(200, 900)
    log.say("All checks passed!", f"{files} files already formatted")
    log.close()
