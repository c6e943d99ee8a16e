"""What a repaired siltstore does, as calls and what they give: levels that share no key, markers that go in time."""

from __future__ import annotations

from collections.abc import Sequence

from TokenOptEnv.task_defs.execution import Call, HiddenTest, Method, Outcome

_Seen = tuple[Method, str]
"""A step, and what it gives."""


def _see(name: str, gives: str, *args: str | int) -> list[_Seen]:
    return [(Method(name, args), gives)]


def _table(number: int, seq: int, put: str, gone: str = "") -> list[_Seen]:
    """A table of level 0 with one record a letter, the first of them numbered `seq`."""
    steps = [(Method("put", (key, f"{key}{number}")), str(seq + place)) for place, key in enumerate(put)]
    steps += [(Method("delete", (key,)), str(seq + len(put) + place)) for place, key in enumerate(gone)]
    keys = sorted(put + gone)
    return [*steps, (Method("flush"), f"#{number} {keys[0]}..{keys[-1]}")]


def _test(name: str, *steps: Sequence[_Seen]) -> HiddenTest:
    seen = [each for group in steps for each in group]
    store = Call(
        "siltstore.store",
        "Store",
        kwargs={"table_records": 4, "automatic": False},
        then=tuple(method for method, _ in seen),
    )
    return HiddenTest(name, store, Outcome(tuple(text for _, text in seen)))


_SINK = _see("compact", "1", 0)
_SINK_DEEPER = _see("compact", "1", 1)
_DISJOINT = _see("levels.overlaps", "[]")

HIDDEN_TESTS = (
    _test(
        "what was deleted stays deleted when a chain of tables sinks",
        _table(1, 1, "pqrs"),
        _SINK,
        _table(3, 5, "ad"),
        _table(4, 7, "c", gone="p"),
        _SINK,
        _see("get", "None", "p"),
        _see("get", "'q1'", "q"),
        _see("levels.tables", "(#5 a..q, #6 r..s)", 1),
        _DISJOINT,
    ),
    _test(
        "a chain that only writes leaves no two tables with one key",
        _table(1, 1, "klmn"),
        _SINK,
        _table(3, 5, "bd"),
        _table(4, 7, "cl"),
        _SINK,
        _see("levels.tables", "(#5 b..k, #6 l..n)", 1),
        _DISJOINT,
        _see("get", "'l4'", "l"),
    ),
    _test(
        "a marker goes with what it hides when both are merged",
        _table(1, 1, "efgh"),
        _SINK,
        _table(3, 5, "e", gone="g"),
        _SINK,
        _see("levels.markers", "0", 1),
        _see("levels.tables", "(#4 e..h,)", 1),
        _see("get", "None", "g"),
    ),
    _test(
        "a marker over a deeper table is kept",
        _table(1, 1, "efgh"),
        _SINK,
        _SINK_DEEPER,
        _table(4, 5, "a", gone="f"),
        _SINK,
        _see("levels.markers", "1", 1),
        _see("get", "None", "f"),
        _SINK_DEEPER,
        _see("levels.markers", "0", 2),
        _see("get", "None", "f"),
        _DISJOINT,
    ),
    _test(
        "a table that shares no key with the oldest stays where it is",
        _table(1, 1, "ab"),
        _table(2, 3, "xy"),
        _SINK,
        _see("levels.tables", "(#2 x..y,)", 0),
        _see("levels.tables", "(#3 a..b,)", 1),
    ),
    _test(
        "a chain over three tables of the next level takes all three",
        _table(1, 1, "bcde"),
        _SINK,
        _table(3, 5, "hijk"),
        _SINK,
        _table(5, 9, "pqrs"),
        _SINK,
        _table(7, 13, "ac"),
        _table(8, 15, "bi"),
        _table(9, 17, "h", gone="q"),
        _SINK,
        _see("get", "None", "q"),
        _see("levels.markers", "0", 1),
        _DISJOINT,
    ),
)
