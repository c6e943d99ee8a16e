"""What happened to relaywork lately: since the last green night five commits, all of them near the trouble."""

from __future__ import annotations

from TokenOptEnv.task_defs.bugfix.edit import Edit
from TokenOptEnv.task_defs.bugfix.history import Commit, sha

LEASE, QUEUE, WORKER = "relaywork/lease.py", "relaywork/queue.py", "relaywork/worker.py"
JOURNAL, MODEL = "relaywork/journal.py", "relaywork/model.py"
_JOURNAL_TESTS, _QUEUE_TESTS, _WORKER_TESTS = "tests/test_journal.py", "tests/test_queue.py", "tests/test_worker.py"

BUG = Edit(
    LEASE,
    "return replace(self, deadline=max(self.deadline, now + seconds), epoch=self.epoch + 1)",
    "return replace(self, deadline=max(self.deadline, now + seconds))",
)

_FORGET = '''    def forget(self, job_id: str) -> None:
        """For jobs that are gone for good; a job that may come back needs its last epoch."""
        self._last_epoch.pop(job_id, None)

'''

_HELD_FOR = '''    def held_for(self, now: float) -> float:
        """How long the present holder has had the job, renewals included."""
        return now - self.granted_at

'''

_CONTEXT_HELD_FOR = """
    def held_for(self) -> float:
        return self.lease.held_for(self.queue.clock())
"""

_WARN_HELD = """        if context.held_for() > self.max_held_s:
            log.warning("%s held %s for %.0f s", self.name, job.job_id, context.held_for())
"""

_LEFT_AND_HELD_TEST = """        seen.append((context.left(), context.held_for()))
        context.beat()
        seen.append((context.left(), context.held_for()))

    queue.submit("mail")
    Worker("w-1", queue, {"mail": handler}).run_once()
    assert seen == [(18.0, 12.0), (30.0, 12.0)]
"""

_LEFT_TEST = """        seen.append(context.left())
        context.beat()
        seen.append(context.left())

    queue.submit("mail")
    Worker("w-1", queue, {"mail": handler}).run_once()
    assert seen == [18.0, 30.0]
"""

_COMPACT_DOC = """
        Of a job that is done, nothing is kept. Of a lease that is out, only its newest event matters, since
        each one carries the whole lease. Everything else stays, in its order.
"""

_COMPACT_ALL_DOC = """
        Of a job that is done, nothing is kept. Everything else stays, in its order.
"""

_COMPACT_NEWEST = """        newest: dict[str, int] = {}
        for event in self._events:
            if event.what in _LEASE_EVENTS and event.epoch > newest.get(event.job_id, 0):
                newest[event.job_id] = event.epoch
        kept: list[Event] = []
        written: set[tuple[str, int]] = set()
        for event in self._events:
            if event.job_id in done:
                continue
            if event.what in _LEASE_EVENTS:
                mark = (event.job_id, event.epoch)
                if event.epoch < newest[event.job_id] or mark in written:
                    continue
                written.add(mark)
            kept.append(event)
"""

_COMPACT_ALL = """        kept = [event for event in self._events if event.job_id not in done]
"""

_COMPACT_TESTS = """def test_compacting_keeps_the_latest_word_on_a_lease(queue, clock):
    queue.submit("report")
    _, lease = queue.take("w-1")
    for _ in range(4):
        clock.advance(25.0)
        lease = queue.extend(lease)
    short = queue.journal.compact()
    assert [(event.what, event.at) for event in short] == [("submitted", 1000.0), ("renewed", 1100.0)]
    assert recover(short, clock).leases.holder("job-1").deadline == 1130.0


def test_a_queue_recovered_from_a_compact_journal_waits_for_a_live_holder(queue, clock):
    queue.submit("report")
    _, lease = queue.take("w-1")
    clock.advance(20.0)
    queue.extend(lease)
    again = recover(queue.journal.compact(), clock)
    clock.advance(15.0)
    assert again.reap() == []
    clock.advance(15.0)
    assert [job.job_id for job in again.reap()] == ["job-1"]


"""

_RENEWED = '''    def renewed(self, now: float, seconds: float) -> Lease:
        """The lease that takes this one's place."""
        if seconds <= 0:
            raise ValueError(f"a lease lasts a positive time: {seconds}")
        return replace(self, deadline=max(self.deadline, now + seconds))
'''

_RENEW_IN_PLACE = """    def renew(self, now: float, seconds: float) -> None:
        if seconds <= 0:
            raise ValueError(f"a lease lasts a positive time: {seconds}")
        self.deadline = max(self.deadline, now + seconds)
        self.epoch += 1
"""

_EXTEND_DOC = '''        """More time for the holder, `lease_s` unless told otherwise.

        Asking can only help: a lease that still has longer to go than `seconds` keeps its deadline.
        Go on with the lease that is returned; the one passed in is used up.
        """
'''

_EXTEND_OLD_DOC = '''        """More time for the holder: another `lease_s`.

        Asking can only help: a lease that still has longer to go than that keeps its deadline.
        Go on with the lease that is returned; the one passed in is used up.
        """
'''

_POLL = '''    def poll(self, worker: str) -> tuple[Job, Lease] | None:
        """The name that `take` had before 0.8."""
        warnings.warn("Queue.poll is deprecated, use Queue.take", DeprecationWarning, stacklevel=2)
        return self.take(worker)

'''

_POLL_TEST = """def test_poll_still_works(queue):
    queue.submit("mail")
    job, _ = queue.poll("w-1")
    assert job.job_id == "job-1"


"""


def _commit(author: str, date: str, message: str, *edits: Edit) -> Commit:
    email = f"{author.split()[0].lower()}@relaywork.example"
    return Commit(sha("relaywork", message), f"{author} <{email}>", date, message, edits)


FORGET = _commit(
    "Jonas Weil",
    "Thu May 22 15:32:10 2025 +0200",
    "Forget the last epoch of a job that is done\n\n"
    "The book kept one number for every job there ever was: 40 MB after a week in production.",
    Edit(LEASE, "", _FORGET),
    Edit(QUEUE, "", "        self.leases.forget(job.job_id)\n"),
)
HELD = _commit(
    "Amara Diallo",
    "Thu May 22 11:04:51 2025 +0200",
    "Say how long a lost job had been held\n\n"
    "So that the log tells a worker that died from one that never let go. Warn when a job is held too long.",
    Edit(LEASE, "", _HELD_FOR),
    Edit(
        QUEUE,
        'log.warning("%s lost %s at epoch %d", lease.worker, lease.job_id, lease.epoch)\n',
        "log.warning(\n"
        '                "%s lost %s after %.1f s at epoch %d",\n'
        "                lease.worker,\n"
        "                lease.job_id,\n"
        "                lease.held_for(self.clock()),\n"
        "                lease.epoch,\n"
        "            )\n",
    ),
    Edit(WORKER, "", _CONTEXT_HELD_FOR),
    Edit(WORKER, "", _WARN_HELD),
    Edit(
        WORKER,
        "handlers: Mapping[str, Handler]) -> None:",
        "handlers: Mapping[str, Handler], max_held_s: float = 3600.0) -> None:",
    ),
    Edit(WORKER, "", "        self.max_held_s = max_held_s\n"),
    Edit(_WORKER_TESTS, _LEFT_TEST, _LEFT_AND_HELD_TEST),
)
COMPACT = _commit(
    "Jonas Weil",
    "Wed May 21 18:20:44 2025 +0200",
    "Keep only the newest word on a lease when compacting\n\n"
    "A job that beats for an hour left 240 events behind. Recovery counts on the last of them alone.",
    Edit(JOURNAL, _COMPACT_ALL_DOC, _COMPACT_DOC),
    Edit(JOURNAL, _COMPACT_ALL, _COMPACT_NEWEST),
    Edit(_JOURNAL_TESTS, "", _COMPACT_TESTS),
)
FREEZE = _commit(
    "Amara Diallo",
    "Wed May 21 14:47:29 2025 +0200",
    "Make Lease immutable\n\n"
    "Book, context and journal shared one object, and a renewal changed it behind the backs of the\n"
    "others. A renewal now gives a new lease that takes the old one's place. No change in behaviour.",
    Edit(LEASE, "@dataclass\nclass Lease:", "@dataclass(frozen=True)\nclass Lease:"),
    Edit(LEASE, "from dataclasses import dataclass\n", "from dataclasses import dataclass, replace\n"),
    Edit(LEASE, _RENEW_IN_PLACE, _RENEWED),
    Edit(
        LEASE,
        "        held.renew(now, seconds)\n        return self.enter(held)\n",
        "        return self.enter(held.renewed(now, seconds))\n",
    ),
)
BEAT = _commit(
    "Priya Nair",
    "Wed May 21 09:15:03 2025 +0200",
    "Let a handler say how much more time it needs\n\n"
    "Uploads know how long the next part takes; a flat 30 s was too short for some, too long for most.",
    Edit(QUEUE, _EXTEND_OLD_DOC, _EXTEND_DOC),
    Edit(
        QUEUE,
        "def extend(self, lease: Lease) -> Lease:",
        "def extend(self, lease: Lease, seconds: float | None = None) -> Lease:",
    ),
    Edit(
        QUEUE,
        "self.leases.renew(lease, now, self.lease_s)\n",
        "self.leases.renew(lease, now, self.lease_s if seconds is None else seconds)\n",
    ),
    Edit(
        WORKER,
        "    def beat(self) -> None:\n"
        '        """I am alive. Call it well before the lease is over, half-way for example."""\n',
        "    def beat(self, seconds: float | None = None) -> None:\n"
        '        """I am alive, and need `seconds` more. '
        'Call it well before the lease is over, half-way for example."""\n',
    ),
    Edit(WORKER, "self.queue.extend(self.lease)\n", "self.queue.extend(self.lease, seconds)\n"),
)
SHORTEN = _commit(
    "Priya Nair",
    "Tue May 20 16:39:58 2025 +0200",
    "Never shorten a lease by extending it\n\n"
    "Two parts of a handler may beat, and the impatient one took time away from the other.",
    Edit(LEASE, "self.deadline = now + seconds\n", "self.deadline = max(self.deadline, now + seconds)\n"),
    Edit(
        QUEUE, "", "        Asking can only help: a lease that still has longer to go than that keeps its deadline.\n"
    ),
)
POLL = _commit(
    "Jonas Weil",
    "Mon May 19 10:26:17 2025 +0200",
    "Keep poll as a deprecated name for take",
    Edit(QUEUE, "", _POLL),
    Edit(QUEUE, "import logging\n", "import logging\nimport warnings\n"),
    Edit(_QUEUE_TESTS, "", _POLL_TEST),
)

COMMITS = (FORGET, HELD, COMPACT, FREEZE, BEAT, SHORTEN, POLL)
"""Newest first."""
