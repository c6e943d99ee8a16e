"""The case: three phases over one fault. What the first one finds out, the others ask about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache

from TokenOptEnv.config import Difficulty
from TokenOptEnv.models import ArtifactKind, FieldKind, Slot
from TokenOptEnv.scenario import CacheValidity, QuestionKind, Scenario
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply
from TokenOptEnv.task_defs.bugfix.cases.answers import ask_place, ask_repair, place_of
from TokenOptEnv.task_defs.bugfix.cases.double_billing import people
from TokenOptEnv.task_defs.bugfix.cases.double_billing.commits import (
    BRANCHED_AT,
    BUG,
    CHARGES,
    COMMITS,
    EVENT,
    FLEET,
    GRACE,
    HEAP,
    HORIZON,
    INVOICE,
    PACKAGE,
    PICKED,
    PICKED_ARRIVAL,
    PICKED_COLUMNS,
    PICKED_IDS,
    PIPELINE,
    RECONCILE,
    REPRODUCE,
    SAY_LATE,
    SEEN,
    TAKE_ARRIVAL,
    TARIFF,
    TENANT_IDS,
    WINDOWS,
)
from TokenOptEnv.task_defs.bugfix.cases.double_billing.hidden_tests import HIDDEN_TESTS
from TokenOptEnv.task_defs.bugfix.cases.double_billing.nights import (
    BUILDS,
    FILES,
    archive,
    last_proven_good,
    nights,
    states,
    trace_of_day,
)
from TokenOptEnv.task_defs.bugfix.cases.tidying import tidyings
from TokenOptEnv.task_defs.bugfix.edit import Edit
from TokenOptEnv.task_defs.bugfix.history import Commit, log_with_diffs, sha
from TokenOptEnv.task_defs.bugfix.job_log import Job, JobClock, write_job_log
from TokenOptEnv.task_defs.bugfix.judging import judge
from TokenOptEnv.task_defs.bugfix.patch import one_line_patch
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.execution import TestRun, run_tests

SCENARIO_ID = "bugfix-marathon-meterline-double-billing"
VERSION = "5.4.0"
TWICE = "no-50632"

_TICKET, _NIGHTS, _DAYS = "ticket-met-231", "nights", ("ingest-day-0", "ingest-day-1")
_NOTES, _REVIEW, _RED = "notes-counting", "review-draft", "job-2210"
_COMMITS, _BRANCH, _BUILDS, _CHAT = "commits-main", "branch-5-3", "builds", "chat-meterline"
_NEIGHBOURS = ("coinbook", "dripgate", "unitpath")
"""Other packages of the repository, which have nothing to do with it."""
_OLDER_COMMITS = 40
_AUTHORS = ("Elin Dahl", "Jon Aas", "Mira Solberg")

_HORIZON_OLD = "HORIZON_S = 26 * 3600"
_FORGET_OLD = "self._forget(arrival.at)"
_OVER_OLD = "while self._order and self._order[0][0] <= now - self.horizon_s:"
RIGHT_PATCH = one_line_patch(FILES, SEEN, BUG.after, BUG.before)
LONGER_PATCH = one_line_patch(FILES, SEEN, _HORIZON_OLD, "HORIZON_S = 72 * 3600")
LATER_PATCH = one_line_patch(FILES, SEEN, BUG.after, "self._keep(key, max(arrival.at, arrival.event.at))")
MEASURED_PATCH = one_line_patch(FILES, SEEN, _FORGET_OLD, "self._forget(arrival.event.at)")
STRICT_PATCH = one_line_patch(FILES, SEEN, _OVER_OLD, _OVER_OLD.replace("<=", "<"))
WRONG_PATCHES = (LONGER_PATCH, LATER_PATCH, MEASURED_PATCH, STRICT_PATCH)

_FIRST_BILL = f"bills norra calls hour 0 13:00:00: 3 units, 2700 mills, {TWICE}"
_SECOND_BILL = f"bills norra calls correction 0 13:00:00: 3 units, 1500 mills, {TWICE}"
_LARGEST = "57 units, 142500 mills, no-50609"
_EVENING = "33 units, 16500 mills, no-50636"
_KEPT_BY_ARRIVAL = "-        self._keep(key, at)"
_KEPT_BY_MEASURE = f"+        {BUG.after}"

_RIGHT_PLACE = place_of(FILES, SEEN, BUG.after, RIGHT_PATCH)
_EVENT_NEEDS = ("billed-first", "billed-again")
_LOCATE_NEEDS = ("forgotten-at-once", "by-arrival", "kept-by-measure", "over-the-horizon")
_LOCATE_PATH = ("forgotten-at-once", "kept-by-measure")
_REPAIR_NEEDS = ("kept-by-measure", "two-moments", "bounded")
_REPAIR_PATH = ("kept-by-measure", "bounded")
_ORIGIN_NEEDS = ("built-good", "built-bad", "arrival-out", "measure-in")
_ORIGIN_PATH = ("built-good", "measure-in")
_PICKED_NEEDS = ("picked-id", "picked-from")


def build() -> Scenario:
    case = CaseBuilder(
        scenario_id=SCENARIO_ID,
        family="bugfix",
        difficulty=Difficulty.MARATHON,
        title="Meterline: an hour that was paid twice",
        brief=(
            "Meterline bills what devices report. A customer paid twice for an hour after an outage; main is at 5.4.0, "
            "unchanged for 20 hours. First the recorded days and the nights, then the code, then the history. Find the "
            "last build proven good, the faulty file, function and line, a minimal diff, the commit that brought it in "
            "and its id on the release branch."
        ),
        version=VERSION,
    )
    _add_complaint(case)
    _add_code(case)
    _add_history(case)
    _add_facts(case)
    _add_decoys(case)
    _add_answer(case)
    _ask_event(case)
    _ask_build(case)
    _ask_locate(case)
    _ask_repair(case)
    _ask_origin(case)
    _ask_picked(case)
    _add_phases(case)
    _add_cache(case)
    judge(case, FILES, HIDDEN_TESTS, RIGHT_PATCH, WRONG_PATCHES)
    return case.build()


def _add_phases(case: CaseBuilder) -> None:
    case.phase(
        "complaint",
        "Meterline 5.4.0, unchanged for 20 hours. A customer paid twice for an hour after an outage. Find the event "
        "that was billed twice, and the last build that the nights prove good: with late arrivals, and none billed "
        "twice. The logs and the archive of nights are gone after this phase.",
        (_TICKET, _NIGHTS, *_DAYS),
        ("event", "build"),
        19,
    )
    case.phase(
        "code",
        "Meterline 5.4.0, unchanged for 20 hours. Find the file and function that count the event of the complaint "
        "again, the line, and a minimal unified diff that keeps what the notes promise. The code is gone after "
        "this phase.",
        (_NOTES, _REVIEW, _RED, *_code_ids(), "tests-meterline", *(f"libs-{name}" for name in _NEIGHBOURS)),
        ("locate", "repair"),
        11,
    )
    case.phase(
        "history",
        "Meterline 5.4.0, unchanged for 20 hours. Find the commit that brought the fault in after the last build "
        "proven good, and the id under which it was picked into release/5.3. Then answer everything.",
        (_COMMITS, _BRANCH, _BUILDS, _CHAT),
        ("origin", "picked"),
        10,
    )


# What lies on the table


def _add_complaint(case: CaseBuilder) -> None:
    case.artifact(_TICKET, ArtifactKind.TICKET, "MET-231, with comments", people.TICKET)
    case.artifact(_NIGHTS, ArtifactKind.TEST_REPORT, "Archive of the nights, oldest first", archive())
    for day, name in enumerate(_DAYS):
        case.artifact(name, ArtifactKind.LOG, f"Pipeline log of the recording, day {day}", trace_of_day(day))


def _code_ids() -> tuple[str, ...]:
    return tuple(f"code-{path.rpartition('/')[2].removesuffix('.py')}" for path in _code_paths())


def _code_paths() -> tuple[str, ...]:
    return (WINDOWS, CHARGES, EVENT, PIPELINE, SEEN, INVOICE, TARIFF, RECONCILE, FLEET)


@cache
def red_run() -> TestRun:
    return run_tests(FILES, verbose=True, log_level="DEBUG")


def _add_code(case: CaseBuilder) -> None:
    for name, path in zip(_code_ids(), _code_paths(), strict=True):
        case.artifact(name, ArtifactKind.CODE, path, FILES[path])
    tests = "\n\n".join(f"# {path}\n{text}" for path, text in FILES.items() if path.startswith("tests/"))
    case.artifact("tests-meterline", ArtifactKind.CODE, "All test modules, one after the other", tests)
    case.artifact(_RED, ArtifactKind.TEST_REPORT, "Log of build job 2210", _job_log())
    case.artifact(_REVIEW, ArtifactKind.TICKET, "A draft that was not merged", people.REVIEW)
    case.artifact(_NOTES, ArtifactKind.RUNBOOK, "Notes on counting once", people.NOTES)
    for name in _NEIGHBOURS:
        modules = {path: text for path, text in package_files(name).items() if not path.endswith("__init__.py")}
        text = "\n\n".join(f"# libs/{name}/{path}\n{source}" for path, source in modules.items())
        case.artifact(f"libs-{name}", ArtifactKind.CODE, f"libs/{name}, all modules and tests", text)


def _job_log() -> str:
    job = Job(
        name="meterline/tests",
        number=2210,
        runner="linux-small-04",
        head=REPRODUCE.sha,
        branch="main",
        command="python -m pytest tests -v --log-level=DEBUG",
        trigger="push by elin",
        environment={
            "CI": "true",
            "HOME": "/home/runner",
            "LANG": "C.UTF-8",
            "METERLINE_BOOKS": "rehearsal",
            "PYTHONUNBUFFERED": "1",
            "TZ": "Europe/Oslo",
        },
        notices=(
            f"last green run of this job: 2207 at {SAY_LATE.sha}",
            "warning: clock of linux-small-04 was set back by 3600 s on Sunday (end of summer time)",
        ),
    )
    clock = JobClock(datetime(2025, 10, 28, 16, 7, 2, tzinfo=UTC))
    return write_job_log(Stream(SCENARIO_ID, "job"), clock, job, red_run().report, bool(red_run().failing))


@cache
def older_commits() -> tuple[Commit, ...]:
    """What was tidied in the months before, in all packages of the repository; newest first."""
    at = datetime(2025, 10, 3, 15, 40, tzinfo=UTC)
    draw = Stream(SCENARIO_ID, "older")
    made = []
    files = _oldest_files()
    paths = [path for path in files if not path.startswith("tests/") and not path.endswith("__init__.py")]
    for tidying in tidyings(files, paths, _OLDER_COMMITS, draw):
        at -= timedelta(minutes=draw.integer(300, 3900))
        author = draw.choice(_AUTHORS)
        made.append(
            Commit(
                sha(PACKAGE, tidying.subject, f"{at:%m%d%H%M}"),
                f"{author} <{author.split()[0].lower()}@meterline.example>",
                f"{at:%a %b} {at.day} {at:%H:%M:%S %Y} +0000",
                tidying.subject,
                (Edit(tidying.path, tidying.before, tidying.after),),
            )
        )
    return tuple(made)


def _oldest_files() -> dict[str, str]:
    """Before the first commit of October."""
    files = {**FILES, **_libraries()}
    for commit in COMMITS:
        for edit in reversed(commit.edits):
            files = edit.undone(files)
    return files


def _libraries() -> dict[str, str]:
    return {
        f"libs/{name}/{path}": text
        for name in _NEIGHBOURS
        for path, text in package_files(name).items()
        if path.startswith(f"{name}/") and not path.endswith("__init__.py")
    }


def _add_history(case: CaseBuilder) -> None:
    commits = (*COMMITS, *older_commits())
    log = log_with_diffs({**FILES, **_libraries()}, commits)
    case.artifact(_COMMITS, ArtifactKind.DIFF, f"git log -p main, {len(commits)} commits", log)
    branch = dict(states()[BRANCHED_AT])
    for commit in reversed(PICKED):
        for edit in commit.edits:
            branch = edit.applied(branch)
    title = f"git log -p release/5.3, since it branched off at {BRANCHED_AT.sha}"
    case.artifact(_BRANCH, ArtifactKind.DIFF, title, log_with_diffs(branch, PICKED))
    case.artifact(_BUILDS, ArtifactKind.CONFIG, "Builds of October", _builds())
    case.artifact(_CHAT, ArtifactKind.CHAT, "#meterline-dev, 29 October", people.CHAT)


def _builds() -> str:
    rows = [f"{b.name}  main at {b.commit.sha}  {b.at:%Y-%m-%d %H:%M} UTC  nights: {len(b.outages)}" for b in BUILDS]
    return "# build, newest commit in it, when, nights that ran on it\n" + "\n".join(rows) + "\n"


def _build_row(name: str) -> str:
    return next(f"{b.name}  main at {b.commit.sha}" for b in BUILDS if b.name == name)


# What it rests on


def _add_facts(case: CaseBuilder) -> None:
    good = last_proven_good()
    bad = next(night for night in nights() if night.billed_twice).build
    case.fact("billed-first", "the hour was billed when the gateway came back", Quote(_DAYS[1], _FIRST_BILL))
    case.fact("billed-again", "the same event once more, as a correction of that hour", Quote(_DAYS[1], _SECOND_BILL))
    for night in nights():
        case.fact(f"night-{night.number}", "late arrivals and doubles of that night", Quote(_NIGHTS, night.verdict))
    case.fact(
        "forgotten-at-once",
        "minutes after it came, with the next arrival, the id is let go",
        Quote(_RED, f"1 19:06:00 forgets {TWICE}"),
    )
    case.fact("by-arrival", "what an id's life goes by", Quote(_NOTES, "goes by when it came to us"))
    case.fact("kept-by-measure", "kept since it was measured, not since it came", Quote("code-seen", BUG.after))
    case.fact("over-the-horizon", "what is older than the horizon is let go", Quote("code-seen", _OVER_OLD))
    case.fact(
        "two-moments",
        "an arrival has a time of its own besides the event's",
        Quote("code-event", "An event as it came in at `at`, by our clock."),
    )
    case.fact(
        "bounded", "and no id may stay for longer", Quote(_NOTES, "an id that came more than 26 hours ago is let go")
    )
    case.fact("built-good", "what was in the last build proven good", Quote(_BUILDS, _build_row(good.name)))
    case.fact("built-bad", "what was in the first build that billed twice", Quote(_BUILDS, _build_row(bad.name)))
    case.fact("arrival-out", "ids were kept by the time of arrival", Quote(_COMMITS, _KEPT_BY_ARRIVAL))
    case.fact("measure-in", "and are kept by the time of measurement since", Quote(_COMMITS, _KEPT_BY_MEASURE))
    case.fact("picked-id", "the pick on the release branch", Quote(_BRANCH, f"commit {PICKED_ARRIVAL.sha}"))
    case.fact(
        "picked-from", "and what it was picked from", Quote(_BRANCH, f"(cherry picked from commit {TAKE_ARRIVAL.sha})")
    )


def _add_decoys(case: CaseBuilder) -> None:
    case.decoy(
        "largest-correction",
        "the largest correction, and a rightful one: the hour had been billed without it",
        Quote(_TICKET, "The correction over 57 units of storage is the largest by far"),
        Quote(_DAYS[1], _LARGEST),
    )
    case.decoy(
        "evening-correction",
        "another rightful correction",
        Quote(_TICKET, "no-50636 looks odd too"),
        Quote(_DAYS[1], _EVENING),
    )
    case.decoy(
        "clean-without-outage",
        "two nights without a late arrival, which prove nothing",
        Quote(_TICKET, "b-616 was clean in both of its nights"),
    )
    case.decoy("clean-among-bad", "clean nights of a bad build", Quote(_TICKET, "b-618 had clean nights as well, then"))
    case.decoy("week-before", "good, but not the last that is", Quote(_TICKET, "the last build of the week before"))
    case.decoy(
        "longer-memory",
        "turns the red test green, breaks the bound, and fails for a longer outage",
        Quote(_REVIEW, "HORIZON_S from 26 to 72 hours"),
    )
    case.decoy(
        "same-clock",
        "the two sides of the comparison would agree on the wrong clock",
        Quote(_REVIEW, "Then let _forget go by the event's own time as well"),
    )
    case.decoy(
        "larger-of-two",
        "right for late events; a device whose clock runs ahead keeps its ids for too long",
        Quote(_REVIEW, "max() of both can never be too short"),
    )
    case.decoy(
        "opened-again",
        "opening a window again is what corrections need",
        Quote(_REVIEW, "opens a window again which was closed"),
        Quote("code-windows", "            window.closed = False"),
    )
    case.decoy(
        "difference",
        "a difference is as right as its sum",
        Quote(_REVIEW, "Charges.bill takes `window.quantity - before`"),
        Quote("code-charges", "quantity = window.quantity - before"),
    )
    case.decoy(
        "heap-order",
        "the heap forgets what it is told to, in the right order",
        Quote(_REVIEW, "The heap pops what is smallest"),
    )
    case.decoy(
        "shorter-horizon",
        "in builds that were good with late arrivals",
        Quote(_CHAT, "HORIZON, 48 to 26 hours"),
        Quote(_COMMITS, "Keep ids for 26 hours, not for 48"),
    )
    case.decoy(
        "tenant-key",
        "in the last good build already",
        Quote(_CHAT, "my commit about ids and tenants"),
        Quote(_COMMITS, "Ids belong to their tenant"),
    )
    case.decoy(
        "shorter-grace",
        "more corrections, all of them rightful",
        Quote(_CHAT, "or the shorter grace"),
        Quote(_COMMITS, "Wait two hours for stragglers, not six"),
    )
    case.decoy(
        "youngest-lines",
        "within the range and on the lines that forget, but it forgets as the sweep did",
        Quote(_CHAT, "blame says heap for every line of _forget"),
        Quote(_COMMITS, "SeenEvents: a heap instead of a sweep"),
    )
    case.decoy("other-pick", "a pick of another commit", Quote(_BRANCH, f"commit {PICKED_COLUMNS.sha}"))
    case.decoy("first-pick", "a pick of another commit", Quote(_BRANCH, f"commit {PICKED_IDS.sha}"))


def _night_facts() -> tuple[str, ...]:
    return tuple(f"night-{night.number}" for night in nights())


def _build_path() -> tuple[str, ...]:
    """The last good night with late arrivals, and the first bad one."""
    bad = next(night for night in nights() if night.billed_twice)
    good = [night for night in nights() if night.had_late and night.number < bad.number][-1]
    return f"night-{good.number}", f"night-{bad.number}"


def _add_answer(case: CaseBuilder) -> None:
    case.answer_field(
        "build", "The last build proven good, as b-NNN.", FieldKind.TEXT, (last_proven_good().name,), _build_path()
    )
    files = (CHARGES, EVENT, PIPELINE, SEEN, WINDOWS)
    ask_place(case, SEEN, "SeenEvents.admit", files, _LOCATE_PATH)
    ask_repair(case, _RIGHT_PLACE["line"], RIGHT_PATCH, _REPAIR_PATH)
    case.answer_field(
        "commit", "Which commit brought the fault in? Short id.", FieldKind.TEXT, (TAKE_ARRIVAL.sha,), _ORIGIN_PATH
    )
    case.answer_field(
        "picked", "Its short id on the release branch.", FieldKind.TEXT, (PICKED_ARRIVAL.sha,), _PICKED_NEEDS
    )


# What is asked


def _ask_event(case: CaseBuilder) -> None:
    case.subtask(
        "event",
        "Which event is it that norra calls were billed for twice, with hour 0 13:00:00 and by its correction?",
        ("event",),
        QuestionKind.LOOKUP,
        True,
        _EVENT_NEEDS,
        Reply({"event": TWICE}, f"{TWICE}: 3 units of calls for 0 13:00, billed as an hour and again as a correction."),
        (
            Reply({"event": "no-50609"}, "no-50609, by far the largest correction.", ("largest-correction",)),
            Reply({"event": "no-50636"}, "no-50636, 33 units on top of an hour.", ("evening-correction",)),
            Reply({"event": "no-50625"}, "no-50625, the first hour of the second day that was corrected."),
        ),
    )


def _ask_build(case: CaseBuilder) -> None:
    good = last_proven_good().name
    case.subtask(
        "build",
        "Going by all nights: which is the last build that is proven to bill late arrivals once?",
        ("build",),
        QuestionKind.CAUSAL,
        False,
        _night_facts(),
        Reply(
            {"build": good},
            f"{good} had late arrivals in its nights and billed none twice; b-616 had none to show, and from b-617 on "
            "events are billed twice wherever there are late ones.",
        ),
        (
            Reply({"build": "b-616"}, "b-616: both of its nights are clean.", ("clean-without-outage",)),
            Reply({"build": "b-618"}, "b-618 still had a clean night.", ("clean-among-bad",)),
            Reply({"build": "b-614"}, "b-614, the last of the week before.", ("week-before",)),
            Reply({"build": "b-613"}, "b-613: the last with nights of every kind."),
        ),
    )


def _ask_locate(case: CaseBuilder) -> None:
    case.subtask(
        "locate",
        "The same event twice: which file and function let {event} in a second time, when its gateway repeats it?",
        ("file", "function"),
        QuestionKind.CODE,
        False,
        _LOCATE_NEEDS,
        Reply(
            {"file": SEEN, "function": "SeenEvents.admit"},
            f"{TWICE} is forgotten minutes after it came: admit keeps its id by when it was measured, which is beyond "
            "the horizon already.",
        ),
        (
            Reply(
                {"file": WINDOWS, "function": "Windows.put"},
                "Windows.put opens an hour again that was billed.",
                ("opened-again",),
            ),
            Reply(
                {"file": CHARGES, "function": "Charges.bill"},
                "Charges.bill bills a difference in which an event stands twice.",
                ("difference",),
            ),
            Reply(
                {"file": SEEN, "function": "SeenEvents._forget"},
                "_forget pops ids from its heap before their time.",
                ("heap-order",),
            ),
            Reply(
                {"file": PIPELINE, "function": "Pipeline.accept"}, "accept goes on with an event that was turned away."
            ),
        ),
        slot=Slot(name="event", from_subtask_id="event"),
        slot_value=TWICE,
    )


def _ask_repair(case: CaseBuilder) -> None:
    case.subtask(
        "repair",
        "Which line keeps an id by the wrong time of its event, and which one-line diff lets ids go 26 hours after "
        "they came in, by our clock?",
        ("line", "patch"),
        QuestionKind.CODE,
        True,
        _REPAIR_NEEDS,
        Reply(_RIGHT_PLACE, "Keep an id by when its event came, not by when it was measured."),
        (
            Reply(
                place_of(FILES, SEEN, _HORIZON_OLD, LONGER_PATCH),
                "Keep ids for longer than an outage lasts.",
                ("longer-memory",),
            ),
            Reply(
                place_of(FILES, SEEN, BUG.after, LATER_PATCH),
                "Keep an id by the later of its two times.",
                ("larger-of-two",),
            ),
            Reply(
                place_of(FILES, SEEN, _FORGET_OLD, MEASURED_PATCH),
                "Let both sides of the comparison go by the event's time.",
                ("same-clock",),
            ),
            Reply(place_of(FILES, SEEN, _OVER_OLD, STRICT_PATCH), "An id at the very horizon is not over it yet."),
        ),
    )


def _ask_origin(case: CaseBuilder) -> None:
    case.subtask(
        "origin",
        "Of the commits in the builds after {build}: which one made ids be forgotten too early? Short id.",
        ("commit",),
        QuestionKind.CODE,
        False,
        _ORIGIN_NEEDS,
        Reply(
            {"commit": TAKE_ARRIVAL.sha},
            f"{TAKE_ARRIVAL.sha}, between b-615 and b-617: where an id was kept by the time of arrival, it is kept by "
            "the event's own time since.",
        ),
        (
            Reply(
                {"commit": HEAP.sha},
                f"{HEAP.sha} rewrote how ids are forgotten, in the first bad build.",
                ("youngest-lines",),
            ),
            Reply(
                {"commit": HORIZON.sha},
                f"{HORIZON.sha}: 26 hours are less than the outage.",
                ("shorter-horizon",),
            ),
            Reply({"commit": TENANT_IDS.sha}, f"{TENANT_IDS.sha} changed the key of an id.", ("tenant-key",)),
            Reply({"commit": GRACE.sha}, f"{GRACE.sha}: the grace is too short.", ("shorter-grace",)),
        ),
        slot=Slot(name="build", from_subtask_id="build"),
        slot_value=last_proven_good().name,
    )


def _ask_picked(case: CaseBuilder) -> None:
    case.subtask(
        "picked",
        "Which commit of release/5.3 was cherry picked from {commit}? Short id.",
        ("picked",),
        QuestionKind.LOOKUP,
        True,
        _PICKED_NEEDS,
        Reply({"picked": PICKED_ARRIVAL.sha}, f"{PICKED_ARRIVAL.sha} was picked from {TAKE_ARRIVAL.sha}."),
        (
            Reply({"picked": PICKED_COLUMNS.sha}, f"{PICKED_COLUMNS.sha}, the newest pick.", ("other-pick",)),
            Reply({"picked": PICKED_IDS.sha}, f"{PICKED_IDS.sha}, the first pick after the branch.", ("first-pick",)),
            Reply({"picked": BRANCHED_AT.sha}, f"{BRANCHED_AT.sha}, where the branch begins."),
        ),
        slot=Slot(name="commit", from_subtask_id="origin"),
        slot_value=TAKE_ARRIVAL.sha,
    )


def _add_cache(case: CaseBuilder) -> None:
    case.cached(
        "cache-318",
        "repair",
        "Which one-line diff makes an id live for 26 hours after it came?",
        _RIGHT_PLACE,
        "Keep an id by the arrival's own time.",
        VERSION,
        3,
        (
            Quote("code-seen", BUG.after),
            Quote("code-event", "An event as it came in at `at`, by our clock."),
            Quote(_NOTES, "an id that came more than 26 hours ago is let go"),
        ),
        CacheValidity.VALID,
    )
    case.cached(
        "cache-309",
        "build",
        "Which is the last build that bills late arrivals once?",
        {"build": "b-616"},
        "b-616: no event billed twice in two nights.",
        VERSION,
        190,
        (Quote(_NIGHTS, nights()[11].verdict),),
        CacheValidity.STALE,
    )
    case.cached(
        "cache-297",
        "repair",
        "Which one-line diff keeps repeats after an outage from being billed?",
        place_of(FILES, SEEN, _HORIZON_OLD, LONGER_PATCH),
        "A horizon of 72 hours.",
        "5.3.2",
        260,
        (Quote("code-seen", _HORIZON_OLD),),
        CacheValidity.WRONG_VERSION,
    )
    case.cached(
        "cache-314",
        "origin",
        "Which commit after the last good build brought the fault in?",
        {"commit": HEAP.sha},
        f"{HEAP.sha}: the youngest change of the lines that forget.",
        VERSION,
        44,
        (Quote(_COMMITS, "SeenEvents: a heap instead of a sweep"),),
        CacheValidity.STALE,
    )
