"""A scenario as a page for people: the public half, and the hidden one where it was asked for."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table

from TokenOptEnv.config import YARDSTICK
from TokenOptEnv.models import AnswerField, Subtask
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.scenario import Decoy, Fact, FieldTruth, Scenario, public_hash


class ArtifactLine(Frozen):
    artifact_id: str
    kind: str
    title: str
    tokens: int
    segments: int


class Hidden(Frozen):
    fields: tuple[FieldTruth, ...]
    facts: tuple[Fact, ...]
    decoys: tuple[Decoy, ...]


class Page(Frozen):
    scenario_id: str
    title: str
    brief: str
    version: str
    public_hash: str
    artifacts: tuple[ArtifactLine, ...]
    subtasks: tuple[Subtask, ...]
    answer_fields: tuple[AnswerField, ...]
    menus: dict[str, tuple[str, ...]]
    cache_entries: int
    hidden: Hidden | None = None


def page(scenario: Scenario, reveal: bool) -> Page:
    public, hidden = scenario.public, scenario.hidden
    counts = iter(public.segment_tokens[YARDSTICK])
    return Page(
        scenario_id=public.scenario_id,
        title=public.title,
        brief=public.brief,
        version=public.version,
        public_hash=public_hash(public),
        artifacts=tuple(
            ArtifactLine(
                artifact_id=artifact.artifact_id,
                kind=artifact.kind.value,
                title=artifact.title,
                tokens=sum(next(counts) for _ in artifact.segments),
                segments=len(artifact.segments),
            )
            for artifact in public.artifacts
        ),
        subtasks=public.subtasks,
        answer_fields=public.answer_fields,
        menus=public.menus,
        cache_entries=len(public.cache_entries),
        hidden=Hidden(fields=hidden.fields, facts=hidden.facts, decoys=hidden.decoys) if reveal else None,
    )


def rendered(shown: Page) -> Iterator[RenderableType]:
    yield f"{shown.scenario_id}\n{shown.title} [{shown.version}]\n\n{shown.brief}\n"
    artifacts = Table("artifact", "kind", "title")
    artifacts.add_column("tokens", justify="right")
    for each in shown.artifacts:
        artifacts.add_row(each.artifact_id, each.kind, each.title, f"{each.tokens:,}")
    yield artifacts
    questions = Table("question", "asks", "yields")
    for subtask in shown.subtasks:
        questions.add_row(subtask.subtask_id, subtask.question, ", ".join(subtask.fields))
    yield questions
    for name, menu in shown.menus.items():
        yield f"{name} menu: {', '.join(menu)}"
    yield f"{shown.cache_entries} earlier results in the cache"
    if shown.hidden is not None:
        yield from _revealed(shown.hidden)


def _revealed(hidden: Hidden) -> Iterator[RenderableType]:
    answers = Table("field", "accepted", "rests on")
    for truth in hidden.fields:
        answers.add_row(truth.name, "\n".join(truth.accepted), ", ".join(truth.path))
    yield answers
    facts = Table("evidence", "why")
    facts.add_column("stands in", overflow="fold")
    for fact in hidden.facts:
        facts.add_row(fact.fact_id, fact.why, _places(fact))
    for decoy in hidden.decoys:
        facts.add_row(f"{decoy.decoy_id} (decoy)", decoy.why, _places(decoy))
    yield facts


def _places(evidence: Fact | Decoy) -> str:
    return ", ".join(dict.fromkeys(place.segment_id for place in evidence.places))
