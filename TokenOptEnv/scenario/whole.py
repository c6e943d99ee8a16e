"""A whole scenario, and its canonical bytes."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from pydantic import TypeAdapter, ValidationError

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.scenario.hidden import HiddenScenario
from TokenOptEnv.scenario.public import PublicScenario


@dataclass(frozen=True, eq=False)
class Scenario:
    """Compared by identity: a scenario is loaded once and shared by every episode that plays it."""

    public: PublicScenario
    hidden: HiddenScenario

    @property
    def scenario_id(self) -> str:
        return self.public.scenario_id

    @cached_property
    def content_hash(self) -> str:
        return content_hash(self)


class _ScenarioFile(Frozen):
    public: PublicScenario
    hidden: HiddenScenario


_FILE = TypeAdapter(_ScenarioFile)


def scenario_json(scenario: Scenario) -> bytes:
    """Field order is the schema's and dictionaries keep the builder's order: one text per content."""
    return _FILE.dump_json(_ScenarioFile(public=scenario.public, hidden=scenario.hidden))


def content_hash(scenario: Scenario) -> str:
    """A hash of the content, not of the file: compressors differ between machines."""
    return sha256(scenario_json(scenario)).hexdigest()


def public_hash(public: PublicScenario) -> str:
    """A hash of the visible half alone, fit to be shown."""
    return sha256(public.model_dump_json().encode()).hexdigest()[:16]


def dump_scenario(scenario: Scenario) -> bytes:
    return gzip.compress(scenario_json(scenario), compresslevel=9, mtime=0)


def load_scenario(data: bytes, name: str) -> Scenario:
    """Read what `dump_scenario` wrote; `name` is for the error."""
    try:
        return load_scenario_json(gzip.decompress(data), name)
    except (OSError, EOFError, zlib.error) as fault:
        raise _unreadable(name, fault) from None


def load_scenario_json(data: bytes, name: str) -> Scenario:
    try:
        parsed = _FILE.validate_json(data)
    except ValidationError as fault:
        raise _unreadable(name, fault) from None
    return Scenario(public=parsed.public, hidden=parsed.hidden)


def _unreadable(name: str, fault: Exception) -> ScenarioInvalid:
    reason = _first_fault(fault) if isinstance(fault, ValidationError) else str(fault).splitlines()[0]
    return ScenarioInvalid(f"scenario file {name!r} cannot be read: {reason}; rebuild it: camre scenarios build")


def _first_fault(fault: ValidationError) -> str:
    """The field and what is wrong with it, and how many more there are."""
    first, *others = fault.errors(include_url=False)
    field = ".".join(str(part) for part in first["loc"])
    more = f" (and {len(others)} more)" if others else ""
    return f"{field}: {first['msg']}{more}" if field else f"{first['msg']}{more}"
