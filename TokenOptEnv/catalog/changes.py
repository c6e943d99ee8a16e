"""What a rebuilt snapshot changes, by model and field: a refresh moves every score, so it must be easy to read."""

from __future__ import annotations

from TokenOptEnv.catalog.snapshot import CardsFile
from TokenOptEnv.models.base import Frozen


class Change(Frozen):
    model_id: str
    field: str
    before: str
    after: str


_GONE = "-"


def changes(before: CardsFile, after: CardsFile) -> tuple[Change, ...]:
    """In the order of the new snapshot, then what it no longer holds."""
    old = {card.model_id: _fields(before, card.model_id) for card in before.cards}
    new = {card.model_id: _fields(after, card.model_id) for card in after.cards}
    return tuple(
        Change(model_id=model_id, field=field, before=was, after=now)
        for model_id in dict.fromkeys([*new, *old])
        for field in dict.fromkeys([*new.get(model_id, {}), *old.get(model_id, {})])
        if (was := old.get(model_id, {}).get(field, _GONE)) != (now := new.get(model_id, {}).get(field, _GONE))
    )


def _fields(snapshot: CardsFile, model_id: str) -> dict[str, str]:
    card = next(card for card in snapshot.cards if card.model_id == model_id)
    shown = {name: str(value) for name, value in card.model_dump(mode="json").items()}
    return {**shown, "price_source": snapshot.price_sources[model_id]}
