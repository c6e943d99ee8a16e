"""What lies on the table: the artifacts of a case, and where each telling line stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from TokenOptEnv.config import Difficulty
from TokenOptEnv.models import ArtifactKind
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import Quote
from TokenOptEnv.task_defs.ci.answers import FailureClass
from TokenOptEnv.task_defs.ci.generator.logs import JobLines, LogStyle, RunLines, run_log
from TokenOptEnv.task_defs.ci.generator.papers import Chat, chat, runbook
from TokenOptEnv.task_defs.ci.generator.repository import Repository
from TokenOptEnv.task_defs.ci.generator.runs import Job, Run, Runs
from TokenOptEnv.task_defs.ci.generator.schedule import Part
from TokenOptEnv.task_defs.ci.writers.history import oneline, patches
from TokenOptEnv.task_defs.generation import Outline

HISTORY, PATCHES, PIPELINE, RUNBOOK, CHAT = "history-main", "patches-main", "pipeline", "runbook-ci", "chat-ci"
_GROUPS = {Difficulty.EASY: 1, Difficulty.MEDIUM: 1, Difficulty.HARD: 8, Difficulty.MARATHON: 5}
"""How many artifacts the runs of the chain are dealt to, at most."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    artifact_id: str
    kind: ArtifactKind
    title: str
    text: str


@dataclass(frozen=True)
class Exhibits:
    exhibits: tuple[Exhibit, ...]
    artifact_of: Mapping[tuple[int, int], str]
    """By run and attempt."""
    lines: Mapping[tuple[int, int], RunLines]
    """By run and attempt."""
    chat: Chat
    classes: Mapping[FailureClass, str]
    gate: str

    def of(self, job: Job) -> JobLines:
        return self.lines[job.heading.run, job.heading.attempt].jobs[job.heading.job]

    def summary(self, run: Run) -> Quote:
        return self.quote(run, self.lines[run.number, run.attempt].summary)

    def quote(self, run: Run, line: str) -> Quote:
        return Quote(self.artifact_of[run.number, run.attempt], line)


def lay_out(outline: Outline, attempt: int, repository: Repository, runs: Runs, notice: str) -> Exhibits:
    def stream(*purpose: str | int) -> Stream:
        return outline.stream(attempt, *purpose)

    draw = stream("papers")
    team = draw.choice(repository.voice.teams)
    remote = f"ssh://git@forge.example/{team}/{repository.project.name}"
    lines: dict[tuple[int, int], RunLines] = {}
    for run in runs.every:
        told = run.part is not Part.CHAIN or run == runs.chain[0]
        style = LogStyle(
            remote=remote,
            hiccups=told and run.part is not Part.AGAIN,
            notice=notice if told and notice.partition("::")[0] in run.commit.files else "",
            with_lint=_has_lint(run, outline.difficulty, stream("lint", run.number)),
            terse=outline.difficulty is Difficulty.EASY,
        )
        lines[run.number, run.attempt] = run_log(repository, run, style, lambda *key: stream("log", *key))
    logs, artifact_of = _logs(outline.difficulty, runs, lines)
    talk = chat(repository, team, runs.red.number, runs.later.number, runs.later.started, stream("chat"))
    book, classes = runbook(repository, team)
    service = repository.service
    papers = [
        Exhibit(HISTORY, ArtifactKind.HISTORY, "Commits on main, newest first", oneline(repository.commits)),
        Exhibit(PATCHES, ArtifactKind.DIFF, "Patches on main, newest first", patches(repository.commits)),
        Exhibit(PIPELINE, ArtifactKind.CONFIG, "Pipeline of main", repository.head.files[service.pipeline_path]),
        Exhibit(RUNBOOK, ArtifactKind.RUNBOOK, f"CI triage, {team}", book),
        Exhibit(CHAT, ArtifactKind.CHAT, f"#{team}-ci", talk.text),
    ]
    return Exhibits(
        exhibits=(*papers, *logs),
        artifact_of=artifact_of,
        lines=lines,
        chat=talk,
        classes=classes,
        gate=service.gate(repository.pipelines[-1]),
    )


def _has_lint(run: Run, difficulty: Difficulty, draw: Stream) -> bool:
    """Of the later run it is drawn: its length must not tell whose commit it ran."""
    if run.part is Part.LATER:
        return draw.chance(0.5)
    return run.part is Part.RED and difficulty is not Difficulty.EASY


def _logs(
    difficulty: Difficulty, runs: Runs, lines: Mapping[tuple[int, int], RunLines]
) -> tuple[list[Exhibit], dict[tuple[int, int], str]]:
    """Runs of the chain share artifacts; the reported run's attempts and the later run have their own."""
    groups: list[list[Run]] = []
    size = -(-len(runs.chain) // _GROUPS[difficulty])
    for start in range(0, len(runs.chain), size):
        groups.append(list(runs.chain[start : start + size]))
    groups += [[runs.red], [runs.again], [runs.later], *([list(runs.probes)] if runs.probes else [])]
    exhibits: list[Exhibit] = []
    artifact_of: dict[tuple[int, int], str] = {}
    for group in sorted(groups, key=lambda group: (group[0].number, group[0].attempt)):
        first, last = group[0], group[-1]
        if len(group) > 1:
            name, title = (
                f"log-runs-{first.number}-{last.number}",
                f"{len(group)} runs, {first.number} to {last.number}",
            )
        else:
            name, title = f"log-run-{first.number}", f"Run {first.number}"
            if first.part in (Part.RED, Part.AGAIN):
                name, title = f"{name}-attempt-{first.attempt}", f"{title}, attempt {first.attempt}"
        exhibits.append(
            Exhibit(name, ArtifactKind.LOG, title, "".join(lines[run.number, run.attempt].text for run in group))
        )
        artifact_of.update({(run.number, run.attempt): name for run in group})
    return exhibits, artifact_of
