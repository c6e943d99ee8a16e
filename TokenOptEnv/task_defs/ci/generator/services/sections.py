"""The service with sections, for generated projects of the test split."""

from __future__ import annotations

from collections.abc import Mapping

from TokenOptEnv.task_defs.ci.generator.services.pipeline import LINT, Pipeline
from TokenOptEnv.task_defs.ci.generator.services.service import Heading
from TokenOptEnv.task_defs.ci.writers import sections
from TokenOptEnv.task_defs.ci.writers.job_log import JobLog


class SectionsService:
    dialect = sections.Sections()
    pipeline_path = ".pipeline.yml"
    shard_names = ("verify:alpha", "verify:beta", "verify:gamma")
    preview_name = "verify:upcoming"
    words = ("merge gate update", "passed", "failed")

    def pipeline(self, pipeline: Pipeline) -> str:
        jobs = "".join(
            f'\n"{job.name}":\n  stage: verify\n  timeout: {pipeline.timeout_min}m\n'
            f"  before_script: [pip install --no-deps -r {pipeline.lock}]\n  script: [{pipeline.command(job)}]\n"
            for job in pipeline.gating
        )
        return (
            f"# {self.pipeline_path}\nstages: [style, verify]\n"
            f"# blocking stage or not: only these hold up a merge\n{self.gate(pipeline)}\n\n"
            f"{LINT}:\n  stage: style\n  script: [ruff check ., ruff format --check .]\n{jobs}"
            f'\n"{pipeline.preview.name}":\n  stage: verify\n  allow_failure: true\n'
            f"  script: [{pipeline.command(pipeline.preview)}]\n"
        )

    def gate(self, pipeline: Pipeline) -> str:
        return f"merge_requires: [{pipeline.gates}]"

    def open(self, log: JobLog, heading: Heading, terse: bool = False) -> None:
        log.bare(f"#{heading.run}/{heading.attempt} {heading.job} ({heading.project}) {heading.date}")
        if not terse:
            sections.set_up(log, "shared-amd64", "registry.forge.example/py:3.11")

    def close(self, log: JobLog) -> None:
        sections.tear_down(log)

    def summary(self, log: JobLog, heading: Heading, states: Mapping[str, str]) -> None:
        jobs = ", ".join(f"{job} {state}" for job, state in states.items())
        log.say(
            f"Merge gate update from pipeline {heading.run} (try {heading.attempt}) for {heading.ref}, "
            f"commit {heading.sha}: {jobs}"
        )
