"""The list of changes: every suspect has an entry there, among many that matter to nobody.

Ids are given in order of time, so that an id says when and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.generator.cast import Alibi, Suspect
from TokenOptEnv.task_defs.incident.generator.faults.kind import TriggerKind
from TokenOptEnv.task_defs.incident.generator.papers.style import Change, Ids
from TokenOptEnv.task_defs.incident.generator.simulation.run import MINUTE_MS
from TokenOptEnv.task_defs.incident.generator.story import Story

DAY_MS = 24 * 60 * MINUTE_MS


@dataclass(frozen=True, slots=True)
class Entered:
    """A suspect's entry: what triggered, what the list calls it, and when it took effect here, if it did."""

    change: Change
    trigger: str
    at_ms: int
    """Since the run began; far below zero for what is old."""


@dataclass(frozen=True)
class ChangeList:
    entries: tuple[Change, ...]
    """Newest first."""
    of_suspect: dict[str, Entered]
    """By tag."""
    innocuous: tuple[str, ...]
    """Ids of entries that nobody suspects."""


@dataclass(frozen=True, slots=True)
class _Draft:
    at_ms: int
    service: str
    kind: TriggerKind
    suspect: Suspect | None
    summary: str


def draw_changes(story: Story) -> ChangeList:
    drafts = sorted((_suspected(story, suspect) for suspect in story.cast.suspects), key=lambda draft: draft.at_ms)
    drafts += _unsuspected(story, [draft.at_ms for draft in drafts])
    drafts.sort(key=lambda draft: draft.at_ms)
    stream = story.streams("changes")
    number = stream.integer(1200, 8600)
    entries: list[Change] = []
    of_suspect: dict[str, Entered] = {}
    innocuous: list[str] = []
    for draft in drafts:
        number += stream.integer(1, 3)
        entry_id = _prefix(story.style.ids, draft.kind) + str(number)
        if draft.suspect is None:
            entries.append(_change(story, stream, draft, entry_id, draft.summary, ()))
            innocuous.append(entry_id)
            continue
        trigger = stream.hex(8) if draft.kind is TriggerKind.OBJECT else entry_id
        names = {**story.names(draft.suspect), "trigger": trigger}
        wording = draft.suspect.wording
        diff = tuple(line.format(**names) for line in wording.diff)
        change = _change(story, stream, draft, entry_id, wording.change.format(**names), diff)
        entries.append(change)
        of_suspect[draft.suspect.tag] = Entered(change, trigger, draft.at_ms)
    return ChangeList(tuple(reversed(entries)), of_suspect, tuple(innocuous))


def _prefix(ids: Ids, kind: TriggerKind) -> str:
    match kind:
        case TriggerKind.DEPLOY:
            return ids.deploy
        case TriggerKind.CONFIG:
            return ids.config
        case TriggerKind.JOB | TriggerKind.OBJECT:
            return ids.job


def _suspected(story: Story, suspect: Suspect) -> _Draft:
    stream = story.streams("change", suspect.tag)
    days_ago_ms = -stream.integer(2, 9) * DAY_MS + stream.integer(0, 8 * 60) * MINUTE_MS
    if suspect.kind.standing:
        at_ms = days_ago_ms
    else:
        match suspect.alibi:
            case None:
                at_ms = story.since_ms - stream.integer(2, 20) * 1000
            case Alibi.LATER:
                at_ms = story.onset_ms + stream.integer(70, 170) * 1000
            case Alibi.OLD:
                at_ms = days_ago_ms
            case Alibi.UNDONE:
                at_ms = stream.integer(20, 50) * 1000
            case Alibi.ELSEWHERE | Alibi.WITHDRAWN:
                at_ms = story.since_ms + stream.integer(-9 * 60, 9 * 60) * 1000
    return _Draft(at_ms, suspect.service.name, suspect.wording.trigger, suspect, "")


def _unsuspected(story: Story, suspected_ms: list[int]) -> list[_Draft]:
    """Before, between and after the suspects' entries, so that no two of those stand side by side."""
    stream = story.streams("changes", "others")
    services = [service.name for service in story.topology.services.values()]
    begins_ms = [suspected_ms[0] - DAY_MS, *suspected_ms]
    ends_ms = [*suspected_ms, max(suspected_ms[-1], story.end_ms) + 20 * MINUTE_MS]
    drafts = []
    for begin_ms, end_ms in zip(begins_ms, ends_ms, strict=True):
        for _ in range(story.pace.other_changes):
            name = stream.choice(services)
            kind = stream.choice((TriggerKind.DEPLOY, TriggerKind.CONFIG, TriggerKind.JOB))
            summary = stream.choice(story.material.phrases.talk.other_changes).format(svc=name)
            drafts.append(
                _Draft(stream.integer(begin_ms + 1, max(begin_ms + 2, end_ms - 1)), name, kind, None, summary)
            )
    return drafts


def _change(story: Story, stream: Stream, draft: _Draft, entry_id: str, summary: str, diff: tuple[str, ...]) -> Change:
    alibi = draft.suspect.alibi if draft.suspect is not None else None
    here, others = story.topology.cell, story.topology.other_cells
    elsewhere = " ".join(sorted(others[: stream.integer(1, 2)]))
    scope = " ".join(sorted([here, *others[: stream.integer(0, 2)]]))
    state = "live" if draft.kind in (TriggerKind.DEPLOY, TriggerKind.CONFIG) else "begun"
    if (draft.suspect is None and stream.chance(0.4)) or alibi is Alibi.ELSEWHERE:
        scope = elsewhere
    elif alibi is Alibi.UNDONE:
        state = f"undone {story.minute(undone_ms(story, draft.at_ms))}"
    elif alibi is Alibi.WITHDRAWN:
        state = "withdrawn"
    return Change(
        entry_id=entry_id,
        service=draft.service,
        at=story.clock.day_minute(story.at(draft.at_ms)),
        state=state,
        scope=scope,
        author=stream.choice(story.material.phrases.talk.people),
        summary=summary,
        diff=diff,
        sha=stream.hex(7),
    )


def undone_ms(story: Story, at_ms: int) -> int:
    """When a change that was taken back was: half way to the onset, a minute after it came at the least."""
    return max(at_ms + MINUTE_MS, (at_ms + story.onset_ms - MINUTE_MS) // 2)
