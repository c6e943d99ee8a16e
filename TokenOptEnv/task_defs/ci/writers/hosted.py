"""The dialect of a hosted service: times of day, `##[group]` folds, images provisioned per job."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.writers.job_log import JobLog, coloured


class Hosted:
    def stamp(self, now: datetime, started: datetime) -> str:
        return f"{now:%H:%M:%S}.{now.microsecond // 1000:03d}"

    def opening(self, title: str) -> list[str]:
        return [f"##[group]{title}"]

    def closing(self) -> list[str]:
        return ["##[endgroup]"]

    def command(self, text: str) -> str:
        return coloured("36;1", text)

    def warning(self, text: str) -> str:
        return f"##[warning]{text}"

    def failure(self, exit_code: int) -> str:
        return f"##[error]Process completed with exit code {exit_code}."


def set_up(log: JobLog, job: str, image: str, image_version: str, actions: Sequence[str]) -> None:
    """Everything before the first step of the job's own."""
    log.say(f"Current runner version: '2.3{log.stream.integer(27, 31)}.0'")
    log.say(f"Runner image: {image}, version {image_version}")
    log.say("Prepare all required actions")
    for action in actions:
        log.wait(60, 420)
        log.say(f"Download action repository '{action}' (SHA:{Stream('ci', 'action', action).hex(12)})")
    log.say(f"Complete job name: {job}")


def tear_down(log: JobLog) -> None:
    log.say("Post job cleanup.", "[command]/usr/bin/git config --local --unset-all http.extraheader")
    if log.stream.chance(0.5):
        log.say(f"Terminate orphan process: pid ({log.stream.integer(1900, 2900)}) (python)")
    log.say("Cleaning up orphan processes")
