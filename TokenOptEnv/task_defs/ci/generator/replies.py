"""What a model may answer: the right theory's values and the wrong ones', all said in the same manner."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import Quote
from TokenOptEnv.task_defs.ci.answers import NONE
from TokenOptEnv.task_defs.ci.generator.agenda import (
    FIELDS,
    FIRST_RED,
    LAST_GOOD_RUN,
    LIBRARY_VERSION,
    TESTED_SHA,
    Item,
)
from TokenOptEnv.task_defs.ci.generator.evidence import Ask, Clue, Evidence
from TokenOptEnv.task_defs.ci.generator.exhibits import CHAT, Exhibits
from TokenOptEnv.task_defs.ci.generator.repository import Repository
from TokenOptEnv.task_defs.ci.generator.runs import Run, Runs
from TokenOptEnv.task_defs.ci.generator.schedule import Part
from TokenOptEnv.task_defs.ci.generator.theories import Suspicion, Theory, right_suspicion, theories
from TokenOptEnv.task_defs.ci.generator.trees import LOCK

_MOST_WRONG = 5
_LEAST_TEMPTING = 2


@dataclass(frozen=True, slots=True)
class Answer:
    values: dict[str, str]
    text: str
    clues: tuple[Clue, ...]
    """What speaks for it, where it is wrong."""


@dataclass(frozen=True)
class Replies:
    right: Answer
    wrong: tuple[Answer, ...]


class Respondent:
    """Knows every theory, and what each would say to a question."""

    def __init__(
        self, repository: Repository, runs: Runs, exhibits: Exhibits, evidence: Evidence, notice_test: str
    ) -> None:
        self._repository = repository
        self._runs = runs
        self._exhibits = exhibits
        self._evidence = evidence
        self._notice_test = notice_test
        self._theories = theories(repository, runs.red.number)
        self._decoys = evidence.decoys()
        self.right = self._theories[right_suspicion(repository.plot)]

    @property
    def truths(self) -> Mapping[str, str]:
        """By field: the right value."""
        found = self._values(tuple(FIELDS), self.right, str(self._evidence.onset), self._runs.red.commit.sha)
        return {
            **found,
            LAST_GOOD_RUN: str(self._evidence.last_good.number),
            LIBRARY_VERSION: self._version(self._runs.chain[0]),
        }

    def replies(
        self,
        item: Item,
        needs: Sequence[Clue],
        scope: Collection[str],
        catches_the_eye: Callable[[Clue], bool],
        draw: Stream,
    ) -> Replies:
        """What speaks for wrong answers is taken first from what a search for the question shows.

        `needs` are the question's facts, which cannot mislead about it; `scope` is what can be read meanwhile, or all.
        """
        asks = item.asks
        truths = self.truths
        right = Answer({FIELDS[ask]: truths[FIELDS[ask]] for ask in asks}, self._text(asks, self.right, truths), ())
        if len(asks) == 1 and asks[0] in _POINTS:
            wrong = self._wrong_points(asks[0], [clue.clue_id for clue in needs], scope, draw)
            right = Answer(right.values, self._said_of(asks[0], truths[FIELDS[asks[0]]]), ())
        else:
            wrong = self._wrong(asks, draw)
        facts = {quote for clue in needs for quote in clue.quotes}
        kept = [
            replace(answer, clues=_misleading(answer.clues, facts, scope))
            for answer in wrong
            if answer.values != right.values
        ]
        kept.sort(key=lambda answer: (not answer.clues, not any(catches_the_eye(clue) for clue in answer.clues)))
        kept = kept[:_MOST_WRONG]
        if len([answer for answer in kept if answer.clues]) < _LEAST_TEMPTING:
            raise ScenarioInvalid(f"{item.name}: too little speaks for a wrong answer")
        if all(answer.clues for answer in kept) and len(kept) > _LEAST_TEMPTING + 1:
            kept[-1] = replace(kept[-1], clues=())
        return Replies(right, tuple(kept))

    def _wrong(self, asks: Sequence[Ask], draw: Stream) -> list[Answer]:
        """One answer per other theory; where two come to the same, they are one with the grounds of both."""
        points = self._points(asks, draw)
        found: dict[tuple[str, ...], Answer] = {}
        suspicions = [suspicion for suspicion in Suspicion if suspicion is not self.right.suspicion]
        for number, suspicion in enumerate(draw.shuffled(suspicions)):
            theory = self._theories[suspicion]
            onset, tested = points[number % len(points)]
            values = self._values(asks, theory, onset, tested)
            key = tuple(values.values())
            clues = self._decoys[suspicion]
            notice = self._evidence.notice()
            if notice is not None and theory.failing_test == self._notice_test:
                clues = (*clues, notice)
            if key in found:
                kept = found[key]
                found[key] = Answer(kept.values, kept.text, (*kept.clues, *clues))
            else:
                found[key] = Answer(values, self._text(asks, theory, values), clues)
        return list(found.values())

    def _points(self, asks: Sequence[Ask], draw: Stream) -> list[tuple[str, str]]:
        """Pairs of run and commit that a wrong answer may name, the right ones among them."""
        onset, tested = str(self._evidence.onset), self._runs.red.commit.sha
        others = (*self._runs.chain, self._runs.later)
        pairs = [(str(run.number), run.commit.sha) for run in others if run.commit.sha != tested]
        return [(onset, tested), *draw.shuffled(pairs)[:3]]

    def _wrong_points(self, ask: Ask, spared: Collection[str], scope: Collection[str], draw: Stream) -> list[Answer]:
        truth = self.truths[FIELDS[ask]]
        answers: dict[str, Answer] = {}
        runs = [run for run in self._runs.every if not scope or self._exhibits.summary(run).artifact_id in scope]
        for run in draw.shuffled(runs):
            value = self._pointed(ask, run)
            if value == truth or value in answers:
                continue
            answers[value] = Answer({FIELDS[ask]: value}, self._said_of(ask, value), self._points_at(run, spared))
        if ask is Ask.VERSION:
            tools = [pin.partition("==")[2] for pin in self._runs.chain[0].commit.files[LOCK].split()]
            for value in draw.shuffled([tool for tool in tools if tool != truth and tool not in answers])[:3]:
                clues = self._points_at(draw.choice(self._runs.chain), spared)
                answers[value] = Answer({FIELDS[ask]: value}, self._said_of(ask, value), clues)
        return list(answers.values())

    def _pointed(self, ask: Ask, run: Run) -> str:
        match ask:
            case Ask.TESTED:
                return run.commit.sha
            case Ask.VERSION:
                return self._version(run)
            case _:
                return str(run.number)

    def _version(self, run: Run) -> str:
        pins = run.commit.files[LOCK].split()
        return next(pin.partition("==")[2] for pin in pins if pin.startswith(f"{self._repository.library.name}=="))

    def _said_of(self, ask: Ask, value: str) -> str:
        run = self._runs.red.number
        match ask:
            case Ask.ONSET:
                return f"Run {value} is the first at hand in which the trouble of run {run} shows."
            case Ask.LAST_GOOD:
                return f"Run {value} is the last of these in which every gating job is good."
            case Ask.VERSION:
                return f"Run {self._runs.chain[0].number} installed {self._repository.library.name} {value}."
            case _:
                return f"The log of run {run} stands for {value}; that is what was checked out."

    def _points_at(self, run: Run, spared: Collection[str]) -> tuple[Clue, ...]:
        """What makes a reader stop at that run: how it ended, unless that is a fact, its trouble, and talk of it."""
        found: list[Clue] = []
        status = self._evidence.status(run)
        if status.clue_id not in spared:
            found.append(Clue(f"mention-{run.number}", "how another run ended", status.quotes))
        else:
            lines = [self._exhibits.of(job) for job in run.kept]
            eye = [line for each in lines for line in (*each.hiccups, each.notice, each.checkout) if line]
            quotes = tuple(self._exhibits.quote(run, line) for line in eye[:1])
            found += [Clue(f"mention-{run.number}", "a run that catches the eye", quotes)] if quotes else []
        if run.part is Part.LATER:
            said = self._exhibits.chat.said[Suspicion.ELSEWHERE]
            found.append(Clue("talk-later", "talk of the later run", (Quote(CHAT, said),)))
        return tuple(found)

    def _values(self, asks: Sequence[Ask], theory: Theory, onset: str, tested: str) -> dict[str, str]:
        every = {
            Ask.SYMPTOM: theory.failing_test,
            Ask.NATURE: theory.failure_class.value,
            Ask.ORIGIN: theory.culprit,
            Ask.ONSET: onset,
            Ask.TESTED: tested,
            Ask.FILE: theory.file,
        }
        return {FIELDS[ask]: every[ask] for ask in asks if ask in every}

    def _text(self, asks: Sequence[Ask], theory: Theory, values: Mapping[str, str]) -> str:
        because = theory.because
        run = self._runs.red.number
        sentences = []
        if Ask.ONSET in asks:
            sentences.append(f"Run {values[FIRST_RED]} is the first at hand in which the trouble of run {run} shows.")
        if Ask.TESTED in asks:
            sentences.append(f"The log of run {run} stands for {values[TESTED_SHA]}; that is what was checked out.")
        if Ask.SYMPTOM in asks:
            name = theory.failing_test.partition("::")[2]
            sentences.append(
                f"{name} fails in the gate." if theory.failing_test != NONE else "No test fails in the gate."
            )
        if any(ask in asks for ask in (Ask.NATURE, Ask.ORIGIN, Ask.FILE)) or (asks == (Ask.SYMPTOM,)):
            sentences.append(f"{because[0].upper()}{because[1:]}.")
        return " ".join(sentences)


_POINTS = (Ask.ONSET, Ask.TESTED, Ask.LAST_GOOD, Ask.VERSION)
"""What is answered by pointing at a run, whatever one believes about the cause."""


def _misleading(clues: Sequence[Clue], facts: Collection[Quote], scope: Collection[str]) -> tuple[Clue, ...]:
    """Of what speaks for a wrong answer: what can be read at the time and is no fact itself."""
    found = {}
    for clue in clues:
        quotes = tuple(
            quote for quote in clue.quotes if quote not in facts and (not scope or quote.artifact_id in scope)
        )
        if quotes and (scope or len(quotes) == len(clue.quotes)):
            found[clue.clue_id] = replace(clue, quotes=quotes)
    return tuple(found.values())
