"""The services' logs: what each request left behind, what the suspects said, and what every process prints anyway.

Requests are sampled in one order for all logs, so that an id that stands in one of them mostly stands in the
others too. Lines that are evidence are always kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from TokenOptEnv.config import YARDSTICK
from TokenOptEnv.simulators import tokens
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.generator.cast import Alibi, Suspect
from TokenOptEnv.task_defs.incident.generator.faults.kind import Seat
from TokenOptEnv.task_defs.incident.generator.formats import Format
from TokenOptEnv.task_defs.incident.generator.gateway import LEFT, TIMED_OUT, Access, Visit
from TokenOptEnv.task_defs.incident.generator.ledger_of_changes import ChangeList, undone_ms
from TokenOptEnv.task_defs.incident.generator.record import Level, Record
from TokenOptEnv.task_defs.incident.generator.redraw import Redraw
from TokenOptEnv.task_defs.incident.generator.simulation.records import Hop
from TokenOptEnv.task_defs.incident.generator.simulation.run import MINUTE_MS, SLOW_MS
from TokenOptEnv.task_defs.incident.generator.simulation.topology import Service
from TokenOptEnv.task_defs.incident.generator.story import Story

_TELLTALES = 4
_BURST = 3
"""Of them, how many come one after the other: failures do not come alone."""
_PASSED_ON = 4
"""Failures that a caller's log shows, spread over the time; the rest is left out by its sampling."""
_PRESSURES = 3
_VICTIM_LINES = 2
_MILD_LINES = 2
_CHATTER_SHARE = 0.35
_PORT = 8443
_EXPORT_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Log:
    """A finished log, and the exact text of every piece of evidence in it, by clue."""

    text: str
    clues: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Span:
    """The part of a run that a log covers."""

    begin_ms: int
    end_ms: int

    def holds(self, at_ms: int) -> bool:
        return self.begin_ms <= at_ms < self.end_ms


class LogBook:
    """Writes the logs of one story."""

    def __init__(self, story: Story, changes: ChangeList) -> None:
        self._story = story
        self._changes = changes
        draw = story.streams("formats")
        services = story.topology.services
        self._formats: dict[str, Format] = {name: draw.choice(story.material.formats) for name in services}
        self._access: Access = draw.choice(story.material.access)
        self._order = {
            request_id: rank
            for rank, request_id in enumerate(story.streams("sampling").shuffled(list(story.run.by_request)))
        }
        self._evidence = self._suspects_lines()

    def service(self, service: Service, size_tokens: int, span: Span) -> Log:
        """A log of about this size. Lines of requests and chatter fill what evidence leaves."""
        form, clock = self._formats[service.name], self._story.clock
        kept: list[tuple[int, str, Record]] = []
        used = 0

        def keep(record: Record) -> None:
            nonlocal used
            text = form(clock, service.name, record)
            used += tokens.count(YARDSTICK, text + "\n")
            kept.append((record.at_ms, text, record))

        for record in [*self._wiring(service, span), *self._evidence.get(service.name, [])]:
            if span.holds(record.at_ms - self._story.start_ms):
                keep(record)
        told = {record.request_id for _, _, record in kept if record.clue in ("telltale", "again")}
        shown = self._story.witness.request.request_id
        passed_on = 0
        for hop in self._sampled(service, span):
            if hop.request.request_id != shown and used >= size_tokens * (1 - _CHATTER_SHARE):
                break
            if hop.own_failure and hop.request.request_id in told:
                continue
            passed_on += hop.blamed is not None
            if hop.blamed is None or passed_on <= _PASSED_ON:
                keep(self._hop_record(service, hop))
        for record in self._chatter(service, span):
            if used >= size_tokens:
                break
            keep(record)
        kept.sort(key=lambda item: item[0])
        clues: dict[str, list[str]] = {}
        for _, text, record in kept:
            if record.clue is not None:
                clues.setdefault(record.clue, []).append(record.message)
            if record.clue == "passed-on":
                clues["met"] = [text.splitlines()[0]]
        clues["again"] = [text for text in clues.get("again", []) if text not in clues.get("telltale", [])]
        return Log(
            "".join(f"{text}\n" for _, text, _ in kept),
            {clue: tuple(dict.fromkeys(found)) for clue, found in clues.items() if found},
        )

    def gateway(self, size_tokens: int, span: Span) -> Log:
        story = self._story
        stream = story.streams("gateway")
        kept: list[tuple[int, str]] = []
        clues: dict[str, tuple[str, ...]] = {}
        used = 0
        witness = story.witness
        others = self._other_visits()
        for clue, visit in [("witness", self._visit(witness)), *others]:
            text = self._access(story.clock, visit)
            used += tokens.count(YARDSTICK, text + "\n")
            kept.append((visit.at_ms, text))
            clues[clue] = (text,)
        taken = {witness.request.request_id, *(visit.request_id for _, visit in others)}
        for hop in sorted(story.run.entries, key=lambda hop: self._order[hop.request.request_id]):
            if used >= size_tokens:
                break
            if hop.request.request_id not in taken and span.holds(hop.began_ms):
                visit = self._export(stream, span) if stream.chance(_EXPORT_SHARE) else self._visit(hop)
                text = self._access(story.clock, visit)
                used += tokens.count(YARDSTICK, text + "\n")
                kept.append((visit.at_ms, text))
        kept.sort()
        return Log("".join(f"{text}\n" for _, text in kept), clues)

    def other_failure(self) -> Hop:
        """Another failed request, which the page's dashboard links."""
        witness = self._story.witness
        failed = [
            hop
            for hop in self._story.run.entries
            if not hop.ok and hop is not witness and hop.request.tenant != witness.request.tenant
        ]
        if not failed:
            raise Redraw("no second failed request")
        return self._story.streams("witness", "second").choice(failed)

    @property
    def left_request_id(self) -> str:
        """Of the request that the witness's customer broke off himself."""
        return self._story.streams("witness", "left").hex(8)

    @property
    def left_host(self) -> int:
        """Which host of the front the gateway had given the witness to."""
        request_id, front = self._story.witness.request.request_id, self._story.topology.front.name
        return next(hop.host for hop in self._story.run.by_request[request_id] if hop.service == front)

    def _other_visits(self) -> list[tuple[str, Visit]]:
        """A request of the witness's customer that he broke off himself, and another failed one."""
        witness = self._story.witness
        stream = self._story.streams("witness", "left")
        base = self._visit(witness)
        request_id = stream.hex(8)
        at_ms = witness.began_ms + stream.integer(-150, -40) * 1000
        left = Visit(
            at_ms=self._story.at(max(1000, at_ms)),
            tenant=base.tenant,
            request_id=request_id,
            path=self._story.domain.other_path.format(tenant=base.tenant),
            status=LEFT,
            took_ms=stream.integer(9000, 31_000),
            client=base.client,
            upstream=base.upstream,
            bytes_out=0,
        )
        return [("left", left), ("second", self._visit(self.other_failure()))]

    def _export(self, stream: Stream, span: Span) -> Visit:
        """A slow request of another kind, served elsewhere, that its caller broke off: every day has some."""
        story = self._story
        tenant = stream.choice(story.run.entries).request.tenant
        return Visit(
            at_ms=story.at(stream.integer(span.begin_ms, span.end_ms - 1)),
            tenant=tenant,
            request_id=stream.hex(8),
            path=story.domain.other_path.format(tenant=tenant),
            status=LEFT,
            took_ms=stream.integer(9000, 31_000),
            client=f"198.51.{stream.integer(1, 99)}.{stream.integer(2, 250)}",
            upstream=stream.choice(story.topology.front.hosts).name,
            bytes_out=0,
        )

    def _visit(self, hop: Hop) -> Visit:
        request, topology = hop.request, self._story.topology
        stream = self._story.streams("visit", request.request_id)
        fronts = [
            each for each in self._story.run.by_request[request.request_id] if each.service == topology.front.name
        ]
        front_end = fronts[0].end if fronts else "timed out"
        failed = TIMED_OUT if front_end == "timed out" or hop.end == "timed out" else 503
        return Visit(
            at_ms=self._story.at(hop.began_ms),
            tenant=request.tenant,
            request_id=request.request_id,
            path=self._story.domain.path.format(tenant=request.tenant),
            status=200 if hop.ok else failed,
            took_ms=hop.took_ms,
            client=f"198.51.{stream.integer(1, 99)}.{stream.integer(2, 250)}",
            upstream=topology.front.hosts[fronts[0].host if fronts else 0].name,
            bytes_out=stream.integer(300, 2900) if hop.ok else 24,
        )

    def _sampled(self, service: Service, span: Span) -> list[Hop]:
        shown = self._story.witness.request.request_id
        hops = [hop for hop in self._story.run.by_service[service.name] if span.holds(hop.ended_ms)]
        return sorted(
            hops, key=lambda hop: (hop.request.request_id != shown, self._order[hop.request.request_id], hop.ended_ms)
        )

    def _hop_record(self, service: Service, hop: Hop) -> Record:
        lines, topology = self._story.lines, self._story.topology
        at_ms, host = self._story.at(hop.ended_ms), service.hosts[hop.host].name
        request_id = hop.request.request_id
        if hop.ok:
            return Record(at_ms, host, Level.INFO, service.does, request_id, took_ms=hop.took_ms)
        if hop.blamed is None:
            message = lines["gave_up"].format(ms=hop.took_ms)
            return Record(at_ms, host, Level.WARN, message, request_id)
        target = topology.services[hop.blamed]
        timeout_ms = next(call.timeout_ms for call in service.calls if call.target == hop.blamed)
        phrase = lines["failed_late"] if hop.end == "timed out" else lines["failed_fast"]
        shown = request_id == self._story.witness.request.request_id
        return Record(
            at_ms,
            host,
            Level.ERROR if service is topology.front else Level.WARN,
            phrase.format(alias=target.alias, ms=timeout_ms),
            f"{request_id}",
            peer=f"{target.hosts[hop.blamed_host].address}:{_PORT}",
            clue="passed-on" if shown and service is topology.front else None,
        )

    def _wiring(self, service: Service, span: Span) -> Iterator[Record]:
        """Whom the aliases lead to, as clients print when they are built, and again when peers are looked up."""
        stream = self._story.streams("wiring", service.name)
        felt = self._story.cast.guilty.victim.name
        at_ms = span.begin_ms + stream.integer(2, 30) * 1000
        for call in stream.shuffled(service.calls):
            target = self._story.topology.services[call.target]
            at_ms += stream.integer(200, 19_000)
            message = self._story.lines["wired"].format(alias=target.alias, svc=target.name, n=len(target.hosts))
            clue = "wired" if call.target == felt and service is self._story.topology.front else None
            yield Record(self._story.at(at_ms), stream.choice(service.hosts).name, Level.INFO, message, clue=clue)

    def _chatter(self, service: Service, span: Span) -> Iterator[Record]:
        stream = self._story.streams("chatter", service.name, span.begin_ms)
        room = self._story.material.phrases.lines
        names = [other for other in self._story.topology.services if other != service.name]
        while True:
            worry = stream.chance(0.16)
            template = stream.choice(room.worries if worry else room.chatter)
            message = template.format(
                a=stream.integer(3, 900), b=stream.integer(2, 95), c=stream.integer(1, 60), other=stream.choice(names)
            )
            at_ms = self._story.at(span.begin_ms + stream.integer(0, span.end_ms - span.begin_ms - 1))
            yield Record(at_ms, stream.choice(service.hosts).name, Level.WARN if worry else Level.INFO, message)

    def _suspects_lines(self) -> dict[str, list[Record]]:
        found: dict[str, list[Record]] = {}
        for suspect in self._story.cast.suspects:
            writer = self._guilty_lines if suspect.alibi is None else self._innocent_lines
            for service, record in writer(suspect):
                found.setdefault(service.name, []).append(record)
        return found

    def _innocent_lines(self, suspect: Suspect) -> Iterator[tuple[Service, Record]]:
        """Its change, if that came here, and harmless lines of the same kind at some other time."""
        story, stream = self._story, self._story.streams("mild", suspect.tag)
        entered = self._changes.of_suspect[suspect.tag]
        names = {**story.names(suspect), "trigger": entered.trigger}
        wording, service = suspect.wording, suspect.service
        clue = f"{suspect.tag}-lines"

        def record(at_ms: int, level: Level, message: str, kind: str) -> tuple[Service, Record]:
            at_ms += stream.integer(1, 999)
            return service, Record(story.at(at_ms), stream.choice(service.hosts).name, level, message, clue=kind)

        came_here = suspect.alibi in (Alibi.LATER, Alibi.UNDONE)
        if suspect.kind.standing or came_here:
            at_ms = stream.integer(5, 90) * 1000 if suspect.kind.standing else entered.at_ms + 2000
            yield record(at_ms, Level.INFO, wording.in_effect.format(**names), f"{suspect.tag}-here")
        if suspect.alibi is Alibi.UNDONE and not suspect.kind.standing:
            at_ms = undone_ms(story, entered.at_ms) + 1000
            yield record(at_ms, Level.INFO, story.lines["undone"].format(**names), f"{suspect.tag}-undone")
        begin_ms = entered.at_ms if suspect.alibi is Alibi.LATER and not suspect.kind.standing else MINUTE_MS
        at_ms = begin_ms + stream.integer(5_000, max(6_000, story.end_ms - begin_ms - 40_000))
        for _ in range(_MILD_LINES):
            at_ms += stream.integer(900, 9_000)
            message = wording.mild.format(**{**names, **suspect.kind.calm_numbers(stream)})
            yield record(at_ms, Level.WARN, message, clue)

    def _guilty_lines(self, suspect: Suspect) -> Iterator[tuple[Service, Record]]:
        """The change as it takes effect, growing pressure, failures with their request ids, and what decides."""
        story, stream = self._story, self._story.streams("grave", suspect.tag)
        entered = self._changes.of_suspect[suspect.tag]
        wording, service, victim = suspect.wording, suspect.service, suspect.victim
        names = {**story.names(suspect), "trigger": entered.trigger}
        last_ms = story.end_ms if not suspect.is_exercise else self._last_refusal_ms(suspect)

        def said(template: str, at_ms: int, **more: int | str) -> str:
            progress = min(1.0, max(0.0, (at_ms - story.since_ms) / max(1, last_ms - story.since_ms)))
            return template.format(**{**names, **suspect.kind.grave_numbers(progress), **more})

        def host() -> str:
            return stream.choice(service.hosts).name

        here_ms = stream.integer(5, 90) * 1000 if suspect.kind.standing else entered.at_ms + 2000
        here_ms += stream.integer(1, 999)
        yield (
            service,
            Record(story.at(here_ms), host(), Level.INFO, said(wording.in_effect, here_ms), clue="in-effect"),
        )
        step_ms = (last_ms - story.since_ms) // (_PRESSURES + 1)
        for turn in range(1, _PRESSURES + 1):
            at_ms = story.since_ms + turn * step_ms + stream.integer(-8000, 8000)
            yield service, Record(story.at(at_ms), host(), Level.WARN, said(wording.pressure, at_ms), clue="pressure")
        for place, (at_ms, where, request_id, took_ms, tries) in enumerate(self._bites(suspect)):
            level = Level.ERROR if stream.chance(0.5) else Level.WARN
            message = said(wording.telltale, at_ms, ms=took_ms, tries=tries)
            yield (
                service,
                Record(
                    story.at(at_ms), where, level, message, request_id, clue="telltale" if place < _BURST else "again"
                ),
            )
        at_ms = (story.page_ms + story.end_ms) // 2 + stream.integer(0, 20_000)
        if suspect.is_exercise:
            at_ms = max(at_ms, min(story.end_ms - 2000, last_ms + stream.integer(8_000, 30_000)))
        yield service, Record(story.at(at_ms), host(), Level.INFO, said(wording.state, at_ms), clue="state")
        if victim is not service:
            felt = [hop for hop in story.run.by_service[victim.name] if hop.own_failure or hop.took_ms > SLOW_MS]
            felt = [hop for hop in felt if hop.ended_ms < story.end_ms]
            for hop in felt[:: max(1, len(felt) // _VICTIM_LINES)][:_VICTIM_LINES]:
                message = said(wording.victim, hop.ended_ms)
                where = victim.hosts[hop.host].name
                yield (
                    victim,
                    Record(story.at(hop.ended_ms), where, Level.WARN, message, hop.request.request_id, clue="victim"),
                )

    def _last_refusal_ms(self, suspect: Suspect) -> int:
        refused = [hop.ended_ms for hop in self._story.run.by_service[suspect.service.name] if hop.own_failure]
        if not refused:
            raise Redraw("the exercise refused nobody")
        return max(refused)

    def _bites(self, suspect: Suspect) -> list[tuple[int, str, str | None, int, int]]:
        """When the fault was felt at the guilty service: time, host, request, how long it took, how many tries."""
        story, service = self._story, suspect.service
        hops = story.run.by_service[service.name]
        match suspect.kind.seat:
            case Seat.MIDDLE:
                felt = [hop for hop in hops if hop.own_failure or (hop.blamed is None and hop.took_ms > SLOW_MS)]
            case Seat.WORKER:
                felt = [hop for hop in hops if not hop.ok or hop.took_ms > SLOW_MS]
            case Seat.CALLER:
                felt = [hop for hop in hops if hop.tries > 3]
            case Seat.BATCH | Seat.RESOLVER:
                felt = [
                    hop for hop in story.run.by_service[suspect.victim.name] if hop.own_failure or hop.took_ms > SLOW_MS
                ]
        felt = [hop for hop in felt if story.since_ms <= hop.ended_ms < story.end_ms]
        if len(felt) < 2:
            raise Redraw("the fault is hardly felt where it is")
        shown = story.witness.request.request_id
        start = next((n for n, hop in enumerate(felt) if hop.request.request_id == shown), len(felt) // 3)
        burst = felt[start : start + _BURST]
        later = [hop for hop in felt[start + _BURST :] if hop.ended_ms > burst[-1].ended_ms + MINUTE_MS]
        picked = [*burst, *later[:: max(1, len(later))]][:_TELLTALES]
        unnamed = suspect.kind.seat in (Seat.BATCH, Seat.RESOLVER)
        return [
            (
                hop.ended_ms,
                service.hosts[hop.host % len(service.hosts)].name,
                None if unnamed else hop.request.request_id,
                hop.took_ms,
                hop.tries,
            )
            for hop in sorted(picked, key=lambda hop: hop.ended_ms)
        ]
