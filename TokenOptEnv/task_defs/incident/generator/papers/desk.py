"""Writes the papers of a story: each function gives a text and the lines in it that are evidence, by clue."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from TokenOptEnv.config import YARDSTICK
from TokenOptEnv.simulators import tokens
from TokenOptEnv.task_defs.incident.generator.cast import Suspect
from TokenOptEnv.task_defs.incident.generator.ledger_of_changes import ChangeList
from TokenOptEnv.task_defs.incident.generator.logs import Log, LogBook
from TokenOptEnv.task_defs.incident.generator.papers.style import Comment
from TokenOptEnv.task_defs.incident.generator.simulation.records import Hop
from TokenOptEnv.task_defs.incident.generator.simulation.run import MINUTE_MS, is_bad
from TokenOptEnv.task_defs.incident.generator.simulation.topology import Host, Kind, Service
from TokenOptEnv.task_defs.incident.generator.story import Story
from TokenOptEnv.task_defs.incident.writers import metrics_csv
from TokenOptEnv.task_defs.incident.writers.metrics_csv import Series

_REPORT_MINUTES = 4
_BLOCK_TOKENS = (262, 294)
"""A host's part of the report fills a segment of its own."""


_WAYS_TO_GUESS = 3
_OTHER_ADVICE = 6


class About(Enum):
    """What a guess is about."""

    SERVICE = auto()
    CAUSE = auto()
    NEXT = auto()


_ABOUT = (About.CAUSE, About.NEXT, About.SERVICE)
"""In turn, so that every kind of question has somebody who thinks to know."""


@dataclass(frozen=True, slots=True)
class Guess:
    tag: str
    about: About
    comment: Comment


@dataclass(frozen=True)
class Desk:
    story: Story
    changes: ChangeList
    logs: LogBook

    def ticket(self, number: int, comments: list[Comment]) -> Log:
        story, talk = self.story, self.story.talk
        witness, second = story.witness, self.logs.other_failure()
        cell, unit = story.topology.cell, story.domain.unit
        other = story.streams("ticket").choice(sorted(story.topology.services))
        sample = talk["sample"].format(tenant=witness.request.tenant, time=story.second(witness.began_ms), unit=unit)
        linked = talk["page_sample"].format(request=second.request.request_id, time=story.second(second.began_ms))
        body = [talk["alert"].format(unit=unit, cell=cell), sample, linked, talk["flapping"].format(other=other)]
        key = f"{story.style.ids.ticket}{number}"
        title = f"{unit.capitalize()} slow or failed in {cell}"
        text = story.style.ticket(key, title, story.clock.day_minute(story.at(story.page_ms)), body, comments)
        return Log(text, {"sample": (sample,), "second": (linked,)})

    def chat(self, channel: str, comments: list[Comment]) -> Log:
        return Log(self.story.style.chat(channel, comments), {})

    def guesses(self) -> list[Guess]:
        """One guess about each suspect, guilty or not, in an order that says nothing."""
        story, stream = self.story, self.story.streams("guesses")
        room = story.material.phrases.talk
        people = stream.shuffled(room.people)
        turns = stream.shuffled(range(_WAYS_TO_GUESS))
        guesses: list[Guess] = []
        at_ms = story.page_ms
        for place, suspect in enumerate(story.cast.suspects):
            at_ms += stream.integer(2, 9) * MINUTE_MS
            about = _ABOUT[place % len(_ABOUT)]
            if about is About.SERVICE and suspect.is_exercise:
                about = About.CAUSE
            forms = {
                About.SERVICE: room.service_guess,
                About.CAUSE: room.cause_guess,
                About.NEXT: room.next_guess,
            }[about]
            text = forms[turns[place % len(turns)]].format(
                **self.names(suspect),
                topic=suspect.wording.topic,
                unit=story.domain.unit,
                remedy=self.remedy(suspect),
            )
            guesses.append(Guess(suspect.tag, about, Comment(story.minute(at_ms), people[place % len(people)], text)))
        return guesses

    def small_talk(self, count: int) -> list[Comment]:
        story, stream = self.story, self.story.streams("small talk")
        room = story.material.phrases.talk
        said = stream.shuffled(room.small_talk)[:count]
        return [
            Comment(story.minute(story.page_ms + stream.integer(1, 40) * MINUTE_MS), stream.choice(room.people), text)
            for text in said
        ]

    def names(self, suspect: Suspect) -> dict[str, str]:
        return {**self.story.names(suspect), "trigger": self.changes.of_suspect[suspect.tag].trigger}

    def remedy(self, suspect: Suspect) -> str:
        return suspect.wording.remedy.format(**self.names(suspect))

    def says(self, suspect: Suspect) -> str:
        return suspect.wording.says.format(**self.names(suspect))

    def runbook(self) -> Log:
        """Each suspect's advice in a part of its own, long enough that two parts do not share a segment."""
        story, stream = self.story, self.story.streams("runbook")
        advice = {s.tag: s.wording.advice.format(**self.names(s)) for s in story.cast.suspects}
        others = stream.shuffled(story.material.phrases.talk.other_advice)
        each = min(_OTHER_ADVICE, len(others) // len(advice))
        parts = [
            stream.shuffled([line, *others[place * each : (place + 1) * each]])
            for place, line in enumerate(advice.values())
        ]
        reviewed = f"{story.clock.year - 1}-{stream.integer(1, 12):02d}-{stream.integer(1, 28):02d}"
        title = f"{story.domain.unit.capitalize()} slow or failed"
        return Log(
            story.style.runbook(title, reviewed, stream.shuffled(parts)),
            {f"{tag}-advice": (text,) for tag, text in advice.items()},
        )

    def change_list(self) -> Log:
        story = self.story
        clues = {
            f"{tag}-change": (story.style.change_head(entered.change),)
            for tag, entered in self.changes.of_suspect.items()
        }
        return Log(story.style.changes(f"{story.domain.name}, newest first (UTC)", self.changes.entries), clues)

    def metrics(self) -> Log:
        """What the gateway and the front counted, minute by minute."""
        story = self.story
        minutes = range(story.pace.minutes)
        entries: list[list[Hop]] = [[] for _ in minutes]
        for hop in story.run.entries:
            entries[hop.began_ms // MINUTE_MS].append(hop)
        series = (
            Series("requests", tuple(len(hops) for hops in entries)),
            Series("slow_or_failed", tuple(sum(is_bad(hop) for hop in hops) for hops in entries)),
            Series("p95_ms", tuple(_p95([hop.took_ms for hop in hops]) for hops in entries)),
            Series("tenants", tuple(len({hop.request.tenant for hop in hops}) for hops in entries)),
        )
        start = story.clock.minute(story.start_ms)
        text = metrics_csv.table(story.clock, start, 1, series)
        row = text.splitlines()[1 + story.onset_ms // MINUTE_MS]
        return Log(text, {"onset": (row,)})

    def trace(self) -> Log:
        """The spans of the request that the page shows."""
        story = self.story
        hops = sorted(
            story.run.by_request[story.witness.request.request_id], key=lambda hop: (hop.began_ms, -hop.ended_ms)
        )
        first_ms = hops[0].began_ms
        lines = [f"trace {story.witness.request.request_id} {story.clock.iso(story.at(first_ms))}"]
        depth = {story.topology.gateway.name: 0, story.topology.front.name: 1}
        for hop in hops:
            service = story.topology.services[hop.service]
            kind_depth = depth.get(hop.service, 3 if service.kind in (Kind.LEAF, Kind.WORKER) else 2)
            lines.append(
                story.style.span(
                    kind_depth, hop.service, service.hosts[hop.host].name, hop.began_ms - first_ms, hop.took_ms, hop.end
                )
            )
        return Log("\n".join(lines) + "\n", {})

    def report(self, hosts: list[tuple[Service, int]]) -> Log:
        """Each host's figures after the onset, a block each, in an order that says nothing."""
        story = self.story
        span = f"{story.minute(story.onset_ms)} to {story.minute(story.onset_ms + _REPORT_MINUTES * MINUTE_MS)}"
        blocks: list[str] = []
        clues: dict[str, tuple[str, ...]] = {}
        for service, number in story.streams("report").shuffled(hosts):
            host = service.hosts[number]
            summary = self._summary(service, number, host)
            clues[f"host-{host.name}"] = (summary,)
            blocks.append(self._block(service, host, span, summary))
        return Log("".join(blocks), clues)

    def own_errors(self, service: Service, number: int) -> int:
        return sum(hop.own_failure for hop in self._reported(service, number))

    def _reported(self, service: Service, number: int) -> list[Hop]:
        begin_ms = self.story.onset_ms
        return [
            hop
            for hop in self.story.run.by_service[service.name]
            if hop.host == number and begin_ms <= hop.ended_ms < begin_ms + _REPORT_MINUTES * MINUTE_MS
        ]

    def _summary(self, service: Service, number: int, host: Host) -> str:
        """Waiting for others is not a host's own time: only what it did or failed by itself counts."""
        story = self.story
        stream = story.streams("report", host.name)
        guilty = story.cast.guilty
        hops = self._reported(service, number)
        own = [hop for hop in hops if hop.blamed is None]
        queue_victim = guilty.victim is service and guilty.service is not service
        errors = [hop for hop in own if not hop.ok]
        passed_on = sum(hop.blamed is not None for hop in hops)
        if queue_victim:
            passed_on, errors = passed_on + len(errors), []
        usual_ms = int(service.work_ms * 1.45) + stream.integer(2, 14)
        took_ms = usual_ms
        if service is guilty.service and not guilty.is_exercise:
            took_ms = max(usual_ms, _p95([hop.took_ms for hop in own]))
        customers = sum(not hop.request.planned for hop in errors)
        busy = number < 2 and any(suspect.service is service for suspect in story.cast.innocents)
        cpu = stream.integer(84, 97) if busy else stream.integer(18, 61)
        return story.style.host_summary(host.name, took_ms, len(errors), customers, passed_on, cpu)

    def _block(self, service: Service, host: Host, span: str, summary: str) -> str:
        story, stream = self.story, self.story.streams("report", host.name, "details")
        head = story.style.host_head(host.name, service.name, story.topology.cell, span)
        least, most = _BLOCK_TOKENS
        details: list[str] = []
        for number in [*stream.shuffled(range(10)), *range(10, 20)]:
            line = story.style.host_detail(number, [stream.integer(0, 999) for _ in range(4)])
            if _size([head, *details, line, summary]) > most:
                break
            details.append(line)
            if _size([head, *details, summary]) >= least:
                break
        place = stream.integer(0, len(details))
        lines = [*details[:place], summary, *details[place:]]
        return "\n".join([head, *(f"    {line}" for line in lines)]) + "\n"


def hosts_to_compare(story: Story, count: int) -> list[tuple[Service, int]]:
    """So many hosts: of every suspect, of the front, then of others; always some of the guilty one."""
    stream = story.streams("hosts")
    guilty = story.cast.guilty.service
    suspects = [suspect.service for suspect in story.cast.suspects]
    ordered = list(dict.fromkeys([guilty, *suspects, story.topology.front, *story.topology.middle]))
    others = [s for s in story.topology.services.values() if s.kind in (Kind.LEAF, Kind.STORE, Kind.CACHE, Kind.WORKER)]
    rest = [service for service in stream.shuffled(others) if service not in ordered]
    hosts = [(service, number) for service in [*ordered, *rest] for number in range(len(service.hosts))]
    first = [pair for pair in hosts if pair[0] is guilty][:2]
    later = [pair for pair in hosts if pair not in first]
    return [*first, *stream.shuffled(later)][:count]


def _p95(values: list[int]) -> int:
    return sorted(values)[len(values) * 95 // 100] if values else 0


def _size(lines: list[str]) -> int:
    return tokens.count(YARDSTICK, "\n    ".join(lines) + "\n")
