"""Rules and effects are looked up in tables: none may lack what can be asked of it."""

from __future__ import annotations

from typing import get_args

from TokenOptEnv import action_rules, transitions
from TokenOptEnv.models import ActionType
from TokenOptEnv.moves import Move, Route


def test_every_action_has_one_rule() -> None:
    alone, asking = set(action_rules._RULES), set(action_rules._ASKED_OF_MODELS)
    assert alone | asking == set(ActionType) - {ActionType.MALFORMED}
    assert not alone & asking


def test_every_move_has_an_effect() -> None:
    assert set(transitions._EFFECTS) == set(get_args(Move)) - {Route}
