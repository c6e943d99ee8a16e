"""Where an episode stands: what its observation tells of the questions, whoever played so far.

A script remembers what it has done. Whoever has only an observation finds the same in it: routes say what was asked
and what came of it, listings say what a prompt gives numbers to, and the last result says what was done just now.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from TokenOptEnv import questions
from TokenOptEnv.config import ROUTE_MAX_HANDLES
from TokenOptEnv.models import (
    AnyPayload,
    Finding,
    ItemKind,
    MemoryItem,
    RouteRecord,
    SearchPayload,
    Subtask,
    TokenOptEnvObservation,
)
from TokenOptEnv.policies import cache_first, survey
from TokenOptEnv.policies.expert import is_about_all, trusted_first

SURE = 0.5
"""The least confidence of a reply that settles a question."""
MOST_TRIES = 3
"""Calls on one question; after that it is left at what there is."""
CONTENT = (ItemKind.SEGMENT, ItemKind.COMPRESSED)
_YOUNG_HOURS = 24
_ALIKE = 0.6
"""Of the words of two searches, in both: then they are the same search."""
_STANDS_OUT = {"host", "service"}
"""What is asked for first where figures of all hosts are at hand, in whatever words."""
ONSET = ("commit",)
_LAST_GOOD = ("last_good_run",)
_RED_BUILDS = "ci"
_LISTINGS = (ItemKind.SEARCH, ItemKind.PREVIEW)
_LISTED = re.compile(r"^(\d+) (?:A\d+ s\d+ )?\d+t ", re.MULTILINE)
_QUOTED = re.compile(r"'[^']*'")
"""What a test or a page says: its words are none of the question's."""


@dataclass(frozen=True)
class Standing:
    now: TokenOptEnvObservation

    @cached_property
    def answers(self) -> dict[str, Finding]:
        """By question the finding to build on: the latest of those that settle it, or else the latest."""
        best: dict[str, Finding] = {}
        for finding in self.now.findings:
            if finding in self.outdated:
                continue
            before = best.get(finding.subtask_id)
            if before is None or _is_sure(finding) >= _is_sure(before):
                best[finding.subtask_id] = finding
        return best

    @cached_property
    def outdated(self) -> tuple[Finding, ...]:
        """Earlier results that are not to be trusted any more."""
        return cache_first.outdated(self.now, _YOUNG_HOURS)

    @cached_property
    def open(self) -> tuple[Subtask, ...]:
        return tuple(subtask for subtask in self.now.task.subtasks if not self.is_settled(subtask))

    @cached_property
    def narrow(self) -> tuple[Subtask, ...]:
        return tuple(subtask for subtask in self.open if not self.is_wide(subtask))

    @cached_property
    def askable(self) -> tuple[Subtask, ...]:
        """Open questions whose slot is filled, and filled for good."""
        still_open = {subtask.subtask_id for subtask in self.open}
        filled = questions.askable(self.now, ())
        return tuple(
            each
            for each in self.open
            if each in filled and (each.slot is None or each.slot.from_subtask_id not in still_open)
        )

    def is_settled(self, subtask: Subtask) -> bool:
        answer = self.answers.get(subtask.subtask_id)
        tries = self.tries(subtask)
        if answer is None:
            return len(tries) >= MOST_TRIES
        if answer.source == "cache":
            return not self.unread(answer)
        route = next((route for route in tries if route.route_id == answer.route_id), None)
        if route is None:
            return False
        return answer.confidence >= SURE or len(tries) >= MOST_TRIES

    def tries(self, subtask: Subtask) -> tuple[RouteRecord, ...]:
        """The calls on this question as it reads now: with another value in its slot it was another question.

        A finding that was dropped is as good as never found.
        """
        routes = self.now.routing.routes
        place = 0
        if subtask.slot is not None:
            places = {route.finding_id: number for number, route in enumerate(routes)}
            value = None
            for finding in self.now.findings:
                filled = finding.values.get(subtask.slot.name)
                if finding.subtask_id == subtask.slot.from_subtask_id and filled and filled != value:
                    value, place = filled, places.get(finding.finding_id, 0)
        held = {None, *(finding.finding_id for finding in self.now.findings)}
        return tuple(
            route for route in routes[place:] if route.subtask_id == subtask.subtask_id and route.finding_id in held
        )

    def sources(self, names: Iterable[str]) -> set[str]:
        """The segments behind these items and handles."""
        items = {item.item_id: item.source_ids for item in self.now.working_memory.items}
        return {source for name in names for source in (*items.get(name, ()), name)}

    def unread(self, answer: Finding) -> tuple[str, ...]:
        """What an earlier result cites and nobody read here: it grounds only what was read again."""
        items = self.now.working_memory.items
        read = {source for item in items if item.kind in CONTENT for source in item.source_ids}
        known = {handle.segment_id for handle in self.now.surfaced}
        return tuple(each for each in answer.cites if each in known and each not in read)

    def is_wide(self, subtask: Subtask) -> bool:
        """It is about more than can be handed over by handle: it asks for what only all of it tells, or it says so."""
        if subtask.fields == _LAST_GOOD:
            return True
        is_first = subtask is self.now.task.subtasks[0]
        is_tabled = _STANDS_OUT.issuperset(subtask.fields) or self._is_onset_apart
        if is_first and is_tabled and survey.tables(self.now):
            return True
        return is_about_all(_QUOTED.sub("", questions.without_hints(questions.wording(self.now, subtask))))

    @property
    def _is_onset_apart(self) -> bool:
        """Which commit it began with is asked for its own sake: the one other question does not build on it."""
        subtasks = self.now.task.subtasks
        return (
            len(subtasks) == 2 and subtasks[0].fields == ONSET and len(subtasks[1].fields) > 1 and not subtasks[1].slot
        )

    @property
    def most_handles(self) -> int:
        return ROUTE_MAX_HANDLES[self.now.task.profile]

    @cached_property
    def steps_left(self) -> int:
        left = self.now.budgets.steps.left
        ends_at_step = self.now.task.phase_ends_at_step
        return left if ends_at_step is None else min(left, ends_at_step - self.now.step)

    @property
    def spare_steps(self) -> int:
        """What is left when two steps are kept for each later question, and one for the end."""
        return self.steps_left - 1 - 2 * max(0, len(self.open) - 1)

    @property
    def share_nano_usd(self) -> int:
        """An equal share of the money left for each open question."""
        return self.now.budgets.nano_usd.left // max(1, len(self.open))

    @cached_property
    def shown(self) -> list[str]:
        return shown(self.now)

    @cached_property
    def searches(self) -> tuple[MemoryItem, ...]:
        return tuple(item for item in self.now.working_memory.items if item.kind is ItemKind.SEARCH)

    @property
    def last(self) -> AnyPayload | None:
        return None if self.now.last_tool_result is None else self.now.last_tool_result.payload

    def has_just_searched(self, *queries: str) -> bool:
        """In about these words: a student may have left one out."""
        if not isinstance(self.last, SearchPayload):
            return False
        said = set(self.last.query.split())
        return any(len(said & set(each.split())) >= _ALIKE * len(said | set(each.split())) for each in queries)

    def was_looked_for(self, route: RouteRecord) -> bool:
        """Whether this call was about what the search before it had listed."""
        before = [item for item in self.searches if item.alias < route.item_alias]
        return not set(self.named(before[-1:])).isdisjoint(route.context_ids)

    def in_sight(self, wording: str, listings: Sequence[MemoryItem]) -> tuple[str, ...]:
        """What these listings name, as ranked, and then whatever else has a number; talk goes last."""
        return trusted_first(self.now, tuple(dict.fromkeys([*self.named(listings), *self.shown])), wording)

    def named(self, listings: Iterable[MemoryItem]) -> list[str]:
        names = {handle.alias: handle.segment_id for handle in self.now.surfaced}
        return [names[alias] for item in listings for alias in listed(item) if alias in names]

    def sources_of(self, item: MemoryItem) -> tuple[str, ...]:
        """The segments that an item holds, or lists."""
        return (*item.source_ids, *self.named([item]))

    def items_of(self, names: Collection[str]) -> tuple[MemoryItem, ...]:
        """The items that are among these, hold part of them or list them."""
        aliases = {handle.alias for handle in self.now.surfaced if handle.segment_id in names}
        return tuple(
            item
            for item in self.now.working_memory.items
            if item.item_id in names
            or not set(item.source_ids).isdisjoint(names)
            or not aliases.isdisjoint(listed(item))
        )


def _is_sure(finding: Finding) -> bool:
    return finding.source == "cache" or finding.confidence >= SURE


def leaves_choices_out(observation: TokenOptEnvObservation) -> bool:
    """What a question about a red build lists, suspects mostly, is all over the logs, and would be found there."""
    return observation.task.family == _RED_BUILDS


def shown(observation: TokenOptEnvObservation) -> list[str]:
    """What a prompt gives a number to: segments held, and those in a listing that is still there."""
    items = observation.working_memory.items
    numbered = {alias for item in items for alias in listed(item)}
    held = {item.item_id for item in items}
    return [each.segment_id for each in observation.surfaced if each.alias in numbered or each.segment_id in held]


def listed(item: MemoryItem) -> tuple[int, ...]:
    """The numbers that a listing gives to segments, in its order; other items list nothing."""
    return tuple(int(alias) for alias in _LISTED.findall(item.text)) if item.kind in _LISTINGS else ()
