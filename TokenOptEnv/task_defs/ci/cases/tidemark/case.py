"""The tidemark case: a week that belongs to two years."""

from __future__ import annotations

from TokenOptEnv.config import Difficulty
from TokenOptEnv.models import ArtifactKind
from TokenOptEnv.scenario import CacheValidity, QuestionKind, Scenario
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply
from TokenOptEnv.task_defs.ci import sources
from TokenOptEnv.task_defs.ci.answers import (
    CULPRIT,
    FAILING_TEST,
    FAILURE_CLASS,
    FailureClass,
    ask_culprit,
    ask_failing_test,
    ask_failure_class,
)
from TokenOptEnv.task_defs.ci.cases.tidemark import history, logs, papers
from TokenOptEnv.task_defs.ci.writers.history import oneline, patches, tree_diff

SCENARIO_ID = "ci-easy-new-year-week"
FAILING = "tests/test_select.py::test_new_year_does_not_cost_a_restore_point"
_YEARLY = "tests/test_preview.py::test_yearly_terms_are_read"
_WEEKLY = "tests/test_select.py::test_weekly_terms_keep_the_last_night_of_each"
_CHOICES = (
    "tests/test_buckets.py::test_monday_to_sunday_is_one_week",
    logs.WATCHED,
    _YEARLY,
    "tests/test_report.py::test_newest_day_comes_first",
    FAILING,
    _WEEKLY,
)

RED = "log-run-418"
AGAIN = "log-run-418-attempt-2"
GREEN = "log-run-417"
PATCHES = "patches-main"
_WRONG_DAY = "At index 1 diff: datetime.date(2025, 12, 31) != datetime.date(2025, 12, 28)"


def build() -> Scenario:
    commits = history.commits()
    head = commits[history.TIME_ZONE_DATA]
    case = CaseBuilder(
        scenario_id=SCENARIO_ID,
        family="ci",
        difficulty=Difficulty.EASY,
        title="Red main before a release",
        brief=(
            "tidemark decides which backups to keep. Run 418 on main is red and release 0.7.0 waits. The run covers a "
            "push of several commits. Find the commit that introduced the failure, the test in a gating job that shows "
            "it, and the class of failure. Logs of both attempts and of the run before, patches, the workflow, chat "
            f"and ticket are at hand. Main stands at {head.sha}."
        ),
        version=f"main@{head.sha}",
    )
    _artifacts(case)
    _facts(case)
    _questions(case)
    _cache(case)
    return case.build()


def _artifacts(case: CaseBuilder) -> None:
    commits = history.commits()
    before, after = (
        {path: text for path, text in tree.items() if path.startswith("requirements/")}
        for tree in (sources.load(history.PACKAGE), commits[history.TIME_ZONE_DATA].files)
    )
    case.artifact("ticket-tide-208", ArtifactKind.TICKET, "TIDE-208: release 0.7.0 waits", papers.TICKET)
    case.artifact(
        "history-main", ArtifactKind.HISTORY, "Commits on main, newest first", oneline(tuple(commits.values()))
    )
    case.artifact(RED, ArtifactKind.LOG, "Run 418, attempt 1, jobs test and preview", logs.red_run())
    case.artifact(AGAIN, ArtifactKind.LOG, "Run 418, attempt 2, failed jobs", logs.red_run_again())
    case.artifact(GREEN, ArtifactKind.LOG, "Run 417, gating job", logs.last_green_run())
    case.artifact(PATCHES, ArtifactKind.DIFF, "Patches on main, newest first", patches(tuple(commits.values())))
    case.artifact("diff-requirements", ArtifactKind.DIFF, "Pinned packages, 0.6.0 to main", tree_diff(before, after))
    case.artifact("workflow-tests", ArtifactKind.CONFIG, "CI workflow", papers.WORKFLOW)
    case.artifact("chat-tidemark-dev", ArtifactKind.CHAT, "#tidemark-dev, 19 November", papers.CHAT)


def _facts(case: CaseBuilder) -> None:
    case.fact("gate", "the preview job may fail", Quote("workflow-tests", "continue-on-error: true"))
    case.fact("red-test", "the one red test of the gating job", *_both_attempts(f"FAILED {FAILING[:38]}"))
    case.fact(
        "same-again",
        "another runner, no hiccup, and the same test fails on the same wrong day",
        Quote(AGAIN, _WRONG_DAY),
        Quote(AGAIN, f"FAILED {FAILING[:38]}"),
    )
    case.fact(
        "docs-only", "the bump is in the file for docs", Quote("diff-requirements", "+++ b/requirements/docs.txt")
    )
    case.fact(
        "test-pins",
        "tests install another file",
        Quote("workflow-tests", f"pip install --no-deps -r {logs.REQUIREMENTS}"),
        *_both_attempts(f"pip install --no-deps -r {logs.REQUIREMENTS}"),
    )
    case.fact("wrong-day", "a day of the last week of December is kept on its own", *_both_attempts(_WRONG_DAY))
    case.fact(
        "year-of-day",
        "the week's number is put under the year of the day",
        Quote(PATCHES, '+    return f"{day.year}-W{day.isocalendar().week}"'),
    )
    case.decoy("yearly-red", "red, but in a job that may fail", Quote(RED, f"FAILED {_YEARLY}"))
    case.decoy(
        "flake-notice",
        "a test that flipped in the past and passed here",
        Quote(RED, "flake-watch: tests/test_lock.py"),
        Quote("chat-tidemark-dev", "the stale lock test keeps flipping"),
    )
    case.decoy(
        "cache-503", "a hiccup that was retried", Quote(RED, "Cache service responded with 503 (attempt 2 of 3)")
    )
    case.decoy("rerun-advice", "advice to press re-run", Quote("chat-tidemark-dev", "I'd just press re-run"))
    case.decoy(
        "tzdata",
        "a date package bumped by the newest commit",
        Quote("diff-requirements", "+tzdata==2025.3"),
        Quote(PATCHES, "+tzdata==2025.3"),
    )
    case.decoy(
        "padding",
        "the younger change of the same line",
        Quote(PATCHES, '+    return f"{day.year}-W{day.isocalendar().week:02d}"'),
    )
    case.decoy("rewrite", "a rewrite of the loop that keeps", Quote(PATCHES, "+        if bucket not in survivors:"))
    case.decoy("blame", "blame points at the padding", Quote("chat-tidemark-dev", "says sam, Tuesday afternoon"))


def _questions(case: CaseBuilder) -> None:
    sha = {change: commit.sha for change, commit in history.commits().items()}
    symptom = ("gate", "red-test")
    nature = ("same-again", "docs-only", "test-pins")
    origin = ("wrong-day", "year-of-day")
    ask_culprit(case, sha[history.READABLE_KEYS], origin)
    ask_failing_test(case, FAILING, _CHOICES, symptom)
    ask_failure_class(case, FailureClass.REGRESSION, ("same-again", "docs-only"))
    case.subtask(
        "symptom",
        "Which FAILED test of run 418 is in a job that has no continue-on-error?",
        (FAILING_TEST,),
        QuestionKind.LOOKUP,
        lexical=True,
        needs=symptom,
        right=Reply(
            {FAILING_TEST: FAILING},
            "The gating job test (3.11) fails on test_new_year_does_not_cost_a_restore_point alone; preview may fail.",
        ),
        wrong=(
            Reply(
                {FAILING_TEST: _YEARLY},
                "test_yearly_terms_are_read fails in run 418 with a PolicyError.",
                ("yearly-red",),
            ),
            Reply(
                {FAILING_TEST: logs.WATCHED},
                "flake-watch reports that the stale lock test keeps changing its outcome on main.",
                ("flake-notice",),
            ),
            Reply({FAILING_TEST: _WEEKLY}, "The weekly selection test no longer keeps the last night of each week."),
        ),
    )
    case.subtask(
        "nature",
        "Is it the cache service, a flipping test, tzdata or our own code?",
        (FAILURE_CLASS,),
        QuestionKind.CAUSAL,
        lexical=False,
        needs=nature,
        right=Reply(
            {FAILURE_CLASS: FailureClass.REGRESSION.value},
            "Both attempts fail on the same value, the second on another runner, and the bump is in a file that the "
            "tests do not install: the code changed its behaviour.",
        ),
        wrong=(
            Reply(
                {FAILURE_CLASS: FailureClass.INFRASTRUCTURE.value},
                "The cache service answered 503 while the runner was prepared; the job went on half ready.",
                ("cache-503", "rerun-advice"),
            ),
            Reply(
                {FAILURE_CLASS: FailureClass.FLAKY_TEST.value},
                "flake-watch counts changing outcomes in the last 50 runs; this is chance.",
                ("flake-notice",),
            ),
            Reply(
                {FAILURE_CLASS: FailureClass.DEPENDENCY_UPDATE.value},
                "Date tests fail right after tzdata was bumped by the bot.",
                ("tzdata",),
            ),
            Reply(
                {FAILURE_CLASS: FailureClass.CONFIG_ERROR.value}, "The workflow selects tests that it should leave out."
            ),
        ),
    )
    case.subtask(
        "origin",
        "Which commit changed how days fall into a week, so that date(2025, 12, 31) is kept?",
        (CULPRIT,),
        QuestionKind.CODE,
        lexical=True,
        needs=origin,
        right=Reply(
            {CULPRIT: sha[history.READABLE_KEYS]},
            f"{sha[history.READABLE_KEYS]} joins the ISO week number to the calendar year of the day, so the week over "
            "New Year becomes two buckets.",
        ),
        wrong=(
            Reply(
                {CULPRIT: sha[history.EXPLICIT_KEEPERS]},
                f"{sha[history.EXPLICIT_KEEPERS]} rewrote which snapshot of a bucket survives.",
                ("rewrite",),
            ),
            Reply(
                {CULPRIT: sha[history.PADDED_KEYS]},
                f"{sha[history.PADDED_KEYS]} last changed the week key's text.",
                ("padding", "blame"),
            ),
            Reply(
                {CULPRIT: sha[history.TIME_ZONE_DATA]},
                f"{sha[history.TIME_ZONE_DATA]} bumped tzdata; main was red from then on.",
                ("tzdata",),
            ),
            Reply({CULPRIT: sha[history.CLOCK_AHEAD]}, f"{sha[history.CLOCK_AHEAD]} changed how ages are compared."),
        ),
    )


def _cache(case: CaseBuilder) -> None:
    sha = {change: commit.sha for change, commit in history.commits().items()}
    case.cached(
        "cache-tide-1",
        "symptom",
        "Which test holds the release up?",
        {FAILING_TEST: FAILING},
        "Only test_new_year_does_not_cost_a_restore_point fails in the gating job.",
        version=f"main@{sha[history.TIME_ZONE_DATA]}",
        age_hours=1,
        cites=(Quote(RED, f"FAILED {FAILING[:38]}"), Quote("workflow-tests", "continue-on-error: true")),
        validity=CacheValidity.VALID,
    )
    case.cached(
        "cache-tide-2",
        "nature",
        "Is it the cache service, a flipping test or our own code?",
        {FAILURE_CLASS: FailureClass.FLAKY_TEST.value},
        "The stale lock test changed its outcome again; the re-run passed.",
        version=f"main@{sha[history.UPPER_CASE_UNITS]}",
        age_hours=46,
        cites=(Quote(RED, "flake-watch: tests/test_lock.py"),),
        validity=CacheValidity.STALE,
    )
    case.cached(
        "cache-tide-3",
        "origin",
        "Which commit made the wrong snapshot survive?",
        {CULPRIT: sha[history.EXPLICIT_KEEPERS]},
        f"{sha[history.EXPLICIT_KEEPERS]} rewrote the loop that keeps; read on the branch before it was rebased.",
        version=f"noor/keepers@{sha[history.EXPLICIT_KEEPERS]}",
        age_hours=18,
        cites=(Quote(PATCHES, "+        if bucket not in survivors:"),),
        validity=CacheValidity.WRONG_VERSION,
    )
    case.cached(
        "cache-tide-4",
        "symptom",
        "Which test keeps release 0.6 from shipping?",
        {FAILING_TEST: _YEARLY},
        "test_yearly_terms_are_read is red.",
        version="release/0.6@5d0c91be",
        age_hours=310,
        cites=(Quote(RED, f"FAILED {_YEARLY}"),),
        validity=CacheValidity.WRONG_VERSION,
    )


def _both_attempts(text: str) -> tuple[Quote, ...]:
    return Quote(RED, text), Quote(AGAIN, text)
