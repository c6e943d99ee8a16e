"""Whether a candidate patch is right is never claimed: it is applied, run against the hidden tests, and noted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from TokenOptEnv.errors import BadInput, ScenarioInvalid
from TokenOptEnv.task_defs.authoring import CaseBuilder
from TokenOptEnv.task_defs.bugfix.patch import apply_patch
from TokenOptEnv.task_defs.execution import HiddenTest, verdict


def patch_passes(files: Mapping[str, str], patch: str, hidden_tests: Sequence[HiddenTest]) -> bool:
    """A patch that cannot be applied repairs nothing."""
    try:
        patched = apply_patch(files, patch)
    except BadInput:
        return False
    return verdict(patched, hidden_tests)


def judge(
    builder: CaseBuilder, files: Mapping[str, str], hidden_tests: Sequence[HiddenTest], right: str, wrong: Sequence[str]
) -> None:
    """Note every candidate's verdict; a case whose truth does not come out of the run is refused."""
    for patch, meant in [(right, True), *((patch, False) for patch in wrong)]:
        passed = patch_passes(files, patch, hidden_tests)
        if passed is not meant:
            raise ScenarioInvalid(f"{builder.scenario_id}: hidden tests {'pass' if passed else 'fail'} with {patch!r}")
        builder.verdict(patch, passed)
