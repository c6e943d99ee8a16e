"""A result as a line that can tell whether it is whole: `{"check":"…","result":{…}}`."""

from __future__ import annotations

from hashlib import sha256

from pydantic import ValidationError

from TokenOptEnv.evaluation.episodes import EpisodeResult

_HEAD = '{"check":"'
_JOINT = '","result":'
_DIGITS = 16


def to_line(result: EpisodeResult) -> str:
    body = result.model_dump_json()
    return f"{_HEAD}{_check(body)}{_JOINT}{body}}}\n"


def from_line(line: str) -> EpisodeResult | None:
    """None where the line is not what was written."""
    start = len(_HEAD) + _DIGITS
    if not (line.startswith(_HEAD) and line[start:].startswith(_JOINT) and line.endswith("}\n")):
        return None
    body = line[start + len(_JOINT) : -2]
    if line[len(_HEAD) : start] != _check(body):
        return None
    try:
        return EpisodeResult.model_validate_json(body)
    except ValidationError:
        return None


def _check(body: str) -> str:
    return sha256(body.encode()).hexdigest()[:_DIGITS]
