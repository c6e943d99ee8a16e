"""Is a patch right? It is applied, run in the sandbox on the hidden tests, and what it gives is compared out here."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Final, assert_never

from TokenOptEnv.errors import BadInput
from TokenOptEnv.sandbox import bytecode
from TokenOptEnv.sandbox.sandbox import End, Ran, Sandbox
from TokenOptEnv.task_defs.bugfix.patch import apply_patch
from TokenOptEnv.task_defs.bugfix.trial import NO_CHANGE, PatchTrial

_VISIBLE_TESTS: Final = "tests/"
"""Stay outside: the package does not need them, and hidden tests are calls."""


class Verdict(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    """A hidden test saw something else than it expects."""
    DOES_NOT_FIT = "does not fit"
    """It is no diff, or not one of this package."""
    CRASHED = "crashed"
    """It took the interpreter down, or ended it, before all was answered."""
    TIMED_OUT = "timed out"
    """Twice."""
    TOO_LONG = "too long"
    """It said more than is read."""


def judge(sandbox: Sandbox, trial: PatchTrial, patch: str) -> Verdict:
    """The same on any machine: only time depends on one, so a patch that ran out of it gets a second run."""
    try:
        files = trial.files if patch.strip() == NO_CHANGE else apply_patch(trial.files, patch)
    except BadInput:
        return Verdict.DOES_NOT_FIT
    code = {path: text for path, text in files.items() if not path.startswith(_VISIBLE_TESTS)}
    calls = [test.call for test in trial.hidden_tests]
    ready = _compiled(trial)
    compiled = {file: data for path, (file, data) in ready.items() if code[path] == trial.files[path]}
    ran = sandbox.run(code, calls, compiled)
    if ran.end is End.LATE:
        ran = sandbox.run(code, calls, compiled)
    return _verdict(ran, trial)


@lru_cache(maxsize=64)
def _compiled(trial: PatchTrial) -> dict[str, tuple[str, bytes]]:
    """Our own modules, once for all patches to a case; what a patch has changed is compiled behind the wall."""
    own = (path for path in trial.files if path.endswith(".py") and not path.startswith(_VISIBLE_TESTS))
    return {path: (bytecode.file_of(path), bytecode.compiled(path, trial.files[path])) for path in own}


def _verdict(ran: Ran, trial: PatchTrial) -> Verdict:
    match ran.end:
        case End.ANSWERED:
            expected = tuple(test.expected for test in trial.hidden_tests)
            return Verdict.PASSED if ran.outcomes == expected else Verdict.FAILED
        case End.SILENT:
            return Verdict.CRASHED
        case End.LATE:
            return Verdict.TIMED_OUT
        case End.TOO_LONG:
            return Verdict.TOO_LONG
        case _ as never:
            assert_never(never)
