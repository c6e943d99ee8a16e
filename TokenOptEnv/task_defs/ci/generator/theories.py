"""Theories of the red run: each suspect's own full answer, one of them right.

Right and wrong answers are made by the same lines from the same table, so that how an answer is put tells nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from TokenOptEnv.task_defs.ci.answers import NONE, FailureClass
from TokenOptEnv.task_defs.ci.generator.plot import Plot
from TokenOptEnv.task_defs.ci.generator.repository import Repository
from TokenOptEnv.task_defs.ci.generator.roles import Role
from TokenOptEnv.task_defs.ci.generator.trees import LOCK


class Suspicion(StrEnum):
    REWRITE = "rewrite"
    SAMPLE = "sample"
    BUMP = "bump"
    PIPELINE = "pipeline"
    WITHDRAWN = "withdrawn"
    HOSTS = "hosts"
    ELSEWHERE = "elsewhere"
    PREVIEW = "preview"


@dataclass(frozen=True, slots=True)
class Theory:
    suspicion: Suspicion
    culprit: str
    failing_test: str
    failure_class: FailureClass
    because: str
    file: str = NONE
    """What its culprit changed."""


def right_suspicion(plot: Plot) -> Suspicion:
    match plot:
        case Plot.REGRESSION:
            return Suspicion.REWRITE
        case Plot.WOBBLE:
            return Suspicion.SAMPLE
        case Plot.LIBRARY:
            return Suspicion.BUMP
        case Plot.SELECTION | Plot.OPTION:
            return Suspicion.PIPELINE
        case Plot.LOST_HOST | Plot.MIRROR | Plot.DISK | Plot.IMAGE:
            return Suspicion.HOSTS
        case _:
            return Suspicion.ELSEWHERE


def theories(repository: Repository, run: int) -> Mapping[Suspicion, Theory]:
    sha = {role: suspect.commit.sha for role, suspect in repository.suspects.items()}
    test = repository.slip_test
    module = repository.rewritten[0].rpartition("/")[2].removesuffix(".py")
    withdrawn = repository.suspects[Role.WITHDRAWN].commit
    table = (
        Theory(
            Suspicion.REWRITE,
            sha[Role.REWRITE],
            test,
            FailureClass.REGRESSION,
            f"commit {sha[Role.REWRITE]} rewrote part of {module}, and the code no longer does what its test asks",
            repository.rewritten[0],
        ),
        Theory(
            Suspicion.SAMPLE,
            sha[Role.SAMPLE],
            repository.wobble.test_id,
            FailureClass.FLAKY_TEST,
            f"the test of {sha[Role.SAMPLE]} takes its start from the job, so one commit has both outcomes",
            repository.wobble.path,
        ),
        Theory(
            Suspicion.BUMP,
            sha[Role.BUMP],
            repository.handbook_test,
            FailureClass.DEPENDENCY_UPDATE,
            f"commit {sha[Role.BUMP]} bumped {repository.library.name}, whose new release behaves differently",
            LOCK,
        ),
        Theory(
            Suspicion.PIPELINE,
            sha[Role.PIPELINE],
            NONE,
            FailureClass.CONFIG_ERROR,
            f"since {sha[Role.PIPELINE]} the pipeline asks pytest for something it cannot do",
            repository.service.pipeline_path,
        ),
        Theory(
            Suspicion.WITHDRAWN,
            withdrawn.sha,
            test,
            FailureClass.REGRESSION,
            f"commit {withdrawn.sha} changed what the code does, and taking it back came too late",
            withdrawn.change.edits[0].path,
        ),
        Theory(
            Suspicion.HOSTS,
            NONE,
            NONE,
            FailureClass.INFRASTRUCTURE,
            f"a gating job of run {run} never came to its tests; its host or network failed it",
        ),
        Theory(
            Suspicion.ELSEWHERE,
            NONE,
            NONE,
            FailureClass.NONE,
            f"run {run} says nothing against main as it stands, whose gating jobs are good",
        ),
        Theory(
            Suspicion.PREVIEW,
            repository.commits[len(repository.commits) // 2].sha,
            repository.preview_test,
            FailureClass.REGRESSION,
            f"the test of the coming format fails in run {run}, and a feature that was there is gone",
            f"{repository.project.name}/__init__.py",
        ),
    )
    return {theory.suspicion: theory for theory in table}
