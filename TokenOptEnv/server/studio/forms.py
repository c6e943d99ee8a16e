"""Every action that is possible now, as a form: what to ask, what may be chosen, what is taken when it is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import assert_never

from pydantic import Field

from TokenOptEnv.by_hand import menu
from TokenOptEnv.by_hand.choices import Choice, Choices
from TokenOptEnv.config import FULL_READ_CAP_TOKENS, PREVIEW_PAGE_SEGMENTS, SEARCH_MAX_TOP_K, TEXT_CAP_CHARACTERS, Track
from TokenOptEnv.models import ActionType, FieldKind, TokenOptEnvObservation
from TokenOptEnv.models.base import Frozen


class Shape(StrEnum):
    ONE = "one"
    MANY = "many"
    """In the order chosen: it is the order in which a model reads them."""
    WORDS = "words"
    WHOLE = "whole"
    SHARE = "share"
    ANSWER = "answer"


class Option(Frozen):
    key: str
    """Its number in the short form of an action."""
    value: str
    label: str
    group: str = ""
    counted: bool = False
    """Whether it counts against the `most` of its field."""
    only_with: str | None = None
    """The value of the field's `depends_on` with which alone it is offered."""


class OwnWords(Frozen):
    """An answer field that may be filled without a finding."""

    name: str
    question: str
    choices: tuple[str, ...]
    long: bool


class FormField(Frozen):
    name: str
    shape: Shape
    title: str
    required: bool = True
    otherwise: str = ""
    """What is taken when it is left out."""
    options: tuple[Option, ...] = ()
    most: int | None = None
    """The largest number, the longest text in characters, or how many counted options may be chosen."""
    depends_on: str | None = None
    most_with: dict[str, int] = Field(default_factory=dict)
    """By the value of `depends_on`: the largest number; where there is none, the field is not asked."""
    own_words: tuple[OwnWords, ...] = ()


class ActionForm(Frozen):
    action_type: ActionType
    does: str
    fields: tuple[FormField, ...]


def forms(choices: Choices) -> tuple[ActionForm, ...]:
    """In the order of the menu."""
    return tuple(
        ActionForm(action_type=kind, does=menu.ENTRIES[kind].does, fields=tuple(_fields(kind, choices)))
        for kind in menu.possible(choices.observation).values()
    )


def _fields(kind: ActionType, choices: Choices) -> Iterator[FormField]:
    match kind:
        case ActionType.READ_ARTIFACT:
            yield _one("artifact_id", "Which artifact?", _options(choices.artifacts()))
            yield FormField(
                name="page",
                shape=Shape.WHOLE,
                title="Which page?",
                required=False,
                otherwise="the first",
                depends_on="artifact_id",
                most_with=_pages(choices.observation),
            )
        case ActionType.SEARCH_ARTIFACTS:
            yield _words("query", "Which words?")
            yield FormField(
                name="top_k",
                shape=Shape.WHOLE,
                title="How many hits?",
                required=False,
                otherwise="4",
                most=SEARCH_MAX_TOP_K,
            )
        case ActionType.QUERY_CACHE:
            yield _words("query", "Which words?")
        case ActionType.HYDRATE_SEGMENTS:
            yield _many("context_segment_ids", "Load which segments?", _surfaced(choices), required=True)
        case ActionType.PURGE_MEMORY:
            yield _many("context_segment_ids", "Drop which items?", _options(choices.items()), required=True)
        case ActionType.COMPRESS_CONTEXT:
            shrinkable = _options(choices.compressible())
            yield _many("context_segment_ids", "Shorten which items, into one?", shrinkable, required=True)
            yield _one("method", "How?", _options(choices.methods()))
            yield FormField(
                name="target_ratio",
                shape=Shape.SHARE,
                title="To which share of their size?",
                required=False,
                otherwise="0.5",
            )
            yield _words("query", "Looking for which words?", otherwise="the open questions")
        case ActionType.ROUTE_SUBTASK:
            yield _one("subtask_id", "Which question?", _options(choices.subtasks()))
            yield _one("model_id", "Which model? Dollars per million tokens in/out", _options(choices.models()))
            yield _context(choices)
            yield _effort(choices)
        case ActionType.ESCALATE_ROUTE:
            yield _one("route_id", "Which reply is not good enough?", _options(choices.routes()))
            stronger = tuple(
                Option(key=model.key, value=model.value, label=model.label, only_with=route.value)
                for route in choices.routes()
                for model in choices.stronger_models(route.value)
            )
            yield FormField(
                name="model_id",
                shape=Shape.ONE,
                title="Which stronger model?",
                required=False,
                otherwise="the next stronger",
                options=stronger,
                depends_on="route_id",
            )
            yield _effort(choices)
        case ActionType.WRITE_CHECKPOINT:
            yield _words("note", "The note", otherwise="no words of your own")
            yield _many("finding_ids", "Keep which findings?", _options(choices.findings()))
            yield _many("context_segment_ids", "Keep the text of which items?", _options(choices.items()))
        case ActionType.RESTORE_CHECKPOINT:
            yield _one("checkpoint_id", "Which note?", _options(choices.checkpoints()))
        case ActionType.SUBMIT_ANSWER:
            yield from _answer(choices)
        case ActionType.MALFORMED:
            return
        case _ as never:
            assert_never(never)


def _answer(choices: Choices) -> Iterator[FormField]:
    """With findings; in one's own words where the track allows it, or where there is no finding."""
    task = choices.observation.task
    findings = _options(choices.findings())
    yield _many("finding_ids", "Answer with which findings?", findings)
    if task.track is Track.SOLVER or not findings:
        own = tuple(
            OwnWords(
                name=field.name, question=field.question, choices=field.choices, long=field.kind is FieldKind.PATCH
            )
            for field in task.answer_fields
        )
        yield FormField(
            name="answer",
            shape=Shape.ANSWER,
            title="In your own words",
            required=False,
            most=TEXT_CAP_CHARACTERS,
            own_words=own,
        )
    citable = (
        *_options(choices.held_segments(), "In memory"),
        *_surfaced(choices),
        *_options(choices.read_earlier(), "Of an earlier phase"),
    )
    otherwise = "what the findings cite" if findings else ""
    yield _many("evidence_segment_ids", "Which segments show it?", citable, otherwise=otherwise)


def _context(choices: Choices) -> FormField:
    """Held items as they are, and others by handle, which the model reads at its own price."""
    route = next(
        each for each in choices.observation.legal_actions.actions if each.action_type is ActionType.ROUTE_SUBTASK
    )
    most = next((field.max_items for field in route.fields if field.max_items is not None), None)
    readable = (*_options(choices.items(), "In memory"), *_surfaced(choices, counted=True))
    title = "Which evidence shall it read?" + (f" At most {most} that you do not hold." if most else "")
    return FormField(
        name="context_segment_ids", shape=Shape.MANY, title=title, required=False, options=readable, most=most
    )


def _words(name: str, title: str, otherwise: str = "") -> FormField:
    return FormField(
        name=name,
        shape=Shape.WORDS,
        title=title,
        required=not otherwise,
        otherwise=otherwise,
        most=TEXT_CAP_CHARACTERS,
    )


def _one(name: str, title: str, options: tuple[Option, ...]) -> FormField:
    return FormField(name=name, shape=Shape.ONE, title=title, options=options)


def _many(
    name: str, title: str, options: tuple[Option, ...], *, required: bool = False, otherwise: str = ""
) -> FormField:
    return FormField(name=name, shape=Shape.MANY, title=title, required=required, otherwise=otherwise, options=options)


def _effort(choices: Choices) -> FormField:
    return FormField(
        name="effort",
        shape=Shape.ONE,
        title="How much effort?",
        required=False,
        otherwise="medium",
        options=_options(choices.efforts()),
    )


def _options(offered: Iterable[Choice], group: str = "", counted: bool = False) -> tuple[Option, ...]:
    return tuple(
        Option(key=each.key, value=each.value, label=each.label, group=group, counted=counted) for each in offered
    )


def _surfaced(choices: Choices, counted: bool = False) -> tuple[Option, ...]:
    """By artifact; those of an earlier phase, whose artifacts are gone, last."""
    segments = choices.surfaced()
    made: list[Option] = []
    for artifact in choices.observation.artifacts:
        of_it = [each for each in segments if each.value.rpartition("-s")[0] == artifact.artifact_id]
        made += _options(of_it, artifact.title, counted)
    return (*made, *_options(_missing(segments, made), "Of an earlier phase", counted))


def _missing(segments: Sequence[Choice], made: Sequence[Option]) -> list[Choice]:
    values = {option.value for option in made}
    return [each for each in segments if each.value not in values]


def _pages(observation: TokenOptEnvObservation) -> dict[str, int]:
    """Of artifacts that have more than one."""
    pages = {
        each.artifact_id: -(-each.segments // PREVIEW_PAGE_SEGMENTS)
        for each in observation.artifacts
        if each.tokens > FULL_READ_CAP_TOKENS
    }
    return {artifact_id: count for artifact_id, count in pages.items() if count > 1}
