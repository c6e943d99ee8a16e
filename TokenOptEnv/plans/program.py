"""A plan in the making: operations that become actions while they are played in the engine.

A program says what to surface, hold, ask and drop; what the ids of the replies will be, and how many
models must be asked before one is right, only playing tells. So every candidate is played for real, and
its cost is what the ledger says: the planner has no cost model of its own that could disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from TokenOptEnv.action_rules.routing import strength
from TokenOptEnv.config import Profile
from TokenOptEnv.episode_runtime import advance, start
from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.models import ActionType, Effort, ItemKind, ScoreBreakdown, TokenOptEnvAction
from TokenOptEnv.scenario import HiddenScenario
from TokenOptEnv.world import World


@dataclass(frozen=True, slots=True)
class Do:
    """An action that is known beforehand."""

    action: TokenOptEnvAction


@dataclass(frozen=True, slots=True)
class Load:
    """Hydrate those of these segments that are not held."""

    segment_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask one model after another until one is right; the first by a route, stronger ones by escalation."""

    subtask_id: str
    attempts: tuple[tuple[str, Effort], ...]
    context_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Drop:
    """Purge everything that no later operation uses."""


Operation: TypeAlias = Do | Load | Ask | Drop
Program: TypeAlias = tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Played:
    actions: tuple[TokenOptEnvAction, ...]
    score: ScoreBreakdown | None

    @property
    def solved(self) -> bool:
        return self.score is not None and self.score.success

    @property
    def nano_usd(self) -> int:
        return self.score.cost_nano_usd if self.score is not None else 0


class _Player:
    def __init__(self, world: World) -> None:
        self.world = world
        self.state: EpisodeState = start(world, "plan").state
        self.actions: list[TokenOptEnvAction] = []
        self.score: ScoreBreakdown | None = None
        self.refused = False
        self.answers: dict[str, str] = {}
        """By subtask: the right finding."""

    @property
    def over(self) -> bool:
        return self.refused or self.state.end is not None

    def act(self, action: TokenOptEnvAction) -> None:
        outcome = advance(self.state, action, self.world)
        self.state = outcome.state
        self.actions.append(action)
        self.score = outcome.score
        self.refused = outcome.last is not None and outcome.last.refusal is not None


def play(program: Program, world: World) -> Played:
    """Play a program and submit what it found. An unsolved or refused one has no success in its score."""
    player = _Player(world)
    for place, operation in enumerate(program):
        if player.over:
            return Played(tuple(player.actions), None)
        match operation:
            case Do(action):
                player.act(action)
            case Load(segment_ids):
                held = {item.item_id for item in player.state.memory}
                absent = tuple(segment_id for segment_id in segment_ids if segment_id not in held)
                if absent:
                    player.act(TokenOptEnvAction(action_type=ActionType.HYDRATE_SEGMENTS, context_segment_ids=absent))
            case Ask():
                _ask(player, operation)
            case Drop():
                _drop(player, program[place + 1 :])
            case _ as never:
                assert_never(never)
    if player.over:
        return Played(tuple(player.actions), None)
    held_ids = {finding.finding_id for finding in player.state.held_findings}
    findings = tuple(finding_id for finding_id in player.answers.values() if finding_id in held_ids)
    player.act(TokenOptEnvAction(action_type=ActionType.SUBMIT_ANSWER, finding_ids=findings))
    return Played(tuple(player.actions), player.score)


def _ask(player: _Player, ask: Ask) -> None:
    before: tuple[str, str] | None = None
    for model_id, effort in ask.attempts:
        player.act(_attempt(player.world, ask, model_id, effort, before))
        if player.over:
            return
        record = player.state.routes[-1]
        before = (record.route_id, model_id)
        if record.finding_id is not None and _is_right(player, record.finding_id, player.world.hidden):
            player.answers[ask.subtask_id] = record.finding_id
            return


def _attempt(
    world: World, ask: Ask, model_id: str, effort: Effort, before: tuple[str, str] | None
) -> TokenOptEnvAction:
    """A stronger model is asked by escalation, which hands the same context on in fewer words."""
    visible = world.visible
    effort_name = None if effort is Effort.MEDIUM else effort.value
    if before is not None and visible.config.profile is Profile.V2:
        route_id, asked_id = before
        if strength(visible.cards[model_id]) > strength(visible.cards[asked_id]):
            return TokenOptEnvAction(
                action_type=ActionType.ESCALATE_ROUTE, route_id=route_id, model_id=model_id, effort=effort_name
            )
    return TokenOptEnvAction(
        action_type=ActionType.ROUTE_SUBTASK,
        subtask_id=ask.subtask_id,
        model_id=model_id,
        context_segment_ids=ask.context_ids,
        effort=effort_name,
    )


def _is_right(player: _Player, finding_id: str, hidden: HiddenScenario) -> bool:
    finding = player.state.findings[finding_id]
    truth = next(truth for truth in hidden.subtasks if truth.subtask_id == finding.subtask_id)
    return any(candidate.right and candidate.values == finding.values for candidate in truth.candidates)


def _drop(player: _Player, later: Program) -> None:
    needed = {name for operation in later if isinstance(operation, Ask) for name in operation.context_ids}
    keep = set(player.answers.values())
    idle = tuple(
        item.item_id
        for item in player.state.memory
        if item.item_id not in needed
        and item.kind is not ItemKind.CHECKPOINT
        and not keep.intersection(item.finding_ids)
    )
    if idle:
        player.act(TokenOptEnvAction(action_type=ActionType.PURGE_MEMORY, context_segment_ids=idle))
