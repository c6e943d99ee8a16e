"""May this be dropped, rewritten or noted? PURGE_MEMORY, COMPRESS_CONTEXT, WRITE_CHECKPOINT, RESTORE_CHECKPOINT."""

from __future__ import annotations

from TokenOptEnv.action_rules.refusals import lacking, missing, refuse
from TokenOptEnv.action_rules.room import memory_refusal
from TokenOptEnv.config import CHECKPOINT_CAP_TOKENS, TEXT_CAP_CHARACTERS, YARDSTICK
from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.memory_manager import COMPRESSIBLE, next_alias
from TokenOptEnv.models import Finding, ItemKind, MemoryItem, Refusal, RefusalReason, TokenOptEnvAction
from TokenOptEnv.moves import Compress, Purge, RestoreCheckpoint, WriteCheckpoint
from TokenOptEnv.prompt import item_header
from TokenOptEnv.simulators import tokens
from TokenOptEnv.simulators.compression import methods
from TokenOptEnv.world import VisibleWorld

_DEFAULT_RATIO = 0.5


def purge(state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld) -> Purge | Refusal:
    items = _items(state, action.context_segment_ids)
    return items if isinstance(items, Refusal) else Purge(items)


def compress(state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld) -> Compress | Refusal:
    items = _items(state, action.context_segment_ids)
    if isinstance(items, Refusal):
        return items
    for item in items:
        if item.kind not in COMPRESSIBLE:
            return refuse(
                RefusalReason.NOT_COMPRESSIBLE,
                "context_segment_ids",
                item.item_id,
                "findings and notes stay as they are",
            )
    if action.method is None:
        return missing("method", f"one of {', '.join(methods())}")
    method = methods().get(action.method)
    if method is None:
        return refuse(RefusalReason.UNKNOWN_ID, "method", action.method, f"one of {', '.join(methods())}")
    ratio = _DEFAULT_RATIO if action.target_ratio is None else action.target_ratio
    if not 0.0 < ratio <= 1.0:
        return refuse(RefusalReason.OUT_OF_RANGE, "target_ratio", ratio, "above 0, at most 1")
    query = (action.query or "").strip() or _open_questions(state, visible)
    if len(query) > TEXT_CAP_CHARACTERS:
        return refuse(RefusalReason.TOO_LONG, "query", query, f"at most {TEXT_CAP_CHARACTERS} characters")
    return Compress(items, method, round(ratio, 4), query)


def write_checkpoint(
    state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld
) -> WriteCheckpoint | Refusal:
    note = (action.note or "").strip()
    if len(note) > TEXT_CAP_CHARACTERS:
        return refuse(RefusalReason.TOO_LONG, "note", note, f"at most {TEXT_CAP_CHARACTERS} characters")
    if not note and not action.finding_ids and not action.context_segment_ids:
        return missing("note", "give a note, findings or items to keep")
    held = {finding.finding_id: finding for finding in state.held_findings}
    findings: list[Finding] = []
    for finding_id in dict.fromkeys(action.finding_ids):
        if finding_id not in held:
            return refuse(RefusalReason.NOT_IN_MEMORY, "finding_ids", finding_id, "name findings held in memory")
        findings.append(held[finding_id])
    items: tuple[MemoryItem, ...] = ()
    if action.context_segment_ids:
        named = _items(state, action.context_segment_ids)
        if isinstance(named, Refusal):
            return named
        items = named
    parts = [note] if note else []
    parts += [f"{finding.subtask_id}: {_values(finding)} {finding.text}" for finding in findings]
    parts += [item.text.rstrip("\n") for item in items]
    text = "\n".join(parts) + "\n"
    size = tokens.count(YARDSTICK, text)
    if size > CHECKPOINT_CAP_TOKENS:
        return lacking(
            RefusalReason.TOO_LONG, "checkpoint tokens", size, CHECKPOINT_CAP_TOKENS, "keep less, or squeeze it"
        )
    sources = dict.fromkeys([source for item in items for source in item.source_ids])
    return WriteCheckpoint(note, text, size, tuple(findings), tuple(sources))


def restore_checkpoint(
    state: EpisodeState, action: TokenOptEnvAction, visible: VisibleWorld
) -> RestoreCheckpoint | Refusal:
    if action.checkpoint_id is None:
        return missing("checkpoint_id", "name a checkpoint")
    saved = next((each for each in state.checkpoints if each.record.checkpoint_id == action.checkpoint_id), None)
    if saved is None:
        return refuse(
            RefusalReason.UNKNOWN_ID, "checkpoint_id", action.checkpoint_id, "name a checkpoint that was written"
        )
    if saved.text in [item.text for item in state.memory if item.kind is ItemKind.CHECKPOINT]:
        return refuse(RefusalReason.ALREADY_IN_MEMORY, "checkpoint_id", action.checkpoint_id, "it is there already")
    header = item_header(next_alias(state), ItemKind.CHECKPOINT.value)
    needed = saved.record.tokens + tokens.count(YARDSTICK, header)
    return memory_refusal(state, visible, needed) or RestoreCheckpoint(saved)


def _items(state: EpisodeState, ids: tuple[str, ...]) -> tuple[MemoryItem, ...] | Refusal:
    if not ids:
        return missing("context_segment_ids", "name items held in memory")
    held = {item.item_id: item for item in state.memory}
    for item_id in ids:
        if item_id not in held:
            return refuse(RefusalReason.NOT_IN_MEMORY, "context_segment_ids", item_id, "name items held in memory")
    return tuple([held[item_id] for item_id in dict.fromkeys(ids)])


def _open_questions(state: EpisodeState, visible: VisibleWorld) -> str:
    """Without a query of its own, a query-focused compressor looks for what is still unanswered."""
    answered = {finding.subtask_id for finding in state.held_findings}
    subtasks = visible.phases[state.phase].subtasks.values()
    open_ones = [subtask.question for subtask in subtasks if subtask.subtask_id not in answered]
    return " ".join(open_ones or [subtask.question for subtask in subtasks])


def _values(finding: Finding) -> str:
    return "; ".join(f"{name}={value}" for name, value in finding.values.items())
