"""The CI logs of the ferrybook case: jobs of a small fleet, each around a real run of its tests."""

from __future__ import annotations

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.ci.cases.ferrybook import history
from TokenOptEnv.task_defs.ci.cases.ferrybook.runs import Run, gating_runs, libs_run, preview_run
from TokenOptEnv.task_defs.ci.writers import fleet, upload
from TokenOptEnv.task_defs.ci.writers.checkout import check_out
from TokenOptEnv.task_defs.ci.writers.job_log import JobLog
from TokenOptEnv.task_defs.ci.writers.lint import lint
from TokenOptEnv.task_defs.ci.writers.suite import run_step

WATCHED = "tests/ferrybook/test_bookings.py::test_references_are_short_and_different"
_REMOTE = "ssh://git@forge.example/harbour/ferrybook"
_LIBS_HOST = "quay-9"
"""Jobs that install nothing run elsewhere."""


def job_logs(run: Run, jobs: tuple[str, ...]) -> str:
    """The logs of some jobs of a run, in the order of the pipeline."""
    writers = {"lint": _lint_job, "tests": _tests_job, "libs": _libs_job, "preview": _preview_job}
    return "".join(writers[job](run) for job in jobs)


def checkout_line(run: Run) -> str:
    return f"HEAD is now at {run.commit.sha} {run.commit.subject}"


def _open(run: Run, job: str, host: str) -> JobLog:
    log = JobLog(fleet.Fleet(), run.at, Stream("ci", history.PACKAGE, "run", run.number, job, run.attempt))
    began = f"{run.at:%Y-%m-%d %H:%M} UTC"
    log.bare(f"=== {history.PACKAGE} #{run.number} | {job} | attempt {run.attempt} | {host} | {began} ===")
    fleet.set_up(log, host)
    check_out(log, _REMOTE, run.commit)
    return log


def _lint_job(run: Run) -> str:
    log = _open(run, "lint", _LIBS_HOST)
    lint(log, len([path for path in run.commit.files if path.endswith(".py")]))
    fleet.tear_down(log)
    return log.text


def _tests_job(run: Run) -> str:
    log = _open(run, "tests", run.host)
    _venv(log, run)
    done = gating_runs()[run]
    run_step(log, "pytest -v tests/ferrybook", done)
    if done.failing and run.attempt == 1:
        upload.flake_notice(log, WATCHED, flips=2, runs=120)
    upload.upload(log, f"junit-{run.number}-{run.attempt}")
    fleet.tear_down(log)
    return log.text


def _libs_job(run: Run) -> str:
    log = _open(run, "libs", _LIBS_HOST)
    run_step(log, "pytest -v tests/libs", libs_run())
    fleet.tear_down(log)
    return log.text


def _preview_job(run: Run) -> str:
    log = _open(run, "preview", _LIBS_HOST)
    run_step(log, "pytest -v tests/preview", preview_run(run.change))
    fleet.tear_down(log)
    return log.text


def _venv(log: JobLog, run: Run) -> None:
    """The host has one already; nobody looks whether it is the one that the lock asks for."""
    venv = run.venv
    log.open("Environment")
    log.command("ci/venv --keep")
    log.say(f"found .venv of {venv.built:%Y-%m-%d %H:%M} on {run.host}, kept as it is")
    log.command("python -m pip list --format=freeze")
    for name, version in venv.pins.items():
        log.say(f"{name}=={version}")
