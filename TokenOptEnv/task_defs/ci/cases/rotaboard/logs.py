"""The CI logs of the rotaboard case: sections of a build service around real runs of the tests."""

from __future__ import annotations

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.cases.rotaboard import history
from TokenOptEnv.task_defs.ci.cases.rotaboard.runs import Run, gating_runs, libs_run, mobile_run
from TokenOptEnv.task_defs.ci.writers import fleet, sections, upload
from TokenOptEnv.task_defs.ci.writers.checkout import check_out
from TokenOptEnv.task_defs.ci.writers.install import quiet_install
from TokenOptEnv.task_defs.ci.writers.job_log import JobLog
from TokenOptEnv.task_defs.ci.writers.suite import run_step

WATCHED = "tests/test_rota.py::test_turns_go_round"
_REMOTE = "https://forge.example/wards/rotaboard"
_LOCK = "requirements/test.lock"


def job_logs(run: Run, *jobs: str) -> str:
    """The logs of some jobs of a run."""
    writers = {"tests": _tests_job, "libs": _libs_job, "mobile": _mobile_job}
    return "".join(writers[job](run) for job in jobs)


def _open(run: Run, job: str) -> JobLog:
    log = JobLog(sections.Sections(), run.at, Stream("ci", history.PACKAGE, "run", run.number, job, run.attempt))
    log.bare(f"=== {history.PACKAGE} run {run.number}, attempt {run.attempt}, job {job} ===")
    sections.set_up(log, "deck", "forge.example/py311-test:12")
    check_out(log, _REMOTE, run.commit)
    quiet_install(log, _LOCK, run.commit.files[_LOCK])
    return log


def _tests_job(run: Run) -> str:
    log = _open(run, "tests")
    log.command("tools/job_info > tests/job_info.py")
    log.say(*run.job_info.rstrip("\n").split("\n"))
    if run.lost:
        log.open("Run tests")
        log.command("pytest -v tests")
        fleet.lost_agent(log)
        return log.text
    done = gating_runs()[run]
    run_step(log, "pytest -v tests", done)
    if not done.failing:
        upload.flake_notice(log, WATCHED, flips=2, runs=140)
    upload.upload(log, f"junit-{run.number}-{run.attempt}")
    sections.tear_down(log)
    return log.text


def _libs_job(run: Run) -> str:
    log = _open(run, "libs")
    run_step(log, "pytest -v libs", libs_run())
    sections.tear_down(log)
    return log.text


def _mobile_job(run: Run) -> str:
    log = _open(run, "mobile")
    run_step(log, "pytest -v mobile", mobile_run())
    sections.tear_down(log)
    return log.text
