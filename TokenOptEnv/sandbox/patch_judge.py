"""The judge of own patches that an environment is given: the sandbox behind the engine's interface."""

from __future__ import annotations

import atexit
import os
from functools import cache

from TokenOptEnv.sandbox.sandbox import Sandbox
from TokenOptEnv.sandbox.verdict import Verdict, judge
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.task_defs.bugfix.trial import NO_CHANGE, patch_trial


class SandboxedPatches:
    """Nothing starts before the first patch does: playing without own patches needs no sandbox."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    def covers(self, scenario: Scenario) -> bool:
        return patch_trial(scenario) is not None

    def passes(self, scenario: Scenario, patch: str) -> bool:
        return self.verdict(scenario, patch) is Verdict.PASSED

    def verdict(self, scenario: Scenario, patch: str) -> Verdict:
        """Where nothing is at fault, the hidden tests pass with any change that does no harm; none was asked for."""
        if scenario.hidden.verdicts.get(NO_CHANGE, False) and patch.strip() != NO_CHANGE:
            return Verdict.FAILED
        trial = patch_trial(scenario)
        assert trial is not None, "ask covers first"
        return judge(self.sandbox, trial, patch)


def shared() -> SandboxedPatches:
    """One for this process, which every environment in it may use; a fork of the process gets its own."""
    return _of_process(os.getpid())


@cache
def _of_process(process_id: int) -> SandboxedPatches:
    sandbox = Sandbox()

    def close() -> None:
        if os.getpid() == process_id:
            sandbox.close()

    atexit.register(close)
    return SandboxedPatches(sandbox)
