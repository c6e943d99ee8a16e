"""What the agent is told at the start: the same for every plot, numbers apart."""

from __future__ import annotations

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.generator.repository import Repository
from TokenOptEnv.task_defs.ci.generator.runs import Runs

_TRAIN_TITLES = ("A red run of {name}", "{name}: may the merge train leave?", "{name} before a release")
_HELD_OUT_TITLES = ("{name}: a build in red", "Is {name} fit to be tagged?", "{name}, alarm at the build desk")
_TRAIN = (
    "{about}. Run {run} was reported red. Judge main as it stands, by the team's runbook: which test fails in a "
    "gating job, what class of failure that is, and which commit on main brought it in, if any. At hand: commits and "
    "patches of main, logs of {count} runs, pipeline, runbook, chat."
)
_HELD_OUT = (
    "{about}. Somebody raised the alarm over build {run}. Say for the tip of main, in the terms of the runbook: which "
    "check fails in a blocking stage, what kind of failure it is, and the commit behind it, if there is one. There are "
    "the history and patches of main, logs of {count} builds, the build definition, runbook and chat."
)


def title(repository: Repository, draw: Stream) -> str:
    titles = _HELD_OUT_TITLES if repository.is_held_out else _TRAIN_TITLES
    return draw.choice(titles).format(name=repository.project.name)


def brief(repository: Repository, runs: Runs) -> str:
    about = repository.project.about
    return (_HELD_OUT if repository.is_held_out else _TRAIN).format(
        about=f"{about[0].upper()}{about[1:]}".replace(
            repository.project.name.capitalize(), repository.project.name, 1
        ),
        run=runs.red.number,
        count=len({run.number for run in runs.every}),
    )
