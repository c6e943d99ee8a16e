"""The commits of the tidemark case.

The ISO week of a day may belong to another year than the day. `READABLE_KEYS` forgets it; `PADDED_KEYS` later
rewrites the very same lines without changing that, so blame shows the wrong commit.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

from TokenOptEnv.task_defs.ci import sources
from TokenOptEnv.task_defs.ci.writers.history import Change, Commit, Edit, replay

PACKAGE = "tidemark"
NOOR = "Noor Haddad"
PIET = "Piet Vos"
SAM = "Sam Okafor"
BOT = "deps-bot"

SAME_DAY_DOCS = Change(
    NOOR,
    datetime(2025, 11, 17, 9, 31, 8, tzinfo=UTC),
    "docs: say what happens to a night without a snapshot",
    (
        Edit(
            "README.md",
            "Decides which backups to keep.\n",
            "Decides which backups to keep. A night without a snapshot costs nothing: terms count what exists.\n",
        ),
    ),
)
UPPER_CASE_UNITS = Change(
    PIET,
    datetime(2025, 11, 17, 11, 2, 41, tzinfo=UTC),
    "policy: accept upper-case units",
    (
        Edit("tidemark/policy.py", "match = _TERM.match(word)\n", "match = _TERM.match(word.lower())\n"),
        Edit(
            "tests/test_policy.py",
            "def test_an_empty_policy_is_refused():",
            'def test_units_may_be_in_capitals():\n    assert parse_policy("7D 4W") == parse_policy("7d 4w")\n\n\n'
            "def test_an_empty_policy_is_refused():",
        ),
    ),
)
ALIGNED_TABLE = Change(
    NOOR,
    datetime(2025, 11, 17, 15, 47, 26, tzinfo=UTC),
    "report: align the verdict column",
    (
        Edit(
            "tidemark/report.py",
            'f"{day.isoformat()} {what}" for day',
            'f"{day.isoformat():<12}{what:>6}" for day',
        ),
    ),
)
CLOCK_AHEAD = Change(
    SAM,
    datetime(2025, 11, 18, 9, 14, 55, tzinfo=UTC),
    "lock: notice an owner whose clock runs ahead",
    (
        Edit(
            "tidemark/lock.py",
            "from dataclasses import dataclass\n",
            "import warnings\nfrom dataclasses import dataclass\n",
        ),
        Edit(
            "tidemark/lock.py",
            "    if current is not None and current.owner != owner and",
            "    if current is not None and current.taken_at_s > now_s:\n"
            "        ahead_s = current.taken_at_s - now_s\n"
            '        warnings.warn(f"lock of {current.owner} is {ahead_s} s in the future", stacklevel=2)\n'
            "    if current is not None and current.owner != owner and",
        ),
        Edit(
            "tests/test_lock.py",
            "def test_a_stale_lock_is_taken_over():",
            "def test_a_lock_from_the_future_is_respected():\n"
            '    assert take(Lock("nas-1", 1040), "nas-2", 1000) is None\n\n\n'
            "def test_a_stale_lock_is_taken_over():",
        ),
    ),
)
READABLE_KEYS = Change(
    PIET,
    datetime(2025, 11, 18, 10, 26, 12, tzinfo=UTC),
    "buckets: keys that people can read",
    (
        Edit(
            "tidemark/buckets.py",
            "def week_key(day: date) -> tuple[int, ...]:",
            "def week_key(day: date) -> str:",
        ),
        Edit(
            "tidemark/buckets.py",
            "    return tuple(day.isocalendar()[:2])\n",
            '    return f"{day.year}-W{day.isocalendar().week}"\n',
        ),
        Edit(
            "tidemark/buckets.py",
            "def month_key(day: date) -> tuple[int, ...]:\n    return (day.year, day.month)\n",
            'def month_key(day: date) -> str:\n    return f"{day.year}-{day.month}"\n',
        ),
    ),
    body="For the plan table. No change in what is kept.",
)
EXPLICIT_KEEPERS = Change(
    NOOR,
    datetime(2025, 11, 18, 13, 40, 33, tzinfo=UTC),
    "select: say which snapshot of a bucket stays",
    (
        Edit(
            "tidemark/select.py",
            "    kept = {}\n"
            "    for day in sorted(days, reverse=True):\n"
            "        kept.setdefault(KEYS[unit](day), day)\n"
            "    return list(kept.values())[:count]\n",
            "    survivors = {}\n"
            "    for day in sorted(days, reverse=True):\n"
            "        bucket = KEYS[unit](day)\n"
            "        if bucket not in survivors:\n"
            "            survivors[bucket] = day\n"
            "    return list(survivors.values())[:count]\n",
        ),
    ),
)
PADDED_KEYS = Change(
    SAM,
    datetime(2025, 11, 18, 16, 5, 19, tzinfo=UTC),
    "buckets: pad numbers so that keys sort as text",
    (
        Edit(
            "tidemark/buckets.py",
            'f"{day.year}-W{day.isocalendar().week}"',
            'f"{day.year}-W{day.isocalendar().week:02d}"',
        ),
        Edit("tidemark/buckets.py", 'f"{day.year}-{day.month}"', 'f"{day.year}-{day.month:02d}"'),
        Edit(
            "tests/test_buckets.py",
            "def test_the_same_month_of_two_years",
            "def test_keys_sort_as_text():\n"
            '    assert KEYS["w"](date(2025, 2, 24)) < KEYS["w"](date(2025, 3, 3))\n\n\n'
            "def test_the_same_month_of_two_years",
        ),
    ),
)
TIME_ZONE_DATA = Change(
    BOT,
    datetime(2025, 11, 19, 6, 52, 3, tzinfo=UTC),
    "deps: bump tzdata from 2025.2 to 2025.3",
    (Edit("requirements/docs.txt", "tzdata==2025.2\n", "tzdata==2025.3\n"),),
)

CHANGES = (
    SAME_DAY_DOCS,
    UPPER_CASE_UNITS,
    ALIGNED_TABLE,
    CLOCK_AHEAD,
    READABLE_KEYS,
    EXPLICIT_KEEPERS,
    PADDED_KEYS,
    TIME_ZONE_DATA,
)


@cache
def commits() -> dict[Change, Commit]:
    """Every commit by its change, oldest first."""
    return dict(zip(CHANGES, replay(PACKAGE, sources.load(PACKAGE), CHANGES), strict=True))
