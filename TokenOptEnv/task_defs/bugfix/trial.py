"""What a patch to a case is tried on: the package as the case shows it, and what a repaired one must do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

from TokenOptEnv.scenario import PublicScenario, Scenario
from TokenOptEnv.task_defs.bugfix.cases.double_billing.hidden_tests import HIDDEN_TESTS as DOUBLE_BILLING
from TokenOptEnv.task_defs.bugfix.cases.lost_leases.hidden_tests import HIDDEN_TESTS as LOST_LEASES
from TokenOptEnv.task_defs.bugfix.cases.regional_prices.hidden_tests import HIDDEN_TESTS as REGIONAL_PRICES
from TokenOptEnv.task_defs.bugfix.cases.undead_keys.hidden_tests import HIDDEN_TESTS as UNDEAD_KEYS
from TokenOptEnv.task_defs.bugfix.generator.checking import hidden_tests, shown_code
from TokenOptEnv.task_defs.bugfix.generator.library import packages
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.execution import HiddenTest

NO_CHANGE = "none"
"""The answer where nothing is at fault."""
_DESIGNED: Mapping[str, Sequence[HiddenTest]] = MappingProxyType(
    {
        "meterline": DOUBLE_BILLING,
        "relaywork": LOST_LEASES,
        "shelflife": REGIONAL_PRICES,
        "siltstore": UNDEAD_KEYS,
    }
)


@dataclass(frozen=True, slots=True, eq=False)
class PatchTrial:
    """Made once a scenario, so it is compared by identity."""

    files: Mapping[str, str]
    hidden_tests: tuple[HiddenTest, ...]


@lru_cache(maxsize=256)
def patch_trial(scenario: Scenario) -> PatchTrial | None:
    """None of a case that has no package of ours behind it: there is nothing that a patch could be run against."""
    shown = shown_code(scenario.public)
    package = _package(scenario.public, shown)
    if package is None:
        return None
    return PatchTrial(MappingProxyType({**package_files(package), **shown}), _tests(package))


def _package(public: PublicScenario, shown: Mapping[str, str]) -> str | None:
    """The one whose every module that is shown is a module of ours, by name."""
    if public.family != "bugfix" or not shown:
        return None
    package = next(iter(shown)).partition("/")[0]
    known = package in _DESIGNED or package in packages()
    return package if known and shown.keys() <= package_files(package).keys() else None


@cache
def _tests(package: str) -> tuple[HiddenTest, ...]:
    return tuple(_DESIGNED[package] if package in _DESIGNED else hidden_tests(package))
