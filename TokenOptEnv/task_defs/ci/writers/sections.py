"""The dialect of a service that keeps a log per stage: epoch marks around sections, dates on every line."""

from __future__ import annotations

from datetime import datetime

from TokenOptEnv.task_defs.ci.writers.job_log import JobLog, coloured


class Sections:
    def stamp(self, now: datetime, started: datetime) -> str:
        return f"{now:%m-%d %H:%M:%S}Z"

    def opening(self, title: str) -> list[str]:
        return [f"section_start:{title.lower().replace(' ', '_').replace(':', '')}", coloured("36;1", title)]

    def closing(self) -> list[str]:
        return ["section_end"]

    def command(self, text: str) -> str:
        return coloured("32;1", f"$ {text}")

    def warning(self, text: str) -> str:
        return f"{coloured('0;33', 'WARNING')}: {text}"

    def failure(self, exit_code: int) -> str:
        return coloured("31;1", f"ERROR: Job failed: exit code {exit_code}")


def set_up(log: JobLog, runner: str, image: str) -> None:
    log.say(f"Running with runner 18.{log.stream.integer(1, 9)}.0 ({log.stream.hex(8)})")
    log.say(f"  on {runner} {log.stream.hex(6)}, system ID: r_{log.stream.hex(8)}")
    log.open("Preparing the container executor")
    log.wait(300, 2_400)
    log.say(f"Pulling container image {image} ...", f"Using container image sha256:{log.stream.hex(12)} for {image}")
    log.close()


def tear_down(log: JobLog) -> None:
    log.open("Cleaning up project directory and file based variables")
    log.wait(100, 700)
    log.close()
