"""Which clues a question rests on: the decisive ones of each field first, further ones as far as the outline lets."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from TokenOptEnv.task_defs.incident.generator.asks import HOST, Ask, Manner
from TokenOptEnv.task_defs.incident.generator.cast import Cast
from TokenOptEnv.task_defs.incident.generator.evidence import Evidence
from TokenOptEnv.task_defs.incident.generator.redraw import Redraw
from TokenOptEnv.task_defs.incident.vocabulary import FAULT_CLASS, REMEDIATION, SERVICE, TRIGGER

_DECISIVE = {SERVICE: 2, FAULT_CLASS: 1, TRIGGER: 1, REMEDIATION: 2}


@dataclass(frozen=True, slots=True)
class Needs:
    clues: tuple[str, ...]
    paths: dict[str, tuple[str, ...]]
    """By answer field: what the evidence must cover."""


def draw_needs(
    ask: Ask,
    cast: Cast,
    evidence: Evidence,
    bounds: tuple[int, int],
    wanted: int,
    lexical: bool,
    within: frozenset[str] | None = None,
    near: frozenset[str] = frozenset(),
) -> Needs:
    """`wanted` segments, within `bounds`: clues are added in order as long as they still fit.

    A lexical question rests on lines that have its topics in them, and best on those a search found (`within`);
    the others rest also on lines that are found by other means. Where nothing is at fault as much is needed as may
    be: that no customer was touched, and that each suspect has an alibi.
    """
    if ask.manner is Manner.SURVEY:
        return _survey(cast, evidence)
    by_field = {name: _clues(name, ask, cast, evidence, lexical) for name in ask.fields}
    if within is not None:
        by_field = {name: _found(clues, evidence, within, near) for name, clues in by_field.items()}
    low, high = bounds
    wanted = high if cast.guilty.is_exercise else max(wanted, min(len(by_field), high))
    chosen: list[str] = []
    for clue in _alternating(list(by_field.values())):
        size = evidence.cover([*chosen, clue])
        if size <= wanted:
            chosen.append(clue)
    if not low <= evidence.cover(chosen) <= high:
        raise Redraw(f"{ask.subtask_id}: its facts stand in {evidence.cover(chosen)} segments")
    paths: dict[str, tuple[str, ...]] = {}
    for name, clues in by_field.items():
        paths[name] = tuple(clue for clue in clues if clue in chosen)[: _DECISIVE.get(name, 1)]
        if not paths[name]:
            raise Redraw(f"{ask.subtask_id}: nothing it rests on for {name}")
    return Needs(tuple(chosen), paths)


def _found(clues: list[str], evidence: Evidence, within: frozenset[str], near: frozenset[str]) -> list[str]:
    """Of a field's clues those that were found, if the decisive one was; of the others the nearest first."""
    found = [clue for clue in clues if evidence.shown_in(clue) & within]
    if not clues or clues[0] not in found:
        raise Redraw("what decides is not found")
    return [found[0], *sorted(found[1:], key=lambda clue: not evidence.shown_in(clue) & near)]


def _survey(cast: Cast, evidence: Evidence) -> Needs:
    hosts = tuple(clue for clue in evidence.quotes if clue.startswith("host-"))
    mine = [f"host-{host.name}" for host in cast.guilty.service.hosts]
    decisive = tuple(clue for clue in mine if clue in hosts)[:3]
    return Needs(hosts, {SERVICE: decisive, HOST: decisive})


def _clues(name: str, ask: Ask, cast: Cast, evidence: Evidence, lexical: bool) -> list[str]:
    guilty = cast.guilty
    alibis = [f"{suspect.tag}-change" for suspect in cast.innocents] if guilty.is_exercise else []
    change, advice = f"{guilty.tag}-change", f"{guilty.tag}-advice"
    indirect = guilty.victim is not guilty.service
    match name:
        case "request_id":
            ordered = ["passed-on", "witness"] if SERVICE in ask.fields else ["witness", "sample"]
        case "peer":
            ordered = ["met", "witness"]
        case "service" if ask.manner is Manner.TRACE:
            ordered = ["passed-on", "witness"]
        case "service" if guilty.is_exercise:
            ordered = ["telltale", "passed-on", "again"] if lexical else ["telltale", "state", "pressure", "in-effect"]
        case "service" if lexical:
            ordered = ["passed-on", "telltale", "again", change]
        case "service":
            ordered = ["passed-on", "victim" if indirect else "wired", "wired", "telltale", "pressure", "in-effect"]
        case "fault_class" if guilty.is_exercise and not lexical:
            ordered = ["telltale", "state", *alibis, "in-effect"]
        case "fault_class" if guilty.is_exercise:
            ordered = [*alibis[:1], "telltale", *alibis[1:], "again", change]
        case "fault_class":
            ordered = ["telltale", *alibis, *(["again", change] if lexical else ["pressure", "in-effect", "state"])]
        case "trigger":
            further = ["telltale", "again", advice] if lexical else ["in-effect", "onset", "pressure", "state"]
            ordered = [change, *alibis, *further]
        case "remediation":
            ordered = [advice, *(["telltale", "again", change] if lexical else ["state", "pressure", change])]
        case _:
            raise ValueError(f"no field {name!r}")
    return [clue for clue in dict.fromkeys(ordered) if evidence.has(clue)]


def _alternating(lists: list[list[str]]) -> list[str]:
    rounds = zip_longest(*lists)
    return list(dict.fromkeys(clue for each in rounds for clue in each if clue is not None))
