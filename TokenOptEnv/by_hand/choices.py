"""What may be chosen now, field by field, under the numbers that the short form of an action uses too.

One number means the same in a list, in a citation and in a typed action, so that a person learns it once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from TokenOptEnv import questions
from TokenOptEnv.by_hand.labels import item_gist, place
from TokenOptEnv.by_hand.plain_text import clipped, plain
from TokenOptEnv.models import (
    ItemKind,
    ModelCard,
    ReadPayload,
    SearchPayload,
    TokenOptEnvObservation,
)
from TokenOptEnv.simulators.compression import methods
from TokenOptEnv.text_actions import Numbering
from TokenOptEnv.world import strength


@dataclass(frozen=True, slots=True)
class Choice:
    key: str
    """What is typed: a number."""
    value: str
    """What goes into the action."""
    label: str


class Sightings:
    """What a person remembers: the title or snippet under which each segment was last seen, and which were held."""

    def __init__(self) -> None:
        self._titles: dict[str, str] = {}
        self.read: dict[str, None] = {}

    def note(self, observation: TokenOptEnvObservation) -> None:
        held = (item for item in observation.working_memory.items if item.kind is ItemKind.SEGMENT)
        self.read.update(dict.fromkeys(item.item_id for item in held))
        payload = observation.last_tool_result.payload if observation.last_tool_result is not None else None
        if isinstance(payload, ReadPayload):
            self._titles.update({line.segment_id: line.title for line in payload.outline})
        elif isinstance(payload, SearchPayload):
            self._titles.update({hit.segment_id: hit.snippet for hit in payload.hits})

    def title(self, segment_id: str) -> str:
        return self._titles.get(segment_id, "")


@dataclass(frozen=True, slots=True)
class Choices:
    observation: TokenOptEnvObservation
    sightings: Sightings

    def _open(self, list_name: str) -> tuple[str, ...]:
        return self.observation.legal_actions.choices[list_name]

    def artifacts(self) -> list[Choice]:
        return [
            Choice(str(each.alias), each.artifact_id, plain(f"{each.title}, {each.kind.value}, {each.tokens:,}t"))
            for each in self.observation.artifacts
            if each.artifact_id in self._open("artifacts")
        ]

    def subtasks(self) -> list[Choice]:
        return [
            Choice(str(number), each.subtask_id, plain(questions.wording(self.observation, each)))
            for number, each in enumerate(self.observation.task.subtasks, start=1)
            if each.subtask_id in self._open("subtasks")
        ]

    def models(self) -> list[Choice]:
        return [_model(number, card) for number, card in enumerate(self.observation.models, start=1)]

    def stronger_models(self, route_id: str) -> list[Choice]:
        """Escalation goes upwards only."""
        route = next(each for each in self.observation.routing.routes if each.route_id == route_id)
        asked = next(card for card in self.observation.models if card.model_id == route.model_id)
        return [
            _model(number, card)
            for number, card in enumerate(self.observation.models, start=1)
            if strength(card) > strength(asked)
        ]

    def items(self) -> list[Choice]:
        return self._items(self._open("items"))

    def compressible(self) -> list[Choice]:
        return self._items(self._open("compressible"))

    def held_segments(self) -> list[Choice]:
        """What is held and can be cited as evidence."""
        items = self.observation.working_memory.items
        return self._items([item.item_id for item in items if item.kind is ItemKind.SEGMENT])

    def _items(self, item_ids: Sequence[str]) -> list[Choice]:
        return [
            Choice(str(item.alias), item.item_id, f"{item.kind.value} {item.tokens}t {item_gist(item)}")
            for item in self.observation.working_memory.items
            if item.item_id in item_ids
        ]

    def surfaced(self) -> list[Choice]:
        made = []
        for handle in self.observation.surfaced:
            if handle.segment_id in self._open("surfaced"):
                where = place(handle.segment_id, self.observation)
                title = clipped(plain(self.sightings.title(handle.segment_id)).strip(), 100)
                made.append(Choice(str(handle.alias), handle.segment_id, f"{where} {handle.tokens}t {title}".rstrip()))
        return made

    def read_earlier(self) -> list[Choice]:
        """What was read or cited in an earlier phase: it can still be shown as evidence, and has no number now."""
        shown = {*self._open("surfaced"), *self._open("items")}
        cites = (cite for finding in self.observation.findings for cite in finding.cites)
        read = dict.fromkeys([*self.sightings.read, *cites])
        return [Choice(each, each, "read in an earlier phase") for each in read if each not in shown]

    def findings(self) -> list[Choice]:
        """By the number of the item that holds it; a restored note may hold several, told apart by a letter."""
        numbers = Numbering.of(self.observation).finding_items
        shared = Counter(numbers.values())
        subtasks = [each.subtask_id for each in self.observation.task.subtasks]
        seen: Counter[int] = Counter()
        made = []
        for finding in self.observation.findings:
            number = numbers[finding.finding_id]
            letter = ascii_lowercase[seen[number]] if shared[number] > 1 else ""
            seen[number] += 1
            values = "; ".join(
                f"{name}={clipped(' '.join(value.split()), 240)}" for name, value in finding.values.items()
            )
            asked = finding.subtask_id
            question = f"Q{subtasks.index(asked) + 1}" if asked in subtasks else asked
            origin = f"{finding.age_hours} h old" if finding.source == "cache" else f"{finding.confidence:.2f}"
            made.append(Choice(f"{number}{letter}", finding.finding_id, plain(f"{question} ({origin}) {values}")))
        return made

    def routes(self) -> list[Choice]:
        subtasks = [each.subtask_id for each in self.observation.task.subtasks]
        names = {card.model_id: card.name for card in self.observation.models}
        return [
            Choice(
                str(route.item_alias),
                route.route_id,
                f"Q{subtasks.index(route.subtask_id) + 1} by {names[route.model_id]}, {route.effort} effort, "
                + (f"confidence {route.confidence:.2f}" if route.finding_id else "evidence did not suffice"),
            )
            for route in self.observation.routing.routes
            if route.route_id in self._open("routes")
        ]

    def checkpoints(self) -> list[Choice]:
        return [
            Choice(
                str(number),
                each.checkpoint_id,
                plain(f"{each.tokens}t, {len(each.finding_ids)} findings, {clipped(each.note, 100)}"),
            )
            for number, each in enumerate(self.observation.checkpoints, start=1)
            if each.checkpoint_id in self._open("checkpoints")
        ]

    def methods(self) -> list[Choice]:
        known = methods()
        return [
            Choice(str(number), name, f"{name}: {known[name].describes}")
            for number, name in enumerate(self._open("methods"), start=1)
        ]

    def efforts(self) -> list[Choice]:
        return [Choice(str(number), name, name) for number, name in enumerate(self._open("efforts"), start=1)]


def _model(number: int, card: ModelCard) -> Choice:
    price = f"{card.input_pico_usd / 1e6:g}/{card.output_pico_usd / 1e6:g}"
    return Choice(str(number), card.model_id, f"{card.name}, {card.tier.value}, {price}")
