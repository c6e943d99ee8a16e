"""A case of any size for the growth bench: as many artifacts and tokens as asked for, everything else the same.

Its questions are made of words that stand in nearly every segment: the dearest queries there are. With rare words a
search would take the same time at any size, and the bench would show a growth that nobody's own questions have.
"""

from __future__ import annotations

from TokenOptEnv.config import Difficulty
from TokenOptEnv.models import ArtifactKind, FieldKind
from TokenOptEnv.scenario import CacheValidity, QuestionKind, Scenario
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply

_TOKENS_PER_LINE = 32
"""Of the routine lines below, in the vocabulary that memory is measured in."""
_SERVICES = ("gateway", "orders", "ledger", "search", "mailer", "archive", "pricing", "session")
_EVENTS = ("served from shard", "retried against shard", "queued behind shard", "replayed to shard")
_QUESTIONS = (
    ("cause", "Which request of orders, served from which shard, waited until the pool was exhausted?"),
    ("where", "Which gateway request was queued behind a shard, retried or replayed to it, and for how many ms?"),
)
_FACT = "09:14:02.101 WARN orders req-7f3a waited 30000 ms: pool exhausted, 50 of 50 connections in use"


def bench_case(artifacts: int, tokens: int) -> Scenario:
    builder = CaseBuilder(
        f"incident-medium-growth-{artifacts}-{tokens}",
        "incident",
        Difficulty.MEDIUM,
        "Checkout fails now and then",
        "Since a quarter past nine some checkouts fail. Find out which request gave up, and what was exhausted.",
        "orders 4.2.0",
    )
    lines = max(2, tokens // _TOKENS_PER_LINE // artifacts)
    for number in range(artifacts):
        text = "\n".join([*_lines(number, lines), *([_FACT] if number == 0 else [])])
        builder.artifact(f"log-{number:03d}", ArtifactKind.LOG, f"Log {number}", text)
    builder.fact("pool", "it says that the pool was empty", Quote("log-000", "pool exhausted, 50 of 50"))
    builder.answer_field("cause", "What was exhausted?", FieldKind.TEXT, ["pool"], ["pool"])
    for name, question in _QUESTIONS:
        builder.subtask(
            f"q-{name}",
            question,
            ["cause"],
            QuestionKind.LOOKUP,
            lexical=True,
            needs=["pool"],
            right=Reply({"cause": "pool"}, "The pool had no connection left."),
            wrong=[Reply({"cause": "disk"}, "The disk was full."), Reply({"cause": "heap"}, "The heap was full.")],
        )
    builder.cached(
        "cache-cause",
        "q-cause",
        _QUESTIONS[0][1],
        {"cause": "disk"},
        "The disk was full.",
        "orders 4.1.0",
        700,
        [Quote("log-000", "pool exhausted, 50 of 50")],
        CacheValidity.STALE,
    )
    return builder.build()


def _lines(number: int, lines: int) -> list[str]:
    stream = Stream("bench-case", number)
    made: list[str] = []
    for place in range(lines):
        minute, second = divmod(place, 60)
        service = _SERVICES[stream.integer(0, len(_SERVICES) - 1)]
        event = _EVENTS[stream.integer(0, len(_EVENTS) - 1)]
        made.append(
            f"09:{minute % 60:02d}:{second:02d}.{stream.integer(0, 999):03d} INFO {service} request req-{stream.hex(4)}"
            f" {event} {stream.integer(1, 9)} in {stream.integer(11, 48)} ms"
        )
    return made
