"""Runs what a case claims: its verdicts and its report, from its own public code and the package it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from TokenOptEnv.errors import BadInput
from TokenOptEnv.models import ArtifactKind
from TokenOptEnv.scenario import PublicScenario, Scenario
from TokenOptEnv.task_defs.bugfix.cases.lost_leases.hidden_tests import HIDDEN_TESTS as LOST_LEASES
from TokenOptEnv.task_defs.bugfix.cases.regional_prices.hidden_tests import HIDDEN_TESTS as REGIONAL_PRICES
from TokenOptEnv.task_defs.bugfix.generator.hidden_calls import hidden_calls
from TokenOptEnv.task_defs.bugfix.generator.library import packages
from TokenOptEnv.task_defs.bugfix.generator.report import symptom_line
from TokenOptEnv.task_defs.bugfix.generator.verified import verified
from TokenOptEnv.task_defs.bugfix.patch import apply_patch
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.execution import HiddenTest, Outcome, Trial, run_batch

_DESIGNED = {"relaywork": LOST_LEASES, "shelflife": REGIONAL_PRICES}
_NONE = "none"


def verify_scenario(scenario: Scenario) -> list[str]:
    """Every claim that running does not bear out, in a line each; nothing where all is true."""
    shown = shown_code(scenario.public)
    package = next(iter(shown)).partition("/")[0]
    files = {**package_files(package), **shown}
    tests = hidden_tests(package)
    calls = tuple(test.call for test in tests)
    expected = tuple(test.expected for test in tests)
    faults: list[str] = []
    patched = {patch: _patched(files, patch) for patch in scenario.hidden.verdicts}
    trials = [Trial(files, calls, tests=True)]
    trials += [Trial(after, calls) for after in patched.values() if after is not None]
    as_shown, *results = run_batch(trials, trial_limit_s=10.0)
    ran = iter(results)
    for patch, after in patched.items():
        result = None if after is None else next(ran)
        passed = result is not None and result.outcomes == expected
        if passed is not scenario.hidden.verdicts[patch]:
            first = patch.split("\n")[-1][:60]
            faults.append(
                f"{scenario.scenario_id}: hidden tests {'pass' if passed else 'fail'} with the patch {first!r}"
            )
    if as_shown is None:
        return [*faults, f"{scenario.scenario_id}: the code as shown does not come to an end"]
    printed = [symptom_line(test) for test in as_shown.tests if test.outcome != "passed"]
    is_red = bool(printed)
    if is_red is scenario.hidden.verdicts.get(_NONE, False):
        faults.append(f"{scenario.scenario_id}: the code as shown is {'red' if is_red else 'green'}")
    text = "".join(segment.text for artifact in scenario.public.artifacts for segment in artifact.segments)
    faults += [f"{scenario.scenario_id}: the report does not show {line!r}" for line in printed if line not in text]
    return faults


def shown_code(public: PublicScenario) -> dict[str, str]:
    """The package's modules as the case shows them: artifacts that are one file each."""
    return {
        artifact.title: "".join(segment.text for segment in artifact.segments)
        for artifact in public.artifacts
        if artifact.kind is ArtifactKind.CODE and artifact.title.endswith(".py") and " " not in artifact.title
    }


def hidden_tests(package: str) -> Sequence[HiddenTest]:
    if package in packages():
        expected = verified(package).expected
        return [
            HiddenTest(f"hidden {place}", call, Outcome(values))
            for place, (call, values) in enumerate(zip(hidden_calls(package), expected, strict=True))
        ]
    return _DESIGNED[package]


def _patched(files: Mapping[str, str], patch: str) -> dict[str, str] | None:
    """Saying that nothing needs a change leaves everything as it is."""
    if patch == _NONE:
        return dict(files)
    try:
        return apply_patch(files, patch)
    except BadInput:
        return None
