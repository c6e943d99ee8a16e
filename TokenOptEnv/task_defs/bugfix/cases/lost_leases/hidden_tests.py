"""What a repaired relaywork does, as calls and what they give: the fence, the deadlines, the journal."""

from __future__ import annotations

from TokenOptEnv.task_defs.execution import FIXED_ADDRESS, Call, Earlier, HiddenTest, Method, Outcome


def _book(*then: Method) -> Call:
    return Call("relaywork.lease", "LeaseBook", then=then)


def _queue(*then: Method) -> Call:
    clock = Call("relaywork.model", "ManualClock", (0.0,))
    return Call("relaywork.queue", "Queue", kwargs={"clock": clock, "lease_s": 30.0}, then=then)


def _lease(granted_at: float, deadline: float, epoch: int, worker: str = "w-1") -> str:
    return f"Lease(job_id='job-1', worker='{worker}', granted_at={granted_at}, deadline={deadline}, epoch={epoch})"


def _job(attempts: int, state: str) -> str:
    return (
        f"Job(job_id='job-1', kind='mail', payload=None, priority=0, max_attempts=3, attempts={attempts}, "
        f"not_before=0.0, state=<JobState.{state}: '{state.lower()}'>, reason='')"
    )


_WAITING, _LEASED = _job(0, "WAITING"), _job(1, "LEASED")
_GRANT = Method("grant", ("job-1", "w-1", 0.0, 30.0))
_HELD = Method("leases.holder", ("job-1",))

HIDDEN_TESTS = (
    HiddenTest(
        "a renewal raises the epoch and keeps the time of the grant",
        _book(_GRANT, Method("renew", (Earlier(0), 20.0, 30.0)), Method("renew", (Earlier(1), 40.0, 30.0))),
        Outcome((_lease(0.0, 30.0, 1), _lease(0.0, 50.0, 2), _lease(0.0, 70.0, 3))),
    ),
    HiddenTest(
        "a handle from before a renewal is void",
        _book(
            _GRANT,
            Method("renew", (Earlier(0), 20.0, 30.0)),
            Method("check", (Earlier(0),)),
            Method("release", (Earlier(0),)),
            Method("renew", (Earlier(0), 21.0, 30.0)),
            Method("release", (Earlier(1),)),
        ),
        Outcome(
            (
                _lease(0.0, 30.0, 1),
                _lease(0.0, 50.0, 2),
                "raises StaleLease",
                "raises StaleLease",
                "raises StaleLease",
                "None",
            )
        ),
    ),
    HiddenTest(
        "a renewal never shortens a lease",
        _book(_GRANT, Method("renew", (Earlier(0), 10.0, 5.0)), Method("run_out", (16.0,)), Method("next_deadline")),
        Outcome((_lease(0.0, 30.0, 1), _lease(0.0, 30.0, 2), "[]", "30.0")),
    ),
    HiddenTest(
        "a renewed lease runs out at its new deadline and not before",
        _book(
            _GRANT,
            Method("renew", (Earlier(0), 20.0, 30.0)),
            Method("run_out", (49.9,)),
            Method("next_deadline"),
            Method("run_out", (50.0,)),
            Method("grant", ("job-1", "w-2", 51.0, 30.0)),
        ),
        Outcome(
            (
                _lease(0.0, 30.0, 1),
                _lease(0.0, 50.0, 2),
                "[]",
                "50.0",
                f"[{_lease(0.0, 50.0, 2)}]",
                _lease(51.0, 81.0, 3, "w-2"),
            )
        ),
    ),
    HiddenTest(
        "the book says when the renewed lease is over, not the one before",
        _book(_GRANT, Method("renew", (Earlier(0), 20.0, 30.0)), Method("next_deadline")),
        Outcome((_lease(0.0, 30.0, 1), _lease(0.0, 50.0, 2), "50.0")),
    ),
    HiddenTest(
        "a lease lasts a positive time",
        _book(_GRANT, Method("renew", (Earlier(0), 5.0, 0.0)), Method("renew", (Earlier(0), 5.0, -1.0))),
        Outcome((_lease(0.0, 30.0, 1), "raises ValueError", "raises ValueError")),
    ),
    HiddenTest(
        "an overtaken handle cannot acknowledge, the renewed one can",
        _queue(
            Method("submit", ("mail",)),
            Method("take", ("w-1",)),
            _HELD,
            Method("clock.advance", (10.0,)),
            Method("extend", (Earlier(2),)),
            Method("acknowledge", (Earlier(2),)),
            Method("counts"),
            Method("acknowledge", (Earlier(4),)),
            Method("counts"),
        ),
        Outcome(
            (
                _WAITING,
                f"({_LEASED}, {_lease(0.0, 30.0, 1)})",
                _lease(0.0, 30.0, 1),
                "10.0",
                _lease(0.0, 40.0, 2),
                "raises StaleLease",
                "{'waiting': 0, 'leased': 1, 'done': 0, 'dead': 0}",
                _job(1, "DONE"),
                "{'waiting': 0, 'leased': 0, 'done': 1, 'dead': 0}",
            )
        ),
    ),
    HiddenTest(
        "a compact journal holds one word on a lease, the newest",
        _queue(
            Method("submit", ("mail",)),
            Method("take", ("w-1",)),
            _HELD,
            Method("clock.advance", (20.0,)),
            Method("extend", (Earlier(2),)),
            Method("journal.compact"),
            Method("dump", on=Earlier(5)),
        ),
        Outcome(
            (
                _WAITING,
                f"({_LEASED}, {_lease(0.0, 30.0, 1)})",
                _lease(0.0, 30.0, 1),
                "20.0",
                _lease(0.0, 50.0, 2),
                f"<relaywork.journal.Journal object at {FIXED_ADDRESS}>",
                repr(
                    '{"at":0.0,"detail":{"kind":"mail","max_attempts":3,"not_before":0.0,"payload":null,"priority":0},'
                    '"epoch":0,"job_id":"job-1","what":"submitted"}\n'
                    '{"at":20.0,"detail":{"attempt":1,"deadline":50.0,"granted_at":0.0,"worker":"w-1"},'
                    '"epoch":2,"job_id":"job-1","what":"renewed"}\n'
                ),
            )
        ),
    ),
)
