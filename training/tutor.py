"""A tutor: says what to do next in any state of an episode, whoever played so far.

It looks at an observation and remembers nothing: what a script keeps in mind it tells from where the episode stands
(`standing.py`). So a student that sees its prompt alone can follow it, and it can follow a student that has left the
way: one that handed over the wrong segments, dropped what it needed or asked a question too early. It is told nothing
besides, not even which segments right answers rest on: who knows that says things for which no prompt gives a reason,
and a student that imitates them guesses. Profile v2 only: v1 has no search.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from TokenOptEnv import policies, questions
from TokenOptEnv.config import (
    CACHE_MAX_HITS,
    FINDING_CAP_TOKENS,
    ITEM_HEADER_TOKENS,
    PREVIEW_PAGE_SEGMENTS,
    SEARCH_HIT_CAP_TOKENS,
    SEARCH_MAX_TOP_K,
)
from TokenOptEnv.models import (
    ActionType,
    ArtifactHandle,
    ArtifactKind,
    CompressPayload,
    ItemKind,
    MemoryItem,
    RouteRecord,
    Subtask,
    TokenOptEnvAction,
    TokenOptEnvObservation,
)
from TokenOptEnv.policies import Policy, desk, errands, resets, survey
from TokenOptEnv.policies.expert import SINCE_WHEN, is_about_history
from TokenOptEnv.policies.submission import is_last_chance, submit
from TokenOptEnv.policies.symptoms import LOUD_WORDS
from training import hiring
from training.standing import CONTENT, MOST_TRIES, ONSET, Standing, leaves_choices_out

_STEPS_TO_ASK_CACHE = 10
"""With fewer, a cache that holds nothing would cost the answer itself."""
_RATIO = 0.4
_GONE_THROUGH = (ItemKind.PREVIEW, *CONTENT)
_MUCH_TOKENS = 500
_CACHE_TOKENS = CACHE_MAX_HITS * FINDING_CAP_TOKENS
_NOTE = "found"
"""Beside the findings of a checkpoint: in the short form a note says something."""


class _Search(NamedTuple):
    """For a question that one search may answer."""

    hits: int
    handed_over: int
    """Of them, at most."""


_ANY_SEARCH = _Search(5, 4)
"""One more than can be handed over."""
_SEARCHES = {
    "bugfix": (_Search(4, 4), _Search(4, 4)),
    "ci": (_Search(4, 4), _Search(3, 3)),
    "incident": (_Search(5, 4), _Search(5, 3)),
}
"""By family, for the first question and for those that build on it. Chosen by playing training cases, and kept where
validation agreed: what pays there alone, such as fewer segments for `bugfix`, costs much on kinds that are held out."""
_ENOUGH_BESIDES = 2
_LEAST_HITS = 4
"""Of one search, and most of them in one table: then it is all of it that is asked about."""
_FIRST_RUN = re.compile(r"\brun was (?:the )?first\b")
_FIRST_RUN_SEARCH = _Search(6, 4)
_RUNS = re.compile(r"\bruns\b")


TUTOR = "tutor"
"""Its name beside the heuristics'."""


def teacher(name: str, seed: int) -> Policy:
    """A tutor, or a heuristic."""
    return Tutor() if name == TUTOR else policies.make(name, seed)


class Tutor:
    """The same observation gets the same advice, whatever was asked before."""

    def act(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        action = _Advice(Standing(observation)).action()
        is_silent = action.action_type is ActionType.WRITE_CHECKPOINT and not action.note
        return action.model_copy(update={"note": _NOTE}) if is_silent else action


@dataclass(frozen=True, slots=True)
class _Advice:
    """For one moment. What returns None knows nothing that would help."""

    at: Standing

    def action(self) -> TokenOptEnvAction:
        now = self.at.now
        if is_last_chance(now):
            return self._submit()
        bridge = resets.bridge(now)
        if bridge is not None:
            return bridge
        for subtask in self.at.askable:
            action = self._advance(subtask)
            if action is not None:
                return action
        if not resets.is_last_phase(now):
            return resets.hand_over(now) or resets.wait(now)
        return self._submit()

    def _submit(self) -> TokenOptEnvAction:
        now = self.at.now
        asked = {subtask.subtask_id for subtask in now.task.subtasks}
        built_on = {finding.finding_id for finding in self.at.answers.values()}
        others = {each.finding_id for each in now.findings if each.subtask_id in asked}.difference(built_on)
        return submit(now, others)

    def _advance(self, subtask: Subtask) -> TokenOptEnvAction | None:
        answer = self.at.answers.get(subtask.subtask_id)
        if answer is not None and answer.source == "cache":
            return self._drop_misleading(subtask) or self._load(self.at.unread(answer), keep=answer.cites)
        if self._is_wide(subtask):
            return self._go_through(subtask)
        return self._tidy() or self._pinpoint(subtask)

    def _is_wide(self, subtask: Subtask) -> bool:
        """It says so; or most of what a first question finds is in one table, or one is being gone through for it."""
        task = self.at.now.task
        if any(map(self.at.is_wide, task.subtasks)) or task.phases > 1:
            return self.at.is_wide(subtask)
        is_onset = subtask is task.subtasks[0] and subtask.fields == ONSET
        return is_onset and self._is_table_in_hand

    @property
    def _is_table_in_hand(self) -> bool:
        """Where no word says that a question is about all of a table: what was found and not asked about yet does."""
        asked = max((route.item_alias for route in self.at.now.routing.routes), default=0)
        fresh = [item for item in self.at.now.working_memory.items if item.alias > asked]
        held = {name for item in fresh if item.kind in _GONE_THROUGH for name in self.at.sources_of(item)}
        searches = [self.at.named([item]) for item in fresh if item.kind is ItemKind.SEARCH]
        for ids in (set(errands.segment_ids(table)) for table in survey.tables(self.at.now)):
            shares = ((len(hits), sum(name in ids for name in hits)) for hits in searches)
            if not ids.isdisjoint(held) or any(2 * among > hits >= _LEAST_HITS for hits, among in shares):
                return True
        return False

    def _drop_misleading(self, subtask: Subtask) -> TokenOptEnvAction | None:
        """Outdated results, where a slot or a later phase waits for one: the latest that is held would be taken."""
        slots = [each.slot for each in self.at.now.task.subtasks if each.slot]
        is_waited_for = any(each.from_subtask_id == subtask.subtask_id for each in slots)
        if resets.is_last_phase(self.at.now) and not is_waited_for:
            return None
        names = {each.finding_id for each in self.at.outdated if each.subtask_id == subtask.subtask_id}
        items = self.at.now.working_memory.items
        return desk.purge(self.at.now, [item for item in items if not names.isdisjoint(item.finding_ids)])

    def _pinpoint(self, subtask: Subtask) -> TokenOptEnvAction | None:
        """Look for what the question needs, and ask about what was found, until there is a reply."""
        wording = questions.wording(self.at.now, subtask)
        tries = self.at.tries(subtask)
        if tries and tries[-1].finding_id is not None:
            return None
        search = _ANY_SEARCH if tries else self._usual_search(subtask)
        own = self._words_to_find(wording)
        is_enough = len(tries) >= MOST_TRIES - 1
        if not is_enough and self._may_look and not self.at.has_just_searched(own, LOUD_WORDS):
            return self._find(self._query(own, tries), search.hits)
        useless = {name for route in tries if route.finding_id is None for name in route.context_ids}
        hits = self.at.in_sight(wording, self.at.searches[::-1])
        fresh = self._without_talk([each for each in hits if each not in useless])
        if _FIRST_RUN.search(wording):
            fresh = self._logs_of_several_runs_first(fresh)
        return self._ask(subtask, fresh[: min(search.handed_over, self.at.most_handles)], is_enough)

    def _words_to_find(self, wording: str) -> str:
        return _words(questions.without_choices(wording) if leaves_choices_out(self.at.now) else wording)

    def _logs_of_several_runs_first(self, segment_ids: Sequence[str]) -> Sequence[str]:
        """Of the run that a question names there are logs of its own, and it was not the first."""
        logs = [each for each in self.at.now.artifacts if _RUNS.search(each.title)]
        earlier = {name for each in logs for name in errands.segment_ids(each)}
        return sorted(segment_ids, key=lambda each: each not in earlier)

    def _usual_search(self, subtask: Subtask) -> _Search:
        if _FIRST_RUN.search(subtask.question):
            return _FIRST_RUN_SEARCH
        first, later = _SEARCHES.get(self.at.now.task.family, (_ANY_SEARCH, _ANY_SEARCH))
        return first if subtask is self.at.now.task.subtasks[0] else later

    def _without_talk(self, segment_ids: Sequence[str]) -> Sequence[str]:
        """What people say misleads more often than it helps, and is left out where there is something else to go by."""
        talk = {
            name
            for each in self.at.now.artifacts
            if each.kind in (ArtifactKind.CHAT, ArtifactKind.TICKET)
            for name in errands.segment_ids(each)
        }
        others = [each for each in segment_ids if each not in talk]
        return others if len(others) >= _ENOUGH_BESIDES else segment_ids

    @property
    def _may_look(self) -> bool:
        """Looking takes a step that asking will need."""
        return self.at.spare_steps >= 2 or (not self.at.shown and self.at.steps_left > 2)

    def _query(self, own: str, tries: Sequence[RouteRecord]) -> str:
        """The question's own words, and what is loud where those were not enough."""
        return LOUD_WORDS if tries and self.at.was_looked_for(tries[-1]) else own

    def _go_through(self, subtask: Subtask) -> TokenOptEnvAction | None:
        """A question about all of something: the cache, then all of it, as far as there are steps and room."""
        wording = questions.wording(self.at.now, subtask)
        tries, table = self.at.tries(subtask), self._table
        if tries and self._is_thorough(tries[-1], table):
            return self._go_on(subtask, tries)
        if self.at.spare_steps >= _STEPS_TO_ASK_CACHE and self.at.now.cache.queries == 0:
            asking = self._ask_cache(wording)
            if asking is not None:
                return asking
        if table is None:
            return self._go_through_hits(subtask, wording)
        gathering = self._gather(table, _words(wording)) if self.at.spare_steps >= 2 else None
        return gathering or self._ask(subtask, self._gathered(table))

    def _go_through_hits(self, subtask: Subtask, wording: str) -> TokenOptEnvAction | None:
        """Where there is no table: what one search finds, and what it leaves over after the handles is loaded."""
        is_time = self.at.spare_steps >= 2
        if is_time and not self._has_searched_since_asking:
            search = self._find(_words(wording), SEARCH_MAX_TOP_K)
            if search is not None:
                return search
        hits = self.at.in_sight(wording, self.at.searches[-1:])[:SEARCH_MAX_TOP_K]
        held = errands.held_ids(self.at.now)
        beyond = [each for each in hits if each not in held][self.at.most_handles :]
        loading = self._load(beyond, keep=hits) if is_time else None
        return loading or self._ask(subtask, hits)

    @property
    def _has_searched_since_asking(self) -> bool:
        """Items are numbered in the order they came in."""
        asked = max((route.item_alias for route in self.at.now.routing.routes), default=0)
        return any(item.alias > asked for item in self.at.searches)

    def _is_thorough(self, route: RouteRecord, table: ArtifactHandle | None) -> bool:
        """Whether it was about most of the table; of what was squeezed and dropped since, nobody can tell."""
        if table is None:
            return True
        known = {*errands.held_ids(self.at.now), *(handle.segment_id for handle in self.at.now.surfaced)}
        given = self.at.sources(route.context_ids).intersection(errands.segment_ids(table))
        return not known.issuperset(route.context_ids) or 2 * len(given) > table.segments

    def _go_on(self, subtask: Subtask, tries: Sequence[RouteRecord]) -> TokenOptEnvAction | None:
        """Where there was nothing to go on: what is loud."""
        if tries[-1].finding_id is not None or len(tries) > 1 or self.at.spare_steps < 2:
            return None
        if not self.at.has_just_searched(LOUD_WORDS):
            return self._find(LOUD_WORDS, _ANY_SEARCH.hits)
        return self._ask(subtask, (*tries[-1].context_ids[:1], *errands.found(self.at.now)))

    @property
    def _table(self) -> ArtifactHandle | None:
        """Of several the longest."""
        return max(survey.tables(self.at.now), key=lambda each: (each.segments, -each.alias), default=None)

    def _gather(self, table: ArtifactHandle, query: str) -> TokenOptEnvAction | None:
        """List its pages, then load what the handles leave over, batch by batch, squeezing what makes way for more."""
        ids = errands.segment_ids(table)
        content = [item for item in self.at.now.working_memory.items if item.kind in CONTENT]
        covered = {source for item in content for source in item.source_ids}
        for first in range(0, len(ids), PREVIEW_PAGE_SEGMENTS):
            page = set(ids[first : first + PREVIEW_PAGE_SEGMENTS])
            if not page.issubset(covered.union(self.at.shown)):
                action = self._read(table, first // PREVIEW_PAGE_SEGMENTS + 1)
                if action is not None:
                    return action
        missing = [each for each in ids if each not in covered][self.at.most_handles :]
        whole = [item.item_id for item in content if item.kind is ItemKind.SEGMENT and item.item_id in ids]
        if whole and missing and not self._is_squeezed_in_vain(whole):
            return TokenOptEnvAction(
                action_type=ActionType.COMPRESS_CONTEXT,
                context_segment_ids=tuple(whole),
                method="extract",
                target_ratio=_RATIO,
                query=query,
            )
        return self._load([each for each in missing if each in self.at.shown], keep=ids, is_to_be_squeezed=True)

    def _is_squeezed_in_vain(self, names: Collection[str]) -> bool:
        """What does not get shorter stays as it is, and would be squeezed for ever."""
        last = self.at.last
        return isinstance(last, CompressPayload) and set(last.item_ids).issuperset(names)

    def _gathered(self, table: ArtifactHandle) -> tuple[str, ...]:
        """What is held of it, then what is not."""
        ids = errands.segment_ids(table)
        items = [item for item in self.at.now.working_memory.items if item.kind in CONTENT]
        held = [item for item in items if not set(item.source_ids).isdisjoint(ids)]
        covered = {source for item in held for source in item.source_ids}
        return (*(item.item_id for item in held), *(each for each in ids if each not in covered))

    def _ask(self, subtask: Subtask, wanted: Iterable[str], strongest: bool = False) -> TokenOptEnvAction | None:
        """About what has a number in the prompt, in this order; nobody is asked the same again."""
        nameable = {*self.at.shown, *errands.held_ids(self.at.now)}
        context = errands.handed_over(self.at.now, [each for each in wanted if each in nameable])
        offer = hiring.offer(self.at, subtask, context, strongest) if context else None
        if offer is None:
            return None
        asking = TokenOptEnvAction(
            action_type=ActionType.ROUTE_SUBTASK,
            subtask_id=subtask.subtask_id,
            model_id=offer.model_id,
            effort=offer.effort.value,
            context_segment_ids=context,
        )
        return self._in_room(asking, FINDING_CAP_TOKENS, context)

    def _ask_cache(self, wording: str) -> TokenOptEnvAction | None:
        """A history is asked about in the words that others will have used; anything else in its own."""
        query = SINCE_WHEN if is_about_history(wording) else _words(wording)
        return self._in_room(TokenOptEnvAction(action_type=ActionType.QUERY_CACHE, query=query), _CACHE_TOKENS)

    def _read(self, artifact: ArtifactHandle, page: int) -> TokenOptEnvAction | None:
        reading = TokenOptEnvAction(
            action_type=ActionType.READ_ARTIFACT, artifact_id=artifact.artifact_id, page=None if page == 1 else page
        )
        return self._in_room(reading, errands.read_tokens(artifact), errands.segment_ids(artifact))

    def _find(self, query: str, top_k: int) -> TokenOptEnvAction | None:
        """As many hits as fit beside the reply to come."""
        drop = self._make_room(SEARCH_HIT_CAP_TOKENS * top_k + FINDING_CAP_TOKENS)
        top_k = min(top_k, (desk.room_tokens(self.at.now) - FINDING_CAP_TOKENS) // SEARCH_HIT_CAP_TOKENS)
        if drop is not None or top_k < 1 or not query:
            return drop
        return TokenOptEnvAction(action_type=ActionType.SEARCH_ARTIFACTS, query=query, top_k=top_k)

    def _load(
        self, wanted: Iterable[str], keep: Collection[str], is_to_be_squeezed: bool = False
    ) -> TokenOptEnvAction | None:
        """As many as fit beside the reply to come; where not even one does, what is not to be kept makes way.

        What is to be squeezed before anybody replies may fill all the room, unless it is the last of its kind.
        """
        held = errands.held_ids(self.at.now)
        sizes = {each.segment_id: each.tokens + ITEM_HEADER_TOKENS for each in self.at.now.surfaced}
        missing = [each for each in dict.fromkeys(wanted) if each in sizes and each not in held]
        room = desk.room_tokens(self.at.now)
        if not is_to_be_squeezed or sum(sizes[name] for name in missing) <= room:
            room -= FINDING_CAP_TOKENS
        chosen: list[str] = []
        for name in missing:
            if sizes[name] <= room:
                chosen.append(name)
                room -= sizes[name]
        if missing and not chosen:
            return self._make_room(sizes[missing[0]] + FINDING_CAP_TOKENS, keep)
        if not chosen:
            return None
        return TokenOptEnvAction(action_type=ActionType.HYDRATE_SEGMENTS, context_segment_ids=tuple(chosen))

    def _tidy(self) -> TokenOptEnvAction | None:
        """What was gone through for a question that is settled goes; what earlier results need stays."""
        if len(self.at.narrow) < len(self.at.open):
            return None
        cited = [cite for each in self.at.answers.values() if each.source == "cache" for cite in each.cites]
        kept = self.at.items_of(cited)
        items = [item for item in self.at.now.working_memory.items if item.kind in _GONE_THROUGH and item not in kept]
        is_time = bool(self.at.open) and self.at.steps_left > 2 * len(self.at.open) + 1
        is_much = sum(item.tokens for item in items) > _MUCH_TOKENS
        return desk.purge(self.at.now, items) if is_time and is_much else None

    def _in_room(self, action: TokenOptEnvAction, tokens: int, keep: Collection[str] = ()) -> TokenOptEnvAction | None:
        """This, once what it brings fits; None where it never will."""
        drop = self._make_room(tokens, keep)
        if drop is not None:
            return drop
        return action if desk.room_tokens(self.at.now) >= tokens else None

    def _make_room(self, tokens: int, keep: Collection[str] = ()) -> TokenOptEnvAction | None:
        """Drop as little as makes so much fit, and nothing that holds or lists what is to be kept."""
        short = tokens - desk.room_tokens(self.at.now)
        kept = self.at.items_of(keep)
        dropped: list[MemoryItem] = []
        for item in desk.dispensable(self.at.now):
            if short > 0 and item not in kept:
                dropped.append(item)
                short -= item.tokens
        return desk.purge(self.at.now, dropped)


def _words(wording: str) -> str:
    """As a student refers to them (`questions.references`), instead of copying them one by one."""
    return " ".join(questions.content_words(wording))
