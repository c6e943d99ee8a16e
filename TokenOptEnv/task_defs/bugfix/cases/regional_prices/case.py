"""The case: facts, decoys, questions and candidate patches over the package as it stands at the red build."""

from __future__ import annotations

from datetime import UTC, datetime

from TokenOptEnv.config import Difficulty
from TokenOptEnv.models import ArtifactKind
from TokenOptEnv.scenario import CacheValidity, QuestionKind, Scenario
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply
from TokenOptEnv.task_defs.bugfix.cases.answers import ask_place, ask_repair, place_of
from TokenOptEnv.task_defs.bugfix.cases.regional_prices import people
from TokenOptEnv.task_defs.bugfix.cases.regional_prices.commits import (
    BUG,
    COMMITS,
    EXPIRY,
    KEYS,
    MEMO,
    REPRODUCE,
    STORE,
)
from TokenOptEnv.task_defs.bugfix.cases.regional_prices.hidden_tests import HIDDEN_TESTS
from TokenOptEnv.task_defs.bugfix.history import log_with_diffs
from TokenOptEnv.task_defs.bugfix.job_log import Job, JobClock, write_job_log
from TokenOptEnv.task_defs.bugfix.judging import judge
from TokenOptEnv.task_defs.bugfix.patch import one_line_patch
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.execution import run_tests

SCENARIO_ID = "bugfix-easy-shelflife-regional-prices"
VERSION = "2.4.0"
FILES = BUG.applied(package_files("shelflife"))

_JOB = Job(
    name="shelflife/tests",
    number=4471,
    runner="linux-small-03",
    head=REPRODUCE.sha,
    branch="main",
    command="python -m pytest tests -v",
    trigger="push by ines",
    environment={
        "CI": "true",
        "HOME": "/home/runner",
        "LANG": "C.UTF-8",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PYTHONHASHSEED": "random",
        "PYTHONUNBUFFERED": "1",
        "SHELFLIFE_DEFAULT_CAPACITY": "256",
        "TZ": "Europe/Berlin",
    },
    notices=(
        "warning: clock of linux-small-03 was stepped by +1.204 s at boot",
        "cache: restored .venv (key py311-2f61, saved 6 days ago)",
        "cache: restored .pytest_cache (key main, saved 20 hours ago)",
    ),
)

RIGHT_PATCH = one_line_patch(FILES, KEYS, "*sorted(named))", "*sorted(named.items()))")
UNSORTED_PATCH = one_line_patch(FILES, KEYS, "*sorted(named))", "*named.items())")
VALUES_PATCH = one_line_patch(FILES, KEYS, "*sorted(named))", "*sorted(named.values()))")
DEADLINE_PATCH = one_line_patch(FILES, EXPIRY, "return now >= deadline", "return now > deadline")
READ_PATCH = one_line_patch(
    FILES,
    STORE,
    "self._policy.deadline(entry.written_at, now)",
    "self._policy.deadline(entry.written_at, entry.written_at)",
)
WRONG_PATCHES = (UNSORTED_PATCH, VALUES_PATCH, DEADLINE_PATCH, READ_PATCH)

_RIGHT_PLACE = place_of(FILES, KEYS, BUG.after, RIGHT_PATCH)
_LOCATE_NEEDS = ("within-its-life", "key-of-a-call", "names-only")
_LOCATE_PATH = ("within-its-life", "names-only")
_REPAIR_NEEDS = ("names-only", "rules-for-keys")


def build() -> Scenario:
    case = CaseBuilder(
        scenario_id=SCENARIO_ID,
        family="bugfix",
        difficulty=Difficulty.EASY,
        title="Shelflife: British prices in the German shop",
        brief=(
            "A service that remembers prices with shelflife charges some customers the price of another region. "
            "Build 4471 of main (shelflife 2.4.0, unchanged for 20 hours) is red with a test that reproduces it. "
            "Find the faulty file, function and line, and give a minimal unified diff. "
            "The package's documented behaviour must hold for every call, not just for the red test."
        ),
        version=VERSION,
    )
    _add_artifacts(case)
    _add_facts(case)
    _add_decoys(case)
    _add_answer(case)
    _add_subtasks(case)
    _add_cache(case)
    judge(case, FILES, HIDDEN_TESTS, RIGHT_PATCH, WRONG_PATCHES)
    return case.build()


def _add_artifacts(case: CaseBuilder) -> None:
    run = run_tests(FILES, verbose=True)
    log = write_job_log(
        Stream(SCENARIO_ID, "job"),
        JobClock(datetime(2025, 3, 12, 16, 44, 3, tzinfo=UTC)),
        _JOB,
        run.report,
        bool(run.failing),
    )
    tests = "\n\n".join(f"# {path}\n{FILES[path]}" for path in ("tests/test_memo.py", "tests/test_store.py"))
    case.artifact("ticket-storefront", ArtifactKind.TICKET, "Report from the storefront team", people.TICKET)
    case.artifact("job-4471", ArtifactKind.TEST_REPORT, "Log of build 4471", log)
    case.artifact("code-store", ArtifactKind.CODE, STORE, FILES[STORE])
    case.artifact("code-keys", ArtifactKind.CODE, KEYS, FILES[KEYS])
    case.artifact("code-memo", ArtifactKind.CODE, MEMO, FILES[MEMO])
    case.artifact("code-expiry", ArtifactKind.CODE, EXPIRY, FILES[EXPIRY])
    case.artifact("tests-shelflife", ArtifactKind.CODE, "tests/test_memo.py, tests/test_store.py", tests)
    case.artifact(
        "commits-march", ArtifactKind.DIFF, "git log -p, the last five commits", log_with_diffs(FILES, COMMITS)
    )
    case.artifact("chat-shelflife-dev", ArtifactKind.CHAT, "Maintainers' channel, 12 March", people.CHAT)


def _add_facts(case: CaseBuilder) -> None:
    case.fact(
        "within-its-life",
        "a hit on a young entry: nothing was kept too long, the wrong entry was found",
        Quote("ticket-storefront", "x-cache: hit; age=12; ttl=60"),
        Quote("chat-shelflife-dev", "test is up: 30 s on the clock, ttl is 60"),
    )
    case.fact(
        "key-of-a-call",
        "what is found is decided by the keyer alone",
        Quote("code-memo", "key = self._keyer.key(args, kwargs)"),
    )
    case.fact(
        "names-only",
        "iterating a mapping gives names, the values are lost; the commit that did it shows the same line",
        Quote("code-keys", BUG.after),
        Quote("commits-march", f"+            {BUG.after}"),
    )
    case.fact(
        "rules-for-keys",
        "values have to be in the key, and the order of keywords must not be",
        Quote("code-keys", "the order in which keywords are written is no part of a call"),
    )


def _add_decoys(case: CaseBuilder) -> None:
    case.decoy(
        "read-moves-deadline",
        "moving the deadline at a read looks as if an answer never dies; a fixed life ignores reads",
        Quote("code-store", "entry.deadline = self._policy.deadline(entry.written_at, now)"),
        Quote("chat-shelflife-dev", "get() moves the deadline on every read, so an answer never dies"),
    )
    case.decoy(
        "border-flipped",
        "changed the same day, right before the red build; a test of the border passes",
        Quote("code-expiry", "return now >= deadline"),
        Quote("commits-march", "Serve nothing at the very deadline"),
        Quote("chat-shelflife-dev", "I flipped > to >= this morning"),
    )
    case.decoy(
        "sweep-on-monday",
        "went out on the day the trouble began; dropping an entry can only give a miss",
        Quote("commits-march", "Sweep before evicting"),
        Quote("chat-shelflife-dev", "could a call get another one's answer that way?"),
    )
    case.decoy(
        "save-the-sort",
        "a maintainer's advice that turns the red test green and breaks the rule about order",
        Quote("chat-shelflife-dev", "append them as they come, named.items(), and save the sort"),
    )
    case.decoy(
        "sorted-names-on-purpose",
        "the types are rightly taken in the order of the names, which makes sorting names look meant",
        Quote("code-keys", "*(type(named[name]) for name in sorted(named))"),
        Quote("chat-shelflife-dev", "typed keyers also sort by name only, see _types"),
    )


def _add_answer(case: CaseBuilder) -> None:
    ask_place(case, KEYS, "Keyer.key", (EXPIRY, MEMO, KEYS, STORE), _LOCATE_PATH)
    ask_repair(case, _RIGHT_PLACE["line"], RIGHT_PATCH, _REPAIR_NEEDS)


def _add_subtasks(case: CaseBuilder) -> None:
    case.subtask(
        "locate",
        "Which file and which function make a call get an answer that belongs to another call?",
        ("file", "function"),
        QuestionKind.CODE,
        False,
        _LOCATE_NEEDS,
        Reply(
            {"file": KEYS, "function": "Keyer.key"},
            "A young entry is hit for another region, so two calls share a key. Keyer.key puts the keywords' names "
            "into the key and leaves their values out.",
        ),
        (
            Reply(
                {"file": STORE, "function": "Store.get"},
                "Store.get moves the deadline at every read, so an answer that is asked for often outlives its time.",
                ("read-moves-deadline",),
            ),
            Reply(
                {"file": EXPIRY, "function": "is_over"},
                "is_over was changed on the day of the red build; at the border it now judges the wrong way round.",
                ("border-flipped",),
            ),
            Reply(
                {"file": STORE, "function": "Store._make_room"},
                "_make_room sweeps before it evicts since Monday and drops entries that are still wanted.",
                ("sweep-on-monday",),
            ),
            Reply(
                {"file": KEYS, "function": "Keyer._types"},
                "_types sorts by name only, so calls whose keywords differ in value get the same key.",
                ("sorted-names-on-purpose",),
            ),
            Reply(
                {"file": MEMO, "function": "Memo.__call__"},
                "Memo.__call__ returns what the store found without checking that it was stored for these arguments.",
            ),
        ),
    )
    case.subtask(
        "repair",
        "Which line is at fault, and which one-line diff gives every call its own answer, in whatever order its "
        "keywords are written?",
        ("line", "patch"),
        QuestionKind.CODE,
        True,
        _REPAIR_NEEDS,
        Reply(
            _RIGHT_PLACE,
            "The key needs names and values, in an order that does not depend on how the call was written: "
            "sort the items.",
        ),
        (
            Reply(
                place_of(FILES, KEYS, BUG.after, UNSORTED_PATCH),
                "The values are missing from the key; append the items as they come, which also saves the sort.",
                ("save-the-sort",),
            ),
            Reply(
                place_of(FILES, EXPIRY, "return now >= deadline", DEADLINE_PATCH),
                "The comparison was flipped on the day of the red build; turn it back.",
                ("border-flipped",),
            ),
            Reply(
                place_of(FILES, STORE, "entry.deadline = self._policy.deadline(entry.written_at, now)", READ_PATCH),
                "A read must not prolong a life: compute the deadline from the time of writing alone.",
                ("read-moves-deadline",),
            ),
            Reply(
                place_of(FILES, KEYS, BUG.after, VALUES_PATCH),
                "The names say nothing about a call; put the sorted values into the key.",
            ),
        ),
    )


def _add_cache(case: CaseBuilder) -> None:
    case.cached(
        "cache-31",
        "locate",
        "Which function lets two calls of a memoised function share an entry?",
        {"file": KEYS, "function": "Keyer.key"},
        "Keyer.key builds the same key for calls that differ in a keyword's value only.",
        VERSION,
        3,
        (Quote("code-keys", BUG.after), Quote("code-memo", "key = self._keyer.key(args, kwargs)")),
        CacheValidity.VALID,
    )
    case.cached(
        "cache-12",
        "locate",
        "Which file and function answer a call with what belongs to another?",
        {"file": STORE, "function": "Store._make_room"},
        "Store._make_room: eviction under load mixed entries up.",
        VERSION,
        40,
        (Quote("code-store", "self._entries.popitem(last=False)"),),
        CacheValidity.STALE,
    )
    case.cached(
        "cache-8",
        "locate",
        "Which function serves an answer after its deadline?",
        {"file": STORE, "function": "Store.get"},
        "Store.get: a read moved the deadline of an entry whose life should have been fixed.",
        "2.3.2",
        410,
        (Quote("code-store", "entry.deadline = self._policy.deadline(entry.written_at, now)"),),
        CacheValidity.WRONG_VERSION,
    )
    case.cached(
        "cache-27",
        "repair",
        "Which one-line diff makes keyword arguments part of the key?",
        place_of(FILES, KEYS, BUG.after, UNSORTED_PATCH),
        "Append the keyword items to the key.",
        "2.4.0rc1",
        120,
        (Quote("code-keys", "key: Key = (self.namespace, *args)"),),
        CacheValidity.WRONG_VERSION,
    )
