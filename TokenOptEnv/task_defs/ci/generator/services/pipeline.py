"""What a project's pipeline asks for, before a service's own syntax is put around it."""

from __future__ import annotations

from dataclasses import dataclass

LINT = "lint"


@dataclass(frozen=True, slots=True)
class TestJob:
    name: str
    tests: tuple[str, ...]


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
        return f"pytest {options} {' '.join(job.tests)}"

    def job(self, name: str) -> TestJob:
        return next(job for job in (*self.gating, self.preview) if job.name == name)
