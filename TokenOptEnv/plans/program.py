"""A plan in the making: operations that become actions while they are played in the engine.

A program says what to surface, hold, ask and drop; what the ids of the replies will be, and how many
models must be asked before one is right, only playing tells. So every candidate is played for real, and
its cost is what the ledger says: the planner has no cost model of its own that could disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from TokenOptEnv.config import Profile
from TokenOptEnv.episode_runtime import advance, start
from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.models import ActionType, Effort, ItemKind, ScoreBreakdown, TokenOptEnvAction
from TokenOptEnv.world import World, strength


@dataclass(frozen=True, slots=True)
class Do:
    """An action that is known beforehand."""

    action: TokenOptEnvAction


@dataclass(frozen=True, slots=True)
class Load:
    """Hydrate those of these segments that are not held."""

    segment_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Squeeze:
    """Compress these segments, which are held, into one item."""

    segment_ids: tuple[str, ...]
    method: str
    target_ratio: float
    query: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask one model after another until one is right; the first by a route, stronger ones by escalation."""

    subtask_id: str
    attempts: tuple[tuple[str, Effort], ...]
    context_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Adopt:
    """Look up an earlier result that is known to be valid, and answer with it."""

    subtask_id: str
    entry_id: str
    query: str


@dataclass(frozen=True, slots=True)
class Drop:
    """Purge everything that no later operation uses."""


@dataclass(frozen=True, slots=True)
class Save:
    """Note down the findings of this phase."""


@dataclass(frozen=True, slots=True)
class Restore:
    """Bring every checkpoint back."""


Operation: TypeAlias = Do | Load | Squeeze | Ask | Adopt | Drop | Save | Restore
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


def play(program: Program, world: World) -> Played:
    """Play a program and submit what it found. A program that is refused anything has no score."""
    player = _Player(world)
    for place, operation in enumerate(program):
        player.run(operation, program[place + 1 :])
        if player.stopped:
            return Played(tuple(player.actions), None)
    held_ids = {finding.finding_id for finding in player.state.held_findings}
    findings = tuple(finding_id for finding_id in player.answers.values() if finding_id in held_ids)
    player.act(TokenOptEnvAction(action_type=ActionType.SUBMIT_ANSWER, finding_ids=findings))
    return Played(tuple(player.actions), player.score)


class _Player:
    def __init__(self, world: World) -> None:
        self.world = world
        self.state: EpisodeState = start(world, "plan").state
        self.actions: list[TokenOptEnvAction] = []
        self.score: ScoreBreakdown | None = None
        self.stopped = False
        self.answers: dict[str, str] = {}
        """By subtask: the right finding."""
        self._squeezed: dict[str, str] = {}
        """By segment: the item it was compressed into."""
        self._right = {
            truth.subtask_id: [candidate.values for candidate in truth.candidates if candidate.right]
            for truth in world.hidden.subtasks
        }

    def act(self, action: TokenOptEnvAction) -> None:
        outcome = advance(self.state, action, self.world)
        self.state = outcome.state
        self.actions.append(action)
        self.score = outcome.score
        refused = outcome.last is not None and outcome.last.refusal is not None
        self.stopped = refused or self.state.end is not None

    def run(self, operation: Operation, later: Program) -> None:
        match operation:
            case Do(action):
                self.act(action)
            case Load(segment_ids):
                held = {item.item_id for item in self.state.memory}
                absent = tuple(name for name in segment_ids if name not in held and name not in self._squeezed)
                if absent:
                    self.act(TokenOptEnvAction(action_type=ActionType.HYDRATE_SEGMENTS, context_segment_ids=absent))
            case Squeeze():
                self._squeeze(operation)
            case Ask():
                self._ask(operation)
            case Adopt():
                self._adopt(operation)
            case Drop():
                self._drop(later)
            case Save():
                held_ids = tuple(
                    finding.finding_id
                    for finding in self.state.held_findings
                    if self.answers.get(finding.subtask_id) == finding.finding_id
                )
                self.act(TokenOptEnvAction(action_type=ActionType.WRITE_CHECKPOINT, finding_ids=held_ids))
            case Restore():
                for saved in self.state.checkpoints:
                    if not self.stopped:
                        name = saved.record.checkpoint_id
                        self.act(TokenOptEnvAction(action_type=ActionType.RESTORE_CHECKPOINT, checkpoint_id=name))
            case _ as never:
                assert_never(never)

    def _squeeze(self, squeeze: Squeeze) -> None:
        self.act(
            TokenOptEnvAction(
                action_type=ActionType.COMPRESS_CONTEXT,
                context_segment_ids=squeeze.segment_ids,
                method=squeeze.method,
                target_ratio=squeeze.target_ratio,
                query=squeeze.query,
            )
        )
        newest = self.state.compressions[-1].after.item_id if self.state.compressions else None
        if newest is not None and not self.stopped:
            self._squeezed.update(dict.fromkeys(squeeze.segment_ids, newest))

    def _ask(self, ask: Ask) -> None:
        before: tuple[str, str] | None = None
        context = tuple(dict.fromkeys(self._squeezed.get(name, name) for name in ask.context_ids))
        for model_id, effort in ask.attempts:
            self.act(self._attempt(ask.subtask_id, context, model_id, effort, before))
            if self.stopped:
                return
            record = self.state.routes[-1]
            before = (record.route_id, model_id)
            if record.finding_id is not None and self._is_right(record.finding_id):
                self.answers[ask.subtask_id] = record.finding_id
                return

    def _attempt(
        self,
        subtask_id: str,
        context: tuple[str, ...],
        model_id: str,
        effort: Effort,
        before: tuple[str, str] | None,
    ) -> TokenOptEnvAction:
        """A stronger model is asked by escalation: it is handed the same, and the earlier finding."""
        visible = self.world.visible
        effort_name = None if effort is Effort.MEDIUM else effort.value
        if before is not None and visible.config.profile is Profile.V2:
            route_id, asked_id = before
            if strength(visible.cards[model_id]) > strength(visible.cards[asked_id]):
                return TokenOptEnvAction(
                    action_type=ActionType.ESCALATE_ROUTE, route_id=route_id, model_id=model_id, effort=effort_name
                )
        return TokenOptEnvAction(
            action_type=ActionType.ROUTE_SUBTASK,
            subtask_id=subtask_id,
            model_id=model_id,
            context_segment_ids=context,
            effort=effort_name,
        )

    def _adopt(self, adopt: Adopt) -> None:
        self.act(TokenOptEnvAction(action_type=ActionType.QUERY_CACHE, query=adopt.query))
        for finding in self.state.held_findings:
            if finding.entry_id == adopt.entry_id:
                self.answers[adopt.subtask_id] = finding.finding_id

    def _is_right(self, finding_id: str) -> bool:
        finding = self.state.findings[finding_id]
        return finding.values in self._right[finding.subtask_id]

    def _drop(self, later: Program) -> None:
        needed: set[str] = set()
        for operation in later:
            if isinstance(operation, Ask):
                needed.update(self._squeezed.get(name, name) for name in operation.context_ids)
        keep = set(self.answers.values())
        idle = tuple(
            item.item_id
            for item in self.state.memory
            if item.item_id not in needed
            and item.kind is not ItemKind.CHECKPOINT
            and not keep.intersection(item.finding_ids)
        )
        if idle:
            self.act(TokenOptEnvAction(action_type=ActionType.PURGE_MEMORY, context_segment_ids=idle))
