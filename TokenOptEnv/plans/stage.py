"""Where programs are played: the engine itself, in one world.

Every candidate is played for real, and its cost is what the ledger says: the planner has no cost model of its own that
could disagree. Candidates mostly begin alike, so every moment that was reached once is kept and played on from.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from TokenOptEnv import ledger
from TokenOptEnv.episode_runtime import advance, start
from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.models import ActionType, Effort, ItemKind, ScoreBreakdown, TokenOptEnvAction
from TokenOptEnv.plans.program import (
    Adopt,
    Ask,
    Drop,
    Load,
    Operation,
    Program,
    Read,
    Restore,
    Save,
    Search,
    Squeeze,
)
from TokenOptEnv.world import World, strength


@dataclass(frozen=True, slots=True)
class Played:
    actions: tuple[TokenOptEnvAction, ...]
    score: ScoreBreakdown | None
    """None where the program was refused anything, or given up as too dear."""

    @property
    def solved(self) -> bool:
        return self.score is not None and self.score.success

    @property
    def nano_usd(self) -> int:
        return self.score.cost_nano_usd if self.score is not None else 0


@dataclass(frozen=True)
class _Moment:
    """How far a program has come."""

    state: EpisodeState
    actions: tuple[TokenOptEnvAction, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    """By subtask: the right finding."""
    squeezed: Mapping[str, str] = field(default_factory=dict)
    """By segment: the item it was compressed into."""
    score: ScoreBreakdown | None = None
    stopped: bool = False
    later: dict[Hashable, _Moment] = field(default_factory=dict)


class Stage:
    def __init__(self, world: World, escalates: bool) -> None:
        """`escalates`: a stronger model is asked by escalation; otherwise every question is put anew."""
        self._world = world
        self._escalates = escalates
        self._first = _Moment(start(world, "plan").state)
        self._right = {
            truth.subtask_id: [candidate.values for candidate in truth.candidates if candidate.right]
            for truth in world.hidden.subtasks
        }
        facts = {fact.fact_id: fact for fact in world.hidden.facts}
        self._path = [
            tuple(place.segment_id for place in facts[name].places)
            for field in world.hidden.fields
            for name in field.path
        ]
        """By fact that the evidence must cover: where it stands."""
        self.played_steps = 0

    def play(self, program: Program, below_nano_usd: int | None = None) -> Played:
        """Play a program and submit what it found; give up as soon as it cannot come below the limit."""
        moment = self._first
        for place, operation in enumerate(program):
            moment = self._next(moment, operation, program[place + 1 :])
            if moment.stopped or (below_nano_usd is not None and self._least(moment) >= below_nano_usd):
                return Played(moment.actions, None)
        moment = self._act(moment, self._submission(moment))
        return Played(moment.actions, moment.score)

    def trimmed(self, program: Program) -> Program | None:
        """The program without attempts that fail here; None where it does not answer everything it asks."""
        moment = self._first
        kept: list[Operation] = []
        for place, operation in enumerate(program):
            before = len(moment.state.routes)
            moment = self._next(moment, operation, program[place + 1 :])
            if moment.stopped or (isinstance(operation, Ask) and operation.subtask_id not in moment.answers):
                return None
            if isinstance(operation, Ask):
                right = operation.attempts[len(moment.state.routes) - before - 1]
                operation = replace(operation, attempts=(right,))
            kept.append(operation)
        return tuple(kept)

    def _submission(self, moment: _Moment) -> TokenOptEnvAction:
        """The answers, and the evidence where they do not cite it all themselves."""
        held = {finding.finding_id: finding for finding in moment.state.held_findings}
        findings = tuple(finding_id for finding_id in moment.answers.values() if finding_id in held)
        cited = {cite for finding_id in findings for cite in held[finding_id].cites}
        evidence = dict.fromkeys(
            next((name for name in places if name in cited), None)
            or next((name for name in places if name in moment.state.read_ids), None)
            for places in self._path
        )
        named = tuple(name for name in evidence if name is not None)
        return TokenOptEnvAction(
            action_type=ActionType.SUBMIT_ANSWER,
            finding_ids=findings,
            evidence_segment_ids=() if cited.issuperset(named) else named,
        )

    def _least(self, moment: _Moment) -> int:
        """What is spent, and the prompt that is on the screen."""
        prompt = moment.state.prompt
        assert prompt is not None
        return moment.state.spent.nano_usd + ledger.charge(self._world.visible.controller, prompt, 0).nano_usd

    def _next(self, moment: _Moment, operation: Operation, later: Program) -> _Moment:
        idle = self._idle(moment, later) if isinstance(operation, Drop) else ()
        key: Hashable = (operation, idle)
        if key not in moment.later:
            moment.later[key] = self._run(moment, operation, idle)
        return moment.later[key]

    def _act(self, moment: _Moment, action: TokenOptEnvAction) -> _Moment:
        self.played_steps += 1
        outcome = advance(moment.state, action, self._world)
        refused = outcome.last is not None and outcome.last.refusal is not None
        return _Moment(
            state=outcome.state,
            actions=(*moment.actions, action),
            answers=moment.answers,
            squeezed=moment.squeezed,
            score=outcome.score,
            stopped=refused or outcome.state.end is not None,
        )

    def _run(self, moment: _Moment, operation: Operation, idle: tuple[str, ...]) -> _Moment:
        match operation:
            case Read(artifact_id, page):
                kind = ActionType.READ_ARTIFACT
                return self._act(
                    moment,
                    TokenOptEnvAction(action_type=kind, artifact_id=artifact_id, page=None if page == 1 else page),
                )
            case Search(query, top_k):
                return self._act(
                    moment, TokenOptEnvAction(action_type=ActionType.SEARCH_ARTIFACTS, query=query, top_k=top_k)
                )
            case Load(segment_ids):
                held = {item.item_id for item in moment.state.memory}
                absent = tuple(name for name in segment_ids if name not in held and name not in moment.squeezed)
                if not absent:
                    return moment
                return self._act(
                    moment, TokenOptEnvAction(action_type=ActionType.HYDRATE_SEGMENTS, context_segment_ids=absent)
                )
            case Squeeze():
                return self._squeeze(moment, operation)
            case Ask():
                return self._ask(moment, operation)
            case Adopt():
                return self._adopt(moment, operation)
            case Drop():
                if not idle:
                    return moment
                return self._act(
                    moment, TokenOptEnvAction(action_type=ActionType.PURGE_MEMORY, context_segment_ids=idle)
                )
            case Save():
                found = tuple(
                    finding.finding_id
                    for finding in moment.state.held_findings
                    if moment.answers.get(finding.subtask_id) == finding.finding_id
                )
                return self._act(moment, TokenOptEnvAction(action_type=ActionType.WRITE_CHECKPOINT, finding_ids=found))
            case Restore():
                for saved in moment.state.checkpoints:
                    if not moment.stopped:
                        name = saved.record.checkpoint_id
                        kind = ActionType.RESTORE_CHECKPOINT
                        moment = self._act(moment, TokenOptEnvAction(action_type=kind, checkpoint_id=name))
                return moment
            case _ as never:
                assert_never(never)

    def _squeeze(self, moment: _Moment, squeeze: Squeeze) -> _Moment:
        runs = len(moment.state.compressions)
        moment = self._act(
            moment,
            TokenOptEnvAction(
                action_type=ActionType.COMPRESS_CONTEXT,
                context_segment_ids=squeeze.segment_ids,
                method=squeeze.method,
                target_ratio=squeeze.target_ratio,
                query=squeeze.query or None,
            ),
        )
        if moment.stopped or len(moment.state.compressions) == runs:
            return moment
        newest = moment.state.compressions[-1].after.item_id
        return replace(moment, squeezed={**moment.squeezed, **dict.fromkeys(squeeze.segment_ids, newest)}, later={})

    def _ask(self, moment: _Moment, ask: Ask) -> _Moment:
        context = self._context(moment, ask)
        if context is None:
            return replace(moment, stopped=True, later={})
        before: tuple[str, str] | None = None
        for model_id, effort in ask.attempts:
            moment = self._act(moment, self._attempt(ask.subtask_id, context, model_id, effort, before))
            if moment.stopped:
                return moment
            record = moment.state.routes[-1]
            before = (record.route_id, model_id)
            if record.finding_id is not None and self._is_right(moment.state, record.finding_id):
                return replace(moment, answers={**moment.answers, ask.subtask_id: record.finding_id}, later={})
        return moment

    def _context(self, moment: _Moment, ask: Ask) -> tuple[str, ...] | None:
        names = [moment.squeezed.get(name, name) for name in ask.context_ids]
        for text in ask.glimpses:
            shown = _showing(moment.state, text)
            if shown is None:
                return None
            names.append(shown)
        return tuple(dict.fromkeys(names))

    def _attempt(
        self,
        subtask_id: str,
        context: tuple[str, ...],
        model_id: str,
        effort: Effort,
        before: tuple[str, str] | None,
    ) -> TokenOptEnvAction:
        """A stronger model is asked by escalation: it is handed the same, and the earlier finding."""
        cards = self._world.visible.cards
        effort_name = None if effort is Effort.MEDIUM else effort.value
        if before is not None and self._escalates:
            route_id, asked_id = before
            if strength(cards[model_id]) > strength(cards[asked_id]):
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

    def _adopt(self, moment: _Moment, adopt: Adopt) -> _Moment:
        moment = self._act(moment, TokenOptEnvAction(action_type=ActionType.QUERY_CACHE, query=adopt.query))
        for finding in moment.state.held_findings:
            if finding.entry_id == adopt.entry_id:
                return replace(moment, answers={**moment.answers, adopt.subtask_id: finding.finding_id}, later={})
        return moment

    def _is_right(self, state: EpisodeState, finding_id: str) -> bool:
        finding = state.findings[finding_id]
        return finding.values in self._right[finding.subtask_id]

    def _idle(self, moment: _Moment, later: Program) -> tuple[str, ...]:
        """Items that no later operation uses; what answers a question is always used."""
        needed: set[str] = set()
        for operation in later:
            if isinstance(operation, Ask):
                needed.update(moment.squeezed.get(name, name) for name in operation.context_ids)
                needed.update(filter(None, (_showing(moment.state, text) for text in operation.glimpses)))
            if isinstance(operation, Squeeze):
                needed.update(operation.segment_ids)
        answers = set(moment.answers.values())
        return tuple(
            item.item_id
            for item in moment.state.memory
            if item.item_id not in needed
            and item.kind is not ItemKind.CHECKPOINT
            and not answers.intersection(item.finding_ids)
        )


def _showing(state: EpisodeState, text: str) -> str | None:
    """The search result that shows this."""
    return next((item.item_id for item in state.memory if item.kind is ItemKind.SEARCH and text in item.text), None)
