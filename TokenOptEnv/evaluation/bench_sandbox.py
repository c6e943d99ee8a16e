"""How fast own patches are judged, one after the other: every recorded patch of the shipped bug fixes, run again.

Their verdicts are known, so the measurement is a check as well.
"""

from __future__ import annotations

from collections import Counter
from itertools import cycle
from statistics import median
from time import perf_counter, process_time

from TokenOptEnv import scenario_store
from TokenOptEnv.errors import BadInput
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.sandbox import Sandbox, SandboxedPatches, Verdict
from TokenOptEnv.scenario import Scenario

_DECIMALS = 2


class SandboxReport(Frozen):
    scenarios: tuple[str, ...]
    verdicts: dict[str, int]
    wrong: int
    """Verdicts that are not those that were recorded."""
    start_ms: float
    """Up to the first verdict: building the wall, warming up, proving that it holds."""
    p50_ms: float
    p99_ms: float
    verdicts_per_s: float
    cpu_verdicts_per_s: float
    """Per second of processor time, on both sides. Far above the other, it says that the machine was busy."""


def run(seconds: float) -> SandboxReport:
    if not 0.0 < seconds <= 3600.0:
        raise BadInput(f"seconds must be above 0 and at most 3600, not {seconds:g}")
    with Sandbox() as sandbox:
        judge = SandboxedPatches(sandbox)
        cases = [scenario_store.load(name) for name in scenario_store.ids("core")]
        jobs = [_Job(case, patch, passed) for case in cases for patch, passed in _recorded(judge, case)]
        began = perf_counter()
        for job in {job.scenario.scenario_id: job for job in jobs}.values():
            job.run(judge)
        start_ms = (perf_counter() - began) * 1_000
        return _measured(judge, sandbox, jobs, seconds, start_ms)


class _Job:
    def __init__(self, scenario: Scenario, patch: str, passed: bool) -> None:
        self.scenario = scenario
        self._patch = patch
        self._passed = passed

    def run(self, judge: SandboxedPatches) -> tuple[Verdict, bool]:
        """The verdict, and whether it is the recorded one."""
        verdict = judge.verdict(self.scenario, self._patch)
        return verdict, (verdict is Verdict.PASSED) is self._passed


def _recorded(judge: SandboxedPatches, case: Scenario) -> list[tuple[str, bool]]:
    return list(case.hidden.verdicts.items()) if judge.covers(case) else []


def _measured(
    judge: SandboxedPatches, sandbox: Sandbox, jobs: list[_Job], seconds: float, start_ms: float
) -> SandboxReport:
    times_ms: list[float] = []
    seen: Counter[str] = Counter()
    wrong = 0
    inside_before, outside_before, began = sandbox.cpu_s, process_time(), perf_counter()
    for place, job in enumerate(cycle(jobs)):
        if perf_counter() - began >= seconds and place >= len(jobs):
            break
        started = perf_counter()
        verdict, as_recorded = job.run(judge)
        times_ms.append((perf_counter() - started) * 1_000)
        seen[verdict.value] += 1
        wrong += not as_recorded
    spent_s = perf_counter() - began
    cpu_s = sandbox.cpu_s - inside_before + process_time() - outside_before
    return SandboxReport(
        scenarios=tuple(dict.fromkeys(job.scenario.scenario_id for job in jobs)),
        verdicts=dict(sorted(seen.items())),
        wrong=wrong,
        start_ms=round(start_ms, _DECIMALS),
        p50_ms=round(median(times_ms), _DECIMALS),
        p99_ms=round(sorted(times_ms)[len(times_ms) * 99 // 100], _DECIMALS),
        verdicts_per_s=round(len(times_ms) / spent_s, 1),
        cpu_verdicts_per_s=round(len(times_ms) / cpu_s, 1),
    )
