"""The commits of the rotaboard case: a week in April, and the winter before it.

In January boards began to go by their sites' dates (`SITE_DATES`), a test that asked for the server's date turned red
every evening, and somebody froze its time (`FROZEN`) instead of asking for the right date. In April `THAWED` takes the
frozen time out again. By then the north is two hours ahead (`SUMMER`).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.bugfix.cases.tidying import tidyings
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.ci import sources
from TokenOptEnv.task_defs.ci.writers.history import Change, Commit, Edit, replay

PACKAGE = "rotaboard"
LIBRARIES = ("backstep", "depwalk", "routefold")
"""Other packages of the repository, with tests of their own."""
BOARD, SITES, SHIFTS = "rotaboard/board.py", "rotaboard/sites.py", "rotaboard/shifts.py"
HANDOVER, LEAVE, ROTA = "rotaboard/handover.py", "rotaboard/leave.py", "rotaboard/rota.py"
HANDOVER_TESTS, PIPELINE, DATES = "tests/test_handover.py", "ci/pipeline.yml", "docs/dates.md"
NOOR, SAM, PIET, INES = "Noor Haddad", "Sam Okafor", "Piet Jansen", "Ines Moreau"
_OLDER, _NEWER = 30, 26
"""Commits that tidy, before and after the winter's three."""
_FROZEN_AT = "NOW = datetime(2026, 1, 14, 12, tzinfo=UTC)"


def _at(month: int, day: int, hour: int, minute: int) -> datetime:
    return datetime(2026, month, day, hour, minute, 23, tzinfo=UTC)


SITE_DATES = Change(
    NOOR,
    _at(1, 19, 13, 25),
    "board: entries stand under the site's date",
    (
        Edit(BOARD, "        day = now.date()\n", "        day = self.site.today(now)\n"),
        Edit(
            DATES,
            "A board hangs in a place, and its dates are those of the server.\n",
            "A board hangs in a place, and its dates are those of the place: an entry made at half past eleven at "
            "night\nstands under tomorrow where tomorrow has begun. Whoever looks something up names the site's date, "
            "not the\nserver's.\n",
        ),
    ),
    body="The north was put down for yesterday in the first hour of every day.",
)
FROZEN = Change(
    PIET,
    _at(1, 22, 9, 40),
    "tests: a fixed time for handovers",
    (
        Edit(HANDOVER_TESTS, "NOW = STARTED", _FROZEN_AT),
        Edit(HANDOVER_TESTS, "from job_info import STARTED\n\n", ""),
    ),
    body="Red every evening since Monday, green again in the morning. At noon it is the same day everywhere.",
)
FIRST_MONDAY = Change(
    INES,
    _at(2, 10, 15, 2),
    "tests: a fixed first day for the rota",
    (
        Edit("tests/test_rota.py", "FIRST = date(2026, 2, 23) + timedelta(weeks=1)", "FIRST = date(2026, 3, 2)"),
        Edit("tests/test_rota.py", "from datetime import date, timedelta\n", "from datetime import date\n"),
    ),
    body="A Monday, and no sums to find out which.",
)
SUMMER = Change(
    NOOR,
    _at(4, 13, 9, 5),
    "sites: the north keeps summer time",
    (Edit(SITES, 'Site("north", 1)', 'Site("north", 2)'),),
    body="Two weeks late. Boards showed every entry of the last hour under the wrong day.",
)
AWAY_ONCE = Change(
    SAM,
    _at(4, 13, 14, 20),
    "leave: who is away on which of several days",
    (
        Edit(
            LEAVE,
            "def short_days(",
            "def away_by_day(leaves: list[Leave], days: list[date]) -> dict[date, list[str]]:\n"
            "    return {day: away(leaves, day) for day in days}\n\n\ndef short_days(",
        ),
        Edit(
            "tests/test_leave.py",
            "from rotaboard.leave import Leave, away, short_days\n",
            "from rotaboard.leave import Leave, away, away_by_day, short_days\n",
        ),
        Edit(
            "tests/test_leave.py",
            "def test_short_days_are_found",
            "def test_the_days_are_told_one_by_one():\n"
            '    leaves = [Leave("ada", date(2026, 3, 2), date(2026, 3, 3))]\n'
            "    days = [date(2026, 3, 3), date(2026, 3, 4)]\n"
            '    assert away_by_day(leaves, days) == {days[0]: ["ada"], days[1]: []}\n\n\n'
            "def test_short_days_are_found",
        ),
    ),
)
LONG_ROTAS = Change(
    PIET,
    _at(4, 14, 10, 12),
    "rota: refuse a plan of no days",
    (
        Edit(
            ROTA,
            '        raise ValueError("nobody to choose from")\n',
            '        raise ValueError("nobody to choose from")\n'
            "    if days < 1:\n"
            '        raise ValueError(f"a plan of {days} days")\n',
        ),
        Edit(
            "tests/test_rota.py",
            "def test_two_nights_are_exchanged",
            "def test_no_days_make_no_plan():\n"
            '    with pytest.raises(ValueError, match="a plan of 0 days"):\n'
            '        rota(["ada"], FIRST, 0)\n\n\n'
            "def test_two_nights_are_exchanged",
        ),
    ),
)
NOTES_FIRST = Change(
    INES,
    _at(4, 14, 16, 40),
    "handover: count the notes in the first line",
    (
        Edit(
            HANDOVER,
            'f"from {names} to the {self.coming} shift", *',
            'f"from {names} to the {self.coming} shift, {len(self.notes)} notes", *',
        ),
        Edit(
            HANDOVER_TESTS,
            '"from nobody to the late shift\\n- all quiet"',
            '"from nobody to the late shift, 1 notes\\n- all quiet"',
        ),
    ),
)
THAWED = Change(
    SAM,
    _at(4, 15, 11, 31),
    "tests: no dates of the past",
    (
        Edit(HANDOVER_TESTS, _FROZEN_AT, "NOW = STARTED"),
        Edit(
            HANDOVER_TESTS,
            "from datetime import UTC, datetime\n\n",
            "from datetime import UTC, datetime\n\nfrom job_info import STARTED\n\n",
        ),
    ),
    body="What works in January has to work today. The job tells when it began, let us use it.",
)
NO_EMPTY_DAYS = Change(
    NOOR,
    _at(4, 15, 15, 58),
    "board: strike leaves no empty day behind",
    (
        Edit(
            BOARD,
            "        self._entries[day, shift].remove(person)\n",
            "        self._entries[day, shift].remove(person)\n"
            "        if not self._entries[day, shift]:\n"
            "            del self._entries[day, shift]\n",
        ),
    ),
)
RETRY_LINT = Change(
    PIET,
    _at(4, 16, 9, 47),
    "ci: say what the mobile job waits for",
    (
        Edit(
            PIPELINE,
            "    gate: false             # the small board, until it has a maintainer\n",
            "    gate: false             # the small board, red since March, until it has a maintainer\n",
        ),
    ),
)
NIGHT_TABLE = Change(
    INES,
    _at(4, 16, 17, 22),
    "shifts: one table for starts and lengths",
    (
        Edit(
            SHIFTS,
            'STARTS = {"early": 6, "late": 14, "night": 22}\n',
            'STARTS = {"early": 6, "late": 14, "night": 22}\nLENGTHS = {"early": 8, "late": 8, "night": 8}\n',
        ),
        Edit(
            SHIFTS,
            '    if name not in STARTS:\n        raise LookupError(f"no shift {name!r}")\n    return 8\n',
            '    if name not in LENGTHS:\n        raise LookupError(f"no shift {name!r}")\n    return LENGTHS[name]\n',
        ),
    ),
)
README = Change(
    SAM,
    _at(4, 17, 10, 30),
    "readme: whose dates a board shows",
    (Edit("README.md", 'Board("north")\n', 'Board("north")   # dates are those of the site\n'),),
)
WINTER = (SITE_DATES, FROZEN, FIRST_MONDAY)
WEEK = (
    SUMMER,
    AWAY_ONCE,
    LONG_ROTAS,
    NOTES_FIRST,
    THAWED,
    NO_EMPTY_DAYS,
    RETRY_LINT,
    NIGHT_TABLE,
    README,
)
"""Oldest first, each."""


@cache
def _tree() -> dict[str, str]:
    """The repository before the winter's changes, as far as those files go; the rest as the week begins."""
    files = dict(sources.load(PACKAGE))
    for name in LIBRARIES:
        for path, text in package_files(name).items():
            files[path.replace("tests/", "libs/")] = text
    return dict(sorted(files.items()))


@cache
def _quiet_paths() -> tuple[str, ...]:
    """What is tidied: nothing that the winter or the week touches."""
    touched = {edit.path for change in (*WINTER, *WEEK) for edit in change.edits}
    return tuple(
        path
        for path in _tree()
        if path.endswith(".py")
        and not path.startswith(("tests/", "libs/", "mobile/"))
        and path not in touched
        and not path.endswith("__init__.py")
    )


@cache
def _changes() -> tuple[dict[str, str], tuple[Change, ...]]:
    """The oldest tree that is shown, and all changes from it on."""
    files = _tree()
    draw = Stream("ci", PACKAGE, "tidying")
    at = SUMMER.at - timedelta(hours=20)
    newer: list[Change] = []
    older: list[Change] = []
    for number, tidying in enumerate(tidyings(files, _quiet_paths(), _OLDER + _NEWER, draw)):
        if number == _NEWER:
            at = SITE_DATES.at
        at -= timedelta(minutes=draw.integer(300, 2_900))
        change = Change(
            draw.choice((NOOR, SAM, PIET, INES)),
            at,
            tidying.subject,
            (Edit(tidying.path, tidying.before, tidying.after),),
        )
        (newer if number < _NEWER else older).append(change)
        files = {**files, tidying.path: tidying.before}
    between = sorted((*newer, *WINTER), key=lambda change: change.at)
    return files, (*reversed(older), *between, *WEEK)


@cache
def commits() -> dict[Change, Commit]:
    """Oldest first."""
    base, changes = _changes()
    return dict(zip(changes, replay(PACKAGE, base, changes), strict=True))
