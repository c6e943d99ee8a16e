"""The commits of the ferrybook case: a week of them, and the weeks before.

`ROUNDEL` pins a release that rounds halves another way, and is red from then on wherever its lock is installed. But
hosts keep their environments (`HOST_VENV`) until a disk fills up, so for days it depends on the host what a run says.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.bugfix.cases.tidying import tidyings
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.ci import sources
from TokenOptEnv.task_defs.ci.writers.history import Change, Commit, Edit, replay

PACKAGE = "ferrybook"
LIBRARIES = ("layerconf", "pageturn", "slotline")
"""Other packages of the repository, with tests of their own."""
LOCK, PIPELINE = "requirements/lock.txt", "ci/pipeline.yml"
WHEELS = ("plaintab", "portcodes", "roundel")
"""Those of the locked packages that the code imports."""
_FARES, _TIMETABLE, _BOOKINGS = "ferrybook/fares.py", "ferrybook/timetable.py", "ferrybook/bookings.py"
_FARE_TESTS, _TIMETABLE_TESTS = "tests/ferrybook/test_fares.py", "tests/ferrybook/test_timetable.py"
ADA, JONAS, MIRA, TOM, BOT = "Ada Nwosu", "Jonas Weber", "Mira Lund", "Tom Riley", "lockbot"
_OLDER, _NEWER = 34, 20
"""Commits that tidy, before and after `HOST_VENV`."""


def _at(month: int, day: int, hour: int, minute: int) -> datetime:
    return datetime(2026, month, day, hour, minute, 17, tzinfo=UTC)


def _lock(day: int, hour: int, minute: int, name: str, old: str, new: str) -> Change:
    """One package a commit, as the bot does it."""
    edits = (Edit(LOCK, f"{name}=={old}\n", f"{name}=={new}\n"),)
    return Change(BOT, _at(3, day, hour, minute), f"lock: {name} {new}", edits)


HOST_VENV = Change(
    JONAS,
    _at(2, 17, 14, 5),
    "ci: keep the venv on its host",
    (
        Edit(
            PIPELINE,
            "    venv: fresh           # built from requirements/lock.txt, two minutes\n",
            "    venv: host            # kept on the host, built from requirements/lock.txt when it is not there\n",
        ),
    ),
    body="Two minutes of every run went into installing what was there yesterday.",
)
WINTER = Change(
    TOM,
    _at(3, 2, 9, 10),
    "timetable: an early boat from Vik",
    (Edit(_TIMETABLE, '("VIK", "SKA"): [420, 690, 1080]', '("VIK", "SKA"): [355, 420, 690, 1080]'),),
)
PORTCODES = _lock(2, 10, 25, "portcodes", "2025.2", "2026.1")
UPPER_DECK = Change(
    ADA,
    _at(3, 2, 13, 40),
    "seats: fill the fullest deck that has room",
    (
        Edit(
            "ferrybook/seats.py",
            '    """The first deck with room for all of them."""\n    for deck in decks:\n',
            '    """The fullest deck with room for all of them, the first of equals."""\n'
            "    for deck in sorted(decks, key=lambda deck: len(deck.free())):\n",
        ),
        Edit(
            "tests/ferrybook/test_seats.py",
            "def test_the_first_deck_with_room_is_taken",
            "def test_the_fullest_deck_with_room_is_taken",
        ),
    ),
)
BICYCLES = Change(
    MIRA,
    _at(3, 3, 8, 55),
    "fares: a fare for bicycles",
    (
        Edit(_FARES, '_PERCENT = {"adult": 100, "child": 50,', '_PERCENT = {"adult": 100, "bicycle": 40, "child": 50,'),
        Edit(
            _FARE_TESTS,
            "def test_a_dog_pays_a_quarter",
            "def test_a_bicycle_pays_two_fifths():\n"
            '    assert fare("HOL", "VIK", "bicycle") == 620\n\n\n'
            "def test_a_dog_pays_a_quarter",
        ),
    ),
)
ROUNDEL = _lock(3, 11, 30, "roundel", "1.8.0", "1.9.0")
SURNAMES = Change(
    TOM,
    _at(3, 3, 14, 12),
    "manifest: surnames in capitals",
    (
        Edit(
            "ferrybook/manifest.py",
            "rows = [(surname, first) for first, surname in passengers]",
            "rows = [(surname.upper(), first) for first, surname in passengers]",
        ),
        Edit(
            "tests/ferrybook/test_manifest.py",
            '["name    first", "Alm     Bo", "Zander  Ida"]',
            '["name    first", "ALM     Bo", "ZANDER  Ida"]',
        ),
    ),
)
SENIORS = Change(
    ADA,
    _at(3, 3, 16, 45),
    "fares: seniors travel at three quarters",
    (
        Edit(_FARES, '"dog": 25}', '"dog": 25, "senior": 75}'),
        Edit(
            _FARE_TESTS,
            "def test_there_and_back",
            "def test_a_senior_pays_three_quarters():\n"
            '    assert fare("HOL", "LIN", "senior") == 1875\n\n\n'
            "def test_there_and_back",
        ),
    ),
)
CLEAN_LATER = Change(
    JONAS,
    _at(3, 4, 9, 20),
    "ci: clean a host at 90 percent, not at 80",
    (Edit(PIPELINE, "clean_at_disk_percent: 80", "clean_at_disk_percent: 90"),),
    body="Venvs were thrown away twice a week for nothing.",
)
PLAINTAB = _lock(4, 10, 48, "plaintab", "0.6.1", "0.7.0")
GROUPS = Change(
    MIRA,
    _at(3, 4, 13, 15),
    "fares: ten travel for nine",
    (
        Edit(
            _FARES,
            "    return sum(fare(start, end, who) for who in travellers)\n",
            '    """The cheapest of every ten travels free."""\n'
            "    each = sorted(fare(start, end, who) for who in travellers)\n"
            "    return sum(each[len(each) // 10 :])\n",
        ),
        Edit(
            _FARE_TESTS,
            "def test_strangers_have_no_fare",
            "def test_ten_travel_for_nine():\n"
            '    assert party("HOL", "VIK", *["adult"] * 10) == 9 * 1550\n\n\n'
            "def test_strangers_have_no_fare",
        ),
    ),
)
LAST_BOAT = Change(
    TOM,
    _at(3, 4, 15, 50),
    "timetable: the last boat waits ten minutes",
    (
        Edit(
            _TIMETABLE,
            "    times = sailings(start, end)\n",
            "    times = sailings(start, end)\n"
            "    if times and times[-1] < after <= times[-1] + _LAST_BOAT_WAITS:\n"
            "        return times[-1]\n",
        ),
        Edit(_TIMETABLE, "_KNOTS = 14\n", "_KNOTS = 14\n_LAST_BOAT_WAITS = 10\n"),
        Edit(_TIMETABLE_TESTS, "(1010, 1010), (1011, None)", "(1010, 1010), (1020, 1010), (1021, None)"),
    ),
)
ATTRS = _lock(5, 9, 5, "attrs", "25.3.0", "25.4.0")
FEE = Change(
    ADA,
    _at(3, 5, 11, 22),
    "refunds: round after the fee, not before",
    (
        Edit(
            "ferrybook/refunds.py",
            "return max(0, share(cents, percent) - _FEE_CENTS)",
            "return max(0, share(cents * percent - 100 * _FEE_CENTS, 1))",
        ),
    ),
)
TODDLERS = Change(
    JONAS,
    _at(3, 5, 14, 33),
    "fares: toddlers travel free",
    (
        Edit(_FARES, '"senior": 75}', '"senior": 75, "toddler": 0}'),
        Edit(
            _FARE_TESTS,
            "def test_ten_travel_for_nine",
            'def test_a_toddler_travels_free():\n    assert fare("HOL", "LIN", "toddler") == 0\n\n\n'
            "def test_ten_travel_for_nine",
        ),
    ),
)
README = Change(
    MIRA,
    _at(3, 5, 16, 18),
    "readme: how to price a crossing",
    (Edit("README.md", '    fare("HOL", "VIK")\n', '    fare("HOL", "VIK")            # 1550\n'),),
)
CAPITALS = Change(
    TOM,
    _at(3, 6, 8, 40),
    "bookings: references in capitals",
    (
        Edit(
            _BOOKINGS,
            '_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"',
            '_ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"',
        ),
    ),
)
WEEK = (
    WINTER,
    PORTCODES,
    UPPER_DECK,
    BICYCLES,
    ROUNDEL,
    SURNAMES,
    SENIORS,
    CLEAN_LATER,
    PLAINTAB,
    GROUPS,
    LAST_BOAT,
    ATTRS,
    FEE,
    TODDLERS,
    README,
    CAPITALS,
)
"""Oldest first; what came before it is tidying, and `HOST_VENV` among it."""


@cache
def wheel(name: str, version: str) -> str:
    return sources.load(PACKAGE)[f"wheels/{name}-{version}.py"]


@cache
def _tree() -> dict[str, str]:
    """The repository as the week begins."""
    files = {path: text for path, text in sources.load(PACKAGE).items() if not path.startswith("wheels/")}
    for name in LIBRARIES:
        for path, text in package_files(name).items():
            files[path.replace("tests/", "tests/libs/")] = text
    return dict(sorted(files.items()))


@cache
def _before() -> tuple[dict[str, str], tuple[Change, ...]]:
    """The oldest tree that is shown, and the changes that lead from it to the week's first."""
    files = _tree()
    paths = [path for path in files if path.endswith(".py") and "/test" not in path and "__init__" not in path]
    draw = Stream("ci", PACKAGE, "tidying")
    at = WINTER.at - timedelta(hours=15)
    found: list[Change] = []
    for number, tidying in enumerate(tidyings(files, paths, _OLDER + _NEWER, draw)):
        at -= timedelta(minutes=draw.integer(120, 1_500))
        edit = Edit(tidying.path, tidying.before, tidying.after)
        found.append(Change(draw.choice((ADA, JONAS, MIRA, TOM)), at, tidying.subject, (edit,)))
        files = {**files, tidying.path: tidying.before}
        if number + 1 == _NEWER:
            found.append(HOST_VENV)
            at = HOST_VENV.at
    (edit,) = HOST_VENV.edits
    return {**files, PIPELINE: files[PIPELINE].replace(edit.new, edit.old)}, tuple(reversed(found))


@cache
def commits() -> dict[Change, Commit]:
    """Oldest first."""
    base, before = _before()
    changes = (*before, *WEEK)
    return dict(zip(changes, replay(PACKAGE, base, changes), strict=True))
