"""The hosted service for generated projects."""

from __future__ import annotations

from collections.abc import Mapping

from TokenOptEnv.task_defs.ci.generator.services.pipeline import LINT, Pipeline
from TokenOptEnv.task_defs.ci.generator.services.service import Heading
from TokenOptEnv.task_defs.ci.writers import hosted
from TokenOptEnv.task_defs.ci.writers.job_log import JobLog

_ACTIONS = ("actions/checkout@v4", "actions/setup-python@v5")


class HostedService:
    dialect = hosted.Hosted()
    pipeline_path = ".forge/workflows/tests.yml"
    shard_names = ("test-a", "test-b", "test-c")
    preview_name = "next"
    words = ("check conclusion", "success", "failure")

    def pipeline(self, pipeline: Pipeline) -> str:
        jobs = "".join(
            f"  {job.name}:\n"
            "    runs-on: ubuntu-24.04\n"
            f"    timeout-minutes: {pipeline.timeout_min}\n"
            "    steps:\n"
            f"      - run: python -m pip install --no-deps -r {pipeline.lock}\n"
            f"      - run: {pipeline.command(job)}\n"
            for job in pipeline.gating
        )
        return (
            f"# {self.pipeline_path}\nname: tests\non: {{push: {{}}, pull_request: {{}}}}\n"
            f"# gating jobs, without which nothing is merged\n{self.gate(pipeline)}\n\njobs:\n"
            f"  {LINT}:\n    runs-on: ubuntu-24.04\n    steps:\n"
            f"      - run: ruff check . && ruff format --check .\n{jobs}"
            f"  {pipeline.preview.name}:\n    runs-on: ubuntu-24.04\n    continue-on-error: true\n    steps:\n"
            f"      - run: {pipeline.command(pipeline.preview)}\n"
        )

    def gate(self, pipeline: Pipeline) -> str:
        return f"required-checks: {{main: [{pipeline.gates}]}}"

    def open(self, log: JobLog, heading: Heading, terse: bool = False) -> None:
        log.bare(f"##[run {heading.run}.{heading.attempt}] {heading.project} / {heading.job}, {heading.date}")
        if terse:
            return
        version = f"{heading.date[:10].replace('-', '')}.{log.stream.integer(1, 3)}"
        hosted.set_up(log, heading.job, "ubuntu-24.04", version, _ACTIONS)

    def close(self, log: JobLog) -> None:
        hosted.tear_down(log)

    def summary(self, log: JobLog, heading: Heading, states: Mapping[str, str]) -> None:
        jobs = "; ".join(f"{job} {state}" for job, state in states.items())
        log.say(f"Check conclusion, run {heading.run} attempt {heading.attempt}, {heading.sha} ({heading.ref}): {jobs}")
