"""Hostile values and actions, drawn from a seed: the same seed gives the same attack.

Three kinds of action: as an agent would make it, the same with something wrong in it, and rubbish throughout.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any, Final

from TokenOptEnv import ActionType, TokenOptEnvAction, TokenOptEnvObservation

STRINGS: Final = (
    "",
    " ",
    "\n",
    "\x00",
    "\x1f",
    "\x7f",
    "#1",
    "0",
    "-1",
    "1e309",
    "None",
    "null",
    "true",
    "{}",
    "[]",
    "__class__",
    "__proto__",
    "{0.__class__}",
    "%s%n%x",
    "${jndi:x}",
    "../../../etc/passwd",
    "C:\\con",
    "file:///etc/passwd",
    "'; drop table t; --",
    "<script>alert(1)</script>",
    "<|endoftext|>",
    "<|im_start|>system",
    "\u202egnp.exe",
    "\u200b",
    "\ufeff",
    "\ufffe",
    "\U0010ffff",
    "е",  # a Cyrillic letter that looks like a Latin one
    "ﬁ",
    "K",  # the Kelvin sign, which lower() turns into a letter
    "İ",
    "ß",
    "e\u0301",
    "é",
    "日本語",
    "🤖" * 40,
    "👨‍👩‍👧‍👦",
    "a\u0300" * 200,
    "١٢٣",
    "log-reconciler-5521-s1 ",
    "LOG-RECONCILER-5521-S1",
    "(a+)+$",
    "(" * 300,
    "\\" * 300,
    "a b " * 600,
    "x" * 2_000,
    "x" * 2_001,
    "9" * 5_000,
    "timeout " * 4_000,
)
HUGE: Final = ("y" * 200_000, "\U0001f4a3" * 50_000, "z " * 100_000, "\n" * 200_000)
WHOLES: Final = (0, 1, -1, 2, 8, 9, 255, 2**31, -(2**31), 2**53 + 1, 2**63, -(2**63), 10**30, 10**4_000)
REALS: Final = (0.0, -0.0, 1.0, 0.5, -1.0, 2.0, 5e-324, 1e-300, 1e308, float("inf"), float("-inf"), float("nan"))
TEXT_FIELDS: Final = (
    "artifact_id",
    "query",
    "method",
    "subtask_id",
    "model_id",
    "effort",
    "note",
    "checkpoint_id",
    "route_id",
    "raw_text",
)
WHOLE_FIELDS: Final = ("page", "top_k", "reasoning_tokens")
LIST_FIELDS: Final = ("context_segment_ids", "finding_ids", "evidence_segment_ids")
FIELDS: Final = (*TEXT_FIELDS, *WHOLE_FIELDS, *LIST_FIELDS, "target_ratio", "answer", "metadata")
_GOING_ON: Final = tuple(kind for kind in ActionType if kind is not ActionType.SUBMIT_ANSWER)

Fields = dict[str, Any]


def text(draw: Random) -> str:
    match draw.randrange(12):
        case 0 if draw.randrange(40) == 0:
            return draw.choice(HUGE)
        case 1:
            return "".join(chr(_code_point(draw)) for _ in range(draw.randrange(1, 30)))
        case 2:
            return draw.choice(STRINGS) + draw.choice(STRINGS)
        case _:
            return draw.choice(STRINGS)


def _code_point(draw: Random) -> int:
    """Anywhere in Unicode, but for surrogates, which are no characters."""
    point = draw.choice((draw.randrange(0x80), draw.randrange(0x3000), draw.randrange(0x110000)))
    return point if not 0xD800 <= point < 0xE000 else 0xFFFD


def anything(draw: Random, depth: int = 0) -> Any:
    """A JSON value of any type."""
    match draw.randrange(9 if depth < 3 else 6):
        case 0:
            return None
        case 1:
            return draw.random() < 0.5
        case 2:
            return draw.choice(WHOLES)
        case 3:
            return draw.choice(REALS)
        case 4 | 5:
            return text(draw)
        case 6:
            return [anything(draw, depth + 1) for _ in range(draw.randrange(4))]
        case 7:
            return {text(draw)[:50]: anything(draw, depth + 1) for _ in range(draw.randrange(4))}
        case _:
            return nested(draw.choice((3, 30, 90)))


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def sensible(draw: Random, seen: TokenOptEnvObservation) -> Fields:
    """A type that is offered, its fields filled from what is offered for them."""
    offered = seen.legal_actions
    forms = [form for form in offered.actions if form.action_type is not ActionType.SUBMIT_ANSWER] or offered.actions
    form = draw.choice(forms)
    fields: Fields = {"action_type": form.action_type.value}
    for field in form.fields:
        choices = [name for listed in field.choices_from for name in offered.choices[listed]]
        if field.name in LIST_FIELDS:
            picked = draw.sample(choices, min(len(choices), draw.randrange(1, 5)))
            fields[field.name] = [*fields.get(field.name, ()), *picked]
        elif choices and (field.required or draw.random() < 0.5):
            fields[field.name] = draw.choice(choices)
        elif field.name in ("query", "note"):
            fields[field.name] = draw.choice(("timeout", "pool exhausted", "error", "failed request", "version"))
    return fields


def submission(draw: Random, seen: TokenOptEnvObservation) -> Fields:
    names = [field.name for field in seen.task.answer_fields]
    own = {name: draw.choice(("unknown", text(draw))) for name in names if draw.random() < 0.5}
    return {
        "action_type": "SUBMIT_ANSWER",
        "finding_ids": [finding.finding_id for finding in seen.findings],
        "evidence_segment_ids": list(seen.legal_actions.choices.get("surfaced", ()))[: draw.randrange(9)],
        **({"answer": own} if own else {}),
    }


def typed(draw: Random, name: str, seen: TokenOptEnvObservation) -> Any:
    """A hostile value of the field's own type."""
    if name in TEXT_FIELDS:
        return text(draw)
    if name in WHOLE_FIELDS:
        return draw.choice(WHOLES)
    if name == "target_ratio":
        return draw.choice(REALS)
    if name == "answer":
        return {text(draw): text(draw) for _ in range(draw.randrange(4))}
    if name == "metadata":
        return {text(draw)[:50]: anything(draw) for _ in range(draw.randrange(3))}
    known = [each for values in seen.legal_actions.choices.values() for each in values]
    picked = [draw.choice(known) if known and draw.random() < 0.6 else text(draw) for _ in range(draw.randrange(7))]
    return picked * draw.choice((1, 1, 1, 2, 200))


def mutated(draw: Random, fields: Fields, seen: TokenOptEnvObservation) -> Fields:
    """Something is dropped, changed, put into another field, or of a wrong type."""
    changed = dict(fields)
    for _ in range(draw.randrange(1, 4)):
        name = draw.choice(FIELDS)
        match draw.randrange(8):
            case 0:
                changed.pop(draw.choice((*changed, name)), None)
            case 1:
                changed[name] = anything(draw)
            case 2:
                changed[text(draw)[:60]] = anything(draw)
            case 3:
                changed["action_type"] = draw.choice(_GOING_ON).value
            case 4 if isinstance(kept := changed.get(name), str) and kept:
                place = draw.randrange(len(kept))
                changed[name] = kept[:place] + text(draw)[:20] + kept[place + 1 :]
            case _:
                changed[name] = typed(draw, name, seen)
    return changed


def rubbish(draw: Random, seen: TokenOptEnvObservation) -> Fields:
    names = draw.sample(FIELDS, draw.randrange(len(FIELDS)))
    return {"action_type": draw.choice(_GOING_ON).value, **{name: typed(draw, name, seen) for name in names}}


def fields(draw: Random, seen: TokenOptEnvObservation) -> Fields:
    """The next attack on an episode that has come to `seen`. Submissions are few: they end it."""
    chance = draw.random()
    if chance < 0.02 or (seen.must_submit and chance < 0.5):
        made = submission(draw, seen)
        return made if draw.random() < 0.5 else mutated(draw, made, seen)
    if chance < 0.32:
        return sensible(draw, seen)
    if chance < 0.75:
        return mutated(draw, sensible(draw, seen), seen)
    return rubbish(draw, seen)


def options(draw: Random) -> Fields:
    """Arguments of a reset, at least one of them wrong or odd."""
    names = ("scenario_id", "seed", "episode_id", "split", "index", "profile", "track", "reward_mode", "catalog")
    more = ("controller_model", "anonymous_models", "memory_tokens", "reveal", "self", "world", text(draw)[:30] or "x")
    picked = draw.sample((*names, *more), draw.randrange(1, 5))
    return {name: anything(draw) for name in picked}


def spoken(draw: Random, action: TokenOptEnvAction | None) -> str:
    """What a text policy may say: a line of the short form gone wrong, JSON, or anything."""
    verbs = ("read", "find", "cache", "load", "drop", "squeeze", "ask", "up", "note", "recall", "submit", "fly")
    match draw.randrange(4):
        case 0:
            return f"{draw.choice(verbs)} {' '.join(str(draw.choice(WHOLES))[:30] for _ in range(draw.randrange(5)))}"
        case 1:
            return f"{draw.choice(verbs)} {text(draw)}: {text(draw)}"
        case 2 if action is not None:
            return json.dumps(action.model_dump(mode="json"), default=str)
        case _:
            return text(draw)
