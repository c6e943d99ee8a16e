"""The case: facts, decoys, questions and candidate patches over the package as it stands at the red nightly."""

from __future__ import annotations

from functools import cache

from TokenOptEnv.config import Difficulty
from TokenOptEnv.models import ArtifactKind, FieldKind, Slot
from TokenOptEnv.scenario import CacheValidity, QuestionKind, Scenario
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply
from TokenOptEnv.task_defs.bugfix.cases.answers import ask_place, ask_repair, place_of
from TokenOptEnv.task_defs.bugfix.cases.undead_keys import people
from TokenOptEnv.task_defs.bugfix.cases.undead_keys.commits import (
    BLOCKS,
    BUG,
    CHOOSE,
    COMMITS,
    COMPACTION,
    DROP,
    FILTER,
    FOUR,
    JOURNAL,
    LEVELS,
    MEMTABLE,
    ROUND,
    SNAPSHOTS,
    SOAK,
    STORE,
    STRICT,
    TABLE,
)
from TokenOptEnv.task_defs.bugfix.cases.undead_keys.hidden_tests import HIDDEN_TESTS
from TokenOptEnv.task_defs.bugfix.cases.undead_keys.nights import FILES, Night, archive, nights, states
from TokenOptEnv.task_defs.bugfix.history import log_with_diffs
from TokenOptEnv.task_defs.bugfix.job_log import Job, JobClock, write_job_log
from TokenOptEnv.task_defs.bugfix.judging import judge
from TokenOptEnv.task_defs.bugfix.patch import one_line_patch
from TokenOptEnv.task_defs.execution import TestRun, run_tests

SCENARIO_ID = "bugfix-hard-siltstore-undead-keys"
VERSION = "0.7.0"
VICTIM = "cobalt/31"
COMPACTION_ID = "c-4"

_THREAD, _NOTES, _NIGHTS = "issue-nightly", "notes-levels", "nights"
_RED, _GREEN, _COMMITS = "job-1311", "job-1303", "commits-siltstore"
_GREEN_NUMBER = 1303

_LOWER_OLD = "touching(level + 1, seed.low, seed.high)"
_ASKS_OLD = "any_below(inputs.target, key)"
_DROPS_OLD = "if kept[-1].is_marker and not self.levels.any_below(inputs.target, key):"
_READER_OLD = "return place < len(self._open) and self._open[place] < newer"
_ROUND_OLD = 'if table.low > self._turn.get(level, "")'

RIGHT_PATCH = one_line_patch(FILES, COMPACTION, _LOWER_OLD, "touching(level + 1, *bounds(upper))")
ASK_TARGET_PATCH = one_line_patch(FILES, COMPACTION, _ASKS_OLD, "any_below(inputs.level, key)")
DEEPEST_PATCH = one_line_patch(
    FILES, COMPACTION, _DROPS_OLD, "if kept[-1].is_marker and inputs.target == self.levels.depth - 1:"
)
READER_PATCH = one_line_patch(FILES, SNAPSHOTS, _READER_OLD, _READER_OLD.replace("< newer", "<= newer"))
ROUND_PATCH = one_line_patch(FILES, COMPACTION, _ROUND_OLD, _ROUND_OLD.replace(">", ">="))
WRONG_PATCHES = (ASK_TARGET_PATCH, DEEPEST_PATCH, READER_PATCH, ROUND_PATCH)

_RIGHT_PLACE = place_of(FILES, COMPACTION, BUG.after, RIGHT_PATCH)
_VICTIM_NEEDS = ("came-back", "marker-lost")
_LOCATE_NEEDS = ("whole-range", "under-nothing", "left-below", "one-table-a-level", "seed-alone")
_LOCATE_PATH = ("under-nothing", "seed-alone")
_REPAIR_NEEDS = ("seed-alone", "sink-together", "all-their-keys", "under-removed")
_REPAIR_PATH = ("seed-alone", "all-their-keys")


def build() -> Scenario:
    case = CaseBuilder(
        scenario_id=SCENARIO_ID,
        family="bugfix",
        difficulty=Difficulty.HARD,
        title="Siltstore: deleted keys are back",
        brief=(
            "Siltstore keeps its keys in levels of sorted tables. Nightly 1311 of main (0.7.0, unchanged for 18 hours) "
            "is red: a deleted key can be read again. Find the commit that brought the fault in, whenever it began to "
            "show, and its file, function and line. Give a minimal unified diff that keeps what the package and its "
            "notes promise. Every night since 1291 is archived."
        ),
        version=VERSION,
    )
    _add_artifacts(case)
    _add_facts(case)
    _add_decoys(case)
    _add_answer(case)
    _add_victim(case)
    _add_origin(case)
    _add_locate(case)
    _add_repair(case)
    _add_cache(case)
    judge(case, FILES, HIDDEN_TESTS, RIGHT_PATCH, WRONG_PATCHES)
    return case.build()


@cache
def red_run() -> TestRun:
    return run_tests(FILES, verbose=True, log_level="DEBUG")


def _job(night: Night, last_green: str, runner: str) -> Job:
    return Job(
        name="siltstore/nightly",
        number=night.number,
        runner=runner,
        head=night.sha,
        branch="main",
        command="python -m pytest tests -v --log-level=DEBUG",
        trigger="schedule, every night at 02:00",
        environment={
            "CI": "true",
            "HOME": "/home/runner",
            "LANG": "C.UTF-8",
            "NIGHTLY": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PYTHONUNBUFFERED": "1",
            "SILTSTORE_SOAK_SEED": str(night.number),
            "TZ": "Europe/Berlin",
        },
        notices=(
            last_green,
            f"cache: restored .venv (key py311-{Stream(SCENARIO_ID, 'venv').hex(4)}, saved 9 days ago)",
        ),
    )


def _log(night: Night, last_green: str, run: TestRun, runner: str) -> str:
    clock, stream = JobClock(night.at), Stream(SCENARIO_ID, "job", night.number)
    return write_job_log(stream, clock, _job(night, last_green, runner), run.report, bool(run.failing))


def _last_green(night: Night) -> str:
    return f"last green run of this job: {night.number} at {night.sha}"


def _add_artifacts(case: CaseBuilder) -> None:
    every = {night.number: night for night in nights()}
    red, green = nights()[-1], every[_GREEN_NUMBER]
    red_log = _log(red, _last_green(nights()[-2]), red_run(), "linux-large-07")
    green_run = run_tests(states()[green.head], verbose=True)
    green_log = _log(green, _last_green(every[_GREEN_NUMBER - 1]), green_run, "linux-large-02")
    rest = (FILTER, MEMTABLE, JOURNAL, "siltstore/record.py", "siltstore/stats.py")
    case.artifact(_THREAD, ArtifactKind.TICKET, "Issue about nightly 1311, with comments", people.THREAD)
    case.artifact("code-store", ArtifactKind.CODE, STORE, FILES[STORE])
    case.artifact(_NIGHTS, ArtifactKind.TEST_REPORT, "Archive of the nights, oldest first", archive())
    case.artifact("code-levels", ArtifactKind.CODE, LEVELS, FILES[LEVELS])
    case.artifact("code-compaction", ArtifactKind.CODE, COMPACTION, FILES[COMPACTION])
    case.artifact(_RED, ArtifactKind.TEST_REPORT, "Log of nightly 1311", red_log)
    case.artifact("code-table", ArtifactKind.CODE, TABLE, FILES[TABLE])
    case.artifact("code-snapshots", ArtifactKind.CODE, SNAPSHOTS, FILES[SNAPSHOTS])
    case.artifact("code-rest", ArtifactKind.CODE, "Filter, memtable, journal, records, counters", _joined(rest))
    case.artifact("code-soak", ArtifactKind.CODE, SOAK, FILES[SOAK])
    case.artifact("tests-siltstore", ArtifactKind.CODE, "All test modules, one after the other", _joined(_tests()))
    case.artifact(_GREEN, ArtifactKind.TEST_REPORT, f"Log of nightly {_GREEN_NUMBER}", green_log)
    case.artifact(_COMMITS, ArtifactKind.DIFF, "git log -p, the last eleven commits", log_with_diffs(FILES, COMMITS))
    case.artifact(_NOTES, ArtifactKind.RUNBOOK, "Notes on levels", people.NOTES)


def _joined(paths: tuple[str, ...]) -> str:
    return "\n\n".join(f"# {path}\n{FILES[path]}" for path in paths)


def _tests() -> tuple[str, ...]:
    return tuple(path for path in FILES if path.startswith("tests/"))


def _add_facts(case: CaseBuilder) -> None:
    case.fact(
        "came-back",
        "the one key that was deleted and is there, with the value it had",
        Quote(_RED, f"assert {{'{VICTIM}': 'v104'}} == {{}}"),
    )
    case.fact(
        "marker-lost",
        "the marker that should still hide that value, and the merge that let go of it",
        Quote(_RED, f"{COMPACTION_ID} drops the marker 219 of {VICTIM}"),
    )
    for night in nights():
        case.fact(f"night-{night.number}", "whether levels kept their rule that night", Quote(_NIGHTS, night.verdict))
    case.fact(
        "under-removed",
        "before this commit the whole range of what sinks was looked under",
        Quote(_COMMITS, "-        return self.levels.touching(level + 1, low, high)"),
    )
    case.fact(
        "always-zero",
        "any overlap is a broken rule, whether it costs anything or not",
        Quote(_NOTES, "The right number of overlaps is 0, always"),
    )
    case.fact(
        "whole-range",
        "five tables sink together, over nearly all keys",
        Quote(_RED, "of level 0, acme/06 to delta/57"),
    )
    case.fact(
        "under-nothing",
        "the merge finds nothing under them",
        Quote(_RED, f"{COMPACTION_ID} merges them with nothing of level 1"),
    )
    case.fact(
        "left-below",
        "and yet a table with that key lies there",
        Quote(_RED, "#15 cobalt/24..delta/37, #16 delta/40..delta/57 in level 1"),
    )
    case.fact(
        "one-table-a-level",
        "what levels promise to everybody who reads or merges",
        Quote("code-levels", "share no key: every key lies in one table of a level or in none"),
    )
    case.fact("seed-alone", "only the first of the tables is looked under", Quote("code-compaction", BUG.after))
    case.fact(
        "sink-together",
        "more than the first table sinks, and has to",
        Quote("code-compaction", "so tables that share keys sink together."),
    )
    case.fact(
        "all-their-keys",
        "a function that gives the range of several tables",
        Quote("code-table", "return min(table.low for table in tables), max(table.high for table in tables)"),
    )


def _add_decoys(case: CaseBuilder) -> None:
    case.decoy(
        "first-drop",
        "an earlier marker of the same key, rightly dropped before the value was written",
        Quote(_RED, f"c-1 drops the marker 71 of {VICTIM}"),
    )
    case.decoy(
        "last-rewrite",
        "the last merge that rewrote the key's range; the marker was gone by then",
        Quote(_RED, "c-12 merges them with"),
    )
    case.decoy(
        "drop-monday",
        "keys come back from that commit on, because the rule it rests on was broken before",
        Quote(_THREAD, "The nights count resurrected keys from the night after"),
        Quote(_COMMITS, "Drop markers that have nothing to hide"),
    )
    case.decoy(
        "one-commit-since",
        "the only commit since the last green night: it made the test, not the fault",
        Quote(_RED, _last_green(nights()[-2])),
        Quote(_COMMITS, "Fail when keys come back in the soak"),
    )
    case.decoy(
        "smaller-level",
        "more compactions, each as right or wrong as before",
        Quote(_THREAD, "Level 1 became smaller on the first of October"),
        Quote(_COMMITS, "Level 1 holds four tables, not six"),
    )
    case.decoy(
        "reader-exactly-there",
        "a reader at the newer version's number sees the newer version",
        Quote(_THREAD, "any_between says `< newer`"),
        Quote("code-snapshots", _READER_OLD),
        Quote(_COMMITS, "Snapshots are released by leaving a block"),
    )
    case.decoy(
        "few-bits",
        "a filter with fewer bits says yes too often, never no",
        Quote(_THREAD, "Ten bits a key?"),
        Quote("code-rest", "BITS_PER_KEY = 10"),
        Quote(_COMMITS, "Filter: ten bits a key"),
    )
    case.decoy(
        "ask-target-too",
        "keeps the marker and turns the test green; the tables still share keys, and markers stay for good",
        Quote(_THREAD, "Unless any_below should ask that level as well"),
    )
    case.decoy(
        "going-round",
        "new in the week before, and it only decides which table comes first",
        Quote(_THREAD, "So has the turn of the deeper levels"),
        Quote(_COMMITS, "Deeper levels go round"),
    )
    case.decoy(
        "by-number",
        "looking by number is right, and below level 0 makes no difference where the rule holds",
        Quote(_THREAD, "lookup goes through the tables of a level by number"),
        Quote("code-levels", "yield from sorted(spanning, key=lambda table: -table.number)"),
    )


def _origin_needs() -> tuple[str, ...]:
    return (*(f"night-{night.number}" for night in nights()), "always-zero", "under-removed")


def _add_answer(case: CaseBuilder) -> None:
    first = next(night for night in nights() if not night.soak[-1].endswith("overlaps 0"))
    path = (f"night-{first.number - 1}", f"night-{first.number}", "under-removed")
    case.answer_field("commit", "Which commit brought the fault in? Short id.", FieldKind.TEXT, (CHOOSE.sha,), path)
    files = (FILTER, COMPACTION, JOURNAL, LEVELS, SNAPSHOTS, STORE, TABLE)
    ask_place(case, COMPACTION, "Compactor.choose", files, _LOCATE_PATH)
    ask_repair(case, _RIGHT_PLACE["line"], RIGHT_PATCH, _REPAIR_PATH)


def _add_victim(case: CaseBuilder) -> None:
    case.subtask(
        "victim",
        "Which compaction drops the marker that should hide the key resurrected in the red morning?",
        ("compaction",),
        QuestionKind.LOOKUP,
        True,
        _VICTIM_NEEDS,
        Reply(
            {"compaction": COMPACTION_ID},
            f"{VICTIM} is back with v104; {COMPACTION_ID} dropped its marker 219, the newer of the two.",
        ),
        (
            Reply({"compaction": "c-1"}, f"c-1 dropped marker 71 of {VICTIM}, the key that is back.", ("first-drop",)),
            Reply(
                {"compaction": "c-12"},
                f"c-12 was the last to rewrite cobalt/09..cobalt/36, where {VICTIM} lies.",
                ("last-rewrite",),
            ),
            Reply({"compaction": "c-6"}, "c-6 carried the key's tables down to level 2 and lost the marker there."),
        ),
    )


def _add_origin(case: CaseBuilder) -> None:
    case.subtask(
        "origin",
        "Going by every night there was: which commit brought the fault in? Give its short id.",
        ("commit",),
        QuestionKind.CAUSAL,
        False,
        _origin_needs(),
        Reply(
            {"commit": CHOOSE.sha},
            f"Overlaps are 0 in every night up to 1298 and turn up in the first night of {CHOOSE.sha}, which no "
            "longer looks under all tables that sink; short nights show nothing.",
        ),
        (
            Reply(
                {"commit": DROP.sha},
                f"{DROP.sha}: no night before it counts a resurrected key, and nearly every one after it does.",
                ("drop-monday",),
            ),
            Reply(
                {"commit": STRICT.sha},
                f"{STRICT.sha} is the only commit since the last green night.",
                ("one-commit-since",),
            ),
            Reply(
                {"commit": FOUR.sha},
                f"{FOUR.sha} made level 1 smaller, so that more is merged and more gets lost.",
                ("smaller-level",),
            ),
            Reply(
                {"commit": ROUND.sha},
                f"{ROUND.sha} changed which table of a deeper level sinks next, just before it began.",
                ("going-round",),
            ),
            Reply({"commit": BLOCKS.sha}, f"{BLOCKS.sha} releases snapshots early.", ("reader-exactly-there",)),
        ),
    )


def _add_locate(case: CaseBuilder) -> None:
    case.subtask(
        "locate",
        "Which file and function let {compaction} go past a table of the level it merges with, by number or by key?",
        ("file", "function"),
        QuestionKind.CODE,
        False,
        _LOCATE_NEEDS,
        Reply(
            {"file": COMPACTION, "function": "Compactor.choose"},
            f"{COMPACTION_ID} sinks acme/06 to delta/57 and merges with nothing, though #15 lies there: choose looks "
            "under the seed alone.",
        ),
        (
            Reply(
                {"file": COMPACTION, "function": "Compactor._merged"},
                "_merged drops a marker without asking the level it goes to.",
                ("ask-target-too",),
            ),
            Reply(
                {"file": SNAPSHOTS, "function": "Snapshots.any_between"},
                "any_between misses a reader at the newer version, so a version is merged away.",
                ("reader-exactly-there",),
            ),
            Reply(
                {"file": LEVELS, "function": "Levels.lookup"},
                "lookup goes by number below level 0 and meets the old value first.",
                ("by-number",),
            ),
            Reply(
                {"file": FILTER, "function": "KeyFilter.may_hold"},
                "With ten bits a key the filter denies a marker that is there.",
                ("few-bits",),
            ),
            Reply(
                {"file": COMPACTION, "function": "Compactor._seed"},
                "_seed skips a table when levels go round, and its keys are left behind.",
                ("going-round",),
            ),
        ),
        slot=Slot(name="compaction", from_subtask_id="victim"),
        slot_value=COMPACTION_ID,
    )


def _add_repair(case: CaseBuilder) -> None:
    case.subtask(
        "repair",
        "Tables that share keys sink together: which line looks under the seed alone, and which one-line diff goes "
        "from the lowest to the highest key of all of them?",
        ("line", "patch"),
        QuestionKind.CODE,
        False,
        _REPAIR_NEEDS,
        Reply(
            _RIGHT_PLACE, "Look under the bounds of all tables that sink, as was done before the inputs were tidied."
        ),
        (
            Reply(
                place_of(FILES, COMPACTION, _DROPS_OLD, ASK_TARGET_PATCH),
                "Ask the level that is merged into as well before a marker goes.",
                ("ask-target-too",),
            ),
            Reply(
                place_of(FILES, COMPACTION, _DROPS_OLD, DEEPEST_PATCH),
                "Drop markers in the deepest level only.",
                ("drop-monday",),
            ),
            Reply(
                place_of(FILES, SNAPSHOTS, _READER_OLD, READER_PATCH),
                "Count a reader who sits at the newer version.",
                ("reader-exactly-there",),
            ),
            Reply(
                place_of(FILES, COMPACTION, _ROUND_OLD, ROUND_PATCH),
                "Begin the round with the table that ended the last one.",
                ("going-round",),
            ),
        ),
    )


def _add_cache(case: CaseBuilder) -> None:
    case.cached(
        "cache-71",
        "victim",
        "Which compaction lost the marker of the key that came back in the soak of nightly 1311?",
        {"compaction": COMPACTION_ID},
        f"{COMPACTION_ID} dropped marker 219 of {VICTIM}.",
        VERSION,
        2,
        (Quote(_RED, f"assert {{'{VICTIM}': 'v104'}} == {{}}"), Quote(_RED, f"{COMPACTION_ID} drops the marker 219")),
        CacheValidity.VALID,
    )
    case.cached(
        "cache-64",
        "origin",
        "Which commit made deleted keys come back?",
        {"commit": DROP.sha},
        f"{DROP.sha}: the first night that counts resurrected keys is the one after it.",
        VERSION,
        170,
        (Quote(_COMMITS, "Drop markers that have nothing to hide"),),
        CacheValidity.STALE,
    )
    case.cached(
        "cache-40",
        "locate",
        "Which file and function let a compaction pass over a table with the key?",
        {"file": COMPACTION, "function": "Compactor._seed"},
        "Compactor._seed: the smallest table first left ranges behind.",
        "0.6.4",
        410,
        (Quote("code-compaction", _ROUND_OLD),),
        CacheValidity.WRONG_VERSION,
    )
    case.cached(
        "cache-69",
        "repair",
        "Which one-line diff keeps the marker of a deleted key?",
        place_of(FILES, COMPACTION, _DROPS_OLD, ASK_TARGET_PATCH),
        "Let any_below ask the target as well.",
        VERSION,
        61,
        (Quote("code-compaction", _DROPS_OLD),),
        CacheValidity.STALE,
    )
