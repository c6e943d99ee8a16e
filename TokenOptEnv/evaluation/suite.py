"""What a run plays: policies by scenarios by seeds, under one set of options, in one fixed order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from TokenOptEnv import policies, scenario_store
from TokenOptEnv.backends import BackendStatement
from TokenOptEnv.config import Profile, Track
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation.fingerprint import fingerprint
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.simulators.backend import Backend
from TokenOptEnv.version import SCORING_VERSION, VERSION

T = TypeVar("T")

CHOSEN = "chosen"
"""The suite of a run whose scenarios were named one by one."""
_MOST_EPISODES = 1_000_000
_MOST_AT_ONCE = 12


class Job(NamedTuple):
    policy: str
    scenario_id: str
    seed: int


class Unit(NamedTuple):
    """What one worker does at a time: episodes of one scenario, so that it is loaded and planned once."""

    scenario_id: str
    jobs: tuple[Job, ...]


class RunOptions(Frozen):
    """The options of `reset` that a run may set; None leaves the default."""

    profile: Profile | None = None
    track: Track | None = None
    catalog: str | None = None
    controller_model: str | None = None
    anonymous_models: bool = False
    memory_tokens: int | None = None

    def environment(self, backend: Backend | None = None) -> LocalEnv:
        return LocalEnv(backend, **self.model_dump())


def options(**given: Any) -> RunOptions:
    """Checked as `reset` checks them, with its words."""
    LocalEnv(**given)
    return RunOptions(**given)


class PlayedPolicy(Frozen):
    name: str
    describes: str
    knows_truth: bool


class ImportedCase(Frozen):
    """A case of a user's own. Shipped and generated ones follow from the code; this one may change under its id."""

    scenario_id: str
    content_hash: str


class RunSpec(Frozen):
    """Everything that decides what a run's results are."""

    version: str
    scoring_version: int
    code: str
    """A fingerprint of what played."""
    suite: str
    policies: tuple[PlayedPolicy, ...]
    scenario_ids: tuple[str, ...]
    seeds: tuple[int, ...]
    episodes: int
    """For each policy: so many of its (scenario, seed) pairs, every scenario once before any is played again."""
    options: RunOptions
    backend: BackendStatement = BackendStatement()
    """Who answered routed questions."""
    imported: tuple[ImportedCase, ...] = ()
    """What the imported ones of these scenarios held, in their order."""

    @property
    def policy_names(self) -> tuple[str, ...]:
        return tuple(policy.name for policy in self.policies)

    @property
    def truth_knowers(self) -> frozenset[str]:
        return frozenset(policy.name for policy in self.policies if policy.knows_truth)

    def jobs(self) -> tuple[Job, ...]:
        """In canonical order: by policy, then by scenario, then by seed, each as listed."""
        pairs = list(islice(((name, seed) for seed in self.seeds for name in self.scenario_ids), self.episodes))
        place = {name: number for number, name in enumerate(self.scenario_ids)}
        pairs.sort(key=lambda pair: place[pair[0]])
        return tuple(Job(policy, name, seed) for policy in self.policy_names for name, seed in pairs)


def run_spec(
    policy_names: Iterable[str],
    suite: str,
    scenario_ids: Sequence[str],
    seeds: Sequence[int],
    options: RunOptions,
    episodes: int | None = None,
    backend: BackendStatement | None = None,
) -> RunSpec:
    """Each once, however often it was named."""
    names, ids, chosen = _once(policy_names), _once(scenario_ids), _once(seeds)
    most = len(ids) * len(chosen)
    return RunSpec(
        version=VERSION,
        scoring_version=SCORING_VERSION,
        code=fingerprint(names),
        suite=suite,
        policies=tuple(_played(policies.info(name)) for name in names),
        scenario_ids=ids,
        seeds=chosen,
        episodes=most if episodes is None else min(episodes, most),
        options=options,
        backend=backend or BackendStatement(),
        imported=_imported(ids),
    )


def _imported(scenario_ids: Sequence[str]) -> tuple[ImportedCase, ...]:
    own = [name for name in scenario_ids if scenario_store.split_of(name) == scenario_store.IMPORTED]
    if not own:
        return ()
    hashes = {row.scenario_id: row.content_hash for row in scenario_store.rows(scenario_store.IMPORTED)}
    return tuple(ImportedCase(scenario_id=name, content_hash=hashes[name]) for name in own)


def scenarios_of(split: str, episodes: int | None) -> tuple[str, ...]:
    """The scenarios that so many episodes of a split take; without a number, all of them."""
    size = scenario_store.size(split)
    if episodes is not None and not 1 <= episodes <= _MOST_EPISODES:
        raise BadInput(f"episodes must be from 1 to {_MOST_EPISODES}, not {episodes}")
    if episodes is None and split == "train":
        raise BadInput(f"split 'train' has {size} cases: say how many to play, like --episodes 300")
    return tuple(scenario_store.at(split, place) for place in range(min(size, episodes or size)))


def units(jobs: Iterable[Job], one_by_one: Collection[str] = ()) -> tuple[Unit, ...]:
    """A few episodes of one scenario each, since a kill may cost a unit; a slow policy (`one_by_one`) has its alone."""
    found: dict[str, list[Job]] = {}
    alone: list[Unit] = []
    for job in jobs:
        if job.policy in one_by_one:
            alone.append(Unit(job.scenario_id, (job,)))
        else:
            found.setdefault(job.scenario_id, []).append(job)
    return (*(Unit(name, part) for name, held in found.items() for part in _parts(held)), *alone)


def _parts(jobs: Sequence[Job]) -> Iterator[tuple[Job, ...]]:
    for first in range(0, len(jobs), _MOST_AT_ONCE):
        yield tuple(jobs[first : first + _MOST_AT_ONCE])


def _once(values: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(values))


def _played(about: policies.PolicyInfo) -> PlayedPolicy:
    return PlayedPolicy(name=about.name, describes=about.describes, knows_truth=about.knows_truth)


def differing(left: RunSpec, right: RunSpec) -> tuple[str, Any, Any] | None:
    """The first thing in which two runs differ, and both values."""
    for name in RunSpec.model_fields:
        if getattr(left, name) != getattr(right, name):
            return changed_case(left, right) or (name, getattr(left, name), getattr(right, name))
    return None


def changed_case(left: RunSpec, right: RunSpec) -> tuple[str, str, str] | None:
    """The imported case that both play, and that is not the same."""
    before = {case.scenario_id: case.content_hash for case in left.imported}
    for case in right.imported:
        earlier = before.get(case.scenario_id, case.content_hash)
        if earlier != case.content_hash:
            return f"the content of {case.scenario_id}", earlier[:16], case.content_hash[:16]
    return None
