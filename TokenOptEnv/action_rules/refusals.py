"""Refusals in one voice: the field, the value, the remedy."""

from __future__ import annotations

from TokenOptEnv.models import Refusal, RefusalReason

_SHOWN_CHARACTERS = 60


def shown(value: object) -> str:
    """One short, printable line, whatever was sent: it goes into prompts, logs and terminals."""
    try:
        text = str(value)
    except ValueError:
        return "a number of thousands of digits"
    text = "".join(sign if sign.isprintable() else "?" for sign in text[:_SHOWN_CHARACTERS])
    return text if len(text) < _SHOWN_CHARACTERS else text[:-1] + "…"


def refuse(reason: RefusalReason, field: str, value: object, remedy: str) -> Refusal:
    text = shown(value)
    return Refusal(reason=reason, field=field, value=text, message=f"{reason.value} {field}={text}: {remedy}")


def missing(field: str, remedy: str) -> Refusal:
    return Refusal(
        reason=RefusalReason.MISSING_FIELD, field=field, value="", message=f"MISSING_FIELD {field}: {remedy}"
    )


def lacking(reason: RefusalReason, field: str, needed: int, left: int, remedy: str) -> Refusal:
    return Refusal(
        reason=reason,
        field=field,
        value="",
        message=f"{reason.value}: needs {needed} {field}, {left} left; {remedy}",
        needed=needed,
        left=left,
    )
