"""Runs the mutants of every package and records what was seen:

    python -m TokenOptEnv.task_defs.bugfix.generator.recording [package ...]

A mutant is kept if hidden calls notice it. Those that visible tests notice too become bugs of cases; the others make
patches that look right until the hidden tests are run. Mutants that crash in a way that no reviewer would let
through, never come to an end, or turn half the suite red are no bugs that anybody would have to look for.
"""

from __future__ import annotations

import gzip
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from TokenOptEnv.config import YARDSTICK
from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.simulators import tokens
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.bugfix.generator.hidden_calls import hidden_calls
from TokenOptEnv.task_defs.bugfix.generator.library import lore, packages
from TokenOptEnv.task_defs.bugfix.generator.mutation import WRITTEN, Mutation, mutations, written
from TokenOptEnv.task_defs.bugfix.generator.verified import SUFFIX, Mutant, Verified, folder
from TokenOptEnv.task_defs.bugfix.sources import package_files
from TokenOptEnv.task_defs.execution import Trial, TrialResult, run_batch
from TokenOptEnv.task_defs.execution_report import ReportedTest

_TRIED = 140
"""Mutations of a package that are run."""
_BUGS = 26
_BUGS_PER_FUNCTION = 3
_BUGS_PER_OPERATOR = 4
_QUIET = 22
"""Mutants kept that visible tests do not notice."""
_MOST_FAILING = 4
_PATCH_TOKENS = 76
_OTHERS = 10
"""Harms in other places that are tried on top of each bug."""
_CRASHES = ("NameError", "UnboundLocalError", "TypeError", "AttributeError", "RecursionError", "SyntaxError")


def record(package: str) -> Verified:
    files = dict(package_files(package))
    calls = hidden_calls(package)
    correct = run_batch([Trial(files, calls, tests=True)], trial_limit_s=10.0)[0]
    if correct is None or any(test.outcome != "passed" for test in correct.tests):
        raise ScenarioInvalid(f"{package} does not pass its own tests; correct it before planting bugs in it")
    tried = _tried(package, files)
    done = run_batch([Trial(mutation.planted(files), calls, tests=True) for mutation in tried])
    noticed = [
        (mutation, result)
        for mutation, result in zip(tried, done, strict=True)
        if result is not None and result.outcomes != correct.outcomes and _is_subtle(result)
    ]
    kept = _kept(noticed)
    made = [
        Mutant(mutant_id=f"{package}-{place:02d}", mutation=mutation, failing=_failing(result))
        for place, (mutation, result) in enumerate(kept, start=1)
    ]
    return Verified(
        python=f"Python {sys.version_info.major}.{sys.version_info.minor}",
        tests=tuple((test.path, test.name) for test in correct.tests),
        expected=tuple(outcome.values for outcome in correct.outcomes),
        mutants=_with_others(package, files, made, correct),
    )


def _tried(package: str, files: dict[str, str]) -> list[Mutation]:
    offered = [m for m in mutations(package, files) if tokens.count(YARDSTICK, m.repair()) <= _PATCH_TOKENS]
    drawn = Stream("mutants", package).shuffled(offered)
    by_hand = [written(files, bug) for bug in lore(package).bugs]
    return [*by_hand, *drawn[:_TRIED]]


def _failing(result: TrialResult) -> tuple[ReportedTest, ...]:
    return tuple(test for test in result.tests if test.outcome != "passed")


def _is_subtle(result: TrialResult) -> bool:
    failing = [test for test in result.tests if test.outcome != "passed"]
    crashed = any(test.fault is not None and test.fault.kind in _CRASHES for test in failing)
    return len(failing) <= _MOST_FAILING and not crashed and all(test.name for test in result.tests)


def _kept(noticed: Sequence[tuple[Mutation, TrialResult]]) -> list[tuple[Mutation, TrialResult]]:
    """Spread over functions and operators; quiet mutants first where a loud one shares their line."""
    functions: Counter[str] = Counter()
    operators: Counter[str] = Counter()
    loud: list[tuple[Mutation, TrialResult]] = []
    for mutation, result in noticed:
        place = f"{mutation.path} {mutation.function}"
        full = functions[place] >= _BUGS_PER_FUNCTION or operators[mutation.operator] >= _BUGS_PER_OPERATOR
        if not _failing(result) or (full and mutation.operator != WRITTEN) or len(loud) >= _BUGS:
            continue
        functions[place] += 1
        operators[mutation.operator] += 1
        loud.append((mutation, result))
    lines = {(mutation.path, mutation.line) for mutation, _ in loud}
    quiet = [(mutation, result) for mutation, result in noticed if not _failing(result)]
    quiet.sort(key=lambda each: (each[0].path, each[0].line) not in lines)
    return loud + quiet[:_QUIET]


def _with_others(
    package: str, files: dict[str, str], made: Sequence[Mutant], correct: TrialResult
) -> tuple[Mutant, ...]:
    """Each bug with harms in other functions on top of it: what stays wrong is known because it was run."""
    pairs: list[tuple[Mutant, Mutant]] = []
    for bug in [mutant for mutant in made if mutant.failing]:
        others = [other for other in made if _elsewhere(bug.mutation, other.mutation)]
        drawn = Stream("others", package, bug.mutant_id).shuffled(others)[:_OTHERS]
        pairs += [(bug, other) for other in drawn]
    calls = hidden_calls(package)
    done = run_batch([Trial(other.mutation.planted(bug.mutation.planted(files)), calls) for bug, other in pairs])
    stays: dict[str, list[str]] = {}
    for (bug, other), result in zip(pairs, done, strict=True):
        found = stays.setdefault(bug.mutant_id, [])
        if result is not None and result.outcomes != correct.outcomes:
            found.append(other.mutant_id)
    return tuple(mutant.model_copy(update={"stays": tuple(stays.get(mutant.mutant_id, ()))}) for mutant in made)


def _elsewhere(bug: Mutation, other: Mutation) -> bool:
    """In another function, by one line for one line; and where the bug moved its file's lines, in another file."""
    if len(other.right) != 1 or len(other.wrong) != 1 or (other.path, other.function) == (bug.path, bug.function):
        return False
    return other.path != bug.path or len(bug.right) == len(bug.wrong)


def main(names: Sequence[str]) -> None:
    target = Path(str(folder()))
    target.mkdir(exist_ok=True)
    for package in names or packages():
        text = record(package).model_dump_json()
        (target / f"{package}{SUFFIX}").write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


if __name__ == "__main__":
    main(sys.argv[1:])
