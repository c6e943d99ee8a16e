"""The evidence laid out: what is kept of each source is an artifact, and facts and decoys have their places in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from TokenOptEnv.errors import BadInput, ScenarioInvalid
from TokenOptEnv.importing.excerpt import Excerpt, take_excerpts
from TokenOptEnv.importing.needed import wanted_texts
from TokenOptEnv.importing.quotes import Found, Hit, Survey
from TokenOptEnv.importing.secrets import MaskedText, Masker
from TokenOptEnv.importing.sources import Source
from TokenOptEnv.importing.spec_file import CaseFile
from TokenOptEnv.models import ArtifactKind
from TokenOptEnv.scenario import Segment
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote

MOST_ARTIFACTS: Final = 24
"""Every artifact stands in every prompt, so a folder of a thousand files would be paid for at every step."""
MOST_FACT_PLACES: Final = 12
"""A fact that stands in more places is found by reading anything."""
_DECOY_CENTRES: Final = 3
_LONGEST_ID: Final = 32
_LONGEST_TITLE: Final = 60
_NOT_ID: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class LaidOut:
    excerpts: tuple[Excerpt, ...]
    left_out: tuple[Source, ...]
    """Those there was no room for."""
    artifact_ids: Mapping[str, str]
    """By source."""
    segments: tuple[tuple[str, Segment], ...]
    """With the id of their artifact."""
    places: Mapping[str, tuple[Quote, ...]]
    """By fact or decoy: its text as it is shown."""
    masked: Mapping[str, int]
    """By kind of secret: how often one was masked."""

    def shown_in(self, evidence_id: str) -> frozenset[str]:
        """The segments that show a fact or a decoy."""
        return frozenset(
            segment.segment_id
            for artifact_id, segment in self.segments
            for quote in self.places[evidence_id]
            if quote.artifact_id == artifact_id and quote.text in segment.text
        )


@dataclass(frozen=True, slots=True)
class _Shown:
    """A source as it was and as it is shown."""

    artifact_id: str
    raw: str
    masked: MaskedText


def lay_out(builder: CaseBuilder, masker: Masker, file: CaseFile, seen: Survey, most_tokens: int) -> LaidOut:
    """Adds the artifacts, facts and decoys to the case."""
    centres = [hit for _, is_fact, found in _evidence(file, seen) for hit in _centres(found, is_fact)]
    chosen, left_out = _chosen(seen, {hit.source for hit in centres}, file)
    excerpts = take_excerpts(chosen, seen.extents, centres, most_tokens)
    shown: dict[str, _Shown] = {}
    segments: list[tuple[str, Segment]] = []
    for excerpt in excerpts:
        source, raw = excerpt.source, excerpt.text
        artifact_id = _artifact_id(source, {each.artifact_id for each in shown.values()})
        each = shown[source.name] = _Shown(artifact_id, raw, masker.mask(raw))
        made = builder.artifact(artifact_id, source.kind, masker.mask(_title(excerpt)).text, each.masked.text)
        segments += [(artifact_id, segment) for segment in made]
    return LaidOut(
        excerpts=excerpts,
        left_out=left_out,
        artifact_ids={name: each.artifact_id for name, each in shown.items()},
        segments=tuple(segments),
        masked=masker.counts,
        places=_add_evidence(builder, masker, file, seen, shown),
    )


def _evidence(file: CaseFile, seen: Survey) -> Iterator[tuple[str, bool, Found]]:
    """With the id, and whether it is a fact."""
    facts = {fact.id for fact in file.spec.fact}
    for (name, _), found in zip(wanted_texts(file.spec, file), seen.found, strict=True):
        yield name, name in facts, found


def _centres(found: Found, is_fact: bool) -> Sequence[Hit]:
    """All places of a fact; of a decoy, which may stand everywhere, a few."""
    if not is_fact:
        return found.hits[:_DECOY_CENTRES]
    if found.count > MOST_FACT_PLACES:
        first = ", ".join(f"{hit.source}:{hit.line}" for hit in found.hits[:3])
        raise BadInput(
            f"{found.wanted.what}: its quote stands in {found.count} places ({first}, ...) of at most"
            f" {MOST_FACT_PLACES}; quote a longer or rarer text, or name a file and lines"
        )
    return found.hits


def _chosen(seen: Survey, quoted: Collection[str], file: CaseFile) -> tuple[tuple[Source, ...], tuple[Source, ...]]:
    """Those that are quoted, then the largest; all in the order in which they were found."""
    if len(quoted) > MOST_ARTIFACTS:
        raise BadInput(f"{file.name}: quotes {len(quoted)} files of at most {MOST_ARTIFACTS}; quote fewer")
    ranked = sorted(seen.sources, key=lambda source: (source.name not in quoted, -seen.extents[source.name].characters))
    keep = {source.name for source in ranked[:MOST_ARTIFACTS]}
    kept = tuple(source for source in seen.sources if source.name in keep)
    return kept, tuple(source for source in seen.sources if source.name not in keep)


def _add_evidence(
    builder: CaseBuilder, masker: Masker, file: CaseFile, seen: Survey, shown: Mapping[str, _Shown]
) -> dict[str, tuple[Quote, ...]]:
    held: dict[str, list[Quote]] = {}
    called: dict[str, str] = {}
    for name, _, found in _evidence(file, seen):
        held.setdefault(name, []).extend(_quotes(found, shown))
        called[name] = found.wanted.what
    places = {name: tuple(dict.fromkeys(quotes)) for name, quotes in held.items()}
    for evidence, add in ((file.spec.fact, builder.fact), (file.spec.decoy, builder.decoy)):
        for each in evidence:
            try:
                add(each.id, masker.mask(each.why).text or "named in the spec", *places[each.id])
            except ScenarioInvalid as fault:
                raise BadInput(f"{called[each.id]}: {str(fault).removeprefix(f'{each.id}: ')}") from None
    return places


def _quotes(found: Found, shown: Mapping[str, _Shown]) -> Iterator[Quote]:
    """Wherever it stands in what is kept, as it is shown there."""
    searched = dict.fromkeys(hit.source for hit in found.hits) if found.wanted.file is not None else shown
    for name in searched:
        if name not in shown:
            continue
        each = shown[name]
        at = each.raw.find(found.text)
        while at >= 0:
            yield Quote(each.artifact_id, each.masked.quote(at, at + len(found.text)))
            at = each.raw.find(found.text, at + 1)


def _title(excerpt: Excerpt) -> str:
    name = excerpt.source.name
    short = name if len(name) <= _LONGEST_TITLE else f"…{name[-_LONGEST_TITLE:]}"
    return f"{short} (excerpt)" if excerpt.dropped_tokens else short


def _artifact_id(source: Source, used: Collection[str]) -> str:
    stem = source.name if source.kind is ArtifactKind.CODE else source.name.partition(".")[0] or source.name
    slug = _NOT_ID.sub("-", stem.lower()).strip("-")[-_LONGEST_ID:].strip("-") or "text"
    wanted = found = slug if slug.startswith(source.kind.value) else f"{source.kind.value}-{slug}"
    number = 1
    while found in used:
        number += 1
        found = f"{wanted}-{number}"
    return found
