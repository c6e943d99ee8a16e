"""The rotaboard case: the runs, then the code, then the history; what the first says, the last asks about."""

from __future__ import annotations

from TokenOptEnv.config import Difficulty
from TokenOptEnv.models import ArtifactKind, FieldKind, Slot
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
from TokenOptEnv.task_defs.ci.cases.rotaboard import history, logs, papers
from TokenOptEnv.task_defs.ci.cases.rotaboard.runs import RUNS, Run, export, gating_runs, run_of, summary
from TokenOptEnv.task_defs.ci.writers.history import Change, oneline, patches

SCENARIO_ID = "ci-marathon-evening-boards"
FAILING = "tests/test_handover.py::test_those_put_down_today_are_on_the_board"
HOUR, FIRST_RED, FILE, GUARD = "hour", "first_red", "file", "guard"
_SMALL = "mobile/test_small_board.py::test_a_small_board_shows_the_next_two_shifts"
_NORTH = "tests/test_sites.py::test_a_day_begins_earlier_in_the_north"
_CHOICES = (
    _SMALL,
    "tests/test_board.py::test_the_people_of_a_day_are_named_once",
    FAILING,
    "tests/test_leave.py::test_the_days_are_told_one_by_one",
    logs.WATCHED,
    _NORTH,
)

TICKET, EXPORT, RED, EARLIER = "ticket-rota-77", "runs-export", "log-run-5218", "log-runs-5211-5212"
BEFORE = "log-run-5203"
BOTH, NOTES, RUNBOOK, REVIEW = "log-run-5221", "docs-dates", "runbook-triage", "review-saturday"
PIPELINE, TESTS = "pipeline-yml", "tests-rotaboard"
PATCHES, HISTORY, CHAT = "patches-main", "history-main", "chat-rotaboard"
_CODE = (history.BOARD, history.SITES, history.SHIFTS, history.HANDOVER, history.LEAVE, history.ROTA)
_DETAIL = "assert [] == ['ines']"


def build() -> Scenario:
    case = CaseBuilder(
        scenario_id=SCENARIO_ID,
        family="ci",
        difficulty=Difficulty.MARATHON,
        title="Boards that are red in the evening",
        brief=(
            "rotaboard shows who is on duty. Its gate turns red in some runs and green when they are retried. First "
            "the runs of the week, then code, documents and one run, then the history. Find the failing test, the "
            "first run that failed by it, the file that has to change, the class, the commit that brought it back, and "
            "the one that had once put it away."
        ),
        version=_version(),
    )
    _runs_table(case)
    _code_table(case)
    _history_table(case)
    _facts(case)
    _decoys(case)
    _fields(case)
    _symptom(case)
    _window(case)
    _blame(case)
    _origin(case)
    _guard(case)
    _phases(case)
    _cache(case)
    return case.build()


def _version() -> str:
    return f"main@{_shas()[history.README]}"


def _shas() -> dict[Change, str]:
    return {change: commit.sha for change, commit in history.commits().items()}


def first_red() -> Run:
    return next(run for run in RUNS if not run.lost and FAILING in gating_runs()[run].failing)


def _code_id(path: str) -> str:
    return f"code-{path.rpartition('/')[2].removesuffix('.py')}"


# What lies on the table


def _runs_table(case: CaseBuilder) -> None:
    case.artifact(TICKET, ArtifactKind.TICKET, "ROTA-77, with comments", papers.TICKET)
    case.artifact(RED, ArtifactKind.LOG, "Run 5218, both attempts", _both(5218, "tests", "libs", "mobile"))
    case.artifact(EXPORT, ArtifactKind.TEST_REPORT, "Export of the week's runs, oldest first", export())
    earlier = logs.job_logs(run_of(5211), "tests") + logs.job_logs(run_of(5212), "tests")
    case.artifact(EARLIER, ArtifactKind.LOG, "Runs 5211 and 5212", earlier)
    case.artifact(BEFORE, ArtifactKind.LOG, "Run 5203", logs.job_logs(run_of(5203), "tests", "libs", "mobile"))


def _both(number: int, *jobs: str) -> str:
    """All named jobs of the first attempt; of the second, the tests."""
    return logs.job_logs(run_of(number), *jobs) + logs.job_logs(run_of(number, 2), "tests")


def _code_table(case: CaseBuilder) -> None:
    head = history.commits()[history.README].files
    case.artifact(BOTH, ArtifactKind.LOG, "Run 5221, both attempts", _both(5221, "tests", "libs", "mobile"))
    for path in _CODE:
        case.artifact(_code_id(path), ArtifactKind.CODE, path, head[path])
    tests = "\n\n".join(f"# {path}\n{text}" for path, text in head.items() if path.startswith("tests/"))
    case.artifact(TESTS, ArtifactKind.CODE, "All test modules, one after the other", tests)
    for name in history.LIBRARIES:
        text = "\n\n".join(f"# {path}\n{source}" for path, source in head.items() if path.startswith(f"{name}/"))
        case.artifact(f"libs-{name}", ArtifactKind.CODE, f"{name}, all modules", text)
    case.artifact(PIPELINE, ArtifactKind.CONFIG, "CI pipeline", head[history.PIPELINE])
    case.artifact(NOTES, ArtifactKind.RUNBOOK, history.DATES, head[history.DATES])
    case.artifact(RUNBOOK, ArtifactKind.RUNBOOK, "Triage, wards team", papers.RUNBOOK)
    case.artifact(REVIEW, ArtifactKind.CHAT, "Review notes", papers.REVIEW)


def _history_table(case: CaseBuilder) -> None:
    commits = tuple(history.commits().values())
    case.artifact(PATCHES, ArtifactKind.DIFF, "Patches on main, newest first", patches(commits))
    case.artifact(HISTORY, ArtifactKind.HISTORY, "Commits on main, newest first", oneline(commits))
    case.artifact(CHAT, ArtifactKind.CHAT, "#rotaboard, 19 April", papers.CHAT)


def _phases(case: CaseBuilder) -> None:
    case.phase(
        "runs",
        f"rotaboard at {_version()}. Its gate turns red in some runs. Find the test that fails in a gating job (mobile "
        "gates nothing), the first run that failed by it, and the full UTC hour from which on it fails. Logs and "
        "export are gone after this phase.",
        (TICKET, RED, EXPORT, EARLIER, BEFORE),
        ("symptom", "window"),
        20,
    )
    case.phase(
        "code",
        f"rotaboard at {_version()}. Find the file that has to change and the class of failure, by the documents, the "
        "code and the team's runbook. They are gone after this phase.",
        (
            BOTH,
            *(_code_id(path) for path in _CODE),
            TESTS,
            *(f"libs-{name}" for name in history.LIBRARIES),
            PIPELINE,
            NOTES,
            RUNBOOK,
            REVIEW,
        ),
        ("blame",),
        10,
    )
    case.phase(
        "history",
        f"rotaboard at {_version()}. Find the commit that brought the failure back, and the one that had put it away "
        "before. Then answer everything.",
        (PATCHES, HISTORY, CHAT),
        ("origin", "guard"),
        10,
    )


# What it rests on


def _run_fact(run: Run) -> str:
    return f"run-{run.number}-{run.attempt}"


def _facts(case: CaseBuilder) -> None:
    case.fact("red-test", "the one red test of a gating job", Quote(RED, f"FAILED {FAILING[:60]}"))
    for run in RUNS:
        case.fact(_run_fact(run), "when its tests began, and how they ended", Quote(EXPORT, summary(run)))
    case.fact("site-date", "what the board promises", Quote(NOTES, "names the site's date, not the"))
    case.fact("filed-by-site", "and does", Quote(_code_id(history.BOARD), "day = self.site.today(now)"))
    case.fact("two-ahead", "how far the site is ahead", Quote(_code_id(history.SITES), 'Site("north", 2)'))
    case.fact(
        "asked-by-server", "what the test asks for", Quote(TESTS, 'assert board.on(NOW.date(), "night") == ["ines"]')
    )
    case.fact("red-at-night", "red half an hour before midnight", Quote(BOTH, _DETAIL))
    case.fact(
        "green-at-midnight",
        "and green half an hour later, at the same commit",
        Quote(BOTH, f"{len(gating_runs()[run_of(5221, 2)].results)} passed in"),
    )
    case.fact(
        "class-words",
        "what the team calls flaky",
        Quote(RUNBOOK, "a test is right at some times and wrong at others, at one commit"),
    )
    case.fact("thawed", "the job's time instead of a fixed one", Quote(PATCHES, "+NOW = STARTED"))
    case.fact("north-two", "since when the hour is ten", Quote(PATCHES, 'Site("north", 2)'))
    case.fact(
        "frozen", "a fixed time instead of the job's", Quote(PATCHES, "+NOW = datetime(2026, 1, 14, 12, tzinfo=UTC)")
    )
    case.fact("every-evening", "and why", Quote(PATCHES, "Red every evening since Monday"))


def _decoys(case: CaseBuilder) -> None:
    sha = _shas()
    case.decoy(
        "small-board",
        "red in every run, and no gate",
        Quote(TICKET, "mobile is red in every single run"),
        Quote(RED, f"FAILED {_SMALL[:50]}"),
    )
    case.decoy("flips", "another test, which passed", Quote(TICKET, "flake-watch names the rota test"))
    case.decoy("lost-runner", "red without a test", Quote(TICKET, "5211 was red as well, at a quarter past eight"))
    case.decoy("late-and-green", "late and green, before it could fail", Quote(TICKET, "It cannot be the hour"))
    case.decoy("first-mail", "the first red run, for another reason", Quote(TICKET, "First mail I have is about 5211"))
    case.decoy(
        "server-date",
        "turns the test green and breaks the promise",
        Quote(REVIEW, "Take the server's date in Board.post"),
    )
    case.decoy("one-hour", "moves the hour, not the fault", Quote(REVIEW, "the two hours in sites.py are one too many"))
    case.decoy(
        "twice-two", "nothing is added twice there", Quote(REVIEW, "hand_over turns UTC into local time as well")
    )
    case.decoy(
        "runner-problem", "the work was done, both times", Quote(REVIEW, "a runner problem until shown otherwise")
    )
    case.decoy("worked-in-march", "the test did, because its time stood still", Quote(REVIEW, "It worked in March"))
    case.decoy(
        "summer-time",
        "decides which hour it is, and was there in runs that passed",
        Quote(CHAT, "I put the north on summer time on monday"),
    )
    case.decoy(
        "night-shift",
        "nights begin at the same hour, by chance",
        Quote(CHAT, "nights begin at 22"),
        Quote(PATCHES, "shifts: one table for starts and lengths"),
    )
    case.decoy(
        "strike",
        "the only change of the board, and not of dates",
        Quote(CHAT, "then strike, on wednesday afternoon"),
        Quote(PATCHES, "board: strike leaves no empty day behind"),
    )
    case.decoy(
        "january",
        "made it possible once; it went away and came back",
        Quote(CHAT, "when boards began to go by the site's date"),
        Quote(PATCHES, f"commit {sha[history.SITE_DATES]}"),
    )
    case.decoy(
        "fixed-day",
        "a fixed day in another test",
        Quote(CHAT, "something with a fixed day in the tests"),
        Quote(PATCHES, "tests: a fixed first day for the rota"),
    )


_SYMPTOM = ("red-test",)
_BLAME = (
    "red-at-night",
    "green-at-midnight",
    "site-date",
    "filed-by-site",
    "two-ahead",
    "asked-by-server",
    "class-words",
)
_ORIGIN = ("thawed", "north-two")
_GUARD = ("frozen", "every-evening")


def _window_needs() -> tuple[str, ...]:
    return tuple(_run_fact(run) for run in RUNS)


def _fields(case: CaseBuilder) -> None:
    ask_failing_test(case, FAILING, _CHOICES, _SYMPTOM)
    case.answer_field(
        FIRST_RED,
        "Number of the first run that failed by it.",
        FieldKind.TEXT,
        (str(first_red().number),),
        (_run_fact(run_of(5207)), _run_fact(first_red())),
    )
    files = (history.BOARD, history.HANDOVER, history.HANDOVER_TESTS, history.SITES)
    case.answer_field(
        FILE,
        "Which file has to change?",
        FieldKind.CHOICE,
        (history.HANDOVER_TESTS,),
        ("site-date", "asked-by-server"),
        files,
    )
    ask_failure_class(case, FailureClass.FLAKY_TEST, ("green-at-midnight", "class-words"))
    ask_culprit(case, _shas()[history.THAWED], ("thawed",))
    case.answer_field(
        GUARD,
        "Short sha of the commit that had put it away.",
        FieldKind.TEXT,
        (_shas()[history.FROZEN],),
        _GUARD,
    )


# What is asked


def _symptom(case: CaseBuilder) -> None:
    case.subtask(
        "symptom",
        "Which test stands as FAILED in the short test summary info of run 5218, attempt 1, job tests?",
        (FAILING_TEST,),
        QuestionKind.LOOKUP,
        lexical=True,
        needs=_SYMPTOM,
        right=Reply(
            {FAILING_TEST: FAILING}, "In tests, those put down today are not on the board; mobile gates nothing."
        ),
        wrong=(
            Reply({FAILING_TEST: _SMALL}, "The small board, as in every run.", ("small-board",)),
            Reply({FAILING_TEST: logs.WATCHED}, "The rota test, which flake-watch names.", ("flips",)),
            Reply({FAILING_TEST: _NORTH}, "The day begins at another hour in the north."),
        ),
    )


def _window(case: CaseBuilder) -> None:
    run = first_red().number
    case.subtask(
        "window",
        "Over all runs: which run was the first that failed by a test, and from which full UTC hour on, as HH:00, does "
        "it fail?",
        (FIRST_RED, HOUR),
        QuestionKind.CAUSAL,
        lexical=False,
        needs=_window_needs(),
        right=Reply(
            {FIRST_RED: str(run), HOUR: "22:00"},
            f"{run} at 22:06 is the first; since then 21:44 and 21:57 pass and everything from 22:06 to 23:37 fails. "
            "Later hours passed before it, and 5211 ran no test.",
        ),
        wrong=(
            Reply(
                {FIRST_RED: "5211", HOUR: "20:00"},
                "5211 was red at a quarter past eight.",
                ("lost-runner", "first-mail"),
            ),
            Reply({FIRST_RED: "5221", HOUR: "23:00"}, "22:31 passed, so it begins at eleven.", ("late-and-green",)),
            Reply({FIRST_RED: "5218", HOUR: "22:00"}, "5213 passed when it was retried, so 5218 is the first."),
        ),
    )


def _blame(case: CaseBuilder) -> None:
    flaky, regression = FailureClass.FLAKY_TEST.value, FailureClass.REGRESSION.value
    case.subtask(
        "blame",
        "Failed and passed at one commit, run 5221: which file has to change, and which class is it by the book?",
        (FILE, FAILURE_CLASS),
        QuestionKind.CODE,
        lexical=False,
        needs=_BLAME,
        right=Reply(
            {FILE: history.HANDOVER_TESTS, FAILURE_CLASS: flaky},
            "The board files under the site's date, as documented, two hours ahead; the test asks for the server's, "
            "which is another one from 22:00 to midnight.",
        ),
        wrong=(
            Reply(
                {FILE: history.BOARD, FAILURE_CLASS: regression},
                "Board.post files an evening's entry under the next day; it worked in March.",
                ("server-date", "worked-in-march"),
            ),
            Reply(
                {FILE: history.SITES, FAILURE_CLASS: FailureClass.CONFIG_ERROR.value},
                "The north is one hour ahead, not two.",
                ("one-hour",),
            ),
            Reply(
                {FILE: history.HANDOVER, FAILURE_CLASS: regression},
                "hand_over adds the hours a second time.",
                ("twice-two",),
            ),
            Reply(
                {FILE: history.HANDOVER_TESTS, FAILURE_CLASS: FailureClass.INFRASTRUCTURE.value},
                "A retry cured it, so it is the runner.",
                ("runner-problem",),
            ),
        ),
    )


def _origin(case: CaseBuilder) -> None:
    sha = _shas()
    case.subtask(
        "origin",
        "From {hour} on a test asks for another day than the site's: since which commit can it fail again?",
        (CULPRIT,),
        QuestionKind.CODE,
        lexical=False,
        needs=_ORIGIN,
        right=Reply(
            {CULPRIT: sha[history.THAWED]},
            f"{sha[history.THAWED]} lets the test take the time of its job; two hours ahead, the north has its next "
            "day from 22:00 on.",
        ),
        wrong=(
            Reply({CULPRIT: sha[history.SUMMER]}, "It moved the north by an hour, two days before.", ("summer-time",)),
            Reply(
                {CULPRIT: sha[history.NIGHT_TABLE]},
                "It rewrote the table in which nights begin at 22.",
                ("night-shift",),
            ),
            Reply({CULPRIT: sha[history.NO_EMPTY_DAYS]}, "It drops days from the board.", ("strike",)),
            Reply({CULPRIT: sha[history.SITE_DATES]}, "Since then entries stand under the site's date.", ("january",)),
        ),
        slot=Slot(name=HOUR, from_subtask_id="window"),
        slot_value="22:00",
    )


def _guard(case: CaseBuilder) -> None:
    sha = _shas()
    case.subtask(
        "guard",
        "Which earlier commit had made it green in the evening with a fixed time, which {culprit} took out?",
        (GUARD,),
        QuestionKind.LOOKUP,
        lexical=True,
        needs=_GUARD,
        right=Reply(
            {GUARD: sha[history.FROZEN]},
            f"{sha[history.FROZEN]} set the time of the handover tests to a noon in January.",
        ),
        wrong=(
            Reply({GUARD: sha[history.FIRST_MONDAY]}, "It fixed a first day, in February.", ("fixed-day",)),
            Reply({GUARD: sha[history.SITE_DATES]}, "It changed the board's dates in January.", ("january",)),
            Reply({GUARD: sha[history.NOTES_FIRST]}, "The last to touch the handover tests before."),
        ),
        slot=Slot(name=CULPRIT, from_subtask_id="origin"),
        slot_value=sha[history.THAWED],
    )


def _cache(case: CaseBuilder) -> None:
    sha = _shas()
    case.cached(
        "cache-rot-1",
        "symptom",
        "Which test is it that FAILED in job tests of run 5218?",
        {FAILING_TEST: FAILING},
        "Those put down today are not on the board.",
        version=_version(),
        age_hours=2,
        cites=(Quote(RED, f"FAILED {FAILING[:60]}"),),
        validity=CacheValidity.VALID,
    )
    case.cached(
        "cache-rot-2",
        "window",
        "Since which run and hour is the gate red in the evening?",
        {FIRST_RED: "5211", HOUR: "20:00"},
        "5211, at a quarter past eight.",
        version=f"main@{sha[history.NO_EMPTY_DAYS]}",
        age_hours=66,
        cites=(Quote(EXPORT, summary(run_of(5211))),),
        validity=CacheValidity.STALE,
    )
    case.cached(
        "cache-rot-3",
        "origin",
        "Since which commit can the board's test fail in the evening?",
        {CULPRIT: sha[history.SITE_DATES]},
        f"{sha[history.SITE_DATES]}: entries stand under the site's date.",
        version="winter@1f09c2b7",
        age_hours=2_100,
        cites=(Quote(PATCHES, f"commit {sha[history.SITE_DATES]}"),),
        validity=CacheValidity.WRONG_VERSION,
    )
    case.cached(
        "cache-rot-4",
        "blame",
        "Which file has to change, and which class is the red evening?",
        {FILE: history.HANDOVER_TESTS, FAILURE_CLASS: FailureClass.INFRASTRUCTURE.value},
        "Nothing but a retry; a runner was lost in 5211.",
        version=f"main@{sha[history.NO_EMPTY_DAYS]}",
        age_hours=61,
        cites=(Quote(RUNBOOK, "infrastructure: the work was not done"),),
        validity=CacheValidity.STALE,
    )
