"""The ferrybook case: an update that nobody saw, because no host installed it for a day."""

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
from TokenOptEnv.task_defs.ci.cases.ferrybook import history, logs, papers
from TokenOptEnv.task_defs.ci.cases.ferrybook.runs import RUNS, export, run_of, summary
from TokenOptEnv.task_defs.ci.writers.history import Change, oneline, patches

SCENARIO_ID = "ci-hard-quay-hosts"
FAILING = "tests/ferrybook/test_fares.py::test_a_dog_pays_a_quarter_of_every_crossing"
PIN = "pin"
PINNED = "roundel==1.9.0"
_SUMMER = "tests/preview/test_summer.py::test_the_summer_boat_to_torso_is_there"
_SENIOR = "tests/ferrybook/test_fares.py::test_a_senior_pays_three_quarters"
_FEE = "tests/ferrybook/test_refunds.py::test_the_fee_takes_no_more_than_there_is"
_CHOICES = (
    logs.WATCHED,
    FAILING,
    _SENIOR,
    "tests/ferrybook/test_fares.py::test_ten_travel_for_nine",
    "tests/ferrybook/test_manifest.py::test_the_list_is_in_the_order_of_surnames",
    _FEE,
    _SUMMER,
)

EXPORT, PATCHES, PIPELINE = "runs-export", "patches-main", "pipeline-yml"
RUNBOOK, CHAT, RELEASES = "runbook-ci-triage", "chat-harbour-ci", "releases-libraries"
_LOGS: dict[str, tuple[tuple[int, int, tuple[str, ...]], ...]] = {
    "log-run-3140": ((3140, 1, ("lint", "tests", "libs", "preview")),),
    "log-run-3140-attempt-2": ((3140, 2, ("tests", "preview")),),
    "log-run-3139": ((3139, 1, ("lint", "tests", "libs")),),
    "log-run-3136": ((3136, 1, ("tests", "libs")),),
    "log-run-3131": ((3131, 1, ("tests", "libs")), (3131, 2, ("tests",))),
    "log-run-3126": ((3126, 1, ("tests", "libs", "preview")),),
}
"""Run, attempt and jobs whose logs are at hand."""
RED, RETRY, FIRST_RED = "log-run-3140", "log-run-3140-attempt-2", "log-run-3131"
_DETAIL = "assert [388, 412, 288] == [388, 413, 288]"


def build() -> Scenario:
    head = history.commits()[history.CAPITALS]
    case = CaseBuilder(
        scenario_id=SCENARIO_ID,
        family="ci",
        difficulty=Difficulty.HARD,
        title="Red on one quay, green on the other",
        brief=(
            "ferrybook sells crossings. Push run 3140 is red twice, the nightly before it was green, and other runs of "
            "the week went from red to green when retried. Find the test that fails in a gating job, the class of "
            "failure by the team's runbook, and the commit to name by the same. An export of the week's runs, some of "
            f"their logs, patches, pipeline and chat are at hand. Main is at {head.sha}."
        ),
        version=f"main@{head.sha}",
    )
    _artifacts(case)
    _facts(case)
    _decoys(case)
    _fields(case)
    _symptom(case)
    _drift(case)
    _origin(case)
    _nature(case)
    _cache(case)
    return case.build()


def _shas() -> dict[Change, str]:
    return {change: commit.sha for change, commit in history.commits().items()}


def _artifacts(case: CaseBuilder) -> None:
    commits = tuple(history.commits().values())
    head = commits[-1].files
    case.artifact("history-main", ArtifactKind.HISTORY, "Commits on main, newest first", oneline(commits))
    for name, kept in _LOGS.items():
        text = "".join(logs.job_logs(run_of(number, attempt), jobs) for number, attempt, jobs in kept)
        said = ", ".join(f"run {number} attempt {attempt}: {', '.join(jobs)}" for number, attempt, jobs in kept)
        case.artifact(name, ArtifactKind.LOG, said[:1].upper() + said[1:], text)
    case.artifact(EXPORT, ArtifactKind.TEST_REPORT, "Export of the week's runs, oldest first", export())
    case.artifact(PATCHES, ArtifactKind.DIFF, "Patches on main, newest first", patches(commits))
    case.artifact("code-fares", ArtifactKind.CODE, "ferrybook/fares.py", head["ferrybook/fares.py"])
    case.artifact(PIPELINE, ArtifactKind.CONFIG, "CI pipeline", head[history.PIPELINE])
    case.artifact(RELEASES, ArtifactKind.RUNBOOK, "Release notes of libraries", papers.RELEASES)
    case.artifact(RUNBOOK, ArtifactKind.RUNBOOK, "CI triage, harbour team", papers.RUNBOOK)
    case.artifact(CHAT, ArtifactKind.CHAT, "#harbour-ci, 6 March", papers.CHAT)


def _run_fact(place: int) -> str:
    return f"run-{RUNS[place].number}-{RUNS[place].attempt}"


def _facts(case: CaseBuilder) -> None:
    case.fact("gates", "which jobs stop a merge", Quote(PIPELINE, "main: [lint, tests, libs]"))
    case.fact("red-test", "the one red test of a gating job", *_both(f"FAILED {FAILING[:60]}"))
    for place, run in enumerate(RUNS):
        case.fact(_run_fact(place), "what was installed there, and how it ended", Quote(EXPORT, summary(run)))
    case.fact("into-the-lock", "from here on the lock asks for it", Quote(PATCHES, f"+{PINNED}"))
    case.fact(
        "first-by-lock",
        "the rule by which a commit is named",
        Quote(RUNBOOK, "the first whose own lock, installed anew on an empty host, turns the gate red"),
    )
    case.fact("other-amount", "what the test sees", *_both(_DETAIL))
    case.fact("halves", "what the package does otherwise", Quote(RELEASES, "`share`: halves go to the even neighbour"))
    case.fact(
        "class-words",
        "what the team calls an update",
        Quote(RUNBOOK, "a package that is installed changed what it does, and our code did not"),
    )
    case.fact("kept-venv", "hosts keep what they have", Quote(PIPELINE, "kept on the host, built from"))


def _decoys(case: CaseBuilder) -> None:
    sha = _shas()
    case.decoy("summer-red", "red since autumn, and allowed to be", Quote(RED, f"FAILED {_SUMMER[:50]}"))
    case.decoy("flips", "a test that flips now and then and passed", Quote(RED, f"flake-watch: {logs.WATCHED}"))
    case.decoy(
        "capitals",
        "the only commit since the last green run, and nothing to do with fares",
        Quote(CHAT, "bookings only, capitals"),
        Quote(PATCHES, '+_ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"'),
    )
    case.decoy(
        "fee",
        "about rounding, and newer than the first red run",
        Quote(CHAT, "ada changed rounding on thursday"),
        Quote(PATCHES, "refunds: round after the fee"),
    )
    case.decoy(
        "fares-py",
        "changes of the module under test that leave this fare alone",
        Quote(CHAT, "then your seniors at three quarters, or my ten for nine"),
        Quote(PATCHES, "fares: seniors travel at three quarters"),
    )
    case.decoy(
        "cleaning",
        "decides when a host forgets, not what it installs",
        Quote(CHAT, "I raised the limit for cleaning on wednesday"),
        Quote(PATCHES, "+  clean_at_disk_percent: 90"),
    )
    case.decoy(
        "harbours",
        "installed on a host that is green",
        Quote(CHAT, "a new table of harbours could do it"),
        Quote(PATCHES, "+portcodes==2026.1"),
    )
    case.decoy(
        "came-with-red",
        "locked with the first red run, and not installed in it",
        Quote(CHAT, "0.7.0 came in with 3131, the first red one"),
        Quote(PATCHES, "+plaintab==0.7.0"),
    )
    case.decoy(
        "both-outcomes", "one commit and both outcomes, with other packages", Quote(CHAT, "same commit, both outcomes")
    )
    case.decoy("disk", "a host that was cleaned", Quote(CHAT, "second time this week that quay-4 is red"))
    case.decoy(
        "venv-on-host",
        "an old decision that only hides and shows what a lock does",
        Quote(PATCHES, f"commit {sha[history.HOST_VENV]}"),
    )


_SYMPTOM = ("gates", "red-test")
_ORIGIN = ("into-the-lock", "first-by-lock")
_NATURE = ("other-amount", "halves", "class-words", "kept-venv")


def _drift_needs() -> tuple[str, ...]:
    return tuple(_run_fact(place) for place in range(len(RUNS)))


def _fields(case: CaseBuilder) -> None:
    ask_culprit(case, _shas()[history.ROUNDEL], _ORIGIN)
    ask_failing_test(case, FAILING, _CHOICES, _SYMPTOM)
    ask_failure_class(case, FailureClass.DEPENDENCY_UPDATE, ("halves", "class-words"))


def _symptom(case: CaseBuilder) -> None:
    case.subtask(
        "symptom",
        "Which test FAILED in a job of run 3140 without allow_failure, one of the gates of main?",
        (FAILING_TEST,),
        QuestionKind.LOOKUP,
        lexical=True,
        needs=_SYMPTOM,
        right=Reply(
            {FAILING_TEST: FAILING},
            "In tests, which gates, the dog's fare fails in both attempts; preview may fail.",
        ),
        wrong=(
            Reply({FAILING_TEST: _SUMMER}, "The summer boat to Torso is not there.", ("summer-red",)),
            Reply({FAILING_TEST: logs.WATCHED}, "flake-watch names the test of references.", ("flips",)),
            Reply({FAILING_TEST: _FEE}, "Refunds are rounded in another place since Thursday.", ("fee",)),
            Reply({FAILING_TEST: _SENIOR}, "The fare for seniors comes out wrong."),
        ),
    )


def _drift(case: CaseBuilder) -> None:
    case.subtask(
        "drift",
        "Over all runs of the week: which installed release do the red ones have and the green ones not? "
        "As name==version.",
        (PIN,),
        QuestionKind.CAUSAL,
        lexical=False,
        needs=_drift_needs(),
        right=Reply(
            {PIN: PINNED},
            "Every red run had roundel 1.9.0 and no green one did; portcodes 2026.1 was green on quay-1, and quay-2 "
            "was red with plaintab 0.6.1.",
        ),
        wrong=(
            Reply({PIN: "portcodes==2026.1"}, "portcodes 2026.1 is in every red run.", ("harbours",)),
            Reply({PIN: "plaintab==0.7.0"}, "plaintab 0.7.0 came with the first red run.", ("came-with-red",)),
            Reply({PIN: "attrs==25.4.0"}, "attrs 25.4.0 is the newest of the week."),
        ),
    )


def _origin(case: CaseBuilder) -> None:
    sha = _shas()
    case.subtask(
        "origin",
        "The gate is red with {pin} installed: which commit is to be named?",
        (CULPRIT,),
        QuestionKind.CODE,
        lexical=True,
        needs=_ORIGIN,
        right=Reply(
            {CULPRIT: sha[history.ROUNDEL]},
            f"{sha[history.ROUNDEL]} is the first whose lock asks for {PINNED}; it ran on a host that had the old one.",
        ),
        wrong=(
            Reply({CULPRIT: sha[history.CAPITALS]}, "The only commit since the last green run.", ("capitals",)),
            Reply({CULPRIT: sha[history.PLAINTAB]}, "The first commit whose run was red.", ("came-with-red",)),
            Reply({CULPRIT: sha[history.FEE]}, "It changed where amounts are rounded.", ("fee",)),
            Reply({CULPRIT: sha[history.SENIORS]}, "It changed the fares' percentages.", ("fares-py",)),
            Reply({CULPRIT: sha[history.CLEAN_LATER]}, "It changed when hosts are cleaned.", ("cleaning",)),
            Reply({CULPRIT: sha[history.HOST_VENV]}, "It let hosts keep their venvs.", ("venv-on-host",)),
        ),
        slot=Slot(name=PIN, from_subtask_id="drift"),
        slot_value=PINNED,
    )


def _nature(case: CaseBuilder) -> None:
    case.subtask(
        "nature",
        "A cent is missing on some hosts: flaky, hosts, pipeline, our code, or a package that changed?",
        (FAILURE_CLASS,),
        QuestionKind.CAUSAL,
        lexical=False,
        needs=_NATURE,
        right=Reply(
            {FAILURE_CLASS: FailureClass.DEPENDENCY_UPDATE.value},
            "412 for 412.5: share sends halves to the even neighbour in the new release; our code is the same on every "
            "host, and hosts only differ in what they kept.",
        ),
        wrong=(
            Reply(
                {FAILURE_CLASS: FailureClass.FLAKY_TEST.value},
                "One commit was red and then green when retried.",
                ("both-outcomes", "flips"),
            ),
            Reply({FAILURE_CLASS: FailureClass.INFRASTRUCTURE.value}, "It is red on some hosts only.", ("disk",)),
            Reply(
                {FAILURE_CLASS: FailureClass.CONFIG_ERROR.value},
                "The pipeline cleans hosts too late and keeps their venvs.",
                ("cleaning", "venv-on-host"),
            ),
            Reply(
                {FAILURE_CLASS: FailureClass.REGRESSION.value},
                "Fares and refunds were changed in the same week.",
                ("fares-py", "fee"),
            ),
        ),
    )


def _cache(case: CaseBuilder) -> None:
    sha = _shas()
    now = f"main@{sha[history.CAPITALS]}"
    case.cached(
        "cache-fer-1",
        "nature",
        "What class of failure is the dog's fare, by the runbook?",
        {FAILURE_CLASS: FailureClass.DEPENDENCY_UPDATE.value},
        "A release that rounds halves another way.",
        version=now,
        age_hours=1,
        cites=(
            Quote(RED, _DETAIL),
            Quote(RELEASES, "`share`: halves go to the even neighbour"),
            Quote(RUNBOOK, "a package that is installed changed what it does, and our code did not"),
            Quote(PIPELINE, "kept on the host, built from"),
        ),
        validity=CacheValidity.VALID,
    )
    case.cached(
        "cache-fer-2",
        "nature",
        "What class of failure was run 3131?",
        {FAILURE_CLASS: FailureClass.FLAKY_TEST.value},
        "Red, and green on the second attempt.",
        version=f"main@{sha[history.PLAINTAB]}",
        age_hours=46,
        cites=(Quote(FIRST_RED, _DETAIL),),
        validity=CacheValidity.STALE,
    )
    case.cached(
        "cache-fer-3",
        "origin",
        "Which commit is to be named for the red gate?",
        {CULPRIT: sha[history.PLAINTAB]},
        f"{sha[history.PLAINTAB]}: its run was the first red one.",
        version=f"main@{sha[history.FEE]}",
        age_hours=22,
        cites=(Quote(PATCHES, "+plaintab==0.7.0"),),
        validity=CacheValidity.STALE,
    )
    case.cached(
        "cache-fer-4",
        "symptom",
        "Which test fails in a gating job?",
        {FAILING_TEST: _SUMMER},
        "The summer boat, on the branch of the summer timetable, where preview gates.",
        version="summer@c01d77aa",
        age_hours=30,
        cites=(Quote(RED, f"FAILED {_SUMMER[:50]}"),),
        validity=CacheValidity.WRONG_VERSION,
    )


def _both(text: str) -> tuple[Quote, ...]:
    return Quote(RED, text), Quote(RETRY, text)
