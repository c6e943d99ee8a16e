"""How the questions are put: in words that the evidence uses, or in others. What holds is measured by searching."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from TokenOptEnv.config import SEARCH_MAX_TOP_K, YARDSTICK
from TokenOptEnv.simulators import tokens
from TokenOptEnv.simulators.retrieval import Retriever
from TokenOptEnv.task_defs.incident.generator.asks import PEER, REQUEST_ID, Ask, Manner
from TokenOptEnv.task_defs.incident.generator.evidence import Evidence
from TokenOptEnv.task_defs.incident.generator.story import Story

QUESTION_CAP_TOKENS = 40
_NEAR = 4
_MISLED = 6
"""Something misleading is among so many hits of any question."""
_TOPICS = 3
_LEADS = {REQUEST_ID: "for request {request_id}, ", PEER: "as seen at {peer}, ", "host": "on {host}, "}


@dataclass(frozen=True, slots=True)
class Way:
    """A way to put a question, and what a search with it finds."""

    text: str
    hits: frozenset[str]
    near: frozenset[str]
    """The first few of them: as many as a route takes."""


@dataclass(frozen=True)
class Asker:
    story: Story
    evidence: Evidence
    retriever: Retriever

    def ways(self, ask: Ask, decoys: frozenset[str], filled: str | None, lexical: bool) -> Iterator[Way]:
        """Short enough ways of asking that lead to something misleading among other things."""
        for text in self._variants(ask, lexical):
            shown = text if filled is None or ask.slot is None else text.replace(f"{{{ask.slot.name}}}", filled)
            if tokens.count(YARDSTICK, shown) <= QUESTION_CAP_TOKENS:
                hits = [hit.segment_id for hit in self.retriever.search(shown, SEARCH_MAX_TOP_K)]
                tempting = hits if ask.manner is Manner.SURVEY else hits[:_MISLED]
                if decoys.intersection(tempting):
                    yield Way(text, frozenset(hits), frozenset(hits[:_NEAR]))

    def _variants(self, ask: Ask, lexical: bool) -> Iterator[str]:
        story = self.story
        room = story.material.phrases.questions
        stream = story.streams("question", ask.subtask_id)
        asks = [room.asks[name] for name in ask.fields if name not in (REQUEST_ID, PEER)]
        joined = asks[0] if len(asks) == 1 else ", ".join(asks[:-1]) + " and " + asks[-1] if asks else ""
        match ask.manner:
            case Manner.TRACE:
                forms = room.trace_lexical if lexical else room.trace
            case Manner.LOCATE:
                forms = room.locate_lexical if lexical else room.locate
            case Manner.SURVEY:
                forms = room.survey
            case Manner.SERVICE if lexical:
                forms = (*room.service_lexical, *room.service)
            case Manner.SERVICE if len(ask.fields) == 1:
                forms = room.service
            case Manner.SERVICE | Manner.CAUSE:
                forms = room.cause_lexical if lexical else room.cause
        lead = _LEADS[ask.slot.name] if ask.slot is not None else ""
        for topics in self._topic_lists(ask, lexical):
            for form in stream.shuffled(forms):
                text = form.format(
                    asks=joined,
                    topics=topics,
                    tenant=story.witness.request.tenant,
                    alias=story.cast.guilty.victim.alias,
                    said=self._said(),
                )
                if ask.manner is Manner.TRACE and len(ask.fields) > 1:
                    where = f" {room.trace_said.format(said=self._said())}" if lexical else ""
                    text = f"{text.removesuffix('?')}, and {joined}{where}?"
                text = lead + text[0].lower() + text[1:] if lead else text
                yield text[0].upper() + text[1:]

    def _said(self) -> str:
        """The front's words for the failure, up to the figures."""
        hops = self.story.run.by_request[self.story.witness.request.request_id]
        front = next(hop for hop in hops if hop.service == self.story.topology.front.name)
        phrase = self.story.lines["failed_late" if front.end == "timed out" else "failed_fast"]
        return phrase.split(",")[0].format(alias=self.story.cast.guilty.victim.alias)

    def _topic_lists(self, ask: Ask, lexical: bool) -> list[str]:
        """Topics of several suspects, an exercise always among them: which ones are named must not tell."""
        if not lexical:
            return [""]
        cast = self.story.cast
        exercise = next(suspect for suspect in cast.suspects if suspect.is_exercise)
        stream = self.story.streams("topics", ask.subtask_id)
        always = [exercise] if cast.guilty is exercise else [exercise, cast.guilty]
        others = stream.shuffled([suspect for suspect in cast.suspects if suspect not in always])
        lists = []
        for start in range(len(others)):
            named = stream.shuffled([*always, *(others[start:] + others[:start])][:_TOPICS])
            lists.append(", ".join(suspect.wording.topic for suspect in named[:-1]) + f" or {named[-1].wording.topic}")
        return lists
