"""The short form of an action: a verb and numbers, at most some two dozen tokens.

`parse` is what a text policy's output goes through; `write` is the inverse, and its length is what the
controller is billed as output, whoever made the action.

In a query a question may be named instead of copied: `find ?2 k5` searches for the words of the second
(`questions.references`). It is read as those words, and billed as those words. Likewise `load 5-20` names those of the
segments 5 to 20 that memory does not hold yet and has room for (`segment_ranges`), and is billed as their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from TokenOptEnv import questions, segment_ranges
from TokenOptEnv.models import ActionType, Effort, TokenOptEnvAction, TokenOptEnvObservation

_LONGEST_OUTPUT_CHARACTERS = 4_000
_EFFORTS = {effort.value for effort in Effort}
_RANGE = re.compile(r"load +(\d{1,5})-(\d{1,5})", re.IGNORECASE)
_REFERENCE = re.compile(r"(?<!\S)\?\d{1,2}-?(?!\S)")


class Numbering(NamedTuple):
    """The one-number aliases in force: 1 is the first of each list; items and segments share one count."""

    artifacts: Mapping[str, int]
    subtasks: Sequence[str]
    models: Sequence[str]
    things: Mapping[str, int]
    finding_items: Mapping[str, int]
    """By finding id: the alias of the item that holds it."""
    route_items: Mapping[str, int]
    checkpoints: Sequence[str]

    @classmethod
    def of(cls, observation: TokenOptEnvObservation) -> Numbering:
        memory = observation.working_memory.items
        finding_items = {finding_id: item.alias for item in memory for finding_id in item.finding_ids}
        things = {handle.segment_id: handle.alias for handle in observation.surfaced}
        things.update({item.item_id: item.alias for item in memory})
        return cls(
            artifacts={artifact.artifact_id: artifact.alias for artifact in observation.artifacts},
            subtasks=[subtask.subtask_id for subtask in observation.task.subtasks],
            models=[card.model_id for card in observation.models],
            things=things,
            finding_items=finding_items,
            route_items={route.route_id: route.item_alias for route in observation.routing.routes},
            checkpoints=[checkpoint.checkpoint_id for checkpoint in observation.checkpoints],
        )


def write(action: TokenOptEnvAction, numbering: Numbering) -> str:
    """The short form. What has no number is spelt out: a made-up id is as long as it is."""
    return " ".join(_WRITERS[action.action_type](action, numbering))


def _read(action: TokenOptEnvAction, numbering: Numbering) -> list[str]:
    page = [str(action.page)] if action.page not in (None, 1) else []
    return ["read", _number(action.artifact_id or "", numbering.artifacts), *page]


def _cache(action: TokenOptEnvAction, numbering: Numbering) -> list[str]:
    return ["cache", action.query or ""]


def _squeeze(action: TokenOptEnvAction, numbering: Numbering) -> list[str]:
    ratio = [] if action.target_ratio is None else [f"{action.target_ratio:g}"]
    things = _numbers(action.context_segment_ids, numbering.things)
    return _with_text(["squeeze", *things, action.method or "", *ratio], action.query)


def _ask(action: TokenOptEnvAction, numbering: Numbering) -> list[str]:
    effort = [action.effort] if action.effort else []
    subtask = _position(action.subtask_id, numbering.subtasks)
    model = _position(action.model_id, numbering.models)
    return ["ask", subtask, model, *_numbers(action.context_segment_ids, numbering.things), *effort]


def _submit(action: TokenOptEnvAction, numbering: Numbering) -> list[str]:
    findings = _numbers(action.finding_ids, numbering.finding_items)
    evidence = _numbers(action.evidence_segment_ids, numbering.things)
    words = ["submit", *findings, *(["with"] if findings and evidence else []), *evidence]
    return _with_text(words, "; ".join([f"{name}={value}" for name, value in (action.answer or {}).items()]))


def _find(action: TokenOptEnvAction, numbering: Numbering) -> list[str]:
    return ["find", action.query or "", *([f"k{action.top_k}"] if action.top_k is not None else [])]


def _load(action: TokenOptEnvAction, numbering: Numbering) -> list[str]:
    return ["load", *_numbers(action.context_segment_ids, numbering.things)]


def _drop(action: TokenOptEnvAction, numbering: Numbering) -> list[str]:
    return ["drop", *_numbers(action.context_segment_ids, numbering.things)]


def _note(action: TokenOptEnvAction, numbering: Numbering) -> list[str]:
    findings = _numbers(action.finding_ids, numbering.finding_items)
    things = _numbers(action.context_segment_ids, numbering.things)
    return ["note", *findings, *things, ":", action.note or ""]


def _recall(action: TokenOptEnvAction, numbering: Numbering) -> list[str]:
    return ["recall", _position(action.checkpoint_id, numbering.checkpoints)]


def _up(action: TokenOptEnvAction, numbering: Numbering) -> list[str]:
    model = [_position(action.model_id, numbering.models)] if action.model_id else []
    effort = [action.effort] if action.effort else []
    return ["up", _number(action.route_id or "", numbering.route_items), *model, *effort]


def _unparsed(action: TokenOptEnvAction, numbering: Numbering) -> list[str]:
    return [action.raw_text or ""]


def _with_text(words: list[str], text: str | None) -> list[str]:
    return [*words[:-1], f"{words[-1]}:", text] if text else words


_WRITERS: Final[Mapping[ActionType, Callable[[TokenOptEnvAction, Numbering], list[str]]]] = {
    ActionType.READ_ARTIFACT: _read,
    ActionType.QUERY_CACHE: _cache,
    ActionType.COMPRESS_CONTEXT: _squeeze,
    ActionType.ROUTE_SUBTASK: _ask,
    ActionType.SUBMIT_ANSWER: _submit,
    ActionType.SEARCH_ARTIFACTS: _find,
    ActionType.HYDRATE_SEGMENTS: _load,
    ActionType.PURGE_MEMORY: _drop,
    ActionType.WRITE_CHECKPOINT: _note,
    ActionType.RESTORE_CHECKPOINT: _recall,
    ActionType.ESCALATE_ROUTE: _up,
    ActionType.MALFORMED: _unparsed,
}


def describe(action: TokenOptEnvAction) -> str:
    """The long form, for people: the type and every field that was set."""
    fields = action.model_dump(exclude_defaults=True, exclude={"action_type", "metadata"})
    parts = (f"{name}={','.join(value) if isinstance(value, tuple) else value}" for name, value in fields.items())
    return " ".join([action.action_type.value, *parts])


def parse(text: str, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
    """The action `text` spells, or MALFORMED with what was said.

    Only the form is judged: a number that names nothing becomes an id that the rules refuse.
    """
    text = text[:_LONGEST_OUTPUT_CHARACTERS].encode(errors="replace").decode()
    line = text.strip().split("\n", 1)[0].strip()
    action = _loading(line, observation) or _parse_line(line, Numbering.of(observation))
    if action is None:
        return TokenOptEnvAction(action_type=ActionType.MALFORMED, raw_text=text)
    if action.query is None or not _REFERENCE.search(action.query):
        return action
    meant = questions.references(observation)
    return action.model_copy(update={"query": _REFERENCE.sub(lambda said: meant.get(said[0], said[0]), action.query)})


def referred(
    action: TokenOptEnvAction, observation: TokenOptEnvObservation, without_choices: bool = False
) -> TokenOptEnvAction:
    """The same, naming the question that its query repeats; `parse` undoes it.

    Where a question lists nothing to choose from, both ways to name it mean the same: the one without, if so wished.
    """
    if action.query is None:
        return action
    named = [name for name, words in questions.references(observation).items() if words == action.query]
    return action.model_copy(update={"query": named[-1 if without_choices else 0] if named else action.query})


def _loading(line: str, observation: TokenOptEnvObservation) -> TokenOptEnvAction | None:
    """Of a range; one that comes to nothing names its first number, so that the refusal says what is wrong with it."""
    match = _RANGE.fullmatch(line)
    if match is None:
        return None
    first, last = int(match[1]), int(match[2])
    names = segment_ranges.meant(observation, first, last) or _named(match[1], _ids(Numbering.of(observation)))
    return TokenOptEnvAction(action_type=ActionType.HYDRATE_SEGMENTS, context_segment_ids=names)


def _parse_line(line: str, numbering: Numbering) -> TokenOptEnvAction | None:
    verb, _, rest = line.partition(" ")
    rest = rest.strip()
    ids = _ids(numbering)
    finding_ids: dict[int, tuple[str, ...]] = {}
    for name, number in numbering.finding_items.items():
        finding_ids[number] = (*finding_ids.get(number, ()), name)
    artifact_ids = {number: name for name, number in numbering.artifacts.items()}
    route_ids = {number: name for name, number in numbering.route_items.items()}
    match verb.lower():
        case "read" if match := re.fullmatch(r"(\d{1,4})(?: p?(\d{1,4}))?", rest):
            return TokenOptEnvAction(
                action_type=ActionType.READ_ARTIFACT,
                artifact_id=artifact_ids.get(int(match[1]), f"#{match[1]}"),
                page=int(match[2]) if match[2] else None,
            )
        case "cache" if rest:
            return TokenOptEnvAction(action_type=ActionType.QUERY_CACHE, query=rest)
        case "find" if match := re.fullmatch(r"(.*?\S)(?: k(\d))?", rest):
            return TokenOptEnvAction(
                action_type=ActionType.SEARCH_ARTIFACTS, query=match[1], top_k=int(match[2]) if match[2] else None
            )
        case "squeeze" if match := re.fullmatch(r"((?:\d{1,5} )+)([a-z_]+)(?: (0?\.\d+|1(?:\.0+)?))?(?:: (.+))?", rest):
            return TokenOptEnvAction(
                action_type=ActionType.COMPRESS_CONTEXT,
                context_segment_ids=_named(match[1], ids),
                method=match[2],
                target_ratio=float(match[3]) if match[3] else None,
                query=match[4],
            )
        case "ask" if match := re.fullmatch(r"(\d{1,4}) (\d{1,4})((?: \d{1,5})*)(?: ([a-z]+))?", rest):
            if match[4] is not None and match[4] not in _EFFORTS:
                return None
            return TokenOptEnvAction(
                action_type=ActionType.ROUTE_SUBTASK,
                subtask_id=_at(match[1], numbering.subtasks),
                model_id=_at(match[2], numbering.models),
                context_segment_ids=_named(match[3], ids),
                effort=match[4],
            )
        case "submit" if match := re.fullmatch(r"(\d{1,5}(?: \d{1,5})*)(?: with (\d+(?: \d+)* ?))?(?:: (.+))?", rest):
            if match[3] is None:
                return TokenOptEnvAction(
                    action_type=ActionType.SUBMIT_ANSWER,
                    finding_ids=_all_named(match[1], finding_ids),
                    evidence_segment_ids=_named(match[2] or "", ids),
                )
            pairs = (part.partition("=") for part in match[3].split(";"))
            return TokenOptEnvAction(
                action_type=ActionType.SUBMIT_ANSWER,
                answer={name.strip(): value.strip() for name, _, value in pairs},
                evidence_segment_ids=_named(match[1], ids),
            )
        case "load" if re.fullmatch(r"\d{1,5}(?: \d{1,5})*", rest):
            return TokenOptEnvAction(action_type=ActionType.HYDRATE_SEGMENTS, context_segment_ids=_named(rest, ids))
        case "drop" if re.fullmatch(r"\d{1,5}(?: \d{1,5})*", rest):
            return TokenOptEnvAction(action_type=ActionType.PURGE_MEMORY, context_segment_ids=_named(rest, ids))
        case "note" if match := re.fullmatch(r"((?:\d+(?: \d+)* ?)?): ?(.*)", rest):
            numbers = match[1].split()
            return TokenOptEnvAction(
                action_type=ActionType.WRITE_CHECKPOINT,
                note=match[2],
                finding_ids=_all_named(" ".join(n for n in numbers if int(n) in finding_ids), finding_ids),
                context_segment_ids=_named(" ".join(n for n in numbers if int(n) not in finding_ids), ids),
            )
        case "recall" if re.fullmatch(r"\d{1,4}", rest):
            return TokenOptEnvAction(
                action_type=ActionType.RESTORE_CHECKPOINT, checkpoint_id=_at(rest, numbering.checkpoints)
            )
        case "up" if match := re.fullmatch(r"(\d{1,5})(?: (\d{1,4}))?(?: ([a-z]+))?", rest):
            if match[3] is not None and match[3] not in _EFFORTS:
                return None
            return TokenOptEnvAction(
                action_type=ActionType.ESCALATE_ROUTE,
                route_id=route_ids.get(int(match[1]), f"#{match[1]}"),
                model_id=_at(match[2], numbering.models) if match[2] else None,
                effort=match[3],
            )
        case _:
            return None


def _ids(numbering: Numbering) -> dict[int, str]:
    return {number: name for name, number in numbering.things.items()}


def _number(name: str, numbers: Mapping[str, int]) -> str:
    return str(numbers.get(name, name))


def _numbers(names: Sequence[str], numbers: Mapping[str, int]) -> list[str]:
    return [str(numbers.get(name, name)) for name in names]


def _position(name: str | None, names: Sequence[str]) -> str:
    if name is None:
        return ""
    return str(names.index(name) + 1) if name in names else name


def _at(number: str, names: Sequence[str]) -> str:
    index = int(number) - 1
    return names[index] if 0 <= index < len(names) else f"#{number}"


def _named(numbers: str, names: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(names.get(int(number), f"#{number}") for number in numbers.split())


def _all_named(numbers: str, names: Mapping[int, tuple[str, ...]]) -> tuple[str, ...]:
    """A restored checkpoint may hold several findings under one number: it stands for all of them."""
    return tuple(name for number in numbers.split() for name in names.get(int(number), (f"#{number}",)))
