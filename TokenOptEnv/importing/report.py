"""What an import did: what was kept and dropped, masked and derived."""

from __future__ import annotations

from collections.abc import Sequence

from TokenOptEnv.config import YARDSTICK
from TokenOptEnv.importing.laid_out import LaidOut
from TokenOptEnv.importing.quotes import Survey
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.scenario import Scenario


class SourceReport(Frozen):
    name: str
    artifact_id: str | None = None
    """None where nothing of it is in the scenario; `note` says why."""
    lines: int = 0
    kept_lines: int = 0
    kept_tokens: int = 0
    dropped_tokens_estimate: int = 0
    windows_1252_lines: int = 0
    shortened_lines: int = 0
    note: str = ""


class ImportReport(Frozen):
    scenario_id: str
    artifact_tokens: int
    segments: int
    sources: tuple[SourceReport, ...]
    masked: dict[str, int]
    """By kind of secret: how often one was masked in what is kept."""
    facts: int
    decoys: int
    derived_decoys: int
    """Of them, those that were looked for because the spec named none."""
    hard_to_find: tuple[str, ...]
    """Questions whose own words do not lead a search to their facts."""

    @property
    def dropped_tokens_estimate(self) -> int:
        return sum(source.dropped_tokens_estimate for source in self.sources)


def report_of(
    scenario: Scenario, laid: LaidOut, seen: Survey, *, derived_decoys: int, hard_to_find: Sequence[str]
) -> ImportReport:
    sizes = _artifact_tokens(scenario)
    kept = tuple(
        SourceReport(
            name=excerpt.source.name,
            artifact_id=laid.artifact_ids[excerpt.source.name],
            lines=excerpt.extent.lines,
            kept_lines=excerpt.lines,
            kept_tokens=sizes[laid.artifact_ids[excerpt.source.name]],
            dropped_tokens_estimate=excerpt.dropped_tokens,
            windows_1252_lines=excerpt.extent.windows_1252_lines,
            shortened_lines=excerpt.shortened_lines,
        )
        for excerpt in laid.excerpts
    )
    characters = sum(len(excerpt.text) for excerpt in laid.excerpts)
    tokens_per_character = sum(source.kept_tokens for source in kept) / max(1, characters)
    others = tuple(
        SourceReport(
            name=source.name,
            lines=seen.extents[source.name].lines,
            dropped_tokens_estimate=round(seen.extents[source.name].characters * tokens_per_character),
            note="too many files, and nothing in it is quoted",
        )
        for source in laid.left_out
    )
    no_text = tuple(SourceReport(name=name, note=reason.partition(";")[0]) for name, reason in seen.skipped.items())
    return ImportReport(
        scenario_id=scenario.scenario_id,
        artifact_tokens=sum(sizes.values()),
        segments=sum(len(artifact.segments) for artifact in scenario.public.artifacts),
        sources=(*kept, *others, *no_text),
        masked=dict(laid.masked),
        facts=len(scenario.hidden.facts),
        decoys=len(scenario.hidden.decoys),
        derived_decoys=derived_decoys,
        hard_to_find=tuple(hard_to_find),
    )


def _artifact_tokens(scenario: Scenario) -> dict[str, int]:
    """By artifact, as it is in the scenario: with its masks, and cut into segments."""
    counts = iter(scenario.public.segment_tokens[YARDSTICK])
    return {
        artifact.artifact_id: sum(next(counts) for _ in artifact.segments) for artifact in scenario.public.artifacts
    }
