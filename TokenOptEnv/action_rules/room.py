"""Does it fit? Checked before anything happens, against what the result can take at most."""

from __future__ import annotations

from TokenOptEnv.action_rules.refusals import lacking
from TokenOptEnv.episode_state import Charge, EpisodeState
from TokenOptEnv.memory_manager import room_tokens
from TokenOptEnv.models import Refusal, RefusalReason
from TokenOptEnv.world import VisibleWorld


def memory_refusal(state: EpisodeState, visible: VisibleWorld, needed_tokens: int) -> Refusal | None:
    room = room_tokens(state, visible)
    if room is None or needed_tokens <= room:
        return None
    return lacking(RefusalReason.MEMORY_FULL, "memory tokens", needed_tokens, room, "drop or squeeze something")


def budget_refusal(needed: Charge, left: Charge) -> Refusal | None:
    over = RefusalReason.OVER_BUDGET
    if needed.nano_usd > left.nano_usd:
        return lacking(
            over, "nano-usd", needed.nano_usd, left.nano_usd, "ask a cheaper model, hand over less, or submit"
        )
    if needed.tokens > left.tokens:
        return lacking(over, "tokens", needed.tokens, left.tokens, "hand over less, or submit")
    if needed.latency_ms > left.latency_ms:
        return lacking(over, "ms", needed.latency_ms, left.latency_ms, "ask a faster model, or submit")
    return None
