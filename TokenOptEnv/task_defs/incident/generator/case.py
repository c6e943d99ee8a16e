"""From an outline to a finished case: tell the story, write it down, ask, and check that it is what was asked for."""

from __future__ import annotations

from dataclasses import replace

from TokenOptEnv.config import YARDSTICK, Difficulty
from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.scenario import QuestionKind, Scenario
from TokenOptEnv.simulators import tokens
from TokenOptEnv.simulators.retrieval import Retriever
from TokenOptEnv.task_defs.authoring import CaseBuilder
from TokenOptEnv.task_defs.generation import Outline
from TokenOptEnv.task_defs.incident.generator.asks import Ask, Manner, plan_asks
from TokenOptEnv.task_defs.incident.generator.binder import Binder
from TokenOptEnv.task_defs.incident.generator.earlier_results import Asked, add_earlier_results, version_of
from TokenOptEnv.task_defs.incident.generator.evidence import Evidence
from TokenOptEnv.task_defs.incident.generator.faults.kind import TriggerKind
from TokenOptEnv.task_defs.incident.generator.ledger_of_changes import draw_changes
from TokenOptEnv.task_defs.incident.generator.logs import LogBook
from TokenOptEnv.task_defs.incident.generator.needs import Needs, draw_needs
from TokenOptEnv.task_defs.incident.generator.papers.desk import Desk
from TokenOptEnv.task_defs.incident.generator.redraw import Redraw
from TokenOptEnv.task_defs.incident.generator.replies import Replies
from TokenOptEnv.task_defs.incident.generator.story import Story, draw_story
from TokenOptEnv.task_defs.incident.generator.wording import Asker, Way
from TokenOptEnv.task_defs.incident.vocabulary import (
    FAULT_CLASS,
    NO_SERVICE,
    REMEDIATION,
    SERVICE,
    TRIGGER,
    Conclusion,
    Diagnosis,
    ask_for_diagnosis,
)

ATTEMPTS = 12
_PHASES = (("edge", 13), ("suspects", 13), ("decision", 14))
_SERVICE_CHOICES = 9
_GENERIC_CHOICES = 3
_LEAST_TEMPTING = 2
_ASK_FOR = "Say which service is at fault, the class of fault, the id of what set it off, and what to do next."


def generate(outline: Outline) -> Scenario:
    reasons: list[str] = []
    for attempt in range(ATTEMPTS):
        try:
            return _Draft(draw_story(outline, attempt)).finish()
        except Redraw as reason:
            reasons.append(str(reason))
    raise ScenarioInvalid(f"{outline.scenario_id}: {ATTEMPTS} attempts failed, the last because {reasons[-1]}")


class _Draft:
    def __init__(self, story: Story) -> None:
        self.story = story
        self.outline = story.outline
        changes = draw_changes(story)
        self.logs = LogBook(story, changes)
        self.desk = Desk(story, changes, self.logs)
        self.asks = plan_asks(self.outline)
        self.whole = Evidence()
        self.legs = [Evidence() for _ in _PHASES] if self._is_marathon else [self.whole]
        self.case = CaseBuilder(
            scenario_id=self.outline.scenario_id,
            family=self.outline.family,
            difficulty=self.outline.difficulty,
            title=f"{story.domain.unit.capitalize()} slow or failed in {story.topology.cell}",
            brief=f"{self._situation()} {_ASK_FOR}",
            version=version_of(story),
        )

    @property
    def _is_marathon(self) -> bool:
        return self.outline.difficulty is Difficulty.MARATHON

    def _situation(self) -> str:
        story = self.story
        now_ms = story.page_ms + story.streams("brief").integer(50, 170) * 60_000
        return (
            f"At {story.minute(story.page_ms)} UTC on {story.clock.iso(0)[:10]} on-call was paged: "
            f"{story.domain.unit} in {story.topology.cell} were slow or failed. It is {story.minute(now_ms)} now and "
            "the page is still open."
        )

    def finish(self) -> Scenario:
        artifacts: list[list[str]] = [[] for _ in self.legs]
        for piece in Binder(self.story, self.logs, self.desk).pieces():
            segments = self.case.artifact(piece.artifact_id, piece.kind, piece.title, piece.log.text)
            artifacts[piece.phase].append(piece.artifact_id)
            for evidence in (self.whole, self.legs[piece.phase]) if self._is_marathon else (self.whole,):
                evidence.add(piece.artifact_id, piece.log, segments)
        total = sum(tokens.count(YARDSTICK, text) for _, text in self.whole.texts)
        low, high = self.outline.artifact_tokens
        if not low <= total <= high:
            raise Redraw(f"{total} tokens of {low} to {high}")
        asked = self._asked()
        self._write_evidence(asked)
        self._write_questions(asked)
        add_earlier_results(self.case, self.story, asked, self.legs)
        if self._is_marathon:
            for number, (name, steps) in enumerate(_PHASES):
                subtasks = [ask.subtask_id for ask in self.asks if ask.phase == number]
                self.case.phase(name, self._leg_brief(number), artifacts[number], subtasks, steps)
        return self.case.build()

    def _leg_brief(self, number: int) -> str:
        legs = (
            "First leg: the ticket and the logs at the edge.",
            "Second leg: the logs of the services that were named.",
            "Last leg: what they printed later, the list of changes and the runbook.",
        )
        return f"{self._situation()} {legs[number]} {_ASK_FOR}"

    def _asked(self) -> tuple[Asked, ...]:
        retrievers = [Retriever(evidence.texts) for evidence in self.legs]
        values: dict[str, str] = {}
        asked: list[Asked] = []
        for ask in self.asks:
            filled = values.get(ask.slot.name) if ask.slot is not None else None
            lexical = self.story.streams("lexical", ask.subtask_id).chance(self.outline.lexical_share)
            try:
                asked.append(self._ask(ask, retrievers[ask.phase], filled, lexical))
            except Redraw:
                asked.append(self._ask(ask, retrievers[ask.phase], filled, not lexical))
            values.update(asked[-1].right.values)
        return tuple(asked)

    def _ask(self, ask: Ask, retriever: Retriever, filled: str | None, lexical: bool) -> Asked:
        """The way of asking that is as findable as wanted; if it is to find its facts, the one that comes nearest."""
        evidence = self.legs[ask.phase]
        replies = Replies(self.story, self.desk, self.logs, evidence)
        right, wrong = replies.right(ask), replies.wrong(ask)
        if sum(bool(reply.decoys) for reply in wrong) < _LEAST_TEMPTING:
            raise Redraw(f"{ask.subtask_id}: too little that misleads")
        misleading = frozenset(
            segment_id for reply in wrong for decoy in reply.decoys for segment_id in evidence.shown_in(decoy)
        )
        wanted = self.story.streams("needs", ask.subtask_id).integer(*self.outline.facts)
        lexical = lexical or ask.manner is Manner.SURVEY
        best: tuple[float, Asked] | None = None
        for way in Asker(self.story, evidence, retriever).ways(ask, misleading, filled, lexical):
            needs = self._needs_of(ask, evidence, wanted, way, lexical)
            if needs is None:
                continue
            found = all(evidence.shown_in(clue) & way.hits for clue in needs.clues)
            if found and not lexical and ask.manner is not Manner.SURVEY:
                continue
            near = sum(bool(evidence.shown_in(clue) & way.near) for clue in needs.clues) / len(needs.clues)
            if best is None or (lexical and near > best[0]):
                best = near, Asked(ask, way.text, needs.clues, needs.paths, lexical, right, wrong)
        if best is None:
            raise Redraw(f"{ask.subtask_id}: no way to ask {'with' if lexical else 'without'} the words of its facts")
        return best[1]

    def _needs_of(self, ask: Ask, evidence: Evidence, wanted: int, way: Way, lexical: bool) -> Needs | None:
        """A lexical question rests on what its words find, where that is enough; else pointers lead to the rest."""
        for within in (way.hits, None) if lexical else (None,):
            try:
                return draw_needs(ask, self.story.cast, evidence, self.outline.facts, wanted, lexical, within, way.near)
            except Redraw:
                continue
        return None

    def _write_evidence(self, asked: tuple[Asked, ...]) -> None:
        """In a marathon a clue is another fact in each leg: what stands in an earlier one can no longer be read."""
        facts = dict.fromkeys((clue, each.ask.phase) for each in asked for clue in each.needs)
        for clue, phase in facts:
            self.case.fact(self._named(clue, phase), _why(clue), *self.legs[phase].quotes[clue])
        decoys = dict.fromkeys((c, each.ask.phase) for each in asked for reply in each.wrong for c in reply.decoys)
        for clue, phase in decoys:
            self.case.decoy(self._lure(clue, phase), _why(clue), *self.legs[phase].quotes[clue])

    def _named(self, clue: str, phase: int) -> str:
        return f"leg{phase + 1}-{clue}" if self._is_marathon else clue

    def _lure(self, clue: str, phase: int) -> str:
        """The id of a clue as a decoy: the same line may rule a suspect out and mislead about him."""
        return f"lure-{self._named(clue, phase)}"

    def _write_questions(self, asked: tuple[Asked, ...]) -> None:
        conclusions = {
            name: Conclusion(
                (each.right.values[name],), tuple(self._named(clue, each.ask.phase) for clue in each.paths[name])
            )
            for each in asked
            for name in each.ask.fields
        }
        ask_for_diagnosis(
            self.case,
            Diagnosis(
                service=conclusions[SERVICE],
                fault_class=conclusions[FAULT_CLASS],
                trigger=conclusions[TRIGGER],
                remediation=conclusions[REMEDIATION],
            ),
            services=self._offered_services(asked),
            remediations=self._offered_remedies(),
        )
        earlier = {name: value for each in asked for name, value in each.right.values.items()}
        for each in asked:
            slot, phase = each.ask.slot, each.ask.phase
            self.case.subtask(
                each.ask.subtask_id,
                each.question,
                each.ask.fields,
                self._kind(each.ask),
                each.lexical,
                tuple(self._named(clue, phase) for clue in each.needs),
                each.right,
                tuple(
                    replace(reply, decoys=tuple(self._lure(clue, phase) for clue in reply.decoys))
                    for reply in each.wrong
                ),
                slot,
                earlier[slot.name] if slot is not None else None,
            )

    def _offered_services(self, asked: tuple[Asked, ...]) -> list[str]:
        """Whoever a reply may name, and others up to a fixed number."""
        named = {reply.values[SERVICE] for each in asked for reply in each.wrong if SERVICE in reply.values}
        named |= {suspect.service.name for suspect in self.story.cast.suspects} | {self.story.topology.front.name}
        named.discard(NO_SERVICE)
        others = self.story.streams("choices").shuffled(sorted(set(self.story.topology.services) - named))
        return sorted(named) + others[: max(0, _SERVICE_CHOICES - len(named))]

    def _offered_remedies(self) -> list[str]:
        """Those of the suspects, the one that an unfounded reply gives, and others of that sort."""
        front = self.story.topology.front.name
        room = self.story.material.phrases.talk.generic_remedies
        others = self.story.streams("choices", "remedies").shuffled(room)
        generic = dict.fromkeys([self.story.talk["generic_remedies"], *others])
        suspected = [self.desk.remedy(suspect) for suspect in self.story.cast.suspects if not suspect.is_exercise]
        return [*suspected, *(text.format(front=front) for text in list(generic)[:_GENERIC_CHOICES])]

    def _kind(self, ask: Ask) -> QuestionKind:
        """A trigger asked for alone is found in a diff, or looked up where it is no change to code or settings."""
        if ask.manner in (Manner.TRACE, Manner.LOCATE):
            return QuestionKind.LOOKUP
        if ask.fields == (TRIGGER,):
            changed = self.story.cast.guilty.wording.trigger in (TriggerKind.DEPLOY, TriggerKind.CONFIG)
            return QuestionKind.CODE if changed else QuestionKind.LOOKUP
        return QuestionKind.CAUSAL


_WHY = {
    "witness": "the request that the page shows, at the gateway",
    "sample": "whose request the page shows, and when",
    "second": "another failed request that the page links",
    "left": "a request that the customer broke off himself",
    "passed-on": "where the front failed it",
    "met": "at which address that one request failed",
    "wired": "whom that alias leads to",
    "victim": "who suffers names who holds it up",
    "telltale": "how the service fails its callers",
    "again": "it fails them still, minutes later",
    "pressure": "it gets worse from then on",
    "in-effect": "when the change reached the service",
    "state": "what decides between this remedy and another",
    "onset": "the first bad minute",
    "change": "what was changed, when and where",
    "advice": "what the runbook says about it",
    "lines": "harmless lines of a kind that could mean harm",
    "here": "a change that reached the service at another time",
    "word": "what somebody guessed",
    "host": "the figures of one host",
}


def _why(clue: str) -> str:
    parts = clue.split("-")
    return _WHY.get(clue) or _WHY.get(parts[0]) or _WHY[parts[-1]]
