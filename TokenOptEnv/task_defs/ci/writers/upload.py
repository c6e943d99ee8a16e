"""The steps after the tests: reports uploaded, annotations of the service's own bots."""

from __future__ import annotations

from TokenOptEnv.task_defs.ci.writers.job_log import JobLog


def upload(log: JobLog, name: str) -> None:
    size_b = log.stream.integer(2_100, 61_000)
    log.open(f"Upload artifact: {name}")
    log.wait(300, 1_500)
    log.say(
        f"Artifact {name} has been successfully uploaded! Final size is {size_b} bytes.",
    )
    log.close()


def flake_notice(log: JobLog, test_id: str, flips: int, runs: int) -> None:
    """What a flake detector says of a test's past, whatever it did in this run."""
    log.warn(f"flake-watch: {test_id} changed its outcome {flips} times in the last {runs} runs on main")
