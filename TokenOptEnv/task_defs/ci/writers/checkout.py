"""The step that fetches the repository."""

from __future__ import annotations

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.writers.history import Commit
from TokenOptEnv.task_defs.ci.writers.job_log import JobLog


def check_out(log: JobLog, remote: str, commit: Commit, ref: str = "main") -> None:
    """Ends with git's own sentence about where the tree stands, which is the one line of it that matters."""
    size = Stream("ci", "objects", remote, commit.sha)
    objects = size.integer(900, 4200)
    log.open("Checkout")
    log.command(f"git fetch --no-tags --depth=50 {remote} +{commit.sha}:refs/remotes/origin/{ref}")
    log.wait(400, 1800)
    log.say(
        f"remote: Enumerating objects: {objects}, done.",
        f"Receiving objects: 100% ({objects}/{objects}), {size.random() * 3 + 0.4:.2f} MiB | "
        f"{log.stream.random() * 20 + 4:.2f} MiB/s, done.",
    )
    log.command(f"git checkout --progress --force refs/remotes/origin/{ref}")
    log.say(f"HEAD is now at {commit.sha} {commit.subject}")
    log.close()


def clone(log: JobLog, remote: str, commit: Commit, ref: str) -> None:
    """The same in two lines, for services that keep quiet about it."""
    log.command(f"git clone --quiet --branch {ref} {remote} . && git reset --hard {commit.sha}")
    log.wait(400, 1_800)
    log.say(f"HEAD is now at {commit.sha} {commit.subject}")
