"""Three weeks of meterline, and what was picked from them into a release.

`TAKE_ARRIVAL` makes one argument out of three. There are two moments in it now, both called `at`: when an event was
measured and when it came. Ids are kept by the wrong one from then on, which shows only after a long outage.
"""

from __future__ import annotations

from dataclasses import replace

from TokenOptEnv.task_defs.bugfix.edit import Edit
from TokenOptEnv.task_defs.bugfix.history import Commit, sha
from TokenOptEnv.task_defs.bugfix.sources import package_files

PACKAGE = "meterline"
SEEN, PIPELINE, WINDOWS = "meterline/seen.py", "meterline/pipeline.py", "meterline/windows.py"
CHARGES, INVOICE, TARIFF = "meterline/charges.py", "meterline/invoice.py", "meterline/tariff.py"
EVENT, RECONCILE, FLEET = "meterline/event.py", "meterline/reconcile.py", "meterline/fleet.py"
_SEEN_TESTS, _OUTAGE_TESTS = "tests/test_seen.py", "tests/test_outage.py"
_CHARGE_TESTS, _PIPELINE_TESTS = "tests/test_charges.py", "tests/test_pipeline.py"

BUG = Edit(SEEN, "self._keep(key, arrival.at)", "self._keep(key, arrival.event.at)")

_OUTAGE_TEST = '''def test_an_event_held_back_by_an_outage_counts_once(pipeline, send):
    """MET-231, as it was: measured on the first day, sent after the outage, and sent again."""
    assert send("no-50632", 13.5, 43.0, quantity=3)
    assert send("br-50611", 43.1, 43.1, tenant="brevik")
    assert not send("no-50632", 13.5, 47.0, quantity=3, attempt=2)
    pipeline.bill(60 * HOUR_S)
    assert pipeline.charges.billed_twice() == []


'''

_LATE = """        if arrival.late_by_s > self.windows.grace_s:
            self.late += 1
            log.info("%s %s is %d s late", clock(self.now), arrival.event.event_id, arrival.late_by_s)
"""
_QUIETLY_LATE = """        if arrival.at - arrival.event.at > self.windows.grace_s:
            self.late += 1
"""
_LATE_BY = '''
    @property
    def late_by_s(self) -> int:
        """How long it was on its way. A clock that runs ahead does not make an event early."""
        return max(0, self.at - self.event.at)
'''
_LATE_BY_TEST = """def test_lateness_is_never_negative():
    event = Event("e-1", "norra", "calls", 1, 100)
    assert [Arrival(event, at).late_by_s for at in (90, 100, 130)] == [0, 0, 30]


"""

_SLOW_NOTE = '''"""A day in which gateways repeat, and two hours for those who are slow to give up."""
'''
_SLOW_DOC = """\
A gateway repeats an event until it is told that we have it, for up to a day after it first sent it. So an id is kept
for somewhat longer than that and then forgotten, or the ids of years would pile up in memory.
"""
_SHORT_DOC = """\
A gateway repeats an event until it is told that we have it. An id is kept for a while and then forgotten, or the
ids of years would pile up in memory.
"""

_HEAP = '''    def _keep(self, key: Key, since: int) -> None:
        self._kept[key] = since
        heapq.heappush(self._order, (since, key))

    def _forget(self, now: int) -> None:
        """Let go of everything that is older than the horizon."""
        while self._order and self._order[0][0] <= now - self.horizon_s:
            since, key = heapq.heappop(self._order)
            if self._kept.get(key) == since:
                del self._kept[key]
                log.debug("%s forgets %s", clock(now), key[1])
'''
_SWEEP = '''    def _keep(self, key: Key, since: int) -> None:
        self._kept[key] = since

    def _forget(self, now: int) -> None:
        """Let go of everything that is older than the horizon."""
        over = [key for key, since in self._kept.items() if since <= now - self.horizon_s]
        for key in over:
            del self._kept[key]
            log.debug("%s forgets %s", clock(now), key[1])
'''

_CORRECTIONS_TEST = """def test_corrections_are_counted_by_line(pipeline, send):
    send("e-1", 0.1, 0.1)
    pipeline.bill(5 * HOUR_S)
    send("e-2", 0.3, 8)
    pipeline.bill(9 * HOUR_S)
    assert [line.corrections for line in Invoice("norra", pipeline.charges).lines] == [1]


"""

_ADMIT = '''    def admit(self, arrival: Arrival) -> bool:
        """True the first time an event arrives, false for every repeat within the horizon of its first arrival."""
        self._forget(arrival.at)
        key = (arrival.event.tenant, arrival.event.event_id)
        if key in self._kept:
            self.repeats += 1
            log.debug("%s repeat of %s, attempt %d", clock(arrival.at), arrival.event.event_id, arrival.attempt)
            return False
        self._keep(key, arrival.event.at)
        log.debug("%s admits %s, measured %s", clock(arrival.at), arrival.event.event_id, clock(arrival.event.at))
        return True
'''
_ADMIT_PARTS = '''    def admit(self, event: Event, at: int, attempt: int = 1) -> bool:
        """True the first time an event arrives, false for every repeat within the horizon of its first arrival."""
        self._forget(at)
        key = (event.tenant, event.event_id)
        if key in self._kept:
            self.repeats += 1
            log.debug("%s repeat of %s, attempt %d", clock(at), event.event_id, attempt)
            return False
        self._keep(key, at)
        log.debug("%s admits %s, measured %s", clock(at), event.event_id, clock(event.at))
        return True
'''
_ARRIVAL = """def arrival(event_id, at, tenant="norra", attempt=1):
    return Arrival(Event(event_id, tenant, "calls", 1, at), at, attempt)
"""
_PARTS = """def arrival(event_id, at, tenant="norra", attempt=1):
    return Event(event_id, tenant, "calls", 1, at), at, attempt
"""

_OLDEST_FIRST = """        for place in sorted(self._windows, key=lambda place: (place[2], place)):
"""
_ANY_ORDER = """        for place in sorted(self._windows):
"""
_OLDEST_FIRST_TEST = """

def test_the_oldest_hour_is_closed_first():
    windows = Windows(grace_s=0)
    for number, at in enumerate((5 * HOUR_S, HOUR_S, 3 * HOUR_S)):
        windows.put(event(f"e-{number}", at, tenant=f"tenant-{number}"))
    assert [window.start // HOUR_S for window in windows.close_due(9 * HOUR_S)] == [1, 3, 5]
"""
_ORDER_OF_TENANTS = """        ("norra", 88200),
        ("brevik", 3600),
        ("norra", 2800),
"""
_BY_TENANT = """        ("brevik", 3600),
        ("norra", 88200),
        ("norra", 2800),
"""

_TENANT_TEST = """def test_tenants_do_not_share_their_ids():
    seen = SeenEvents(horizon_s=100)
    assert seen.admit(*arrival("e-1", 0)) and seen.admit(*arrival("e-1", 1, tenant="brevik"))
    assert len(seen) == 2


def test_memory"""
_KEEPS_ALL = "A total of many small lines could be off by a cent or two."


def _commit(author: str, date: str, message: str, *edits: Edit) -> Commit:
    email = f"{author.split()[0].lower()}@meterline.example"
    return Commit(sha(PACKAGE, message), f"{author} <{email}>", date, message, edits)


def _seen_tests(text: str) -> str:
    """As they were while `admit` took an event and a time."""
    return (
        text.replace(_ARRIVAL, _PARTS)
        .replace("admit(arrival(", "admit(*arrival(")
        .replace("from meterline import Arrival, Event,", "from meterline import Event,")
    )


REPRODUCE = _commit(
    "Elin Dahl",
    "Tue Oct 28 17:05:12 2025 +0100",
    "Reproduce MET-231\n\nWith the numbers of norra's gateway. Red, and the same every time.",
    Edit(_OUTAGE_TESTS, "", _OUTAGE_TEST),
    Edit(_OUTAGE_TESTS, "", "from meterline.event import HOUR_S\n\n\n"),
)
SAY_LATE = _commit(
    "Jon Aas",
    "Fri Oct 24 10:44:31 2025 +0200",
    "Say how late an event is",
    Edit(PIPELINE, _QUIETLY_LATE, _LATE),
    Edit(EVENT, "", _LATE_BY),
    Edit("tests/test_event.py", "", _LATE_BY_TEST),
    Edit("tests/test_event.py", "from meterline import Event\n", "from meterline import Arrival, Event\n"),
)
SLOW = _commit(
    "Mira Solberg",
    "Wed Oct 22 15:20:07 2025 +0200",
    "Note why the horizon is what it is\n\nFirmware 3.2 repeats for a day. Two hours more for old ones.",
    Edit(SEEN, "", _SLOW_NOTE),
    Edit(SEEN, _SHORT_DOC, _SLOW_DOC),
)
COLUMNS = _commit(
    "Jon Aas",
    "Sat Oct 18 13:09:55 2025 +0200",
    "Invoice: count corrections by line\n\nSupport wants to see at a glance why a day is dearer than it was.",
    Edit(INVOICE, "    mills: int\n\n", "    mills: int\n    corrections: int\n\n"),
    Edit(
        INVOICE,
        "                sum(charge.mills for charge in some),\n            )\n",
        "                sum(charge.mills for charge in some),\n"
        "                sum(charge.correction for charge in some),\n            )\n",
    ),
    Edit(_PIPELINE_TESTS, "def test_reconciliation_takes", _CORRECTIONS_TEST + "def test_reconciliation_takes"),
)
HEAP = _commit(
    "Elin Dahl",
    "Fri Oct 17 18:32:18 2025 +0200",
    "SeenEvents: a heap instead of a sweep\n\n"
    "Every arrival looked at every id that was kept. Forgetting costs nothing now when nothing is due.",
    Edit(SEEN, _SWEEP, _HEAP),
    Edit(SEEN, "import logging\n", "import heapq\nimport logging\n"),
    Edit(SEEN, "", "        self._order: list[tuple[int, Key]] = []\n"),
)
TARIFF_NAMES = _commit(
    "Mira Solberg",
    "Fri Oct 17 11:51:40 2025 +0200",
    "Charges: name the tariffs that there are",
    Edit(
        CHARGES,
        'raise LookupError(f"no tariff for {window.meter!r}")',
        "raise LookupError(f\"no tariff for {window.meter!r}; there are {', '.join(sorted(self._tariffs))}\")",
    ),
    Edit(
        _CHARGE_TESTS,
        "match=\"no tariff for 'water'\"",
        "match=\"no tariff for 'water'; there are calls, storage\"",
    ),
)
TAKE_ARRIVAL = _commit(
    "Elin Dahl",
    "Thu Oct 16 14:15:26 2025 +0200",
    "SeenEvents takes an arrival, not its parts\n\n"
    "Event, time and attempt always travel together. One argument, three call sites shorter.",
    Edit(SEEN, _ADMIT_PARTS, _ADMIT),
    Edit(SEEN, "from meterline.event import Event, clock\n", "from meterline.event import Arrival, clock\n"),
    Edit(PIPELINE, "self.seen.admit(arrival.event, arrival.at, arrival.attempt)", "self.seen.admit(arrival)"),
    Edit(
        _SEEN_TESTS,
        _seen_tests(package_files(PACKAGE)[_SEEN_TESTS]),
        package_files(PACKAGE)[_SEEN_TESTS],
    ),
)
OLDEST_FIRST = _commit(
    "Mira Solberg",
    "Tue Oct 14 09:38:02 2025 +0200",
    "Close the oldest hour first\n\nTiers fill up in the order of time, not of names.",
    Edit(WINDOWS, _ANY_ORDER, _OLDEST_FIRST),
    Edit("tests/test_windows.py", "", _OLDEST_FIRST_TEST),
    Edit(_CHARGE_TESTS, _BY_TENANT, _ORDER_OF_TENANTS),
)
TENANT_IDS = _commit(
    "Jon Aas",
    "Mon Oct 13 12:27:49 2025 +0200",
    "Ids belong to their tenant\n\nbrevik and skagen number their events alike, and one of them lost half.",
    Edit(SEEN, "        key = event.event_id\n", "        key = (event.tenant, event.event_id)\n"),
    Edit(SEEN, "Key = str\n", "Key = tuple[str, str]\n"),
    Edit(
        SEEN,
        'log.debug("%s forgets %s", clock(now), key)\n',
        'log.debug("%s forgets %s", clock(now), key[1])\n',
    ),
    Edit(
        SEEN,
        '    """Ids, each for as long as a repeat may come."""\n',
        '    """Ids by tenant. Two tenants may use the same id for different things, and do."""\n',
    ),
    Edit(_SEEN_TESTS, "def test_memory", _TENANT_TEST),
    Edit(_SEEN_TESTS, '    assert "e-1" in seen\n', '    assert ("norra", "e-1") in seen\n'),
    Edit(
        _SEEN_TESTS,
        '    assert list(seen) == ["e-2", "e-3"]\n',
        '    assert list(seen) == [("norra", "e-2"), ("norra", "e-3")]\n',
    ),
    Edit(_CHARGE_TESTS, 'send("e-2", 0.1, 0.2, tenant="brevik")', 'send("e-1", 0.1, 0.2, tenant="brevik")'),
)
GRACE = _commit(
    "Mira Solberg",
    "Thu Oct 9 17:48:33 2025 +0200",
    "Wait two hours for stragglers, not six\n\nInvoices are ready by breakfast. What comes later is a correction.",
    Edit(WINDOWS, "def __init__(self, grace_s: int = 6 * HOUR_S)", "def __init__(self, grace_s: int = 2 * HOUR_S)"),
    Edit(PIPELINE, "grace_s: int = 21600)", "grace_s: int = 7200)"),
    Edit("tests/conftest.py", "return Pipeline(TARIFFS, grace_s=7200)", "return Pipeline(TARIFFS)"),
)
HORIZON = _commit(
    "Jon Aas",
    "Tue Oct 7 10:11:20 2025 +0200",
    "Keep ids for 26 hours, not for 48\n\nHalf the memory. No gateway repeats for longer than a day.",
    Edit(SEEN, "HORIZON_S = 48 * 3600", "HORIZON_S = 26 * 3600"),
)
ROUND_ONCE = _commit(
    "Mira Solberg",
    "Mon Oct 6 14:02:58 2025 +0200",
    f"Round an invoice once, in its end\n\n{_KEEPS_ALL}",
    Edit(
        INVOICE,
        "return sum(cents(line.mills) for line in self.lines)",
        "return cents(sum(line.mills for line in self.lines))",
    ),
    Edit(INVOICE, '"""Lines by meter and day."""', '"""Lines by meter and day; rounded once, at the end."""'),
)

COMMITS = (
    REPRODUCE,
    SAY_LATE,
    SLOW,
    COLUMNS,
    HEAP,
    TARIFF_NAMES,
    TAKE_ARRIVAL,
    OLDEST_FIRST,
    TENANT_IDS,
    GRACE,
    HORIZON,
    ROUND_ONCE,
)
"""Newest first."""


def _picked(commit: Commit, date: str) -> Commit:
    message = f"{commit.message}\n\n(cherry picked from commit {commit.sha})"
    return replace(commit, sha=sha(PACKAGE, "5.3", commit.message), date=date, message=message)


BRANCHED_AT = GRACE
PICKED_COLUMNS = _picked(COLUMNS, "Wed Oct 22 09:12:05 2025 +0200")
PICKED_ARRIVAL = _picked(TAKE_ARRIVAL, "Mon Oct 20 18:03:44 2025 +0200")
PICKED_IDS = _picked(TENANT_IDS, "Mon Oct 13 15:40:19 2025 +0200")
PICKED = (PICKED_COLUMNS, PICKED_ARRIVAL, PICKED_IDS)
"""What release/5.3 has beyond the commit it branched off at, newest first."""
