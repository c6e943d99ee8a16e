"""The environment, in this process: no server, no framework. What the server serves is this."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from functools import lru_cache
from typing import Any, TypeVar

from TokenOptEnv import scenario_store
from TokenOptEnv.catalog import CATALOGS, load_catalog
from TokenOptEnv.config import DEFAULT_CONTROLLERS, EpisodeConfig, Profile, RewardMode, Track
from TokenOptEnv.episode_runtime import StepOutcome, advance, start
from TokenOptEnv.errors import BadInput, EpisodeNotRunning, PlanNotFound, UnknownName
from TokenOptEnv.models import Revealed, TokenOptEnvAction, TokenOptEnvObservation, TokenOptEnvState
from TokenOptEnv.plans import reference_costs, reference_plan
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.simulators.backend import Backend, WaitingBackend
from TokenOptEnv.text_actions import describe
from TokenOptEnv.world import PatchJudge, ReferenceCosts, World, build_world, world_index

E = TypeVar("E", bound=StrEnum)

_LARGEST_MEMORY_TOKENS = 1_000_000
_LONGEST_EPISODE_ID = 255


class LocalEnv:
    """Plays one episode at a time. Options given here are defaults that `reset` may override.

    In the solver track an agent's own patches are run by `patch_judge`: the sandbox of this process, unless another
    is given.
    """

    def __init__(self, backend: Backend | None = None, patch_judge: PatchJudge | None = None, **options: Any) -> None:
        self._defaults = _config(EpisodeConfig(), options)
        self._backend = backend
        self._patch_judge = patch_judge
        self._waits = isinstance(backend, WaitingBackend)
        self._world: World | None = None
        self._outcome: StepOutcome | None = None
        self._scenario: Scenario | None = None

    def reset(
        self,
        /,
        scenario_id: str | None = None,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str | None = None,
        index: int | None = None,
        **options: Any,
    ) -> TokenOptEnvObservation:
        """Begin an episode. A scenario is named by id, or by split and index; `seed` chooses its world.

        Nothing of a running episode is lost when the arguments are wrong.
        """
        chosen_seed = _seed(seed)
        given_name = _episode_id(episode_id)
        config = _config(self._defaults, options)
        chosen_id = _scenario_id(scenario_id, split, index, chosen_seed)
        if config.reveal and scenario_store.split_of(chosen_id) == "test":
            raise BadInput(f"reveal is not for the test split; play {chosen_id!r} without it")
        scenario = scenario_store.load(chosen_id)
        world = build_world(
            scenario,
            chosen_seed,
            config,
            reference=lambda: _reference(scenario, world_index(chosen_seed), config),
            backend=self._backend,
            patch_judge=self._patch_judge or (_sandbox() if config.track is Track.SOLVER else None),
        )
        name = given_name if given_name is not None else f"{scenario.scenario_id}@{chosen_seed}"
        self._outcome = start(world, name)
        self._world, self._scenario = world, scenario
        return self._outcome.observation

    def step(self, action: TokenOptEnvAction) -> TokenOptEnvObservation:
        if self._world is None or self._outcome is None:
            raise EpisodeNotRunning("no episode is running; call reset first")
        if self._outcome.state.end is not None:
            raise EpisodeNotRunning("the episode is over; call reset to begin another")
        self._outcome = advance(self._outcome.state, action, self._world)
        observation = self._outcome.observation
        if observation.done and self._world.visible.config.reveal:
            return observation.model_copy(update={"revealed": self._revealed()})
        return observation

    def prepare_grading(self) -> None:
        """Make now, once, the plan that the end of this episode is graded against; it is kept for every later one."""
        if self._world is not None and self._world.reference is not None:
            self._world.reference()

    @property
    def waits(self) -> bool:
        """Whether a step may wait for a network, or for a patch to be run."""
        return self._waits or (self._world is not None and self._world.patch_judge is not None)

    @property
    def state(self) -> TokenOptEnvState:
        if self._world is None or self._outcome is None:
            return TokenOptEnvState()
        config = self._world.visible.config
        return TokenOptEnvState(
            episode_id=self._outcome.state.episode_id,
            step_count=self._outcome.state.step,
            scenario_id=self._world.visible.public.scenario_id,
            seed=self._world.seed,
            profile=config.profile,
            track=config.track,
            done=self._outcome.state.end is not None,
        )

    def fork(self) -> LocalEnv:
        """A copy that goes its own way from here. For training and search; evaluation never offers it."""
        twin = LocalEnv(self._backend, self._patch_judge)
        twin._defaults = self._defaults
        twin._world, twin._outcome, twin._scenario = self._world, self._outcome, self._scenario
        return twin

    def _revealed(self) -> Revealed:
        assert self._world is not None and self._scenario is not None
        hidden = self._scenario.hidden
        plan = reference_plan(self._scenario, self._world.seed, self._world.visible.config)
        places = (place.segment_id for fact in hidden.facts for place in fact.places)
        return Revealed(
            answer={field.name: field.accepted[0] for field in hidden.fields},
            evidence_segment_ids=tuple(dict.fromkeys(places)),
            reference_plan=tuple(describe(action) for action in plan.actions),
        )

    def close(self) -> None:
        self._world = self._outcome = self._scenario = None


def _sandbox() -> PatchJudge:
    """Loaded where it is played for: nothing else starts a process."""
    from TokenOptEnv.sandbox import shared

    return shared()


@lru_cache(maxsize=4_096)
def _reference(scenario: Scenario, world: int, config: EpisodeConfig) -> ReferenceCosts | None:
    """None where the planner finds nothing under these options: an episode must be graded all the same."""
    try:
        return reference_costs(scenario, world, config)
    except PlanNotFound:
        return None


def _seed(seed: object) -> int:
    if seed is None:
        return 0
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise BadInput(f"seed must be a whole number of 0 or more, not {str(seed)[:40]!r}")
    return seed


def _episode_id(episode_id: object) -> str | None:
    if episode_id is not None and (not isinstance(episode_id, str) or len(episode_id) > _LONGEST_EPISODE_ID):
        raise BadInput(
            f"episode_id must be a string of at most {_LONGEST_EPISODE_ID} characters, not {str(episode_id)[:40]!r}"
        )
    return episode_id


def _scenario_id(scenario_id: object, split: object, index: object, seed: int) -> str:
    if scenario_id is not None:
        if not isinstance(scenario_id, str):
            raise BadInput(f"scenario_id must be a string, not {str(scenario_id)[:40]!r}; see: camre scenarios list")
        return scenario_id
    if split is not None and not isinstance(split, str):
        raise BadInput(f"split must be a string, not {str(split)[:40]!r}")
    name = "core" if split is None else split
    if index is None:
        return scenario_store.at(name, seed % scenario_store.size(name))
    if isinstance(index, bool) or not isinstance(index, int):
        raise BadInput(f"index must be a whole number, not {str(index)[:40]!r}")
    return scenario_store.at(name, index)


def _config(base: EpisodeConfig, options: dict[str, Any]) -> EpisodeConfig:
    if not options:
        return base
    known = EpisodeConfig.__dataclass_fields__
    for name in options:
        if name not in known:
            raise UnknownName("option", name, known, "the reset options in README.md")
    given = {name: value for name, value in options.items() if value is not None}
    config = replace(
        base,
        profile=_member(Profile, "profile", given.get("profile", base.profile)),
        track=_member(Track, "track", given.get("track", base.track)),
        reward_mode=_member(RewardMode, "reward_mode", given.get("reward_mode", base.reward_mode)),
        catalog=_name("catalog", given.get("catalog", base.catalog)),
        anonymous_models=_flag("anonymous_models", given.get("anonymous_models", base.anonymous_models)),
        reveal=_flag("reveal", given.get("reveal", base.reveal)),
        memory_tokens=_memory(given.get("memory_tokens", base.memory_tokens)),
    )
    if config.catalog not in CATALOGS:
        raise UnknownName("catalog", config.catalog, CATALOGS, "camre catalog show")
    catalog = load_catalog(config.catalog)
    fallback = base.controller_model if config.catalog == base.catalog else DEFAULT_CONTROLLERS[config.catalog]
    controller = _name("controller_model", given.get("controller_model", fallback))
    catalog.card(controller)
    return replace(config, controller_model=controller)


def _member(kind: type[E], name: str, value: object) -> E:
    try:
        return kind(str(value))
    except ValueError:
        choices = ", ".join(member.value for member in kind)
        raise BadInput(f"{name} must be one of {choices}, not {str(value)[:40]!r}") from None


def _name(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise BadInput(f"{name} must be a string, not {str(value)[:40]!r}")
    return value


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise BadInput(f"{name} must be true or false, not {str(value)[:40]!r}")
    return value


def _memory(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 500 <= value <= _LARGEST_MEMORY_TOKENS:
        raise BadInput(f"memory_tokens must be from 500 to {_LARGEST_MEMORY_TOKENS}, not {str(value)[:40]!r}")
    return value
