"""Is a suite fair? Nothing in it was nearly seen in training, and no habit that reads almost nothing solves it."""

from __future__ import annotations

from collections.abc import Sequence

from TokenOptEnv.evaluation.near_duplicates import Telling, near_duplicates, telling_segments
from TokenOptEnv.evaluation.shortcuts import Known, Report, known, report
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.scenario_store.splits import Case
from TokenOptEnv.task_defs.generation import outline

MOST_NEAR = 0.01
"""The share of telling segments that may be nearly like one in train."""
_MOST_EXAMPLES = 5


class Likeness(Frozen):
    """One pair of segments that are nearly the same."""

    new: str
    seen: str
    alike: float


class FamilyAudit(Frozen):
    family: str
    telling_segments: int
    near: int
    """Of them nearly like a telling segment of train."""
    examples: tuple[Likeness, ...]
    shortcuts: Report

    @property
    def near_share(self) -> float:
        return self.near / self.telling_segments

    @property
    def faults(self) -> tuple[str, ...]:
        """A line for each thing that must not be."""
        lines = [
            f"{self.family}: {score.guesser!r} solves {score.success:.1%} of {self.shortcuts.cases} cases,"
            f" and {self.shortcuts.no_fault_share:.1%} have no fault"
            for score in self.shortcuts.shortcuts
        ]
        if self.near_share >= MOST_NEAR:
            pairs = "; ".join(f"{pair.new} like {pair.seen}" for pair in self.examples)
            lines.append(
                f"{self.family}: {self.near} of {self.telling_segments} segments nearly seen in train: {pairs}"
            )
        return tuple(lines)


Sample = Sequence[tuple[Case, Scenario]]


def audit(judged: Sample, train: Sample) -> tuple[FamilyAudit, ...]:
    families = sorted({case.family for case, _ in judged})
    return tuple(_family_audit(family, _of(judged, family), _of(train, family)) for family in families)


def _family_audit(family: str, judged: Sample, train: Sample) -> FamilyAudit:
    new = _telling(judged)
    pairs = sorted(near_duplicates(new, _telling(train)), key=lambda pair: (-pair.alike, pair.new.segment_id))
    return FamilyAudit(
        family=family,
        telling_segments=len(new),
        near=len(pairs),
        examples=tuple(
            Likeness(new=_named(pair.new), seen=_named(pair.seen), alike=round(pair.alike, 3))
            for pair in pairs[:_MOST_EXAMPLES]
        ),
        shortcuts=report(_known(train), _known(judged)),
    )


def _of(sample: Sample, family: str) -> Sample:
    return [each for each in sample if each[0].family == family]


def _telling(sample: Sample) -> list[Telling]:
    return [telling for _, scenario in sample for telling in telling_segments(scenario)]


def _known(sample: Sample) -> list[Known]:
    return [known(scenario, outline(case.family, case.difficulty, case.number).no_fault) for case, scenario in sample]


def _named(telling: Telling) -> str:
    return f"{telling.scenario_id} {telling.segment_id}"
