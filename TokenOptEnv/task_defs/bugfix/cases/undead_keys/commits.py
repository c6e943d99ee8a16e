"""Four weeks of siltstore: one commit breaks a rule, a later and rightful one lets it be seen.

`CHOOSE` forgets, while it tidies, that tables which sink together also lie over more of the next level. Nothing is
lost by that as long as every marker is kept. `DROP` keeps only those with something to hide, which is right where
the rule holds; since then keys come back. Nobody looks until `STRICT` makes a test of it.
"""

from __future__ import annotations

from TokenOptEnv.task_defs.bugfix.edit import Edit
from TokenOptEnv.task_defs.bugfix.history import Commit, sha

COMPACTION, LEVELS, TABLE = "siltstore/compaction.py", "siltstore/levels.py", "siltstore/table.py"
SNAPSHOTS, STORE, FILTER = "siltstore/snapshots.py", "siltstore/store.py", "siltstore/keyfilter.py"
JOURNAL, MEMTABLE, SOAK = "siltstore/journal.py", "siltstore/memtable.py", "siltstore/soak.py"
_COMPACTION_TESTS, _SOAK_TESTS = "tests/test_compaction.py", "tests/test_soak.py"
_JOURNAL_TESTS, _SNAPSHOT_TESTS = "tests/test_journal.py", "tests/test_snapshots.py"

BUG = Edit(
    COMPACTION,
    "lower = self.levels.touching(level + 1, *bounds(upper))",
    "lower = self.levels.touching(level + 1, seed.low, seed.high)",
)

_STRICT_MORNING = """def test_a_morning_ends_as_its_model_says():
    morning = Day(seed=96, operations=520).live()
    assert morning.missing() == []
    assert morning.outdated() == []
    assert morning.resurrected() == {}


"""
_MILD_MORNING = """def test_a_morning_ends_as_its_model_says():
    morning = Day(seed=96, operations=520).live()
    assert morning.missing() == []
    assert morning.outdated() == []


"""

_LOG_INPUTS = """        low, high = bounds(inputs.upper)
        log.info("%s takes %s of level %d, %s to %s", name, _listed(inputs.upper), level, low, high)
        log.info("%s merges them with %s of level %d", name, _listed(inputs.lower), inputs.target)
"""
_LISTED = """

def _listed(tables: tuple[Table, ...]) -> str:
    return ", ".join(repr(table) for table in tables) or "nothing"
"""

_LAZY_SCAN = """\
        sources = [self._memtable.between(low, high), *(table.between(low, high) for table in self.levels)]
        ordered = merge(*sources, key=lambda record: record.place)
        for key, versions in groupby(ordered, key=lambda record: record.key):
            seen = next((version for version in versions if version.seq <= at), None)
            if seen is not None and seen.value is not None:
                yield key, seen.value
"""
_EAGER_SCAN = """        newest: dict[str, Record] = {}
        for source in (self._memtable.between(low, high), *(table.between(low, high) for table in self.levels)):
            for record in source:
                if record.seq <= at and (record.key not in newest or newest[record.key].seq < record.seq):
                    newest[record.key] = record
        for key in sorted(newest):
            if (value := newest[key].value) is not None:
                yield key, value
"""

_DROPPING = """            kept = self._told_apart(versions)
            if kept[-1].is_marker and not self.levels.any_below(inputs.target, key):
                log.debug("%s drops the marker %d of %s", name, kept[-1].seq, key)
                self.stats.markers_dropped += 1
                kept.pop()
            yield from kept
"""
_KEEPING = """            yield from self._told_apart(versions)
"""
_DROPPING_DOC = """\
Merging is what makes room. Of the versions of a key that no reader can tell apart only the newest goes on, and a
marker goes on only as long as there is something for it to hide.
"""
_KEEPING_DOC = """\
Merging is what makes room. Of the versions of a key that no reader can tell apart only the newest goes on.
"""
_DROP_TESTS = """def test_a_marker_with_nothing_under_it_is_dropped(store):
    flushed(store, a="1", b=None, c="1")
    store.compact(0)
    assert store.levels.markers(1) == 0
    assert store.stats.markers_dropped == 1


def test_a_marker_stays_as_long_as_a_deeper_level_may_hold_its_key(store):
    flushed(store, a="1", b="1", c="1")
    store.compact(0)
    store.compact(1)
    flushed(store, b=None)
    store.compact(0)
    assert store.levels.markers(1) == 1
    assert store.get("b") is None


"""
_ANY_BELOW = '''    def any_below(self, level: int, key: str) -> bool:
        """May a level deeper than `level` hold a version of the key?"""
        return any(table.spans(key) for tables in self._tables[level + 1 :] for table in tables)

'''
_ANY_BELOW_TEST = """def test_what_lies_below_is_told_from_what_lies_beside(levels):
    assert levels.any_below(0, "c") and not levels.any_below(0, "l")
    assert not levels.any_below(1, "c")


"""

_BLOCK = """class Snapshot:
    \"\"\"A moment. Use it as a block: leaving the block releases it.\"\"\"

    def __init__(self, at: int, registry: Snapshots) -> None:
        self.at = at
        self._registry = registry

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def release(self) -> None:
"""
_NO_BLOCK = """class Snapshot:
    \"\"\"A moment. Release it when you are done: until then everything it sees is kept.\"\"\"

    def __init__(self, at: int, registry: Snapshots) -> None:
        self.at = at
        self._registry = registry

    def release(self) -> None:
"""
_BLOCK_TEST = """def test_leaving_the_block_releases_the_snapshot(store):
    with store.snapshot():
        assert len(store.snapshots) == 1
    assert len(store.snapshots) == 0 and store.snapshots.oldest is None


"""
_SEES_IN_A_BLOCK = """    with store.snapshot() as before:
        store.put("a", "new")
        store.delete("b")
        assert store.get("a", before) == "old"
        assert dict(store.scan(snapshot=before)) == {"a": "old"}
    assert store.get("a") == "new"
"""
_SEES = """    before = store.snapshot()
    store.put("a", "new")
    store.delete("b")
    assert store.get("a", before) == "old"
    assert dict(store.scan(snapshot=before)) == {"a": "old"}
    before.release()
    assert store.get("a") == "new"
"""
_KEEPS_IN_A_BLOCK = """    with store.snapshot() as before:
        store.delete("a")
        store.flush()
        store.compact(0)
        assert store.get("a", before) == "1"
        assert store.get("a") is None
"""
_KEEPS = """    before = store.snapshot()
    store.delete("a")
    store.flush()
    store.compact(0)
    assert store.get("a", before) == "1"
    assert store.get("a") is None
    before.release()
"""

_CHOOSE = '''    def choose(self, level: int) -> Inputs:
        """The table whose turn it is, what it drags along in its own level, and what lies under all of that."""
        seed = self._seed(level)
        upper = self._joined(level, seed)
        lower = self.levels.touching(level + 1, seed.low, seed.high)
        self._turn[level] = seed.high
        return Inputs(level, tuple(upper), tuple(lower))
'''
_CHOOSE_AND_UNDER = '''    def choose(self, level: int) -> Inputs:
        seed = self._seed(level)
        self._turn[level] = seed.high
        upper = self._joined(level, seed)
        return Inputs(level, tuple(upper), tuple(self._under(level, upper)))

    def _under(self, level: int, upper: list[Table]) -> list[Table]:
        """What the next level holds anywhere in the range of the tables that sink."""
        low = min(table.low for table in upper)
        high = max(table.high for table in upper)
        return self.levels.touching(level + 1, low, high)
'''
_SEED_DOC = '''        """Level 0 gives its oldest table; deeper levels go round, so that every range gets its turn."""
'''

_ROUND = """        behind = [table for table in tables if table.low > self._turn.get(level, "")]
        return behind[0] if behind else tables[0]
"""
_SMALLEST = """        return min(tables, key=lambda table: (len(table), table.number))
"""
_ROUND_TEST = """def test_a_deeper_level_goes_round(store):
    for letter in "aceg":
        flushed(store, **{letter + "1": "x", letter + "2": "x"})
        store.compact(0)
    order = [store._compactor.choose(1).upper[0].low for _ in range(5)]
    assert order == ["a1", "c1", "e1", "g1", "a1"]


"""

_TWO_SUMS = '''        """Two checksums, combined: as good as so many independent ones, and far cheaper."""
        data = key.encode()
        first, second = crc32(data), crc32(data, 0x5117) | 1
        return [(first + turn * second) % self.size for turn in range(_PROBES)]
'''
_FOUR_SUMS = """        data = key.encode()
        return [crc32(data, turn) % self.size for turn in range(_PROBES)]
"""

_CUT_OFF = '''        """Every record there ever was, for a store that starts from nothing.

        The last line may have been cut off by a crash: it was never acknowledged and is left out.
        """
        for number, line in enumerate(self._lines):
            if line.startswith(_FLUSHED):
                continue
            try:
                yield parse_line(line)
            except ValueError:
                if number < len(self._lines) - 1:
                    raise
'''
_NO_CUT_OFF = '''        """Every record there ever was, for a store that starts from nothing."""
        for line in self._lines:
            if not line.startswith(_FLUSHED):
                yield parse_line(line)
'''
_CUT_OFF_TEST = """def test_a_last_line_that_was_cut_off_is_left_out():
    journal = Journal("1=a\\tx\\n2=b\\ty\\n3=")
    assert [record.key for record in journal.records()] == ["a", "b"]


"""

_ONE_TABLE_TEST = """def test_all_versions_of_a_key_stay_in_one_table(store):
    snapshots = []
    for turn in range(6):
        flushed(store, a=str(turn), k=str(turn))
        snapshots.append(store.snapshot())
    store.compact(0)
    assert [(table.low, table.high, len(table)) for table in store.levels.tables(1)] == [("a", "a", 6), ("k", "k", 6)]
    assert [store.get("a", snapshot) for snapshot in snapshots] == ["0", "1", "2", "3", "4", "5"]


"""


def _commit(author: str, date: str, message: str, *edits: Edit) -> Commit:
    email = f"{author.split()[0].lower()}@siltstore.example"
    return Commit(sha("siltstore", message), f"{author} <{email}>", date, message, edits)


STRICT = _commit(
    "Lena Brandt",
    "Mon Oct 6 16:51:20 2025 +0200",
    "Fail when keys come back in the soak\n\n"
    "The nights have been counting resurrected keys for a while and nobody reads them. One short morning\n"
    "with a fixed seed, as a test.",
    Edit(_SOAK_TESTS, _MILD_MORNING, _STRICT_MORNING),
)
TELL = _commit(
    "Ravi Menon",
    "Fri Oct 3 11:18:42 2025 +0200",
    "Say what a compaction takes, merges and leaves",
    Edit(
        COMPACTION,
        '        log.info("%s: level %d, %d tables into %d", name, level, len(inputs.upper), len(inputs.lower))\n',
        _LOG_INPUTS,
    ),
    Edit(COMPACTION, "", '        log.info("%s leaves %s in level %d", name, _listed(made), inputs.target)\n'),
    Edit(COMPACTION, "", _LISTED),
    Edit(COMPACTION, "from siltstore.table import Table\n", "from siltstore.table import Table, bounds\n"),
    Edit(
        TABLE,
        "",
        '\n\ndef bounds(tables: Sequence[Table]) -> tuple[str, str]:\n    """The lowest and the highest key of all of '
        'them."""\n    return min(table.low for table in tables), max(table.high for table in tables)\n',
    ),
)
SCAN = _commit(
    "Ines Ortega",
    "Thu Oct 2 17:33:05 2025 +0200",
    "scan: merge the sources instead of collecting them\n\n"
    "A scan over everything held every key in memory before it gave the first one.",
    Edit(STORE, _EAGER_SCAN, _LAZY_SCAN),
    Edit(
        STORE,
        "from collections.abc import Iterator\n",
        "from collections.abc import Iterator\nfrom heapq import merge\nfrom itertools import groupby\n",
    ),
)
FOUR = _commit(
    "Ravi Menon",
    "Wed Oct 1 10:02:37 2025 +0200",
    "Level 1 holds four tables, not six\n\nReads look into fewer tables, and the nights are no slower.",
    Edit(COMPACTION, "_MOST_TABLES = (4, 6, 10)", "_MOST_TABLES = (4, 4, 10)"),
)
DROP = _commit(
    "Ines Ortega",
    "Mon Sep 29 14:20:11 2025 +0200",
    "Drop markers that have nothing to hide\n\n"
    "A store of short-lived keys was four fifths markers. A marker may go when no deeper level can hold its\n"
    "key: those of the level it sinks to are part of the merge.",
    Edit(COMPACTION, _KEEPING_DOC, _DROPPING_DOC),
    Edit(COMPACTION, _KEEPING, _DROPPING),
    Edit(COMPACTION, "records = list(self._merged(inputs))", "records = list(self._merged(inputs, name))"),
    Edit(COMPACTION, "def _merged(self, inputs: Inputs)", "def _merged(self, inputs: Inputs, name: str)"),
    Edit(
        COMPACTION,
        "for _, versions in groupby(ordered",
        "for key, versions in groupby(ordered",
    ),
    Edit(LEVELS, "", _ANY_BELOW),
    Edit("tests/test_levels.py", "", _ANY_BELOW_TEST),
    Edit(_COMPACTION_TESTS, "", _DROP_TESTS),
)
BLOCKS = _commit(
    "Lena Brandt",
    "Fri Sep 26 09:41:58 2025 +0200",
    "Snapshots are released by leaving a block\n\nTwo of five callers forgot to.",
    Edit(SNAPSHOTS, _NO_BLOCK, _BLOCK),
    Edit(
        SNAPSHOTS,
        "from bisect import bisect_left, insort\n",
        "from bisect import bisect_left, insort\nfrom types import TracebackType\n",
    ),
    Edit(_SNAPSHOT_TESTS, _SEES, _SEES_IN_A_BLOCK),
    Edit(_SNAPSHOT_TESTS, _KEEPS, _KEEPS_IN_A_BLOCK),
    Edit(_SNAPSHOT_TESTS, "", _BLOCK_TEST),
)
CHOOSE = _commit(
    "Ravi Menon",
    "Wed Sep 24 15:07:30 2025 +0200",
    "Choose the inputs of a compaction in one place\n\n"
    "choose, _under and _seed each knew a part of it. Reads better from top to bottom; no change meant.",
    Edit(COMPACTION, _CHOOSE_AND_UNDER, _CHOOSE),
    Edit(COMPACTION, "", _SEED_DOC),
)
ROUND = _commit(
    "Ines Ortega",
    "Tue Sep 23 12:55:44 2025 +0200",
    "Deeper levels go round\n\nThe smallest table first meant that some ranges sank every night and others never did.",
    Edit(COMPACTION, _SMALLEST, _ROUND),
    Edit(COMPACTION, "", "        self._turn[level] = seed.high\n"),
    Edit(COMPACTION, "", "        self._turn: dict[int, str] = {}\n"),
    Edit(_COMPACTION_TESTS, "", _ROUND_TEST),
)
FILTERS = _commit(
    "Lena Brandt",
    "Sat Sep 20 18:12:09 2025 +0200",
    "Filter: ten bits a key, two checksums instead of four",
    Edit(FILTER, "BITS_PER_KEY = 12", "BITS_PER_KEY = 10"),
    Edit(FILTER, _FOUR_SUMS, _TWO_SUMS),
)
CUT_OFF = _commit(
    "Ravi Menon",
    "Thu Sep 18 16:26:51 2025 +0200",
    "Journal: leave out a last line that was cut off\n\nRecovery stopped at it, and with it the whole store.",
    Edit(JOURNAL, _NO_CUT_OFF, _CUT_OFF),
    Edit(_JOURNAL_TESTS, "", _CUT_OFF_TEST),
)
ONE_TABLE = _commit(
    "Ines Ortega",
    "Wed Sep 17 10:48:33 2025 +0200",
    "Keep all versions of a key in one table\n\n"
    "Cut by size alone, two neighbours of level 1 could both hold a key, which levels promise not to happen.",
    Edit(
        COMPACTION,
        "            if len(chunk) >= self._table_records:\n",
        "            if len(chunk) >= self._table_records and record.key != chunk[-1].key:\n",
    ),
    Edit(
        COMPACTION,
        '        """Tables of about the same size."""\n',
        '        """Tables of about the same size; all versions of a key stay in one table."""\n',
    ),
    Edit(_COMPACTION_TESTS, "", _ONE_TABLE_TEST),
)

COMMITS = (STRICT, TELL, SCAN, FOUR, DROP, BLOCKS, CHOOSE, ROUND, FILTERS, CUT_OFF, ONE_TABLE)
"""Newest first."""
