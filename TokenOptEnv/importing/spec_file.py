"""Reading a spec: TOML or JSON, and every fault with its file, its field and, where it can be told, its line."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from TokenOptEnv.errors import BadInput
from TokenOptEnv.importing.spec import CaseSpec

SPEC_ENDINGS: Final = (".toml", ".json")
_LARGEST_SPEC_BYTES: Final = 4_000_000
_TABLE: Final = re.compile(r"\s*\[\[?\s*([\w.-]+)\s*\]\]?\s*(?:#.*)?$")


@dataclass(frozen=True)
class CaseFile:
    """A case as it was written down, and where."""

    name: str
    folder: Path
    """What its paths are relative to."""
    spec: CaseSpec
    text: str = ""
    """Of TOML, to tell lines by; nothing where lines cannot be told."""

    def where(self, *field: str | int) -> str:
        """`import.toml:12: fact.pool`, as far as it can be told."""
        line = _line(self.text, field)
        return ":".join([self.name, *([str(line)] if line else [])])

    def with_sources(self, *places: str) -> CaseFile:
        sources = (*self.spec.sources, *places)
        return replace(self, spec=self.spec.model_copy(update={"sources": sources}))


def read_case_file(path: Path) -> CaseFile:
    text = read_text(path)
    data: object
    if path.suffix == ".toml":
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as fault:
            raise BadInput(f"{path.name}: is no TOML: {_lower(str(fault))}") from None
        lines = text
    else:
        try:
            data = json.loads(text)
        except json.JSONDecodeError as fault:
            raise BadInput(f"{path.name}:{fault.lineno}: is no JSON: {_lower(fault.msg)}") from None
        lines = ""
    return case_file(data, path.name, path.parent, lines)


def case_file(data: object, name: str, folder: Path, text: str = "") -> CaseFile:
    """Every fault of the form is in one message, so that one run names them all."""
    try:
        return CaseFile(name, folder, CaseSpec.model_validate(data), text)
    except ValidationError as fault:
        lines = [_told(name, text, error["loc"], error["type"], error["msg"]) for error in fault.errors()]
        shown = "; ".join(lines[:4]) + (f"; and {len(lines) - 4} more" if len(lines) > 4 else "")
        raise BadInput(f"{shown}; see docs/import.md") from None


def read_text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST_SPEC_BYTES:
            raise BadInput(f"{path.name}: is {path.stat().st_size} bytes and no spec; evidence goes into sources")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as fault:
        raise BadInput(f"{path.name}: is not UTF-8 at byte {fault.start}; save it as UTF-8") from None
    except OSError as fault:
        raise BadInput(f"{path.name}: cannot be read ({fault.strerror}); give a .toml or .json file") from None


def _told(name: str, text: str, place: tuple[str | int, ...], kind: str, message: str) -> str:
    field = ".".join(str(part) for part in place)
    line = _line(text, place)
    what = {"missing": "is missing", "extra_forbidden": "is no field of a spec"}.get(kind, _lower(message))
    return f"{name}:{line}: {field}: {what}" if line else f"{name}: {field}: {what}"


def _line(text: str, place: tuple[str | int, ...]) -> int | None:
    """The line of a field such as ("fact", 1, "quote"), by counting headings: TOML readers keep no lines."""
    if not text or not place:
        return None
    lines = text.split("\n")
    heading, rest, nth = str(place[0]), place[1:], 0
    start = 0
    if rest and isinstance(rest[0], int):
        nth, rest = rest[0], rest[1:]
    headed = [number for number, line in enumerate(lines) if _heading(line) == heading]
    if len(headed) > nth:
        start = headed[nth]
        if rest and len(rest) > 1 and isinstance(rest[1], int):
            inner = _inner(lines, start, f"{heading}.{rest[0]}", rest[1])
            if inner is not None:
                start, rest = inner, rest[2:]
        end = next((n for n in range(start + 1, len(lines)) if _heading(lines[n]) is not None), len(lines))
        return _key_line(lines, start + 1, end, str(rest[0]) if rest else None) or start + 1
    end = next((n for n, line in enumerate(lines) if _heading(line) is not None), len(lines))
    return _key_line(lines, 0, end, heading)


def _inner(lines: list[str], start: int, heading: str, nth: int) -> int | None:
    """The nth table of an array inside a table, before the next table of the outer array."""
    outer = heading.partition(".")[0]
    found = -1
    for number in range(start + 1, len(lines)):
        this = _heading(lines[number])
        if this == outer:
            return None
        if this == heading:
            found += 1
            if found == nth:
                return number
    return None


def _key_line(lines: list[str], start: int, end: int, key: str | None) -> int | None:
    if key is None:
        return None
    named = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*=""")
    return next((number + 1 for number in range(start, end) if named.match(lines[number])), None)


def _heading(line: str) -> str | None:
    match = _TABLE.match(line)
    return match[1] if match else None


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
