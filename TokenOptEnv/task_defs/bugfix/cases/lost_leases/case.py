"""The case: facts, decoys, questions and candidate patches over the package as it stands at the red nightly."""

from __future__ import annotations

from datetime import UTC, datetime

from TokenOptEnv.config import Difficulty
from TokenOptEnv.models import ArtifactKind, Slot
from TokenOptEnv.scenario import CacheValidity, QuestionKind, Scenario
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply
from TokenOptEnv.task_defs.bugfix.cases.answers import ask_place, ask_repair, place_of
from TokenOptEnv.task_defs.bugfix.cases.lost_leases import people
from TokenOptEnv.task_defs.bugfix.cases.lost_leases.commits import (
    BEAT,
    BUG,
    COMMITS,
    COMPACT,
    FORGET,
    FREEZE,
    HELD,
    JOURNAL,
    LEASE,
    MODEL,
    QUEUE,
    SHORTEN,
    WORKER,
)
from TokenOptEnv.task_defs.bugfix.cases.lost_leases.hidden_tests import HIDDEN_TESTS
from TokenOptEnv.task_defs.bugfix.history import log_with_diffs
from TokenOptEnv.task_defs.bugfix.job_log import Job, JobClock, write_job_log
from TokenOptEnv.task_defs.bugfix.judging import judge
from TokenOptEnv.task_defs.bugfix.patch import one_line_patch
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.execution import run_tests

SCENARIO_ID = "bugfix-medium-relaywork-lost-leases"
VERSION = "0.9.0"
FILES = BUG.applied(package_files("relaywork"))

_JOB = Job(
    name="relaywork/nightly",
    number=1845,
    runner="linux-large-11",
    head=FORGET.sha,
    branch="main",
    command="python -m pytest tests -v --log-level=DEBUG",
    trigger="schedule, every night at 02:00",
    environment={
        "CI": "true",
        "HOME": "/home/runner",
        "LANG": "C.UTF-8",
        "NIGHTLY": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PYTHONFAULTHANDLER": "1",
        "PYTHONUNBUFFERED": "1",
        "RELAYWORK_LEASE_S": "30",
        "RELAYWORK_SOAK_HOURS": "1",
        "TZ": "Europe/Paris",
    },
    notices=(
        f"last green run of this job: 1839 at {SHORTEN.sha}",
        "warning: clock of linux-large-11 was stepped by -2.617 s after the runner update",
        "cache: restored .venv (key py311-9c40, saved 4 days ago)",
        "warning: 3 stale lock files removed from the package cache",
    ),
)

_RENEWED_OLD = "deadline=max(self.deadline, now + seconds))"
_SKIP_OLD = "            if lease is None or lease.epoch != epoch:"
_COMPACT_OLD = "if event.epoch < newest[event.job_id] or mark in written:"
_BEAT_OLD = "self.lease = self.queue.extend(self.lease, seconds)"

RIGHT_PATCH = one_line_patch(FILES, LEASE, _RENEWED_OLD, f"{_RENEWED_OLD[:-1]}, epoch=self.epoch + 1)")
PLAIN_PATCH = one_line_patch(FILES, LEASE, _RENEWED_OLD, "deadline=now + seconds, epoch=self.epoch + 1)")
ASK_CLOCK_PATCH = one_line_patch(FILES, LEASE, _SKIP_OLD, f"{_SKIP_OLD[:-1]} or not lease.over(now):")
COMPACT_PATCH = one_line_patch(FILES, JOURNAL, _COMPACT_OLD, "if event.epoch < newest[event.job_id]:")
LONGER_BEAT_PATCH = one_line_patch(
    FILES, WORKER, _BEAT_OLD, "self.lease = self.queue.extend(self.lease, seconds or 2 * self.left())"
)
WRONG_PATCHES = (PLAIN_PATCH, ASK_CLOCK_PATCH, COMPACT_PATCH, LONGER_BEAT_PATCH)

_RIGHT_PLACE = place_of(FILES, LEASE, _RENEWED_OLD, RIGHT_PATCH)
_ORIGIN_NEEDS = ("last-green", "renewed-and-lost", "renewal-rewritten", "count-removed")
_LOCATE_NEEDS = (
    "renewed-and-lost",
    "first-word-kept",
    "fence-rule",
    "no-new-number",
    "told-by-number",
    "newest-by-number",
)
_LOCATE_PATH = ("fence-rule", "no-new-number")
_REPAIR_NEEDS = ("no-new-number", "fence-rule", "never-shorter", "count-removed")
_REPAIR_PATH = ("no-new-number", "never-shorter")


def build() -> Scenario:
    case = CaseBuilder(
        scenario_id=SCENARIO_ID,
        family="bugfix",
        difficulty=Difficulty.MEDIUM,
        title="Relaywork: live workers lose their jobs",
        brief=(
            "Relaywork is a job queue with leases and a journal. Nightly 1845 of main (0.9.0, unchanged for 14 hours) "
            "is red: workers that are alive lose their jobs, jobs run twice, and a compacted journal recovers wrongly. "
            "One fault explains it all. Find its file, function and line, and give a minimal unified diff that keeps "
            "everything the package documents."
        ),
        version=VERSION,
    )
    _add_artifacts(case)
    _add_facts(case)
    _add_decoys(case)
    _add_answer(case)
    _add_origin(case)
    _add_locate(case)
    _add_repair(case)
    _add_cache(case)
    judge(case, FILES, HIDDEN_TESTS, RIGHT_PATCH, WRONG_PATCHES)
    return case.build()


def _add_artifacts(case: CaseBuilder) -> None:
    run = run_tests(FILES, verbose=True, log_level="DEBUG")
    clock = JobClock(datetime(2025, 5, 23, 2, 0, 4, tzinfo=UTC))
    log = write_job_log(Stream(SCENARIO_ID, "job"), clock, _JOB, run.report, bool(run.failing))
    tests = "\n\n".join(f"# {path}\n{text}" for path, text in FILES.items() if path.startswith("tests/"))
    case.artifact("issue-nightly", ArtifactKind.TICKET, "Issue about nightly 1845, with comments", people.THREAD)
    case.artifact("job-1845", ArtifactKind.TEST_REPORT, "Log of nightly 1845", log)
    case.artifact(
        "commits-may", ArtifactKind.DIFF, "git log -p, the last seven commits", log_with_diffs(FILES, COMMITS)
    )
    case.artifact("code-queue", ArtifactKind.CODE, QUEUE, FILES[QUEUE])
    case.artifact("code-journal", ArtifactKind.CODE, JOURNAL, FILES[JOURNAL])
    case.artifact("code-lease", ArtifactKind.CODE, LEASE, FILES[LEASE])
    case.artifact("code-worker", ArtifactKind.CODE, WORKER, FILES[WORKER])
    case.artifact("code-model", ArtifactKind.CODE, MODEL, FILES[MODEL])
    case.artifact("tests-relaywork", ArtifactKind.CODE, "All test modules, one after the other", tests)


def _add_facts(case: CaseBuilder) -> None:
    case.fact(
        "last-green",
        "what was in the last green run cannot be the cause",
        Quote("job-1845", f"last green run of this job: 1839 at {SHORTEN.sha}"),
    )
    case.fact(
        "renewed-and-lost",
        "kept for 30 s more several times, lost at 45 s, and still at the number of its grant",
        Quote("job-1845", "w-2 lost job-12 after 45.0 s at epoch 1"),
        Quote("job-1845", "w-2 lost job-4 after 55.0 s at epoch 2"),
    )
    case.fact(
        "first-word-kept",
        "compacting takes the grant for the newest event, because no renewal has a higher number",
        Quote("job-1845", "At index 1 diff: ('granted', 1000.0) != ('renewed', 1100.0)"),
    )
    case.fact(
        "fence-rule",
        "the promise: every renewal raises the number",
        Quote("code-lease", "It goes up with every grant and with every renewal, over the whole life of a job,"),
    )
    case.fact("no-new-number", "the new lease has the old number", Quote("code-lease", BUG.after))
    case.fact(
        "told-by-number",
        "an outdated heap entry is told from a valid one by the number alone",
        Quote("code-lease", _SKIP_OLD.strip()),
    )
    case.fact(
        "newest-by-number",
        "compacting tells events of a lease apart by the number alone",
        Quote("code-journal", _COMPACT_OLD),
    )
    case.fact(
        "renewal-rewritten",
        "the commit between the green run and the red one that rewrote the renewal",
        Quote("commits-may", f"commit {FREEZE.sha}"),
    )
    case.fact(
        "count-removed", "the line that raised the number went away", Quote("commits-may", "-        self.epoch += 1")
    )
    case.fact(
        "never-shorter",
        "a renewal keeps a deadline that lies further ahead",
        Quote("code-queue", "a lease that still has longer to go than `seconds` keeps its deadline"),
    )


def _add_decoys(case: CaseBuilder) -> None:
    case.decoy(
        "compact-two-days-old",
        "new code under two of the red tests; it is right as long as numbers rise",
        Quote("issue-nightly", "I think that commit broke"),
        Quote("commits-may", "Keep only the newest word on a lease when compacting"),
    )
    case.decoy(
        "forgotten-epoch",
        "drops numbers, in the newest commit of all; but only those of jobs that are done",
        Quote("issue-nightly", "It drops the last epoch, so a number could come up a second time"),
        Quote("commits-may", "Forget the last epoch of a job that is done"),
        Quote("code-lease", "self._last_epoch.pop(job_id, None)"),
    )
    case.decoy(
        "beat-in-range",
        "changed how much time a beat asks for; None still means a whole lease",
        Quote("issue-nightly", "My beat(seconds) is in the same range"),
        Quote("commits-may", "Let a handler say how much more time it needs"),
        Quote("code-worker", _BEAT_OLD),
    )
    case.decoy(
        "clock-not-asked",
        "asking the clock there hides one symptom; the entry should have been passed over before that",
        Quote(
            "issue-nightly", "it pops a heap entry and takes the lease away without asking whether that lease is over"
        ),
        Quote("code-lease", "while self._deadlines and self._deadlines[0][0] <= now:"),
    )
    case.decoy(
        "odd-max",
        "a remark that leads away from documented behaviour",
        Quote("issue-nightly", "A renewal should simply be now + seconds"),
    )
    case.decoy(
        "stepped-clock",
        "the runner's clock was stepped; the suite brings its own",
        Quote("job-1845", "was stepped by -2.617 s after the runner update"),
        Quote("issue-nightly", "Clock of the runner was stepped that night"),
    )


def _add_answer(case: CaseBuilder) -> None:
    files = (JOURNAL, LEASE, MODEL, QUEUE, WORKER)
    ask_place(case, LEASE, "Lease.renewed", files, _LOCATE_PATH)
    ask_repair(case, _RIGHT_PLACE["line"], RIGHT_PATCH, _REPAIR_PATH)


def _add_origin(case: CaseBuilder) -> None:
    case.subtask(
        "origin",
        "Since the last green run, which commit broke what the red tests rely on? Give its short id.",
        ("commit",),
        QuestionKind.CAUSAL,
        False,
        _ORIGIN_NEEDS,
        Reply(
            {"commit": FREEZE.sha},
            f"{FREEZE.sha}: renewed leases are lost with the number of their grant, and this commit removed the line "
            "that raised it at a renewal.",
        ),
        (
            Reply(
                {"commit": COMPACT.sha},
                f"{COMPACT.sha}: compacting is new, two red tests are about it, and it keeps the first of equals.",
                ("compact-two-days-old",),
            ),
            Reply(
                {"commit": FORGET.sha},
                f"{FORGET.sha}: it forgets epochs, so a number comes up twice and a new lease looks like an old one.",
                ("forgotten-epoch",),
            ),
            Reply(
                {"commit": BEAT.sha},
                f"{BEAT.sha}: since then a beat asks for `seconds`, and without them gets no new time.",
                ("beat-in-range",),
            ),
            Reply({"commit": HELD.sha}, f"{HELD.sha}: it changed how leases that ran out are taken back."),
        ),
    )


def _add_locate(case: CaseBuilder) -> None:
    case.subtask(
        "locate",
        "Commit {commit} broke a promise that several modules count on: in which file and function is it broken?",
        ("file", "function"),
        QuestionKind.CODE,
        False,
        _LOCATE_NEEDS,
        Reply(
            {"file": LEASE, "function": "Lease.renewed"},
            "Heap and journal tell old from new by the epoch alone, and the epoch has to rise at each renewal. "
            "Lease.renewed moves the deadline and keeps the epoch.",
        ),
        (
            Reply(
                {"file": JOURNAL, "function": "Journal.compact"},
                "Of several events with one epoch, Journal.compact keeps the first and drops the newer deadline.",
                ("compact-two-days-old",),
            ),
            Reply(
                {"file": LEASE, "function": "LeaseBook.run_out"},
                "LeaseBook.run_out takes a lease for a heap entry without asking whether that lease is over.",
                ("clock-not-asked",),
            ),
            Reply(
                {"file": LEASE, "function": "LeaseBook.forget"},
                "LeaseBook.forget drops the last epoch, so that the fence starts again at one.",
                ("forgotten-epoch",),
            ),
            Reply(
                {"file": MODEL, "function": "system_clock"},
                "The runner's clock was stepped back, and deadlines came too early.",
                ("stepped-clock",),
            ),
            Reply(
                {"file": QUEUE, "function": "Queue.extend"},
                "Queue.extend notes the renewal before the book has checked it.",
            ),
        ),
        slot=Slot(name="commit", from_subtask_id="origin"),
        slot_value=FREEZE.sha,
    )


def _add_repair(case: CaseBuilder) -> None:
    case.subtask(
        "repair",
        "A holder asks for seconds and a lease takes the old one's place: which line is wrong, and which one-line "
        "diff keeps the rules on deadline and epoch?",
        ("line", "patch"),
        QuestionKind.CODE,
        True,
        _REPAIR_NEEDS,
        Reply(
            _RIGHT_PLACE,
            "Raise the epoch in the lease that replaces the old one, and leave the rule that time is never taken away.",
        ),
        (
            Reply(
                place_of(FILES, LEASE, _RENEWED_OLD, PLAIN_PATCH),
                "Raise the epoch, and let the deadline simply be now + seconds.",
                ("odd-max",),
            ),
            Reply(
                place_of(FILES, LEASE, _SKIP_OLD, ASK_CLOCK_PATCH),
                "Pass over a heap entry when its lease is not over yet.",
                ("clock-not-asked",),
            ),
            Reply(
                place_of(FILES, JOURNAL, _COMPACT_OLD, COMPACT_PATCH),
                "Keep every event of the newest epoch, so that the last one counts at recovery.",
                ("compact-two-days-old",),
            ),
            Reply(
                place_of(FILES, WORKER, _BEAT_OLD, LONGER_BEAT_PATCH),
                "Ask for more time at each beat than is left.",
            ),
        ),
    )


def _add_cache(case: CaseBuilder) -> None:
    case.cached(
        "cache-204",
        "origin",
        "Which commit since the last green nightly changed how leases are renewed?",
        {"commit": FREEZE.sha},
        f"{FREEZE.sha} replaced the renewal in place, and with it the line that raised the epoch.",
        VERSION,
        1,
        (
            Quote("commits-may", "-        self.epoch += 1"),
            Quote("job-1845", "w-2 lost job-12 after 45.0 s at epoch 1"),
        ),
        CacheValidity.VALID,
    )
    case.cached(
        "cache-187",
        "origin",
        "Which commit since the last green run changed what workers rely on?",
        {"commit": BEAT.sha},
        f"{BEAT.sha}: the newest change to how much time a beat asks for.",
        VERSION,
        40,
        (Quote("commits-may", "Let a handler say how much more time it needs"),),
        CacheValidity.STALE,
    )
    case.cached(
        "cache-163",
        "locate",
        "In which file and function is a live worker's lease taken away?",
        {"file": LEASE, "function": "LeaseBook.run_out"},
        "LeaseBook.run_out takes leases for outdated heap entries.",
        "0.8.3",
        700,
        (Quote("code-lease", _SKIP_OLD.strip()),),
        CacheValidity.WRONG_VERSION,
    )
    case.cached(
        "cache-196",
        "repair",
        "Which one-line diff keeps renewed leases alive?",
        place_of(FILES, LEASE, _SKIP_OLD, ASK_CLOCK_PATCH),
        "Ask the clock before a lease is taken off the book.",
        VERSION,
        31,
        (Quote("code-lease", _SKIP_OLD.strip()),),
        CacheValidity.STALE,
    )
