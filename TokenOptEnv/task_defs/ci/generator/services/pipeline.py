"""What a project's pipeline asks for, before a service's own syntax is put around it."""

from __future__ import annotations

from dataclasses import dataclass

LINT = "lint"
KNOWN_FLAGS = ("--maxfail", "--strict-markers", "--cache-clear", "--color")


@dataclass(frozen=True, slots=True)
class TestJob:
    name: str
    tests: tuple[str, ...]
    flag: str = ""
    """Handed to pytest by this job alone."""

    @property
    def is_understood(self) -> bool:
        """Plugins that would know the other flags are not installed."""
        return not self.flag or self.flag.partition("=")[0] in KNOWN_FLAGS


@dataclass(frozen=True, slots=True)
class Pipeline:
    gating: tuple[TestJob, ...]
    preview: TestJob
    """May fail."""
    options: str
    """Handed to pytest by the gating jobs."""
    timeout_min: int
    lock: str
    """The file of pinned packages."""

    @property
    def gates(self) -> str:
        return ", ".join([LINT, *(job.name for job in self.gating)])

    def command(self, job: TestJob) -> str:
        options = "-ra" if job == self.preview else self.options
        return " ".join(["pytest", options, *([job.flag] if job.flag else []), *job.tests])

    def job(self, name: str) -> TestJob:
        return next(job for job in (*self.gating, self.preview) if job.name == name)
