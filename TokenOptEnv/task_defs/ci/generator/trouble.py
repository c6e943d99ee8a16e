"""Trouble with hosts and networks: in every red run a little that passes, and in some plots one that does not."""

from __future__ import annotations

from TokenOptEnv.task_defs.ci.generator.plot import Plot
from TokenOptEnv.task_defs.ci.writers.job_log import JobLog

HICCUPS = {False: (Plot.LOST_HOST, Plot.MIRROR), True: (Plot.DISK, Plot.IMAGE)}
"""What can go wrong, by whether the split is held out."""


def missed_heartbeat(log: JobLog) -> None:
    log.wait(9_000, 14_000)
    log.warn("heartbeat to the controller missed (1/3)")
    log.wait(1_000, 3_000)
    log.say("heartbeat restored, the job goes on")


def lost_host(log: JobLog) -> None:
    for number in (1, 2, 3):
        log.wait(10_000, 12_000)
        log.warn(f"heartbeat to the controller missed ({number}/3)")
    log.say("host lost: reclaimed by its provider while the job was on it; no exit status")


def slow_pull(log: JobLog) -> None:
    log.warn("image pull: registry answered 429, trying once more in 4 s")
    log.wait(4_000, 4_900)
    log.say("image pull: complete")


def failed_pull(log: JobLog) -> None:
    for number in (1, 2, 3):
        log.warn(f"image pull: registry answered 429 (try {number} of 3)")
        log.wait(4_000 * number, 4_000 * number + 900)
    log.say("image pull: given up, the job has no container to run in")


def scarce_disk(log: JobLog) -> None:
    log.warn(f"volume /work is {log.stream.integer(86, 94)} % full, oldest caches dropped")


def full_disk(log: JobLog) -> None:
    log.warn("volume /work is 100 % full")
    log.say("OSError: [Errno 28] No space left on device: '/srv/wheels/unpacked'")
    log.fail(1)


def called_off(log: JobLog) -> None:
    """No trouble at all: the service stops work that nobody waits for any more."""
    log.wait(2_000, 9_000)
    log.warn("a newer revision of main is queued; work on this one is called off (group main, cancel-in-progress)")
