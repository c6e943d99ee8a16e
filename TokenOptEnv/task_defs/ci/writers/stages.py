"""The dialect of a build server with a controller and nodes: `[Pipeline]` marks, shell echoes, workspaces."""

from __future__ import annotations

from datetime import datetime

from TokenOptEnv.task_defs.ci.writers.job_log import JobLog


class Stages:
    def stamp(self, now: datetime, started: datetime) -> str:
        return f"[{now:%H:%M:%S}]"

    def opening(self, title: str) -> list[str]:
        return ["[Pipeline] stage", f"[Pipeline] {{ ({title})"]

    def closing(self) -> list[str]:
        return ["[Pipeline] }"]

    def command(self, text: str) -> str:
        return f"+ {text}"

    def warning(self, text: str) -> str:
        return f"[WARN] {text}"

    def failure(self, exit_code: int) -> str:
        return f"ERROR: script returned exit code {exit_code}"


def set_up(log: JobLog, node: str, project: str) -> None:
    log.say("[Pipeline] Start of Pipeline", "[Pipeline] node")
    log.wait(200, 5_200)
    log.say(f"Running on {node}-{log.stream.integer(1, 24)} in /srv/agent/workspace/{project}")


def tear_down(log: JobLog) -> None:
    log.say("[Pipeline] cleanWs", f"[WS-CLEANUP] done, {log.stream.integer(40, 900)} files removed")
    log.say("[Pipeline] // node", "[Pipeline] End of Pipeline")
