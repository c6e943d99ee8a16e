"""The small papers of a case: what the team's runbook calls things, and what people say about the red run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.answers import FailureClass
from TokenOptEnv.task_defs.ci.generator.repository import Repository
from TokenOptEnv.task_defs.ci.generator.roles import Role
from TokenOptEnv.task_defs.ci.generator.theories import Suspicion

_TRAIN_CLASSES = {
    FailureClass.REGRESSION: "the product does something else than before, and one of its tests says so every time",
    FailureClass.FLAKY_TEST: "one commit, one selection of tests, both outcomes",
    FailureClass.DEPENDENCY_UPDATE: "a pinned package behaves differently, the product is as it was",
    FailureClass.CONFIG_ERROR: "the pipeline asks for something that cannot work",
    FailureClass.INFRASTRUCTURE: "the work was not done: hosts, network, mirrors",
    FailureClass.NONE: "no gating job was red at the newest commit of main; other branches, older commits that were "
    "mended since and jobs that may fail do not count",
}
_HELD_OUT_CLASSES = {
    FailureClass.REGRESSION: "our own code changed its answer; the check fails on every try",
    FailureClass.FLAKY_TEST: "the same revision is seen both good and bad without any edit between",
    FailureClass.DEPENDENCY_UPDATE: "somebody else's release, pinned by us, gives another answer",
    FailureClass.CONFIG_ERROR: "the build definition cannot be carried out as written",
    FailureClass.INFRASTRUCTURE: "machines, storage or registries let us down before the checks could speak",
    FailureClass.NONE: "the tip of main is not held up by a blocking stage: maintenance lines, revisions already put "
    "right and advisory stages are not our concern here",
}
_TRAIN_RUNBOOK = """\
# CI triage, {team} team

Judge main as it stands, by the jobs that gate it. First the class, then the commit.

{classes}

The commit to name is the one that brought the failure in, not the one that happened to be pushed last.
A second attempt runs the same commit again. Green next to red at one commit is a class of its own.
A bump, a rewrite or a change of the pipeline is not guilty for being recent.
"""
_HELD_OUT_RUNBOOK = """\
# When the build goes red ({team})

Only the tip of main matters, and only its blocking stages. Settle the kind, then look for the revision.

{classes}

Name the revision that started it; being the latest proves nothing.
Pass 2 repeats pass 1 on the same revision. Compare them before anything else.
Pins move every week. Ask what changed for us, not whether something moved.
"""
_TRAIN_TALK: dict[Suspicion, tuple[str, ...]] = {
    Suspicion.REWRITE: (
        "the clean-up of {module} is the one commit that touches what {test} calls",
        "I'd look at {module} first, {test} goes straight through it",
    ),
    Suspicion.SAMPLE: (
        "{sample} is new. tests that draw their input always bite us",
        "whoever wrote {sample}: where does its start come from?",
    ),
    Suspicion.BUMP: (
        "{bot} moved {library} to {version}. {handbook} prints with it",
        "we pinned a newer {library}, {handbook} is the one that would notice",
    ),
    Suspicion.PIPELINE: (
        "somebody edited the test command in {pipeline}, did anyone try that?",
        "{pipeline} changed this week. I don't trust that edit",
    ),
    Suspicion.WITHDRAWN: (
        'there was a revert, "{withdrawn}". are we sure it went back completely?',
        'didn\'t we take "{withdrawn}" back for a reason?',
    ),
    Suspicion.HOSTS: (
        "the hosts were shaky that day, heartbeats and the mirror both. press re-run and go home",
        "mirror was slow again and a heartbeat went missing. that's all it is",
    ),
    Suspicion.ELSEWHERE: (
        "is {run} even main's? {aside} was pushed around then, and run {later} is green",
        "{later} is green. could be that {run} was for {aside}, or just the job that may fail",
    ),
    Suspicion.PREVIEW: (
        "{preview} is red in {run}, I saw it in the mail",
        "the mail says {preview}. wasn't that always red?",
    ),
}
_HELD_OUT_TALK: dict[Suspicion, tuple[str, ...]] = {
    Suspicion.REWRITE: (
        "who reworked {module}? {test} depends on it more than on anything else",
        "my money is on {module}. {test} exercises exactly that",
    ),
    Suspicion.SAMPLE: (
        "we just gained {sample}, and checks about time of day make me nervous",
        "{sample} went in without a second reviewer",
    ),
    Suspicion.BUMP: (
        "{library} {version} landed through {bot}; {handbook} is built on it",
        "new pin for {library}. if it misbehaves, {handbook} shows it",
    ),
    Suspicion.PIPELINE: (
        "the flags in {pipeline} are different now, was that tried anywhere?",
        "someone tuned {pipeline}. flags are easy to get wrong",
    ),
    Suspicion.WITHDRAWN: (
        'careful, "{withdrawn}" was in and out again',
        '"{withdrawn}" has been rolled back at some point, check which side of it you look at',
    ),
    Suspicion.HOSTS: (
        "storage alarms and a rate-limited registry that evening. blame the machines",
        "disk nearly full, registry grumpy. I would not read more into it",
    ),
    Suspicion.ELSEWHERE: (
        "build {run}: which line is that from? {aside} is busy too, and {later} came out fine",
        "{later} is fine as far as I see. {run} may be old news or {aside}",
    ),
    Suspicion.PREVIEW: (
        "{preview} shows up red in {run} on the wall screen",
        "wall screen has {preview} in red for {run}, as ever?",
    ),
}


@dataclass(frozen=True, slots=True)
class Chat:
    text: str
    said: Mapping[Suspicion, str]
    """By suspicion: the line that voices it."""


def runbook(repository: Repository, team: str) -> tuple[str, dict[FailureClass, str]]:
    """The text, and the line of each class."""
    held_out = repository.is_held_out
    words = _HELD_OUT_CLASSES if held_out else _TRAIN_CLASSES
    lines = {kind: f"- {kind.value}: {meaning}" for kind, meaning in words.items()}
    template = _HELD_OUT_RUNBOOK if held_out else _TRAIN_RUNBOOK
    return template.format(team=team, classes="\n".join(lines.values())), lines


def chat(repository: Repository, team: str, run: int, later: int, started: datetime, draw: Stream) -> Chat:
    talk = _HELD_OUT_TALK if repository.is_held_out else _TRAIN_TALK
    filled = {
        "module": repository.rewritten[0].rpartition("/")[2].removesuffix(".py"),
        "test": _name(repository.slip_test),
        "sample": repository.wobble.path.rpartition("/")[2],
        "bot": repository.voice.bot,
        "library": repository.library.name,
        "version": repository.versions[1],
        "handbook": _name(repository.handbook_test),
        "pipeline": repository.service.pipeline_path,
        "withdrawn": repository.suspects[Role.WITHDRAWN].commit.subject,
        "run": run,
        "later": later,
        "aside": repository.aside_ref,
        "preview": _name(repository.preview_test),
    }
    speakers = [person.split()[0].lower() for person in draw.shuffled(repository.voice.people)[:4]]
    width = max(len(speaker) for speaker in speakers)
    at = started + timedelta(minutes=draw.integer(12, 40))
    said: dict[Suspicion, str] = {}
    lines = [f"#{team}-ci, {at:%a} {at.day} {at:%b}"]
    speaker = ""
    for suspicion in draw.shuffled(tuple(Suspicion)):
        speaker = draw.choice([each for each in speakers if each != speaker])
        text = draw.choice(talk[suspicion]).format(**filled)
        said[suspicion] = f"{at:%H:%M} {speaker:<{width}} {text}"
        lines.append(said[suspicion])
        at += timedelta(minutes=draw.integer(1, 9))
    return Chat("\n".join(lines) + "\n", said)


def _name(test_id: str) -> str:
    return test_id.partition("::")[2]
