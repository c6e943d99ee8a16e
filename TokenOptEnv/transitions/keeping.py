"""Keeping: dropping, rewriting, and noting down."""

from __future__ import annotations

from TokenOptEnv import memory_manager
from TokenOptEnv.episode_state import CompressionRun, EpisodeState, SavedCheckpoint, evolve
from TokenOptEnv.memory_manager import Draft
from TokenOptEnv.models import (
    Checkpoint,
    CheckpointPayload,
    CompressionTelemetry,
    CompressPayload,
    ItemKind,
    PurgePayload,
    RestorePayload,
)
from TokenOptEnv.models.base import trusted
from TokenOptEnv.moves import Compress, Purge, RestoreCheckpoint, WriteCheckpoint
from TokenOptEnv.transitions.effect import Effect
from TokenOptEnv.world import VisibleWorld


def purge(state: EpisodeState, move: Purge, visible: VisibleWorld) -> Effect:
    ids = tuple([item.item_id for item in move.items])
    freed = sum([item.tokens for item in move.items])
    payload = trusted(PurgePayload, kind="purge", purged_ids=ids, tokens_freed=freed)
    return Effect(memory_manager.purge(state, ids), payload)


def compress(state: EpisodeState, move: Compress, visible: VisibleWorld) -> Effect:
    """The items become one, where the first was. What does not get shorter stays as it is."""
    before = sum([item.tokens for item in move.items])
    sources = tuple(dict.fromkeys([source for item in move.items for source in item.source_ids]))
    whole = "".join([item.text for item in move.items])
    text = move.method.compress(whole, move.target_ratio, move.query)
    draft = Draft(ItemKind.COMPRESSED, move.method.name, text.rstrip("\n") + "\n", sources)
    after = memory_manager.draft_tokens(state, draft)
    item_ids = tuple([item.item_id for item in move.items])
    if after < before and len(text) < len(whole):
        state, item = memory_manager.rewrite(state, move.items, draft, visible)
        shown = state.compression
        state = evolve(
            state,
            compressions=(*state.compressions, CompressionRun(move.items, item)),
            compression=trusted(
                CompressionTelemetry,
                runs=shown.runs + 1,
                tokens_before=shown.tokens_before + before,
                tokens_after=shown.tokens_after + item.tokens,
            ),
        )
        item_ids = (item.item_id,)
    payload = trusted(
        CompressPayload,
        kind="compress",
        method=move.method.name,
        item_ids=item_ids,
        source_ids=sources,
        tokens_before=before,
        tokens_after=min(before, after),
    )
    return Effect(state, payload)


def write_checkpoint(state: EpisodeState, move: WriteCheckpoint, visible: VisibleWorld) -> Effect:
    record = trusted(
        Checkpoint,
        checkpoint_id=f"checkpoint-{len(state.checkpoints) + 1}",
        phase=state.phase,
        note=move.note,
        tokens=move.tokens,
        finding_ids=tuple([finding.finding_id for finding in move.findings]),
        source_ids=move.source_ids,
    )
    saved = SavedCheckpoint(record, move.text, move.findings)
    state = evolve(state, checkpoints=(*state.checkpoints, saved))
    return Effect(
        state, trusted(CheckpointPayload, kind="checkpoint", checkpoint_id=record.checkpoint_id, tokens=record.tokens)
    )


def restore_checkpoint(state: EpisodeState, move: RestoreCheckpoint, visible: VisibleWorld) -> Effect:
    record = move.saved.record
    draft = Draft(
        ItemKind.CHECKPOINT, ItemKind.CHECKPOINT.value, move.saved.text, record.source_ids, move.saved.findings
    )
    state, item = memory_manager.add(state, draft, visible)
    payload = trusted(
        RestorePayload,
        kind="restore",
        checkpoint_id=record.checkpoint_id,
        finding_ids=record.finding_ids,
        item_ids=(item.item_id,),
    )
    return Effect(state, payload)
