"""The build server with stages, for generated projects of the test split."""

from __future__ import annotations

from collections.abc import Mapping

from TokenOptEnv.task_defs.ci.generator.services.pipeline import LINT, Pipeline
from TokenOptEnv.task_defs.ci.generator.services.service import Heading
from TokenOptEnv.task_defs.ci.writers import stages
from TokenOptEnv.task_defs.ci.writers.job_log import JobLog


class StagesService:
    dialect = stages.Stages()
    pipeline_path = "build/pipeline.conf"
    shard_names = ("proof-north", "proof-east", "proof-west")
    preview_name = "proof-draft"
    words = ("review notification", "STABLE", "BROKEN")

    def pipeline(self, pipeline: Pipeline) -> str:
        jobs = "".join(
            f"stage {job.name} {{\n  limit {pipeline.timeout_min} minutes\n"
            f"  sh 'pip install --no-deps -r {pipeline.lock}'\n  sh '{pipeline.command(job)}'\n}}\n"
            for job in pipeline.gating
        )
        return (
            f"// {self.pipeline_path}\n// every blocking stage by name; the others only inform\n"
            f"{self.gate(pipeline)}\n\n"
            f"stage {LINT} {{\n  sh 'ruff check . && ruff format --check .'\n}}\n{jobs}"
            f"stage {pipeline.preview.name} {{\n  onFailure unstable\n  sh '{pipeline.command(pipeline.preview)}'\n}}\n"
        )

    def gate(self, pipeline: Pipeline) -> str:
        return f"blocking = [{pipeline.gates}]"

    def open(self, log: JobLog, heading: Heading, terse: bool = False) -> None:
        log.bare(
            f"--- {heading.project} build {heading.run}, stage {heading.job}, pass {heading.attempt}, {heading.date}"
        )
        if not terse:
            stages.set_up(log, "node-lx", f"{heading.project}_{heading.ref.replace('/', '_')}")

    def close(self, log: JobLog) -> None:
        stages.tear_down(log)

    def summary(self, log: JobLog, heading: Heading, states: Mapping[str, str]) -> None:
        jobs = ", ".join(f"{job} {state}" for job, state in states.items())
        log.say(
            f"Review notification, build {heading.run} pass {heading.attempt}, {heading.ref} at {heading.sha}: {jobs}"
        )
