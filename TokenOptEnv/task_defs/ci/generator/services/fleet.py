"""The self-hosted fleet as a service of generated projects."""

from __future__ import annotations

from collections.abc import Mapping

from TokenOptEnv.task_defs.ci.generator.services.pipeline import LINT, Pipeline
from TokenOptEnv.task_defs.ci.generator.services.service import Heading
from TokenOptEnv.task_defs.ci.writers import fleet
from TokenOptEnv.task_defs.ci.writers.job_log import JobLog


class FleetService:
    dialect = fleet.Fleet()
    pipeline_path = "ci/pipeline.yml"
    shard_names = ("unit-1", "unit-2", "unit-3")
    preview_name = "preview"
    words = ("commit status", "success", "failure")

    def pipeline(self, pipeline: Pipeline) -> str:
        jobs = "".join(
            f"  {job.name}:\n"
            "    agents: {queue: linux-small}\n"
            f"    timeout: {pipeline.timeout_min}\n"
            f"    install: {pipeline.lock}\n"
            f"    run: {pipeline.command(job)}\n"
            for job in pipeline.gating
        )
        return (
            f"# {self.pipeline_path}\n# gating jobs: a red job in this list stops the merge\n"
            f"gate:\n{self.gate(pipeline)}\n\njobs:\n"
            f"  {LINT}:\n    agents: {{queue: linux-small}}\n    run: ruff check . && ruff format --check .\n{jobs}"
            f"  {pipeline.preview.name}:\n    agents: {{queue: linux-small}}\n    soft_fail: true\n"
            f"    run: {pipeline.command(pipeline.preview)}\n"
        )

    def gate(self, pipeline: Pipeline) -> str:
        return f"  main: [{pipeline.gates}]"

    def open(self, log: JobLog, heading: Heading, terse: bool = False) -> None:
        log.bare(
            f"=== {heading.project} #{heading.run} | {heading.job} | attempt {heading.attempt} | {heading.date} UTC ==="
        )
        if not terse:
            fleet.set_up(log, "linux-small")

    def close(self, log: JobLog) -> None:
        fleet.tear_down(log)

    def summary(self, log: JobLog, heading: Heading, states: Mapping[str, str]) -> None:
        jobs = "; ".join(f"{job} {state}" for job, state in states.items())
        log.say(f"commit status of run {heading.run} attempt {heading.attempt} on {heading.ref}@{heading.sha}: {jobs}")
