"""The three legs of a marathon: the runs of the past, the run that was reported, and the history of the code."""

from __future__ import annotations

from TokenOptEnv.task_defs.ci.generator.exhibits import CHAT, HISTORY, PATCHES, PIPELINE, RUNBOOK, Exhibits
from TokenOptEnv.task_defs.ci.generator.repository import Repository
from TokenOptEnv.task_defs.ci.generator.runs import Runs

LEG_STEPS = (13, 13, 14)
_TRAIN = (
    "Leg 1 of 3, the past of {project}: {count} runs of main. Find until when it was good, and what else is "
    "asked. What you find is needed two legs from now; these logs are not there any more then.",
    "Leg 2 of 3, run {run} of {project}, which was reported red: its attempts, a later run, pipeline, runbook and "
    "chat. Judge main as it stands: which test fails in a gating job, and of which class is it?",
    "Leg 3 of 3, the history of {project}: commits, patches, and runs that were started by hand. Find the "
    "commit on main that brought the failure in, if any, and answer everything.",
)
_HELD_OUT = (
    "Stretch 1 of 3: {count} builds of {project}, all of main. Establish the last point at which it was "
    "sound and note it, for the logs are gone afterwards and stretch 3 asks for it.",
    "Stretch 2 of 3: the alarm over build {run} of {project}, with both passes, a later build, the build definition, "
    "runbook and chat. Which check fails in a blocking stage at the tip of main, and what kind of failure is it?",
    "Stretch 3 of 3: revisions of {project} with their diffs, and builds that somebody tried afterwards. Name the "
    "revision behind it, if there is one, and close the case with all answers.",
)


def legs(exhibits: Exhibits, runs: Runs) -> tuple[tuple[str, ...], ...]:
    """The artifacts of each leg."""

    def logs(*some: tuple[int, int]) -> list[str]:
        return list(dict.fromkeys(exhibits.artifact_of[key] for key in some))

    past = logs(*((run.number, run.attempt) for run in runs.chain))
    reported = logs(*((run.number, run.attempt) for run in (runs.red, runs.again, runs.later)))
    tried = logs(*((run.number, run.attempt) for run in runs.probes))
    return tuple(past), (*reported, PIPELINE, RUNBOOK, CHAT), (HISTORY, PATCHES, *tried)


def leg_briefs(repository: Repository, runs: Runs) -> tuple[str, ...]:
    return tuple(
        text.format(
            project=repository.project.name,
            count=len(runs.chain),
            run=runs.red.number,
        )
        for text in (_HELD_OUT if repository.is_held_out else _TRAIN)
    )
