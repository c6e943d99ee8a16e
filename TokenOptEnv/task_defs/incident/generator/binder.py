"""Which papers and logs a case has, in which leg, and how long each is.

The same kinds in the same number whoever is guilty: the logs are those of all suspects, of the front and of the
gateway, in an order that says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from TokenOptEnv.config import YARDSTICK, Difficulty
from TokenOptEnv.models import ArtifactKind
from TokenOptEnv.simulators import tokens
from TokenOptEnv.task_defs.incident.generator.logs import Log, LogBook, Span
from TokenOptEnv.task_defs.incident.generator.papers.desk import About, Desk, Guess, hosts_to_compare
from TokenOptEnv.task_defs.incident.generator.papers.style import Comment
from TokenOptEnv.task_defs.incident.generator.simulation.topology import Service
from TokenOptEnv.task_defs.incident.generator.story import Story

_FURTHER_SHARE = 0.6
"""Logs of services that nobody suspects are shorter."""
_LATE_LEAD_MS = 20_000


@dataclass(frozen=True, slots=True)
class Piece:
    artifact_id: str
    kind: ArtifactKind
    title: str
    log: Log
    phase: int = 0


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A log that is to be written, with its share of the tokens."""

    service: Service
    span: Span
    weight: float
    phase: int


@dataclass(frozen=True)
class Binder:
    story: Story
    logs: LogBook
    desk: Desk

    def pieces(self) -> list[Piece]:
        papers = self._papers()
        size = self.story.streams("size").integer(*self.story.pace.tokens)
        left = size - sum(tokens.count(YARDSTICK, piece.log.text) for piece in papers)
        wanted = self._marathon_logs() if self._is_marathon else self._logs()
        unit = left / sum(each.weight for each in wanted)
        logs = [self._written(each, int(unit * each.weight)) for each in wanted]
        everything = self.story.streams("order").shuffled([*papers, *logs])
        return sorted(everything, key=lambda piece: piece.phase)

    @property
    def _is_marathon(self) -> bool:
        return self.story.outline.difficulty is Difficulty.MARATHON

    def _logs(self) -> list[_Wanted]:
        whole = Span(0, self.story.end_ms)
        topology = self.story.topology
        near = [topology.gateway, topology.front, *self._suspected()]
        wanted = [_Wanted(service, whole, 1.0, 0) for service in near]
        return wanted + [_Wanted(service, whole, _FURTHER_SHARE, 0) for service in self._further()]

    def _marathon_logs(self) -> list[_Wanted]:
        """The edge first, then the suspects up to the time when somebody decides, then what they printed later."""
        story = self.story
        whole, early, late = Span(0, story.end_ms), Span(0, self._turn_ms), Span(self._turn_ms, story.end_ms)
        wanted = [_Wanted(service, whole, 2.0, 0) for service in (story.topology.gateway, story.topology.front)]
        wanted += [_Wanted(service, whole, 1.0, 0) for service in self._further()]
        wanted += [_Wanted(service, early, 1.1, 1) for service in self._suspected()]
        return wanted + [_Wanted(service, late, 0.8, 2) for service in self._suspected()]

    @property
    def _turn_ms(self) -> int:
        return (self.story.page_ms + self.story.end_ms) // 2 - _LATE_LEAD_MS

    def _suspected(self) -> list[Service]:
        return list(dict.fromkeys(s.service for s in self.story.cast.suspects if not s.is_exercise))

    def _further(self) -> list[Service]:
        taken = self._suspected()
        others = [service for service in self.story.topology.middle if service not in taken]
        return self.story.streams("further").shuffled(others)[: self.story.pace.further_logs]

    def _written(self, wanted: _Wanted, size_tokens: int) -> Piece:
        story, name = self.story, wanted.service.name
        span = wanted.span
        if wanted.service is story.topology.gateway:
            log = self.logs.gateway(size_tokens, span)
        else:
            log = self.logs.service(wanted.service, size_tokens, span)
        hours = f"{story.minute(span.begin_ms)} to {story.minute(span.end_ms)}"
        late = "-late" if span.begin_ms else ""
        kind = "access log" if wanted.service is story.topology.gateway else "log"
        return Piece(f"log-{name}{late}", ArtifactKind.LOG, f"{name} {kind}, {hours}, sampled", log, wanted.phase)

    def _papers(self) -> list[Piece]:
        story, outline = self.story, self.story.outline
        stream = story.streams("papers")
        number = stream.integer(1200, 9800)
        domain, cell, unit = story.domain.name, story.topology.cell, story.domain.unit
        pieces = [
            Piece(f"runbook-{domain}", ArtifactKind.RUNBOOK, f"{unit}: what to look at", self.desk.runbook(), 2),
            Piece(f"changes-{domain}", ArtifactKind.HISTORY, f"changes in {domain}", self.desk.change_list(), 2),
        ]
        small = outline.difficulty in (Difficulty.EASY, Difficulty.MEDIUM)
        extra = stream.choice(("chat", "metrics", "trace"))
        if outline.wide_facts is not None:
            report = self.desk.report(hosts_to_compare(story, outline.wide_facts))
            pieces.append(Piece(f"hosts-{cell}", ArtifactKind.METRICS, f"hosts of {cell} side by side", report, 1))
            extra = "report"
        if not small or extra == "metrics":
            pieces.append(
                Piece(f"metrics-{domain}", ArtifactKind.METRICS, f"{unit} in {cell} by minute", self.desk.metrics(), 1)
            )
        if not small or extra == "trace":
            pieces.append(
                Piece(f"trace-{number}", ArtifactKind.TRACE, "one request, span by span", self.desk.trace(), 1)
            )
        pieces += self._talk(number, with_chat=not small or extra == "chat")
        return pieces if self._is_marathon else [replace(piece, phase=0) for piece in pieces]

    def _talk(self, number: int, with_chat: bool) -> list[Piece]:
        """Guesses stand in the ticket; where there is a chat, every other one stands there.

        In a marathon the first stands in the ticket, and each later leg has its own chat with what is guessed there.
        """
        guesses = self.desk.guesses()
        small_talk = self.desk.small_talk(self.story.pace.small_talk)
        key = f"{self.story.style.ids.ticket}{number}"
        if self._is_marathon:
            later = [guess for guess in guesses[1:] if guess.about is About.NEXT]
            sooner = [guess for guess in guesses[1:] if guess.about is not About.NEXT]
            return [
                self._ticket(number, key, guesses[:1], []),
                self._chat(f"chat-{number}", f"#{key.lower()}", sooner, small_talk[::2], 1),
                self._chat(f"chat-{number}-late", f"#{key.lower()}, later", later, small_talk[1::2], 2),
            ]
        if not with_chat:
            return [self._ticket(number, key, guesses, small_talk)]
        return [
            self._ticket(number, key, guesses[::2], []),
            self._chat(f"chat-{number}", f"#{key.lower()}", guesses[1::2], small_talk, 0),
        ]

    def _ticket(self, number: int, key: str, guesses: list[Guess], small_talk: list[Comment]) -> Piece:
        log = self.desk.ticket(number, _by_time([*(guess.comment for guess in guesses), *small_talk]))
        title = f"{key}: {self.story.domain.unit} slow or failed"
        return Piece(f"ticket-{number}", ArtifactKind.TICKET, title, _with_words(log, guesses))

    def _chat(
        self, artifact_id: str, channel: str, guesses: list[Guess], small_talk: list[Comment], phase: int
    ) -> Piece:
        log = self.desk.chat(channel, _by_time([*(guess.comment for guess in guesses), *small_talk]))
        return Piece(artifact_id, ArtifactKind.CHAT, channel, _with_words(log, guesses), phase)


def _with_words(log: Log, guesses: list[Guess]) -> Log:
    """A guess about a suspect is a clue of its own."""
    words = {f"{guess.tag}-word": (guess.comment.text,) for guess in guesses}
    return Log(log.text, {**log.clues, **words})


def _by_time(comments: list[Comment]) -> list[Comment]:
    return sorted(comments, key=lambda comment: comment.at)
