"""One line that tells a thing from others of its kind."""

from __future__ import annotations

from TokenOptEnv.by_hand.plain_text import clipped, plain
from TokenOptEnv.models import ItemKind, MemoryItem, TokenOptEnvObservation


def item_gist(item: MemoryItem) -> str:
    if item.kind is ItemKind.PREVIEW:
        return plain(item.label)
    lines = [line for line in plain(item.text).split("\n") if any(sign.isalnum() for sign in line)]
    first = " / ".join(lines[:2] if item.kind in (ItemKind.FINDING, ItemKind.CACHE) else lines[:1])
    label = "" if item.label == item.kind.value else f"{item.label}: "
    return clipped(label + first, 100)


def place(segment_id: str, observation: TokenOptEnvObservation) -> str:
    """`A2 s7`: the seventh segment of the second artifact. Of an earlier phase only the id is left."""
    artifact_id, _, number = segment_id.rpartition("-s")
    alias = next((each.alias for each in observation.artifacts if each.artifact_id == artifact_id), None)
    return segment_id if alias is None else f"A{alias} s{number}"
