"""The cache of downloaded wheels: restored before the install, sometimes on the second try."""

from __future__ import annotations

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.writers.job_log import JobLog


def cache_key(requirements: str) -> str:
    """A key that changes with the requirements, as a checksum of the file would."""
    return f"wheels-py311-{Stream('ci', 'wheels', requirements).hex(10)}"


def restore(log: JobLog, key: str, hiccups: int = 0) -> None:
    """`hiccups`: how many tries the cache service turns away before it answers."""
    size_b = Stream("ci", "wheels", key).integer(4_100_000, 19_800_000)
    log.open("Restore cache: wheels")
    log.say(f"key: {key}")
    for number in range(1, hiccups + 1):
        log.wait(1_000, 5_200)
        log.warn(f"Failed to restore: getCacheEntry failed: Cache service responded with 503 (attempt {number} of 3)")
        log.say(f"Waiting {3 * number} seconds before retry")
        log.wait(3_000 * number, 3_000 * number + 400)
    log.wait(120, 900)
    log.say(
        f"Received {size_b} of {size_b} (100.0%), {log.stream.random() * 30 + 9:.1f} MBs/sec",
        f"Cache restored from key: {key}",
    )
    log.close()


def miss(log: JobLog, key: str) -> None:
    log.open("Restore cache: wheels")
    log.wait(120, 900)
    log.say(f"Cache not found for input keys: {key}, wheels-py311-")
    log.close()
