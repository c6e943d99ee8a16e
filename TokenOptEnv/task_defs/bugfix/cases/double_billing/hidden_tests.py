"""What a repaired meterline does, as calls and what they give: once is once, whenever it was measured."""

from __future__ import annotations

from TokenOptEnv.task_defs.execution import Call, HiddenTest, Method, Outcome

_HOUR_S = 3600


def _arrival(event_id: str, measured_h: float, arrived_h: float, tenant: str = "norra", attempt: int = 1) -> Call:
    event = Call("meterline.event", "Event", (event_id, tenant, "calls", 4, int(measured_h * _HOUR_S)))
    return Call("meterline.event", "Arrival", (event, int(arrived_h * _HOUR_S), attempt))


def _admit(event_id: str, measured_h: float, arrived_h: float, tenant: str = "norra") -> Method:
    return Method("admit", (_arrival(event_id, measured_h, arrived_h, tenant),))


def _seen(*then: Method) -> Call:
    return Call("meterline.seen", "SeenEvents", then=then)


HIDDEN_TESTS = (
    HiddenTest(
        "an event from before the outage counts once",
        _seen(_admit("a", 2, 40), _admit("b", 40.2, 40.2, "brevik"), _admit("a", 2, 44)),
        Outcome(("True", "True", "False")),
    ),
    HiddenTest(
        "so does one that waited for five days",
        _seen(_admit("a", 2, 122), _admit("b", 122.5, 122.5), _admit("a", 2, 140), _admit("a", 2, 147.9)),
        Outcome(("True", "True", "False", "False")),
    ),
    HiddenTest(
        "an id is let go 26 hours after it came, not later",
        _seen(_admit("a", 2, 40), _admit("b", 65.9, 65.9), Method("__len__"), _admit("c", 66, 66), Method("__len__")),
        Outcome(("True", "True", "2", "True", "2")),
    ),
    HiddenTest(
        "an event of a device whose clock runs ahead is let go in time too",
        _seen(_admit("a", 30, 2), _admit("b", 28, 28), Method("__len__"), _admit("a", 30, 28.5)),
        Outcome(("True", "True", "1", "True")),
    ),
    HiddenTest(
        "a repeat does not prolong anything",
        _seen(_admit("a", 0, 10), _admit("a", 0, 30), _admit("a", 0, 36), Method("repeats")),
        Outcome(("True", "False", "True", "1")),
    ),
    HiddenTest(
        "tenants keep their ids apart after an outage as well",
        _seen(_admit("a", 1, 35), _admit("a", 1, 35.1, "skagen"), _admit("a", 1, 36), Method("__len__")),
        Outcome(("True", "True", "False", "2")),
    ),
    HiddenTest(
        "a night with many outages bills nobody twice",
        Call("meterline.fleet", "night", (7, 4), then=(Method("count", ("0 events billed twice",)),)),
        Outcome(("1",)),
    ),
)
