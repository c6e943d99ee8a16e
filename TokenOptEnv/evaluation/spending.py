"""Where an episode's money went.

    reading      the policy's prompt: what it shows for the first time
    re_reading   the policy's prompt: what it showed before and was paid for again, from the cache or not
    acting       the words of its actions, its reasoning included
    routing      models that found what the answer rests on
    waste        refused actions, and models that found nothing the answer rests on

The five add up to the bill. A prompt's price is split by its pieces: an item is new in the first prompt that holds
it, and carried over in every later one.
"""

from __future__ import annotations

from TokenOptEnv import scenario_store
from TokenOptEnv.catalog import CATALOGS, load_catalog, priced
from TokenOptEnv.models import ModelCard, RouteRecord, SubmitPayload, TokenOptEnvObservation
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.prompt import head_text, item_text
from TokenOptEnv.world import text_tokens

_PICO_PER_NANO = 1_000


class Spending(Frozen):
    reading_nano_usd: int
    re_reading_nano_usd: int
    acting_nano_usd: int
    routing_nano_usd: int
    waste_nano_usd: int


class SpendingMeter:
    """Fed with every observation of an episode, in order."""

    def __init__(self, first: TokenOptEnvObservation) -> None:
        self._card = _controller(first)
        self._prompt = first
        """What the next action is decided on."""
        self._item_tokens: dict[str, int] = {}
        self._carried_tokens = 0
        """Of that prompt: what the one before it showed, too."""
        self._head_tokens = self._count_head(first)
        self._slots = _slots(first)
        self._reading = self._re_reading = self._acting = self._waste = self._routed = 0

    def add(self, seen: TokenOptEnvObservation) -> None:
        """After a step: bill the prompt it was decided on, then look at the next."""
        refused = seen.last_tool_result is not None and seen.last_tool_result.refusal is not None
        for entry in seen.ledger:
            if entry.who == "worker":
                self._routed += entry.nano_usd
            elif refused:
                self._waste += entry.nano_usd
            else:
                new_tokens = max(0, entry.fresh_tokens + entry.cached_tokens - self._carried_tokens)
                reading = min(entry.nano_usd, new_tokens * self._card.input_pico_usd // _PICO_PER_NANO)
                acting = min(
                    entry.nano_usd - reading, entry.output_tokens * self._card.output_pico_usd // _PICO_PER_NANO
                )
                self._reading += reading
                self._acting += acting
                self._re_reading += entry.nano_usd - reading - acting
        self._look_at(seen)

    def total(self, last: TokenOptEnvObservation) -> Spending:
        used = sum(route.nano_usd for route in _rested_on(last, self._slots))
        return Spending(
            reading_nano_usd=self._reading,
            re_reading_nano_usd=self._re_reading,
            acting_nano_usd=self._acting,
            routing_nano_usd=used,
            waste_nano_usd=self._waste + self._routed - used,
        )

    def _look_at(self, seen: TokenOptEnvObservation) -> None:
        before = {item.item_id for item in self._prompt.working_memory.items}
        same_phase = seen.task.phase == self._prompt.task.phase
        carried = [item for item in seen.working_memory.items if item.item_id in before] if same_phase else []
        for item in carried:
            if item.item_id not in self._item_tokens:
                self._item_tokens[item.item_id] = text_tokens(self._card, item_text(item))
        self._carried_tokens = sum(self._item_tokens[item.item_id] for item in carried)
        if same_phase:
            self._carried_tokens += self._head_tokens
        else:
            self._head_tokens = self._count_head(seen)
            self._slots |= _slots(seen)
        self._prompt = seen

    def _count_head(self, seen: TokenOptEnvObservation) -> int:
        return text_tokens(self._card, head_text(seen.task, seen.artifacts, seen.models))


def _slots(seen: TokenOptEnvObservation) -> dict[str, str]:
    """By subtask: the one whose finding fills its slot."""
    return {
        subtask.subtask_id: subtask.slot.from_subtask_id for subtask in seen.task.subtasks if subtask.slot is not None
    }


def _rested_on(last: TokenOptEnvObservation, slots: dict[str, str]) -> list[RouteRecord]:
    """Routes whose findings were submitted, and the last one that filled a slot of theirs."""
    result = last.last_tool_result
    submitted = result.payload.finding_ids if result is not None and isinstance(result.payload, SubmitPayload) else ()
    routes = last.routing.routes
    wanted = {route.route_id for route in routes if route.finding_id in submitted}
    latest = {route.subtask_id: route for route in routes if route.finding_id is not None}
    asked = [route.subtask_id for route in routes if route.route_id in wanted]
    while asked:
        source = slots.get(asked.pop())
        if source in latest and latest[source].route_id not in wanted:
            wanted.add(latest[source].route_id)
            asked.append(source)
    return [route for route in routes if route.route_id in wanted]


def _controller(first: TokenOptEnvObservation) -> ModelCard:
    """The model that prompts are billed as, at what the market charges in this case."""
    stamp, table = first.stamp, scenario_store.load(first.task.scenario_id).public.price_table
    catalogs = (load_catalog(name) for name in CATALOGS)
    catalog = next(each for each in catalogs if each.stamp.version == stamp.catalog_version)
    return priced(catalog.card(stamp.controller_model), table)
