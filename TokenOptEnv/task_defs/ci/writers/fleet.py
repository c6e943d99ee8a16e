"""The dialect of a self-hosted fleet of agents: elapsed stamps, `~~~` sections, hooks, agents that die."""

from __future__ import annotations

from datetime import datetime

from TokenOptEnv.task_defs.ci.writers.job_log import JobLog, coloured


class Fleet:
    def stamp(self, now: datetime, started: datetime) -> str:
        elapsed_ms = int((now - started).total_seconds() * 1000 + 0.5)
        seconds, milliseconds = divmod(elapsed_ms, 1000)
        return f"[{seconds // 60:02d}:{seconds % 60:02d}.{milliseconds:03d}]"

    def opening(self, title: str) -> list[str]:
        return [f"~~~ {title}"]

    def closing(self) -> list[str]:
        return []

    def command(self, text: str) -> str:
        return f"{coloured('90', '$')} {text}"

    def warning(self, text: str) -> str:
        return f"{coloured('33', 'warning:')} {text}"

    def failure(self, exit_code: int) -> str:
        return f"{coloured('31', 'Error:')} The command exited with status {exit_code}"


def set_up(log: JobLog, queue: str) -> None:
    agent = f"{queue}-{log.stream.hex(4)}-{log.stream.integer(1, 8)}"
    log.open("Preparing agent")
    log.say(
        f"agent {agent} v3.10{log.stream.integer(2, 6)}.0 linux/amd64 pid {log.stream.integer(310, 990)}",
        f"{coloured('90', '#')} hook: environment, {log.stream.integer(3, 19)} secrets redacted",
    )


def tear_down(log: JobLog) -> None:
    log.open("Running agent pre-exit hook")
    log.command("docker compose down --volumes --timeout 1")
    log.say(f"Container build-{log.stream.hex(6)}-app-1  Removed")


def lost_agent(log: JobLog) -> None:
    """The host goes away under the job: nothing is known about the work it was doing."""
    log.wait(9_000, 21_000)
    log.warn("heartbeat to agent API missed (1/3): context deadline exceeded")
    log.wait(10_000, 10_900)
    log.warn("heartbeat to agent API missed (2/3): context deadline exceeded")
    log.wait(10_000, 10_900)
    log.say(f"{coloured('31', 'Error:')} agent lost: spot host reclaimed by provider (signal: terminated)")
