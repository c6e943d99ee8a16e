"""What the generator asks of a CI service: its syntax, its log, its way to state an outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from TokenOptEnv.task_defs.ci.generator.services.pipeline import Pipeline
from TokenOptEnv.task_defs.ci.writers.job_log import Dialect, JobLog


@dataclass(frozen=True, slots=True)
class Heading:
    """Which job of which run a log is of."""

    project: str
    run: int
    attempt: int
    job: str
    ref: str
    sha: str
    date: str


class Service(Protocol):
    @property
    def dialect(self) -> Dialect: ...

    @property
    def pipeline_path(self) -> str: ...

    @property
    def shard_names(self) -> tuple[str, ...]: ...

    @property
    def preview_name(self) -> str: ...

    @property
    def words(self) -> tuple[str, str, str]:
        """What it calls the statement of an outcome, and a good and a bad one."""
        ...

    def pipeline(self, pipeline: Pipeline) -> str: ...

    def gate(self, pipeline: Pipeline) -> str:
        """The line of the pipeline that says which jobs stop a merge."""
        ...

    def open(self, log: JobLog, heading: Heading, terse: bool = False) -> None:
        """The heading of a job and, unless it is kept short, what the service says before the job's own steps."""
        ...

    def close(self, log: JobLog) -> None: ...

    def summary(self, log: JobLog, heading: Heading, states: Mapping[str, str]) -> None:
        """One line that says how each job of a run ended, at which commit of which ref."""
        ...
