"""Which lines prove the right theory, question by question, and which lines speak for the wrong ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from TokenOptEnv.task_defs.authoring import Quote
from TokenOptEnv.task_defs.ci.generator.exhibits import CHAT, PATCHES, PIPELINE, RUNBOOK, Exhibits
from TokenOptEnv.task_defs.ci.generator.logs import JobLines
from TokenOptEnv.task_defs.ci.generator.plot import Plot
from TokenOptEnv.task_defs.ci.generator.repository import Repository
from TokenOptEnv.task_defs.ci.generator.roles import Role, hot_role
from TokenOptEnv.task_defs.ci.generator.runs import Run, Runs, red_job_of
from TokenOptEnv.task_defs.ci.generator.theories import Suspicion, right_suspicion

_MOST_PLACES = 6


class Ask(StrEnum):
    """What a question is about."""

    SYMPTOM = "symptom"
    NATURE = "nature"
    ORIGIN = "origin"
    ONSET = "onset"
    """In which run the failure of the reported one first shows."""
    TESTED = "tested"
    """Which commit the reported run ran."""
    LAST_GOOD = "last-good"
    """Which run of the chain was the last good one."""
    VERSION = "version"
    """Which release of the library the first run of the chain had."""
    FILE = "file"
    """Which file the culprit changed."""


@dataclass(frozen=True, slots=True)
class Clue:
    clue_id: str
    why: str
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class Proof:
    core: tuple[Clue, ...]
    """What the answer cannot do without; its first ones are what evidence must cover."""
    extra: tuple[Clue, ...]
    """What makes it surer."""


class Evidence:
    def __init__(self, repository: Repository, runs: Runs, exhibits: Exhibits) -> None:
        self._repository = repository
        self._runs = runs
        self._exhibits = exhibits
        self.red_job = red_job_of(repository, runs)

    def proof(self, ask: Ask) -> Proof:
        match ask:
            case Ask.SYMPTOM:
                return self._symptom()
            case Ask.NATURE:
                return self._nature()
            case Ask.ORIGIN:
                return self._origin()
            case Ask.ONSET:
                return self._onset()
            case Ask.FILE:
                return self._origin()
            case Ask.LAST_GOOD:
                return self._last_good()
            case Ask.VERSION:
                return self._version()
            case Ask.TESTED:
                return Proof((self._checkout(self._runs.red),), (self.status(self._runs.again),))

    def both(self, first: Ask, second: Ask) -> Proof:
        """For a question that asks two things. What shows the culprit shows the kind; the rest makes it surer."""
        one, two = self.proof(first), self.proof(second)
        if first is Ask.ORIGIN:
            return Proof(one.core, _distinct(*two.core, *one.extra, *two.extra))
        return Proof(_distinct(*one.core, *two.core), _distinct(*one.extra, *two.extra))

    def survey(self, ask: Ask) -> Proof:
        """Over the runs at hand: what the answer turns on, and how each of them ended, the newest first."""
        proof = self.proof(ask)
        turning = [self._good(), *(self.status(run) for run in self._runs.of_main if run.gate_is_red)][:2]
        compared = [self.status(run) for run in reversed(self.compared)]
        core = proof.core if ask is not Ask.ORIGIN else _distinct(*proof.core, *turning)
        return Proof(core, _distinct(*compared, *proof.extra))

    @property
    def compared(self) -> tuple[Run, ...]:
        """The runs that a survey goes over."""
        return tuple(sorted((*self._runs.chain, self._runs.red), key=lambda run: run.number))

    @property
    def onset(self) -> int:
        """The number of the first run, on any ref, that shows what the reported run is red for."""
        return next(run.number for run in self.compared if self._shows(run))

    def within(self, proof: Proof, scope: Collection[str]) -> Proof:
        """As far as these artifacts show it; where they show nothing of the core, its extras take its place."""
        core, extra = _visible(proof.core, scope), _visible(proof.extra, scope)
        return Proof(core, extra) if core else Proof(extra[:1], extra[1:])

    @property
    def last_good(self) -> Run:
        return next(run for run in reversed(self._runs.chain) if not run.gate_is_red)

    # Facts

    def _symptom(self) -> Proof:
        red, again, later = self._runs.red, self._runs.again, self._runs.later
        plot = self._repository.plot
        if plot is Plot.ALLOWED:
            return Proof((self.status(red),), (self._gate(), self.status(again), self._good()))
        if plot.is_elsewhere:
            return Proof((self.status(red),), (self.status(later), self.status(again), self._good()))
        if plot.is_past:
            return Proof((self.status(later),), (self.status(red), self.status(again), self._good()))
        if plot.breaks_setup or plot.breaks_command:
            return Proof((self.status(red),), (self._broke(red), self._gate(), self.status(again), self._good()))
        return Proof((self._failed(),), (self.status(red), self._gate(), self.status(again), self._good()))

    def _nature(self) -> Proof:
        red, again, later = self._runs.red, self._runs.again, self._runs.later
        plot = self._repository.plot
        if plot is Plot.ALLOWED:
            return Proof((self.status(red),), (self._gate(), self._words(), self.status(again), self._good()))
        if plot.is_elsewhere:
            return Proof((self.status(red),), (self.status(later), self._words(), self.status(again), self._good()))
        if plot.is_past:
            return Proof((self.status(later),), (self.status(red), self._words(), self.status(again), self._good()))
        if plot.breaks_setup:
            return Proof(
                (self._broke(red),),
                (self.status(red), self.status(again), self._broke(again), self._words(), self._good()),
            )
        if plot.breaks_command:
            return Proof((self._broke(red),), (self.status(red), self._hunk(), self.status(again), self._words()))
        return Proof(
            (self.status(again),), (self._failed(), self.status(red), self._hunk(), self._words(), self._good())
        )

    def _origin(self) -> Proof:
        plot = self._repository.plot
        if hot_role(plot) in (None, Role.WITHDRAWN):
            proof = self._nature()
            return Proof(proof.core, _distinct(*proof.extra, *self._probed(), *self._cleared()))
        symptom = self._broke(self._runs.red) if plot.breaks_command else self._detail()
        turning = (self._good(), self._first_bad(), self.status(self._runs.again))
        return Proof((self._hunk(),), _distinct(symptom, *turning, *self._probed(), *self._cleared()))

    def _onset(self) -> Proof:
        runs = self.compared
        place = next(place for place, run in enumerate(runs) if self._shows(run))
        first = self.status(runs[place])
        before = [self.status(run) for run in runs[max(0, place - 1) : place]]
        others = [self.status(run) for run in (self._runs.red, runs[0])]
        return Proof(_distinct(first, *before), _distinct(*others, self.status(self._runs.again)))

    def _last_good(self) -> Proof:
        good = self.last_good
        behind = [run for run in self._runs.chain if run.number > good.number]
        before = [run for run in self._runs.chain if run.number < good.number]
        return Proof(
            (self.status(good), *(self.status(run) for run in behind[:1])),
            tuple(self.status(run) for run in (*behind[1:], *reversed(before))),
        )

    def _version(self) -> Proof:
        first = self._runs.chain[0]
        installed = [self._exhibits.of(job).installed for job in first.kept]
        quotes = tuple(self._exhibits.quote(first, line) for line in installed)
        return Proof(
            (Clue("installed", "what the run installed", quotes), self._checkout(first)),
            (self.status(first), self.status(self._runs.chain[1])),
        )

    def _probed(self) -> list[Clue]:
        return [self.status(run) for run in self._runs.probes]

    def _shows(self, run: Run) -> bool:
        """Is this run red for what the reported run is red for?"""
        if self._repository.plot is Plot.ALLOWED:
            return any(not job.is_gating and not job.passed for job in run.jobs)
        return run.gate_is_red

    def status(self, run: Run) -> Clue:
        state = "red" if run.gate_is_red else "good"
        return Clue(
            f"status-{run.number}-{run.attempt}",
            f"run {run.number}, attempt {run.attempt}: the gate is {state}",
            (self._exhibits.summary(run),),
        )

    def _checkout(self, run: Run) -> Clue:
        lines = [self._exhibits.of(job).checkout for job in run.kept]
        quotes = tuple(self._exhibits.quote(run, line) for line in lines if line)
        return Clue(f"checkout-{run.number}", "the commit that the run ran", (self._exhibits.summary(run), *quotes))

    def _failed(self) -> Clue:
        return Clue("red-test", "the one red test of a gating job", self._told(lambda lines: lines.failed))

    def _detail(self) -> Clue:
        return Clue("detail", "what the failing test saw", self._told(lambda lines: lines.detail))

    def _told(self, line: Callable[[JobLines], str]) -> tuple[Quote, ...]:
        """The same failure is told by every run of main that has it; the reported one comes first."""
        runs = (self._runs.red, self._runs.again, *self._runs.chain)
        return tuple(
            self._exhibits.quote(run, line(self._exhibits.of(job)))
            for run in runs
            for job in run.kept
            if job.is_gating and job.run is not None and not job.passed
        )[:_MOST_PLACES]

    def _broke(self, run: Run) -> Clue:
        job = next(job for job in run.jobs if job.heading.job == self.red_job.heading.job)
        line = self._exhibits.of(job).broke
        return Clue(f"broke-{run.attempt}", "why the job came to no test", (self._exhibits.quote(run, line),))

    def _hunk(self) -> Clue:
        role = hot_role(self._repository.plot)
        assert role is not None
        line = self._repository.suspects[role].line
        return Clue("hunk", "the line that brought it", (Quote(PATCHES, line),))

    def _cleared(self) -> list[Clue]:
        """Patches that clear their commits: a sample with a start of its own, a selection of files that are there."""
        innocent = [role for role in (Role.SAMPLE, Role.PIPELINE) if role is not hot_role(self._repository.plot)]
        return [
            Clue(f"cleared-{role.value}", "it is harmless", (Quote(PATCHES, self._repository.suspects[role].line),))
            for role in innocent
        ]

    def _good(self) -> Clue:
        good = [run for run in self._runs.chain if run.place is not None and run.place < self._repository.hinge]
        return self.status(good[-1])

    def _first_bad(self) -> Clue:
        return self.status(next(run for run in self._runs.of_main if run.gate_is_red))

    def _gate(self) -> Clue:
        return Clue("gate", "which jobs stop a merge", (Quote(PIPELINE, self._exhibits.gate),))

    def _words(self) -> Clue:
        line = self._exhibits.classes[self._repository.plot.failure_class]
        return Clue("words", "what the team calls this", (Quote(RUNBOOK, line),))

    # Decoys

    def decoys(self) -> Mapping[Suspicion, tuple[Clue, ...]]:
        """By wrong theory: what speaks for it."""
        right = right_suspicion(self._repository.plot)
        found: dict[Suspicion, tuple[Clue, ...]] = {}
        for suspicion in Suspicion:
            if suspicion is not right:
                found[suspicion] = tuple(self._speaks_for(suspicion))
        return found

    def _speaks_for(self, suspicion: Suspicion) -> list[Clue]:
        said = Clue(f"said-{suspicion.value}", "a suspicion", (Quote(CHAT, self._exhibits.chat.said[suspicion]),))
        seen: list[Quote] = []
        match suspicion:
            case Suspicion.REWRITE | Suspicion.SAMPLE | Suspicion.BUMP | Suspicion.PIPELINE | Suspicion.WITHDRAWN:
                seen = [Quote(PATCHES, self._repository.suspects[Role(suspicion.value)].line)]
            case Suspicion.HOSTS:
                seen = [
                    self._exhibits.quote(run, line)
                    for run in self._runs.every
                    for job in run.kept
                    for line in self._exhibits.of(job).hiccups[:1]
                ]
            case Suspicion.ELSEWHERE:
                seen = [*self.status(self._runs.later).quotes]
            case Suspicion.PREVIEW:
                job = next(job for job in self._runs.red.jobs if not job.is_gating)
                seen = [self._exhibits.quote(self._runs.red, self._exhibits.of(job).failed)]
        return [said, *([Clue(f"seen-{suspicion.value}", "looks like it", tuple(seen))] if seen else [])]

    def notice(self) -> Clue | None:
        """What the flake detector said, wherever it did."""
        quotes = [
            self._exhibits.quote(run, self._exhibits.of(job).notice)
            for run in self._runs.every
            for job in run.kept
            if self._exhibits.of(job).notice
        ]
        return Clue("notice", "a test that flipped in the past", tuple(quotes)) if quotes else None


def _visible(clues: Sequence[Clue], scope: Collection[str]) -> tuple[Clue, ...]:
    kept = [(clue, tuple(quote for quote in clue.quotes if quote.artifact_id in scope)) for clue in clues]
    return tuple(Clue(clue.clue_id, clue.why, quotes) for clue, quotes in kept if quotes)


def _distinct(*clues: Clue) -> tuple[Clue, ...]:
    return tuple({clue.clue_id: clue for clue in clues}.values())
