"""What an episode is played in: the visible part, shared and indexed; and the hidden part, kept apart.

`VisibleWorld` holds nothing that an agent may not know, and is all that rules, transitions and the
observation builder ever receive. The hidden part is reached at two places only: a model's answer
(`backend`) and the end (`hidden`, `reference`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Protocol

from TokenOptEnv.catalog import load_catalog, priced
from TokenOptEnv.config import (
    CACHE_MAX_HITS,
    DEFAULT_WORLDS,
    FULL_READ_CAP_TOKENS,
    YARDSTICK,
    EpisodeConfig,
    Limits,
    Track,
    limits,
)
from TokenOptEnv.episode_state import PromptPiece
from TokenOptEnv.models import ArtifactHandle, EpisodeStamp, ModelCard, Subtask, TaskBrief, Tier
from TokenOptEnv.prompt import head_text
from TokenOptEnv.scenario import Artifact, CacheEntry, HiddenScenario, PublicScenario, Scenario, public_hash
from TokenOptEnv.simulators import tokens
from TokenOptEnv.simulators.backend import Backend
from TokenOptEnv.simulators.retrieval import Hit, Retriever
from TokenOptEnv.simulators.routing import SimulatedBackend
from TokenOptEnv.simulators.semantic_cache import Match, SemanticCache
from TokenOptEnv.version import SCORING_VERSION


@dataclass(frozen=True, slots=True, eq=False)
class SegmentView:
    """Made once a world, so it is compared by identity."""

    segment_id: str
    artifact_id: str
    text: str
    title: str
    tokens: int
    label: str
    """Where it stands, in the numbers a prompt uses: artifact and segment."""


@dataclass(frozen=True, slots=True)
class ArtifactView:
    number: int
    """Its alias, the same in every phase."""
    artifact: Artifact
    segments: tuple[SegmentView, ...]
    tokens: int


@dataclass(frozen=True)
class PhaseView:
    """One leg of the task: what it shows, and an index over what can be read in it."""

    task: TaskBrief
    artifacts: dict[str, ArtifactView]
    handles: tuple[ArtifactHandle, ...]
    subtasks: dict[str, Subtask]
    entries: tuple[CacheEntry, ...]
    head: str
    ends_at_step: int

    @cached_property
    def segments(self) -> dict[str, SegmentView]:
        return {view.segment_id: view for artifact in self.artifacts.values() for view in artifact.segments}

    @cached_property
    def slots(self) -> dict[str, str]:
        """By subtask: the slot that must be filled before it can be asked."""
        return {name: subtask.slot.name for name, subtask in self.subtasks.items() if subtask.slot is not None}

    @cached_property
    def small_artifacts(self) -> dict[str, tuple[str, ...]]:
        """Those that are read whole, with their segments."""
        return {
            name: tuple(view.segment_id for view in artifact.segments)
            for name, artifact in self.artifacts.items()
            if artifact.tokens <= FULL_READ_CAP_TOKENS
        }

    @cached_property
    def small_segment_ids(self) -> frozenset[str]:
        return frozenset(segment_id for segment_ids in self.small_artifacts.values() for segment_id in segment_ids)

    @cached_property
    def subtask_ids(self) -> tuple[str, ...]:
        return tuple(self.subtasks)

    @cached_property
    def artifact_numbers(self) -> dict[str, int]:
        return {handle.artifact_id: handle.alias for handle in self.handles}

    @cached_property
    def retriever(self) -> Retriever:
        return _retriever(tuple([(view.segment_id, view.text) for view in self.segments.values()]))

    @cached_property
    def semantic_cache(self) -> SemanticCache:
        return SemanticCache(self.entries)

    def search(self, query: str, top_k: int) -> tuple[Hit, ...]:
        return _found(self.retriever, query, top_k)

    def nearest(self, query: str) -> tuple[Match, ...]:
        return _nearest(self.semantic_cache, query)


@lru_cache(maxsize=512)
def _retriever(texts: tuple[tuple[str, str], ...]) -> Retriever:
    """One for all options that a case is played under: an index is the largest thing that a world holds."""
    return Retriever(texts)


@lru_cache(maxsize=4_096)
def _found(retriever: Retriever, query: str, top_k: int) -> tuple[Hit, ...]:
    """Kept, because episodes of one case ask much the same: the questions of its brief, in its words."""
    return retriever.search(query, top_k)


@lru_cache(maxsize=4_096)
def _nearest(cache: SemanticCache, query: str) -> tuple[Match, ...]:
    return cache.nearest(query, CACHE_MAX_HITS)


@dataclass(frozen=True, eq=False)
class VisibleWorld:
    public: PublicScenario
    config: EpisodeConfig
    menu: tuple[ModelCard, ...]
    """As shown."""
    cards: dict[str, ModelCard]
    """By shown id, as billed: under `anonymous_models` what is shown names neither model nor vocabulary."""
    real_ids: dict[str, str]
    """From a shown id to the catalog's."""
    controller: ModelCard
    limits: Limits
    phases: tuple[PhaseView, ...]
    episode_stamp: EpisodeStamp
    takes_own_patches: bool = False
    """Whether a patch that no finding holds may be submitted: there is a judge who can run it on this case."""

    @cached_property
    def by_strength(self) -> tuple[ModelCard, ...]:
        """The menu in the order of escalation."""
        return tuple(sorted(self.cards.values(), key=strength))

    @cached_property
    def model_ids(self) -> tuple[str, ...]:
        return tuple(self.cards)

    @cached_property
    def answer_names(self) -> frozenset[str]:
        return frozenset(field.name for field in self.public.answer_fields)

    @cached_property
    def head_pieces(self) -> tuple[PromptPiece, ...]:
        """By phase: the head of the policy's prompt, as its model counts it."""
        return tuple(
            PromptPiece(f"head-{number}", text_tokens(self.controller, phase.head))
            for number, phase in enumerate(self.phases)
        )

    @cached_property
    def worker_head(self) -> str:
        """What a routed model reads before its context."""
        return (
            "Answer the question from the evidence below alone. Reply with the fields, a confidence and the segments"
            f" you rely on, or say that the evidence does not suffice.\n{self.public.brief}\n"
        )

    @cached_property
    def _segment_counts(self) -> dict[str, dict[str, int]]:
        ids = [segment.segment_id for artifact in self.public.artifacts for segment in artifact.segments]
        return {
            vocabulary: dict(zip(ids, counts, strict=True)) for vocabulary, counts in self.public.segment_tokens.items()
        }

    def segment_tokens(self, vocabulary: str, segment_id: str) -> int:
        """Stored with the scenario, never recounted."""
        return self._segment_counts[vocabulary][segment_id]

    @cached_property
    def _counts_by_model(self) -> dict[tuple[str, int], dict[str, int]]:
        return {}

    def segments_counted_by(self, card: ModelCard) -> Mapping[str, int]:
        """Every segment's tokens as this model counts them."""
        way = (card.vocabulary, card.vocabulary_permille)
        if way not in self._counts_by_model:
            counts = self._segment_counts[card.vocabulary]
            self._counts_by_model[way] = {name: model_tokens(card, count) for name, count in counts.items()}
        return self._counts_by_model[way]


@dataclass(frozen=True, slots=True)
class ReferenceCosts:
    """What the reference plan spends in this world: the yardstick of efficiency."""

    nano_usd: int
    routed_nano_usd: int


class PatchJudge(Protocol):
    """Runs patches against hidden tests. The engine starts no process: whoever plays hands a judge in, or none."""

    def covers(self, scenario: Scenario) -> bool: ...
    def passes(self, scenario: Scenario, patch: str) -> bool: ...


@dataclass(frozen=True)
class World:
    visible: VisibleWorld
    backend: Backend
    scenario: Scenario
    seed: int
    reference: Callable[[], ReferenceCosts | None] | None = None
    """Asked for at the end alone. Without one, as while a plan is being made, an episode is its own reference."""
    patch_judge: PatchJudge | None = None
    """Of the agent's own patches; none where they are not taken."""

    @property
    def hidden(self) -> HiddenScenario:
        return self.scenario.hidden


def world_index(seed: int) -> int:
    return seed % DEFAULT_WORLDS


def build_world(
    scenario: Scenario,
    seed: int,
    config: EpisodeConfig,
    reference: Callable[[], ReferenceCosts | None] | None = None,
    backend: Backend | None = None,
    patch_judge: PatchJudge | None = None,
) -> World:
    visible = visible_world(scenario, config)
    if config.track is not Track.SOLVER or patch_judge is None or not patch_judge.covers(scenario):
        patch_judge = None
    return World(
        visible=visible if patch_judge is None else _taking_own_patches(visible),
        backend=backend or _simulated(scenario, world_index(seed), config.catalog),
        scenario=scenario,
        seed=seed,
        reference=reference,
        patch_judge=patch_judge,
    )


@lru_cache(maxsize=64)
def _taking_own_patches(visible: VisibleWorld) -> VisibleWorld:
    return replace(visible, takes_own_patches=True)


@lru_cache(maxsize=1_024)
def _simulated(scenario: Scenario, index: int, catalog: str) -> Backend:
    return SimulatedBackend(scenario, index, catalog, scenario.public.menus[catalog])


@lru_cache(maxsize=512)
def visible_world(scenario: Scenario, config: EpisodeConfig) -> VisibleWorld:
    """Built once for a scenario and its options: sessions that play the same case share it."""
    public = scenario.public
    catalog = load_catalog(config.catalog)
    real = tuple(priced(catalog.card(model_id), public.price_table) for model_id in public.menus[config.catalog])
    billed = tuple(_renamed(card, number) for number, card in enumerate(real, 1)) if config.anonymous_models else real
    menu = tuple(_unmarked(card) for card in billed) if config.anonymous_models else real
    views = _artifact_views(public)
    bounds = limits(
        public.difficulty, sum(view.tokens for view in views.values()), config.profile, config.memory_tokens
    )
    return VisibleWorld(
        public=public,
        config=config,
        menu=menu,
        cards={card.model_id: card for card in billed},
        real_ids={shown.model_id: card.model_id for shown, card in zip(menu, real, strict=True)},
        controller=priced(catalog.card(config.controller_model), public.price_table),
        limits=bounds,
        phases=_phase_views(public, config, views, menu, bounds.steps),
        episode_stamp=EpisodeStamp(
            scoring_version=SCORING_VERSION,
            catalog_version=catalog.stamp.version,
            controller_model=config.controller_model,
            reward_mode=config.reward_mode,
            memory_tokens=bounds.memory_tokens,
            public_hash=public_hash(public),
        ),
    )


def _renamed(card: ModelCard, number: int) -> ModelCard:
    return card.model_copy(update={"model_id": f"model-{number}", "name": f"Model {number}"})


def _unmarked(card: ModelCard) -> ModelCard:
    """Price, limits and tier stay; what else would tell the model goes."""
    return card.model_copy(update={"provider": "anonymous", "vocabulary": "anonymous", "behaviour_note": ""})


def _artifact_views(public: PublicScenario) -> dict[str, ArtifactView]:
    counts = iter(public.segment_tokens[YARDSTICK])
    views: dict[str, ArtifactView] = {}
    for number, artifact in enumerate(public.artifacts, start=1):
        segments = tuple(
            SegmentView(
                segment_id=segment.segment_id,
                artifact_id=artifact.artifact_id,
                text=segment.text,
                title=segment.title,
                tokens=next(counts),
                label=f"A{number} s{place}",
            )
            for place, segment in enumerate(artifact.segments, start=1)
        )
        views[artifact.artifact_id] = ArtifactView(number, artifact, segments, sum(view.tokens for view in segments))
    return views


def _phase_views(
    public: PublicScenario,
    config: EpisodeConfig,
    views: dict[str, ArtifactView],
    menu: tuple[ModelCard, ...],
    steps: int,
) -> tuple[PhaseView, ...]:
    subtasks = {subtask.subtask_id: subtask for subtask in public.subtasks}
    if public.phases:
        legs = [(phase.brief, phase.artifact_ids, phase.subtask_ids, phase.steps) for phase in public.phases]
    else:
        legs = [(public.brief, tuple(views), tuple(subtasks), steps)]
    found: list[PhaseView] = []
    ends_at_step = 0
    for number, (brief, artifact_ids, subtask_ids, leg_steps) in enumerate(legs):
        ends_at_step += leg_steps
        last = number == len(legs) - 1
        task = TaskBrief(
            scenario_id=public.scenario_id,
            family=public.family,
            difficulty=public.difficulty,
            profile=config.profile,
            track=config.track,
            title=public.title,
            brief=brief,
            version=public.version,
            phase=number,
            phases=len(legs),
            phase_ends_at_step=None if last else ends_at_step,
            answer_fields=public.answer_fields,
            subtasks=tuple(subtasks[subtask_id] for subtask_id in subtask_ids),
        )
        artifacts = {artifact_id: views[artifact_id] for artifact_id in artifact_ids}
        handles = tuple(
            ArtifactHandle(
                artifact_id=view.artifact.artifact_id,
                alias=view.number,
                kind=view.artifact.kind,
                title=view.artifact.title,
                tokens=view.tokens,
                segments=len(view.segments),
            )
            for view in artifacts.values()
        )
        found.append(
            PhaseView(
                task=task,
                artifacts=artifacts,
                handles=handles,
                subtasks={subtask_id: subtasks[subtask_id] for subtask_id in subtask_ids},
                entries=tuple(entry for entry in public.cache_entries if entry.subtask_id in subtask_ids),
                head=head_text(task, handles, menu),
                ends_at_step=ends_at_step,
            )
        )
    return tuple(found)


_TIER_ORDER = {tier: rank for rank, tier in enumerate(Tier)}


def strength(card: ModelCard) -> tuple[int, int, str]:
    """The order of escalation: tier first, then price."""
    return _TIER_ORDER[card.tier], card.input_pico_usd, card.model_id


def model_tokens(card: ModelCard, count: int) -> int:
    """`count` tokens of the card's vocabulary, as the model itself would count them."""
    return _scaled(count, card.vocabulary_permille)


def text_tokens(card: ModelCard, text: str) -> int:
    return _scaled(tokens.count(card.vocabulary, text), card.vocabulary_permille)


def counted_tokens(vocabulary: str, permille: int, text: str) -> int:
    """For those who keep what they counted, by the way it was counted: a card is no key."""
    return _scaled(tokens.count(vocabulary, text), permille)


def _scaled(count: int, permille: int) -> int:
    return -(-count * permille // 1000)
