"""No text makes the engine think for long: time grows with the length of what is said, and not faster."""

from __future__ import annotations

import time
from itertools import product

import pytest

from tests.server.live import KAFKA
from TokenOptEnv import ActionType, LocalEnv, TokenOptEnvAction
from TokenOptEnv.simulators.compression import methods
from TokenOptEnv.text_actions import parse

_VERBS = ("read", "cache", "find", "squeeze", "ask", "submit", "submit 1 with", "load", "drop", "note", "recall", "up")
_UNITS = (
    "1",
    "1 ",
    "12345 ",
    " ",
    "a",
    "a ",
    "1:",
    ": ",
    "1.",
    "=;",
    "k1 ",
    "\t",
    "é",
    "٣",
    "_",
    "A",
    "aB",
    "a.",
    "0x1",
)
_ENDS = ("", "x", "\x00", ":", " :", "!")
_LONGEST = 4_000
_ALLOWED_S = 1.0
"""A thousand times what it takes; what backtracks takes years."""


@pytest.mark.parametrize("verb", _VERBS)
def test_nothing_that_a_text_policy_says_takes_long_to_parse(verb: str) -> None:
    seen = LocalEnv().reset(scenario_id=KAFKA)
    for unit, end in product(_UNITS, _ENDS):
        said = f"{verb} {unit * (_LONGEST // len(unit))}"[: _LONGEST - len(end)] + end
        began_s = time.process_time()
        parse(said, seen)
        assert time.process_time() - began_s < _ALLOWED_S, said[:60]


@pytest.mark.parametrize("unit", _UNITS)
def test_nothing_that_is_asked_for_takes_long_to_find(unit: str) -> None:
    env = LocalEnv()
    env.reset(scenario_id=KAFKA)
    query = (unit * 2_000)[:1_999] + "!"
    env.step(TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id="ticket-9602"))
    squeezes = [
        TokenOptEnvAction(
            action_type=ActionType.COMPRESS_CONTEXT,
            context_segment_ids=("ticket-9602-s1",),
            method=method,
            query=query,
            target_ratio=0.5,
        )
        for method in methods()
    ]
    asked = (ActionType.SEARCH_ARTIFACTS, ActionType.QUERY_CACHE, ActionType.WRITE_CHECKPOINT)
    for action in (*(TokenOptEnvAction(action_type=kind, query=query, note=query) for kind in asked), *squeezes):
        twin = env.fork()
        began_s = time.process_time()
        twin.step(action)
        assert time.process_time() - began_s < _ALLOWED_S, (action.action_type, action.method, unit)
