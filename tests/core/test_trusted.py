"""What the engine makes without checking is what checking would have made: every field, in order, of its type."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from tests.cases import STRONGEST, Play, find_everything, marathon, segment_with, simulated_world, toy
from TokenOptEnv.models import Budget, TokenOptEnvObservation
from TokenOptEnv.models.base import trusted


def everything(play: Play) -> None:
    """Every kind of action, item, payload and event; refusals too."""
    orders = segment_with(toy(), "pool exhausted")
    find_everything(play)
    play.escalate("route-1", STRONGEST)
    play.query_cache("Why did a checkout request fail?")
    play.hydrate(orders)
    play.compress(orders, method="head_tail", target_ratio=0.4)
    play.checkpoint("so far", *play.finding_ids[:1])
    play.purge(*play.item_ids[:2])
    play.read("nowhere")
    play.submit(*play.finding_ids)


def phases(play: Play) -> None:
    play.search("req-7f3a failed", 2)
    play.route("q-request", STRONGEST, *(handle.segment_id for handle in play.observation.surfaced[:2]))
    play.checkpoint("handed over", *play.finding_ids)
    play.restore("checkpoint-1")
    play.read("nowhere")


def values_in(value: Any) -> Iterator[BaseModel]:
    if isinstance(value, BaseModel):
        yield value
        value = value.__dict__
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, tuple):
        for each in value:
            yield from values_in(each)


@pytest.mark.parametrize(("scenario", "script"), [(toy, everything), (marathon, phases)], ids=["toy", "marathon"])
def test_every_value_shown_has_all_fields_in_the_order_of_its_model(
    scenario: Callable[[], Any], script: Callable[[Play], None]
) -> None:
    play = Play(simulated_world(scenario()))
    script(play)
    kinds = set()
    for seen in play.observations:
        for value in values_in(seen):
            kinds.add(type(value).__name__)
            assert list(value.__dict__) == list(type(value).model_fields), type(value)
    assert {"LedgerEntry", "Budget", "MemoryItem", "Finding", "RouteRecord", "ToolResult", "LegalActions"} <= kinds


@pytest.mark.parametrize(("scenario", "script"), [(toy, everything), (marathon, phases)], ids=["toy", "marathon"])
def test_checking_an_observation_changes_no_byte_of_it(
    scenario: Callable[[], Any], script: Callable[[Play], None]
) -> None:
    play = Play(simulated_world(scenario()))
    script(play)
    for seen in play.observations:
        text = seen.model_dump_json()
        assert TokenOptEnvObservation.model_validate_json(text, strict=True).model_dump_json() == text
        assert TokenOptEnvObservation.model_validate(seen.model_dump()) == seen


def test_a_trusted_value_is_as_good_as_a_checked_one() -> None:
    made, checked = trusted(Budget, limit=3, spent=1, left=2), Budget(limit=3, spent=1, left=2)
    assert made == checked and hash(made) == hash(checked) and repr(made) == repr(checked)
    assert pickle.loads(pickle.dumps(made)) == checked
    assert made.model_copy(update={"left": 0}) == Budget(limit=3, spent=1, left=0)
    assert made.model_copy(deep=True) == checked and made.left == 2
    with pytest.raises(ValidationError, match="frozen"):
        made.left = 5  # type: ignore[misc]
