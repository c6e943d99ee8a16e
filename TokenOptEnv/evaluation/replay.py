"""An episode played again from the actions of its trace, and where it departs from what was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from TokenOptEnv.catalog import CATALOGS, load_catalog
from TokenOptEnv.config import SIZES, Profile
from TokenOptEnv.errors import UnknownName
from TokenOptEnv.evaluation.episodes import Record
from TokenOptEnv.evaluation.recorded import Recorded
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.scenario_store import load
from TokenOptEnv.simulators.backend import Backend
from TokenOptEnv.traces import Trace, TraceHeader, TraceStep


class Departure(NamedTuple):
    """The first place where a trace does not say what this engine does."""

    step: int
    """0: before the first action."""
    field: str
    recorded: str
    replayed: str


class ReplayedStep(NamedTuple):
    action: TokenOptEnvAction
    before: TokenOptEnvObservation
    after: TokenOptEnvObservation


class Replay:
    def __init__(self, trace: Recorded, backend: Backend | None = None, **options: Any) -> None:
        """Under the options given, or those that the trace's header tells; without a backend, on simulated models."""
        self.trace = trace
        self._env = LocalEnv(backend, **(options or _options(trace.header)))
        self.first = self._env.reset(scenario_id=trace.header.scenario_id, seed=trace.header.seed)
        self.record = Record(self.first)

    def steps(self) -> Iterator[ReplayedStep]:
        for step in self.trace.steps:
            if self.record.last.done:
                return
            before = self.record.last
            self.record.add(step.action, self._env.step(step.action))
            yield ReplayedStep(step.action, before, self.record.last)

    def departure(self) -> Departure | None:
        """Plays what is left, then compares everything."""
        for _ in self.steps():
            pass
        header = _first_difference(0, self.trace.header, self.record.trace.header)
        if header is not None:
            return header
        for recorded, replayed in zip(self.trace.steps, self.record.trace.steps, strict=False):
            difference = _first_difference(replayed.step, recorded, replayed)
            if difference is not None:
                return difference
        lengths = len(self.trace.steps), len(self.record.trace.steps)
        if lengths[0] != lengths[1]:
            return Departure(lengths[1], "end", f"{lengths[0]} steps", f"over after {lengths[1]}")
        if not self.record.last.done:
            return Departure(lengths[1], "end", "no more steps", "not over yet")
        return None


def _first_difference(
    step: int, recorded: TraceHeader | TraceStep, replayed: TraceHeader | TraceStep
) -> Departure | None:
    if recorded == replayed:
        return None
    names = type(recorded).model_fields
    for name in sorted(names, key=lambda each: each == "observation_sha256"):  # last: it differs with everything else
        left, right = getattr(recorded, name), getattr(replayed, name)
        if left != right:
            return Departure(step, name, str(left), str(right))
    return None


def _options(header: TraceHeader) -> dict[str, Any]:
    """Read back from the header. Whether models were anonymous it does not say, but its first hash does."""
    versions = {load_catalog(name).stamp.version: name for name in CATALOGS}
    stamp = header.stamp
    if stamp.catalog_version not in versions:
        raise UnknownName("catalog version", stamp.catalog_version, versions, "camre catalog show")
    usual = SIZES[load(header.scenario_id).public.difficulty].memory_tokens
    options: dict[str, Any] = {
        "profile": header.profile,
        "track": header.track,
        "catalog": versions[stamp.catalog_version],
        "controller_model": stamp.controller_model,
        "reward_mode": stamp.reward_mode,
        "memory_tokens": None if header.profile is Profile.V1 or stamp.memory_tokens == usual else stamp.memory_tokens,
    }
    for anonymous in (False, True):
        env = LocalEnv(**options, anonymous_models=anonymous)
        first = Trace(env.reset(scenario_id=header.scenario_id, seed=header.seed)).header
        if first.observation_sha256 == header.observation_sha256:
            return {**options, "anonymous_models": anonymous}
    return options


def told(departure: Departure) -> str:
    where = "its header" if departure.step == 0 else f"step {departure.step}"
    return f"{where}: {departure.field} is {_short(departure.recorded)}, replayed it is {_short(departure.replayed)}"


def _short(text: str, most: int = 80) -> str:
    return repr(text if len(text) <= most else text[: most - 3] + "...")
