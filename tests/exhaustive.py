"""The optimum of a tiny case: every sequence of moves that could still beat the best one known.

A sequence is left as soon as what it has spent and the least that it must still spend reach the best cost known. The
least is what every continuation pays: the prompt on the screen, one more for each question that is still open, and the
cheapest right call for each of these. Later prompts hold what this one holds, unless a further step shortens memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, combinations, product

from TokenOptEnv import ledger
from TokenOptEnv.config import ROUTE_MAX_HANDLES, SEARCH_MAX_TOP_K
from TokenOptEnv.episode_runtime import advance, start
from TokenOptEnv.episode_state import ContextPiece, EpisodeState
from TokenOptEnv.evaluation.mutated_plans import right_submission
from TokenOptEnv.memory_manager import COMPRESSIBLE, item_tokens
from TokenOptEnv.models import ActionType, Effort, ModelCard, TokenOptEnvAction
from TokenOptEnv.simulators.backend import RouteReply, RouteRequest
from TokenOptEnv.simulators.compression import methods
from TokenOptEnv.simulators.routing import SimulatedBackend
from TokenOptEnv.world import World, model_tokens, strength, text_tokens

_PICO_PER_NANO = 1_000
_RATIOS = (0.1, 0.4)
_SLOT_TOKENS = 5
"""What a question loses when its slot is filled."""
_LEAST_WORDS = 2
_RESULT_TOKENS = 600
"""More than searches, findings and notes of a tiny case bring into memory."""


class Exhaustive:
    def __init__(self, world: World, known_nano_usd: int, queries: Iterable[str], most_played: int) -> None:
        """`known_nano_usd` is what a known success costs; `queries` are the words that may be searched for."""
        self._world = world
        self._visible = world.visible
        self._phase = world.visible.phases[0]
        self.best_nano_usd = known_nano_usd
        self._queries = tuple(queries)
        self._truths = {truth.subtask_id: truth for truth in world.hidden.subtasks}
        self._right = {
            name: [candidate.values for candidate in truth.candidates if candidate.right]
            for name, truth in self._truths.items()
        }
        self._texts = [place.text for fact in world.hidden.facts for place in fact.places]
        self._calls: dict[tuple[str, Effort, str, bool], int] = {}
        self._least_prompt = self._shortest_prompt()
        self._least_calls = {name: self._cheapest_right_call(name) for name in self._phase.subtasks}
        self._most_played = most_played
        self.played = 0

    def optimum(self) -> int | None:
        """None where there is too much to look at."""
        self._explore(start(self._world, "exhaustive").state)
        return self.best_nano_usd if self.played < self._most_played else None

    def _explore(self, state: EpisodeState) -> None:
        if state.step + 1 >= self._visible.limits.steps or self.played >= self._most_played:
            return
        unanswered = self._unanswered(state)
        if not unanswered:
            self._submit(state)
        for action in self._moves(state, unanswered):
            outcome = advance(state, action, self._world)
            self.played += 1
            refused = outcome.last is not None and outcome.last.refusal is not None
            if not refused and outcome.state.end is None:
                self._explore(outcome.state)

    def _hopeless(
        self, state: EpisodeState, left: frozenset[str], call_nano_usd: int = 0, shrinks: bool = False
    ) -> bool:
        """After a step that leaves so much unanswered, can any success be cheaper than the best known?"""
        now = self._prompt_nano_usd(state)
        steps = len(left) + 1
        later = steps * self._least_prompt if shrinks else min(steps * now, now + steps * self._least_prompt)
        calls = call_nano_usd + sum(self._least_calls[name] for name in left)
        calls += (len(left) + 2) * _LEAST_WORDS * self._visible.controller.output_pico_usd // _PICO_PER_NANO
        return state.spent.nano_usd + now + later + calls >= self.best_nano_usd

    def _submit(self, state: EpisodeState) -> None:
        outcome = advance(state, right_submission(state, self._world), self._world)
        self.played += 1
        if outcome.score is not None and outcome.score.success:
            self.best_nano_usd = min(self.best_nano_usd, outcome.score.cost_nano_usd)

    def _unanswered(self, state: EpisodeState) -> frozenset[str]:
        answered = [
            finding.subtask_id for finding in state.held_findings if finding.values in self._right[finding.subtask_id]
        ]
        return frozenset(self._phase.subtasks) - frozenset(answered)

    def _prompt_nano_usd(self, state: EpisodeState) -> int:
        assert state.prompt is not None
        return ledger.charge(self._visible.controller, state.prompt, 1).nano_usd

    def _shortest_prompt(self) -> int:
        """Of the head alone: fresh, unless memory can grow long enough for the provider's cache."""
        card, rule = self._visible.controller, self._visible.controller.cache_rule
        head = text_tokens(self._visible.controller, self._phase.head)
        longest = head + _RESULT_TOKENS + sum(self._visible.public.segment_tokens[card.vocabulary])
        fresh = head * card.input_pico_usd
        if rule is not None and longest >= rule.min_tokens:
            fresh = min(fresh, max(rule.min_tokens, head) * card.cache_read_pico_usd)
        return fresh // _PICO_PER_NANO

    def _cheapest_right_call(self, subtask_id: str) -> int:
        """On all the facts and nothing else; nothing where an earlier result is the answer."""
        backend = self._world.backend
        assert isinstance(backend, SimulatedBackend)
        if any(
            entry.subtask_id == subtask_id and entry.values in self._right[subtask_id] for entry in self._phase.entries
        ):
            return 0
        costs = []
        for card in self._visible.cards.values():
            line = backend.threshold(subtask_id, card.model_id)
            for effort in Effort:
                if line < backend.odds_at(subtask_id, card.model_id, effort, 1.0, 0, 0):
                    costs.append(self._least_call(card, effort, subtask_id))
                    escalated = self._least_call(card, effort, subtask_id, halved=True)
                    costs.append(escalated + self._least_prompt)
        return min(costs)

    def _least_call(self, card: ModelCard, effort: Effort, subtask_id: str, halved: bool = False) -> int:
        key = (card.model_id, effort, subtask_id, halved)
        if key not in self._calls:
            self._calls[key] = self._least_call_of(card, effort, subtask_id, halved)
        return self._calls[key]

    def _least_call_of(self, card: ModelCard, effort: Effort, subtask_id: str, halved: bool) -> int:
        """On no context, the head cached; an escalation reasons half as long."""
        read = text_tokens(card, self._visible.worker_head) * min(card.input_pico_usd, card.cache_read_pico_usd)
        asked = max(0, text_tokens(card, self._phase.subtasks[subtask_id].question) - _SLOT_TOKENS)
        said = min(text_tokens(card, candidate.text) for candidate in self._truths[subtask_id].candidates)
        reasoning = self._reply(card, effort, subtask_id, ()).reasoning_tokens // (2 if halved else 1)
        output = (said + reasoning) * card.output_pico_usd
        return (read + asked * card.input_pico_usd + output) // _PICO_PER_NANO

    def _reply(
        self, card: ModelCard, effort: Effort, subtask_id: str, pieces: tuple[ContextPiece, ...], tokens: int = 0
    ) -> RouteReply:
        return self._world.backend.answer(
            RouteRequest(
                subtask_id=subtask_id,
                question="",
                slot_value=self._truths[subtask_id].slot_value,
                model_id=card.model_id,
                effort=effort,
                context=pieces,
                context_tokens=tokens,
            )
        )

    def _moves(self, state: EpisodeState, unanswered: frozenset[str]) -> Iterator[TokenOptEnvAction]:
        if not self._hopeless(state, unanswered):
            yield from self._readings(state)
            yield from self._loads(state)
            yield from self._notes(state)
        for entry in self._phase.entries:
            answers = entry.values in self._right[entry.subtask_id]
            if not self._hopeless(state, unanswered - {entry.subtask_id} if answers else unanswered):
                yield TokenOptEnvAction(action_type=ActionType.QUERY_CACHE, query=entry.question)
        if not self._hopeless(state, unanswered, shrinks=True):
            yield from self._shortenings(state)
        yield from self._questions(state, unanswered)
        yield from self._escalations(state, unanswered)

    def _readings(self, state: EpisodeState) -> Iterator[TokenOptEnvAction]:
        for artifact_id in self._phase.artifacts:
            yield TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id=artifact_id)
        for query in self._queries:
            hits = self._phase.retriever.search(query, SEARCH_MAX_TOP_K)
            for top_k in range(1, len(hits) + 1):
                yield TokenOptEnvAction(action_type=ActionType.SEARCH_ARTIFACTS, query=query, top_k=top_k)

    def _loads(self, state: EpisodeState) -> Iterator[TokenOptEnvAction]:
        held = {item.item_id for item in state.memory}
        for names in _subsets([name for name in state.surfaced if name not in held]):
            if names:
                yield TokenOptEnvAction(action_type=ActionType.HYDRATE_SEGMENTS, context_segment_ids=names)

    def _notes(self, state: EpisodeState) -> Iterator[TokenOptEnvAction]:
        findings = tuple(finding.finding_id for finding in state.held_findings)
        for texts in _subsets(self._texts):
            for kept in {findings, ()}:
                if texts or kept:
                    note = "\n".join(texts)
                    yield TokenOptEnvAction(action_type=ActionType.WRITE_CHECKPOINT, note=note, finding_ids=kept)
        for saved in state.checkpoints:
            name = saved.record.checkpoint_id
            yield TokenOptEnvAction(action_type=ActionType.RESTORE_CHECKPOINT, checkpoint_id=name)

    def _shortenings(self, state: EpisodeState) -> Iterator[TokenOptEnvAction]:
        for names in _subsets([item.item_id for item in state.memory]):
            if names:
                yield TokenOptEnvAction(action_type=ActionType.PURGE_MEMORY, context_segment_ids=names)
        for names in _subsets([item.item_id for item in state.memory if item.kind in COMPRESSIBLE]):
            for method in methods() if names else ():
                for ratio in _RATIOS:
                    yield TokenOptEnvAction(
                        action_type=ActionType.COMPRESS_CONTEXT,
                        context_segment_ids=names,
                        method=method,
                        target_ratio=ratio,
                        query=" ".join(self._texts),
                    )

    def _questions(self, state: EpisodeState, unanswered: frozenset[str]) -> Iterator[TokenOptEnvAction]:
        held = {item.item_id: item for item in state.memory}
        surfaced = [name for name in state.surfaced if name not in held]
        most = ROUTE_MAX_HANDLES[self._visible.config.profile]
        contexts = [names for names in _subsets([*held, *surfaced]) if len(set(names) - set(held)) <= most]
        for card, effort, subtask_id in product(self._visible.cards.values(), Effort, self._phase.subtasks):
            call = self._least_call(card, effort, subtask_id)
            if self._hopeless(state, unanswered - {subtask_id}, call):
                continue
            for names in contexts:
                pieces = [
                    ContextPiece(name, held[name].text, held[name].source_ids)
                    if name in held
                    else ContextPiece(name, self._phase.segments[name].text, (name,))
                    for name in names
                ]
                tokens = sum(
                    item_tokens(held[name], self._visible, card)
                    if name in held
                    else model_tokens(card, self._visible.segment_tokens(card.vocabulary, name))
                    for name in names
                )
                read = self._read_nano_usd(state, card, tokens)
                if self._hopeless(state, unanswered - {subtask_id}, call + read):
                    continue
                reply = self._reply(card, effort, subtask_id, tuple(pieces), tokens)
                right = reply.values in self._right[subtask_id]
                if not self._hopeless(state, unanswered - {subtask_id} if right else unanswered, call + read):
                    yield TokenOptEnvAction(
                        action_type=ActionType.ROUTE_SUBTASK,
                        subtask_id=subtask_id,
                        model_id=card.model_id,
                        context_segment_ids=names,
                        effort=effort.value,
                    )

    def _read_nano_usd(self, state: EpisodeState, card: ModelCard, tokens: int) -> int:
        """What a context costs besides the least of a call: a model that was not asked yet has nothing cached."""
        if f"worker:{card.model_id}" in state.prefix_caches:
            return tokens * min(card.input_pico_usd, card.cache_read_pico_usd) // _PICO_PER_NANO
        head = text_tokens(card, self._visible.worker_head)
        again = max(0, card.input_pico_usd - card.cache_read_pico_usd)
        return (tokens * card.input_pico_usd + head * again) // _PICO_PER_NANO

    def _escalations(self, state: EpisodeState, unanswered: frozenset[str]) -> Iterator[TokenOptEnvAction]:
        for route, card, effort in product(state.routes, self._visible.cards.values(), Effort):
            call = self._least_call(card, effort, route.subtask_id, halved=True)
            if strength(card) > strength(self._visible.cards[route.model_id]) and not self._hopeless(
                state, unanswered - {route.subtask_id}, call
            ):
                yield TokenOptEnvAction(
                    action_type=ActionType.ESCALATE_ROUTE,
                    route_id=route.route_id,
                    model_id=card.model_id,
                    effort=effort.value,
                )


def _subsets(names: Iterable[str]) -> Iterator[tuple[str, ...]]:
    known = tuple(names)
    return chain.from_iterable(combinations(known, size) for size in range(len(known) + 1))
