"""The parcelrate case: one book for everybody, seen only when two test files share a process."""

from __future__ import annotations

from TokenOptEnv.config import Difficulty
from TokenOptEnv.models import ArtifactKind, Slot
from TokenOptEnv.scenario import CacheValidity, QuestionKind, Scenario
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply
from TokenOptEnv.task_defs.ci.answers import (
    CULPRIT,
    FAILING_TEST,
    FAILURE_CLASS,
    FailureClass,
    ask_culprit,
    ask_failing_test,
    ask_failure_class,
)
from TokenOptEnv.task_defs.ci.cases.parcelrate import history, logs, papers
from TokenOptEnv.task_defs.ci.writers.history import Change, oneline, patches

SCENARIO_ID = "ci-medium-july-statement"
FAILING = "tests/test_statements.py::test_the_month_adds_up"
STRAY = "stray_code"
STRAY_CODE = "FUEL-17"
_STRICT = f"{logs.STRICT}::test_every_line_fits_the_printer"
_ZONES = "tests/test_zones.py::test_the_longest_prefix_wins"
_IMPORT = "tests/test_carrier_import.py::test_a_fuel_row_goes_on_top"
_CHOICES = (
    _IMPORT,
    "tests/test_carrier_import.py::test_the_later_fuel_row_counts",
    _STRICT,
    "tests/test_quotes.py::test_the_first_band_that_holds_the_weight_counts",
    logs.WATCHED,
    FAILING,
    "tests/test_tariffs.py::test_limits_are_inclusive",
    _ZONES,
)

RED = "log-run-2291"
RETRY = "log-run-2291-attempt-2"
GREEN = "log-run-2284"
NIGHTLY = "log-nightly-parcelrate"
PATCHES = "patches-main"
PIPELINE = "pipeline-yml"
RUNBOOK = "runbook-ci-triage"
CHAT = "chat-pricing-ci"
_EXTRA_ITEM = "{'FUEL-17': 300}"
_EXPECTED = '.totals == {"BASE-Z1": 980, "BASE-Z4": 2480, "ISLAND": 620}'


def build() -> Scenario:
    head = history.commits()[history.README_STATEMENTS]
    case = CaseBuilder(
        scenario_id=SCENARIO_ID,
        family="ci",
        difficulty=Difficulty.MEDIUM,
        title="A charge too many in July",
        brief=(
            "parcelrate prices parcels. Push run 2291 is red, run 2284 before it was green, and four commits lie "
            "between. Find the test that fails in a gating job, the class of failure by the team's runbook, and the "
            "commit that introduced it: the first at which the failing selection of tests fails, wherever that is. "
            f"Logs of both runs and of three nightlies, patches, pipeline and chat are at hand. Main is at {head.sha}."
        ),
        version=f"main@{head.sha}",
    )
    _artifacts(case)
    _facts(case)
    _decoys(case)
    _fields(case)
    _symptom(case)
    _stray(case)
    _origin(case)
    _nature(case)
    _cache(case)
    return case.build()


def _shas() -> dict[Change, str]:
    return {change: commit.sha for change, commit in history.commits().items()}


def _artifacts(case: CaseBuilder) -> None:
    commits = history.commits()
    head = commits[history.README_STATEMENTS].files
    case.artifact(
        "history-main", ArtifactKind.HISTORY, "Commits on main, newest first", oneline(tuple(commits.values()))
    )
    case.artifact(RED, ArtifactKind.LOG, "Run 2291, attempt 1, all jobs", logs.red_push())
    case.artifact(RETRY, ArtifactKind.LOG, "Run 2291, attempt 2, failed shards", logs.red_push_again())
    case.artifact(GREEN, ArtifactKind.LOG, "Run 2284, test jobs", logs.green_push())
    case.artifact(NIGHTLY, ArtifactKind.LOG, "Nightlies of 7, 8 and 9 July", logs.nightlies())
    case.artifact(PATCHES, ArtifactKind.DIFF, "Patches on main, newest first", patches(tuple(commits.values())))
    case.artifact(PIPELINE, ArtifactKind.CONFIG, "CI pipeline", head["ci/pipeline.yml"])
    case.artifact(RUNBOOK, ArtifactKind.RUNBOOK, "CI triage, pricing team", papers.RUNBOOK)
    case.artifact(CHAT, ArtifactKind.CHAT, "#pricing-ci, 9 July", papers.CHAT)


def _facts(case: CaseBuilder) -> None:
    sha = _shas()
    case.fact("gates", "which jobs stop a merge", Quote(PIPELINE, "main: [lint, tests/*]"))
    case.fact("red-test", "the one red test of a gating job", *_both_attempts(f"FAILED {FAILING}"))
    case.fact("extra-item", "what the page has too much", *_both_attempts(_EXTRA_ITEM))
    case.fact("expected", "what the page should have", *_both_attempts(_EXPECTED))
    case.fact(
        "night-passed",
        "all tests in one process passed here, after fuel rows were read",
        Quote(NIGHTLY, f"HEAD is now at {sha[history.SCHEDULE_NOTE]}"),
    )
    case.fact(
        "night-void",
        "the second night tells nothing about the code",
        Quote(NIGHTLY, "ERROR: Could not find a version that satisfies the requirement"),
    )
    case.fact(
        "night-head",
        "where main stood when one process first failed",
        Quote(NIGHTLY, f"HEAD is now at {sha[history.CHANGELOG]}"),
    )
    case.fact("night-failed", "the same item too many, a day before run 2291", Quote(NIGHTLY, _EXTRA_ITEM))
    case.fact(
        "in-place",
        "the import changes the book it was given",
        Quote(PATCHES, "+            book.extras.setdefault(zone, []).append(Extra(code, int(cents)))"),
    )
    case.fact("one-for-all", "from here every caller gets the same book", Quote(PATCHES, "+    if name not in _READY:"))
    case.fact(
        "promise",
        "the loader promises a book of one's own",
        Quote(PATCHES, "It is the caller's own: change it freely."),
    )
    case.fact("again", "the retry fails on the same item", Quote(RETRY, _EXTRA_ITEM))
    case.fact(
        "class-words",
        "what the team calls a regression",
        Quote(RUNBOOK, "the product no longer keeps a promise it makes"),
    )


def _decoys(case: CaseBuilder) -> None:
    case.decoy("strict-red", "red since spring, and allowed to be", Quote(RED, f"FAILED {_STRICT[:60]}"))
    case.decoy("host-lost", "a shard that did no work", Quote(RED, "agent lost: spot host reclaimed"))
    case.decoy("flips", "another test of the file, which passed", Quote(RED, f"flake-watch: {logs.WATCHED}"))
    case.decoy(
        "island",
        "a new charge, but an expected one",
        Quote(CHAT, "mira shipped ISLAND on monday"),
        Quote(PATCHES, "+extra;Z4;ISLAND;310"),
    )
    case.decoy("toll", "a charge that was only announced", Quote(CHAT, "or TOLL-30 from the July file"))
    case.decoy(
        "fuel-test", "the test that brings the code in, harmless by itself", Quote(PATCHES, '"fuel;Z4;FUEL-17;145")')
    )
    case.decoy(
        "fuel-replaces",
        "a later change of the fuel rows, inside the range",
        Quote(PATCHES, "+            extras[:] = [extra for extra in extras if extra.code != code]"),
    )
    case.decoy(
        "shelf", "a rewrite of the lines at fault", Quote(PATCHES, "+        return self.setdefault(name, _read(name))")
    )
    case.decoy(
        "shards",
        "what brought the two files together",
        Quote(PATCHES, '+  "shard-2": ["tests/test_carrier_import.py", "tests/test_statements.py"],'),
        Quote(CHAT, "after my shard change"),
    )
    case.decoy(
        "counter",
        "the newest change of the module under test",
        Quote(PATCHES, "+            totals[line.code] += line.cents"),
    )
    case.decoy(
        "pins",
        "test tools bumped in the same push",
        Quote(PATCHES, "+pytest==8.4.2"),
        Quote(CHAT, "pins changed in 2291"),
    )
    case.decoy("quarantine", "passes alone, so it is called flaky", Quote(CHAT, "smells flaky, quarantine it?"))
    case.decoy("mirror", "the nightly is blamed on its mirror", Quote(CHAT, "but that is the mirror"))


_SYMPTOM = ("gates", "red-test")
_STRAY_NEEDS = ("extra-item", "expected")
_ORIGIN = ("night-passed", "night-void", "night-head", "night-failed", "in-place", "one-for-all")
_NATURE = ("again", "night-failed", "promise", "class-words")


def _fields(case: CaseBuilder) -> None:
    ask_culprit(case, _shas()[history.PARSED_ONCE], ("night-passed", "night-failed", "one-for-all"))
    ask_failing_test(case, FAILING, _CHOICES, _SYMPTOM)
    ask_failure_class(case, FailureClass.REGRESSION, ("night-failed", "promise"))


def _symptom(case: CaseBuilder) -> None:
    case.subtask(
        "symptom",
        "Which test holds up the merge train in run 2291?",
        (FAILING_TEST,),
        QuestionKind.LOOKUP,
        lexical=False,
        needs=_SYMPTOM,
        right=Reply(
            {FAILING_TEST: FAILING},
            "Of the jobs that gate main only tests (shard-2) fails by a test: test_the_month_adds_up; "
            "labels-strict may fail.",
        ),
        wrong=(
            Reply({FAILING_TEST: _STRICT}, "test_every_line_fits_the_printer fails in labels-strict.", ("strict-red",)),
            Reply({FAILING_TEST: _ZONES}, "shard-3 went down while the zone tests ran.", ("host-lost",)),
            Reply(
                {FAILING_TEST: logs.WATCHED},
                "flake-watch names the statement test that changes its outcome on main.",
                ("flips",),
            ),
            Reply({FAILING_TEST: _IMPORT}, "The import's fuel test breaks first and the rest follows."),
        ),
    )


def _stray(case: CaseBuilder) -> None:
    case.subtask(
        "stray",
        "Which charge code do the totals of the July statement contain that is not expected: one more item?",
        (STRAY,),
        QuestionKind.LOOKUP,
        lexical=True,
        needs=_STRAY_NEEDS,
        right=Reply({STRAY: STRAY_CODE}, "The page has FUEL-17 (300 cents) besides the three codes that are expected."),
        wrong=(
            Reply({STRAY: "ISLAND"}, "ISLAND, which the north book charges since Monday.", ("island",)),
            Reply({STRAY: "TOLL-30"}, "TOLL-30, which came with the carrier's July file for Z4.", ("toll",)),
            Reply({STRAY: "BASE-Z4"}, "BASE-Z4 is counted for parcels outside its zone."),
        ),
    )


def _origin(case: CaseBuilder) -> None:
    sha = _shas()
    case.subtask(
        "origin",
        "Which commit lets {stray_code} outlive the import that brought it?",
        (CULPRIT,),
        QuestionKind.CODE,
        lexical=False,
        needs=_ORIGIN,
        right=Reply(
            {CULPRIT: sha[history.PARSED_ONCE]},
            "The one-process nightly passed on the 7th and failed on the 9th; within that range "
            f"{sha[history.PARSED_ONCE]} hands one book to every caller, so what an import adds in place stays.",
        ),
        wrong=(
            Reply(
                {CULPRIT: sha[history.SHELF]},
                f"{sha[history.SHELF]} keeps books on a shelf in memory and returns the same object.",
                ("shelf",),
            ),
            Reply(
                {CULPRIT: sha[history.FUEL_REPLACES]},
                f"{sha[history.FUEL_REPLACES]} writes FUEL-17 back into the list of the book.",
                ("fuel-replaces",),
            ),
            Reply({CULPRIT: sha[history.FUEL_ROWS]}, f"{sha[history.FUEL_ROWS]} brought fuel rows in.", ("fuel-test",)),
            Reply(
                {CULPRIT: sha[history.REBALANCED]},
                f"{sha[history.REBALANCED]} put the import tests and the statement tests into one shard.",
                ("shards",),
            ),
            Reply(
                {CULPRIT: sha[history.COUNTED_TOTALS]},
                f"{sha[history.COUNTED_TOTALS]} changed how statements add codes up.",
                ("counter",),
            ),
            Reply({CULPRIT: sha[history.TEST_TOOLS]}, f"{sha[history.TEST_TOOLS]} bumped pytest.", ("pins",)),
            Reply(
                {CULPRIT: sha[history.SORTED_CODES]}, f"{sha[history.SORTED_CODES]} copies the totals of a statement."
            ),
        ),
        slot=Slot(name=STRAY, from_subtask_id="stray"),
        slot_value=STRAY_CODE,
    )


def _nature(case: CaseBuilder) -> None:
    case.subtask(
        "nature",
        "Is it flaky, the pins, the shards, the mirror, or the product that broke?",
        (FAILURE_CLASS,),
        QuestionKind.CAUSAL,
        lexical=False,
        needs=_NATURE,
        right=Reply(
            {FAILURE_CLASS: FailureClass.REGRESSION.value},
            "The retry and an earlier nightly fail on the same item, before the new pins and shards; load_book no "
            "longer gives the caller its own book, as it promises.",
        ),
        wrong=(
            Reply(
                {FAILURE_CLASS: FailureClass.FLAKY_TEST.value},
                "The statement file passes alone, every time; the failure depends on company.",
                ("quarantine", "flips"),
            ),
            Reply(
                {FAILURE_CLASS: FailureClass.CONFIG_ERROR.value},
                "The new shard plan runs files together that do not belong together.",
                ("shards",),
            ),
            Reply(
                {FAILURE_CLASS: FailureClass.DEPENDENCY_UPDATE.value},
                "hypothesis and pytest changed between the green and the red run.",
                ("pins",),
            ),
            Reply(
                {FAILURE_CLASS: FailureClass.INFRASTRUCTURE.value},
                "A host was reclaimed in this run and the mirror broke the nightly.",
                ("host-lost", "mirror"),
            ),
            Reply(
                {FAILURE_CLASS: FailureClass.NONE.value}, "The expectation of the test is out of date; nothing broke."
            ),
        ),
    )


def _cache(case: CaseBuilder) -> None:
    sha = _shas()
    now = f"main@{sha[history.README_STATEMENTS]}"
    case.cached(
        "cache-par-1",
        "stray",
        "Which charge code does the July page have too many?",
        {STRAY: STRAY_CODE},
        "FUEL-17, 300 cents; the other three codes are expected.",
        version=now,
        age_hours=1,
        cites=(Quote(RED, _EXTRA_ITEM), Quote(RED, _EXPECTED)),
        validity=CacheValidity.VALID,
    )
    case.cached(
        "cache-par-2",
        "symptom",
        "Which test holds up the merge train?",
        {FAILING_TEST: _STRICT},
        "labels-strict is red: test_every_line_fits_the_printer.",
        version=f"main@{sha[history.THOUSANDS]}",
        age_hours=78,
        cites=(Quote(RED, f"FAILED {_STRICT[:60]}"),),
        validity=CacheValidity.STALE,
    )
    case.cached(
        "cache-par-3",
        "nature",
        "What class of failure is the red nightly?",
        {FAILURE_CLASS: FailureClass.INFRASTRUCTURE.value},
        "The mirror answered 503; no test was run.",
        version=f"main@{sha[history.SORTED_CODES]}",
        age_hours=33,
        cites=(Quote(NIGHTLY, "ERROR: Could not find a version that satisfies the requirement"),),
        validity=CacheValidity.STALE,
    )
    case.cached(
        "cache-par-4",
        "origin",
        "Which commit lets FUEL-17 stay in the book?",
        {CULPRIT: sha[history.FUEL_ROWS]},
        f"{sha[history.FUEL_ROWS]} reads fuel rows into the book; review of the 3.2 backport.",
        version="release/3.2@b40e7d19",
        age_hours=26,
        cites=(Quote(PATCHES, '"fuel;Z4;FUEL-17;145")'),),
        validity=CacheValidity.WRONG_VERSION,
    )


def _both_attempts(text: str) -> tuple[Quote, ...]:
    return Quote(RED, text), Quote(RETRY, text)
