"""What models may answer: the truth about the guilty suspect, and the same sentences about the innocent ones."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import Reply
from TokenOptEnv.task_defs.incident.generator.asks import HOST, PEER, REQUEST_ID, Ask, Manner
from TokenOptEnv.task_defs.incident.generator.cast import Suspect
from TokenOptEnv.task_defs.incident.generator.evidence import Evidence
from TokenOptEnv.task_defs.incident.generator.logs import LogBook
from TokenOptEnv.task_defs.incident.generator.papers.desk import Desk
from TokenOptEnv.task_defs.incident.generator.story import Story
from TokenOptEnv.task_defs.incident.vocabulary import FAULT_CLASS, REMEDIATION, SERVICE, TRIGGER, FaultClass

_DECOYS = {
    SERVICE: ("lines", "word"),
    HOST: ("lines",),
    FAULT_CLASS: ("lines", "change", "word"),
    TRIGGER: ("change", "here", "lines", "word"),
    REMEDIATION: ("advice", "word"),
}
"""By field: what of an innocent suspect suggests it."""


@dataclass(frozen=True)
class Replies:
    story: Story
    desk: Desk
    logs: LogBook
    evidence: Evidence

    def right(self, ask: Ask) -> Reply:
        if ask.manner is Manner.TRACE:
            return self._trace(ask, self.story.witness.request.request_id, self.story.cast.guilty, "")
        if ask.manner is Manner.LOCATE:
            return self._peer(self.right_peer, "")
        return self._about(ask, self.story.cast.guilty, ())

    def wrong(self, ask: Ask) -> tuple[Reply, ...]:
        stream = self.story.streams("wrong", ask.subtask_id)
        if ask.manner is Manner.TRACE:
            found = self._wrong_traces(ask, stream)
        elif ask.manner is Manner.LOCATE:
            found = self._wrong_peers()
        else:
            found = [self._about(ask, suspect, self._decoys(ask, suspect)) for suspect in self.story.cast.innocents]
            found.append(self._unfounded(ask, stream))
        right = self.right(ask).values
        distinct: dict[tuple[str, ...], Reply] = {}
        for reply in found:
            if reply.values != right:
                distinct.setdefault(tuple(reply.values.values()), reply)
        return tuple(stream.shuffled(list(distinct.values())))

    @property
    def right_peer(self) -> str:
        front = self._front_hop(self.story.witness.request.request_id)
        return self.story.cast.guilty.victim.hosts[front].address

    @property
    def right_host(self) -> str:
        """The host that failed most by itself, among those in the report."""
        service = self.story.cast.guilty.service
        known = [n for n, host in enumerate(service.hosts) if self.evidence.has(f"host-{host.name}")]
        return service.hosts[max(known, key=lambda n: (self.desk.own_errors(service, n), -n))].name

    def _front_hop(self, request_id: str) -> int:
        hops = self.story.run.by_request[request_id]
        return next(hop.blamed_host for hop in hops if hop.service == self.story.topology.front.name)

    def _values(self, ask: Ask, suspect: Suspect) -> dict[str, str]:
        guilty = suspect is self.story.cast.guilty
        known = {
            HOST: self.right_host if guilty and HOST in ask.fields else suspect.service.hosts[0].name,
            SERVICE: suspect.answer_service,
            FAULT_CLASS: suspect.kind.fault_class.value,
            TRIGGER: suspect.answer_trigger(self.desk.names(suspect)["trigger"]),
            REMEDIATION: self.desk.remedy(suspect),
        }
        return {name: known[name] for name in ask.fields}

    def _about(self, ask: Ask, suspect: Suspect, decoys: tuple[str, ...]) -> Reply:
        text = self.desk.says(suspect)
        entered = self.desk.changes.of_suspect[suspect.tag]
        if TRIGGER in ask.fields:
            text += f"; {entered.change.entry_id} at {entered.change.at[-5:]}"
        elif REMEDIATION in ask.fields:
            text += "; the runbook has the step"
        return Reply(self._values(ask, suspect), f"{text}.", decoys)

    def _decoys(self, ask: Ask, suspect: Suspect) -> tuple[str, ...]:
        wanted = dict.fromkeys(f"{suspect.tag}-{part}" for name in ask.fields for part in _DECOYS[name])
        if ask.manner is Manner.SURVEY and not suspect.is_exercise:
            wanted.update(dict.fromkeys(f"host-{host.name}" for host in suspect.service.hosts[:2]))
        return tuple(name for name in wanted if self.evidence.has(name))

    def _unfounded(self, ask: Ask, stream: Stream) -> Reply:
        """What one may always think: the front itself, a class from hearsay, the first remedy that comes to mind."""
        story = self.story
        suspected = {suspect.kind.fault_class for suspect in story.cast.suspects}
        fault_class = stream.choice([each for each in FaultClass if each not in suspected])
        front = story.topology.front
        remedy = story.talk["generic_remedies"].format(front=front.name)
        known = {
            HOST: front.hosts[0].name,
            SERVICE: front.name,
            FAULT_CLASS: fault_class.value,
            TRIGGER: stream.choice(self.desk.changes.innocuous),
            REMEDIATION: remedy,
        }
        text = f"{front.name} is where requests end, so it is where to look."
        return Reply({name: known[name] for name in ask.fields}, text)

    def _trace(self, ask: Ask, request_id: str, suspect: Suspect, how: str) -> Reply:
        values = {REQUEST_ID: request_id}
        if SERVICE in ask.fields:
            values[SERVICE] = suspect.answer_service
        return Reply(values, f"It is request {request_id}{how}.")

    def _wrong_traces(self, ask: Ask, stream: Stream) -> list[Reply]:
        story = self.story
        second = self.logs.other_failure().request.request_id
        left = self.logs.left_request_id
        innocents = story.cast.innocents
        pairs = ((left, "left", ", which ended without status"), (second, "second", ", which the dashboard links"))
        found = []
        for place, (request_id, decoy, how) in enumerate(pairs):
            reply = self._trace(ask, request_id, innocents[place % len(innocents)], how)
            extra = tuple(self._decoys_of_service(innocents[place % len(innocents)])) if SERVICE in ask.fields else ()
            found.append(Reply(reply.values, reply.text, (decoy, *extra)))
        failed = [hop for hop in story.run.entries if not hop.ok and hop.request.request_id not in (second, left)]
        others = [hop for hop in failed if hop is not story.witness]
        if others:
            found.append(self._trace(ask, stream.choice(others).request.request_id, innocents[0], ", the first I see"))
        return found

    def _decoys_of_service(self, suspect: Suspect) -> list[str]:
        return [name for part in _DECOYS[SERVICE] if self.evidence.has(name := f"{suspect.tag}-{part}")]

    def _peer(self, address: str, how: str, decoys: tuple[str, ...] = ()) -> Reply:
        return Reply({PEER: address}, f"The call ended at {address}{how}.", decoys)

    def _wrong_peers(self) -> list[Reply]:
        victim, front = self.story.cast.guilty.victim, self.story.topology.front
        second = self.logs.other_failure().request.request_id
        hops = self.story.run.by_request[second]
        blamed = next((hop for hop in hops if hop.service == front.name and hop.blamed is not None), None)
        others = [host.address for host in victim.hosts if host.address != self.right_peer]
        at = others[0]
        if blamed is not None and blamed.blamed is not None:
            address = self.story.topology.services[blamed.blamed].hosts[blamed.blamed_host].address
            at = address if address != self.right_peer else others[0]
        left_at = front.hosts[self.logs.left_host].address
        return [
            self._peer(at, ", as the linked request did", ("second",)),
            self._peer(left_at, ", where the gateway sent it", ("left",)),
            self._peer(others[-1] if others[-1] != at else front.hosts[0].address, ", the last in the row"),
        ]
