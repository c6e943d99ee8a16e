"""Small libraries that a project's tests install, each in two releases that agree and one that does not.

They are data, run only inside a trial. Every case pins one and bumps it once; whether the bump matters is the plot's
choice, so that a bump by itself tells nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files


class Release(StrEnum):
    OLD = "old"
    SAME = "same"
    """Newer, rewritten inside, and no different to its callers."""
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Library:
    name: str
    imports: str
    """What the handbook test takes from it."""
    test: str
    """The name of the test that leans on what the changed release no longer does."""
    body: str
    """That test, over `NAMES`, the public names of a module."""

    def text(self, release: Release) -> str:
        return _text(self.name, release)


@cache
def _text(name: str, release: Release) -> str:
    return (files(__name__) / name / f"{release.value}.py.txt").read_text(encoding="utf-8")


TRAIN = (
    Library(
        "rowkit",
        "table",
        "test_the_rows_of_the_handbook_are_equally_wide",
        "    rows = table([(str(len(name)), name) for name in NAMES])\n"
        "    assert [len(row) for row in rows] == [len(rows[0])] * len(NAMES)\n",
    ),
    Library(
        "slugline",
        "slug",
        "test_a_name_with_an_underscore_has_an_address",
        '    assert slug(f"{NAMES[0]}_{NAMES[1]} reference").count("-") >= 2\n',
    ),
    Library(
        "listwords",
        "sentence",
        "test_the_handbook_lists_its_names_in_one_sentence",
        '    assert sentence(NAMES).count(",") == len(NAMES) - 2\n',
    ),
    Library(
        "stepfold",
        "fold",
        "test_the_handbook_fits_a_narrow_column",
        "    lines = fold(NAMES, 40)\n    assert max(len(line) for line in lines) <= 40\n",
    ),
)
HELD_OUT = (
    Library(
        "tallybox",
        "tally",
        "test_initials_are_counted_in_alphabetical_order",
        "    initials = tally(sorted({name[-1] for name in NAMES}, reverse=True))\n"
        "    assert [letter for letter, _ in initials] == sorted(letter for letter, _ in initials)\n",
    ),
    Library(
        "padnum",
        "numbered",
        "test_pages_of_the_manual_are_numbered_with_two_digits",
        '    pages = numbered(NAMES)\n    assert {page.index("-") for page in pages} == {2}\n',
    ),
    Library(
        "keyview",
        "View",
        "test_an_entry_of_the_manual_is_read_by_its_name",
        "    entries = View({name: len(name) for name in NAMES})\n"
        "    assert getattr(entries, NAMES[0]) == len(NAMES[0])\n",
    ),
)
