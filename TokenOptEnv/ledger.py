"""The cache-true ledger: what a call costs, given what the provider still holds of the last prompt.

Rules are the provider's own (`CacheRule`): a prefix counts from a minimum length, in whole blocks, for
so long; some providers charge a premium for writing it. An edit in the middle of a prompt makes all
that follows fresh again; another model starts cold. Money is whole nano-dollars, rounded up per call.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from TokenOptEnv.episode_state import EpisodeState, InputQuote, PrefixCache, PromptPiece, Spent, evolve
from TokenOptEnv.models import Budget, Budgets, LedgerEntry, ModelCard
from TokenOptEnv.world import VisibleWorld

_PREFILL_TOKENS_PER_MS = 10
_PICO_PER_NANO = 1000


class Charge(NamedTuple):
    """What a call takes out of each budget."""

    tokens: int
    nano_usd: int
    latency_ms: int


class Call(NamedTuple):
    """A call made: who, which model, its input as quoted, and how much it wrote."""

    who: Literal["controller", "worker"]
    card: ModelCard
    quote: InputQuote
    output_tokens: int


def quote_input(
    card: ModelCard, pieces: tuple[PromptPiece, ...], held: PrefixCache | None, clock_ms: int
) -> InputQuote:
    total = sum(piece.tokens for piece in pieces)
    cached = _cached_tokens(card, pieces, held, clock_ms)
    fresh = total - cached
    rule = card.cache_rule
    written = 0
    if rule is not None and rule.writes_cost:
        writable = total - pieces[-1].tokens
        if writable >= rule.min_tokens:
            written = max(0, writable - cached)
    pico = (
        (fresh - written) * card.input_pico_usd
        + written * card.cache_write_pico_usd
        + cached * card.cache_read_pico_usd
    )
    return InputQuote(
        pieces=pieces,
        fresh_tokens=fresh,
        cached_tokens=cached,
        written_tokens=written,
        pico_usd=pico,
        cold_pico_usd=total * card.input_pico_usd,
        latency_ms=card.first_token_ms + fresh // _PREFILL_TOKENS_PER_MS,
    )


def _cached_tokens(card: ModelCard, pieces: tuple[PromptPiece, ...], held: PrefixCache | None, clock_ms: int) -> int:
    rule = card.cache_rule
    if rule is None or held is None or clock_ms - held.used_at_ms > rule.ttl_ms:
        return 0
    shared = 0
    for now, before in zip(pieces, held.pieces, strict=False):
        if now.key != before.key:
            break
        shared += now.tokens
    if shared < rule.min_tokens:
        return 0
    return shared - shared % rule.block_tokens


def charge(card: ModelCard, quote: InputQuote, output_tokens: int) -> Charge:
    return Charge(
        tokens=quote.tokens + output_tokens,
        nano_usd=_nano(quote.pico_usd + output_tokens * card.output_pico_usd),
        latency_ms=quote.latency_ms + output_tokens * 1000 // card.output_tokens_per_s,
    )


def add_charges(*charges: Charge) -> Charge:
    return Charge(
        tokens=sum(each.tokens for each in charges),
        nano_usd=sum(each.nano_usd for each in charges),
        latency_ms=sum(each.latency_ms for each in charges),
    )


def book(state: EpisodeState, call: Call) -> EpisodeState:
    """Enter a call that was paid in full; the prompt it sent is what the provider now holds."""
    paid = charge(call.card, call.quote, call.output_tokens)
    entry = LedgerEntry.trusted(
        step=state.step,
        who=call.who,
        model_id=call.card.model_id,
        fresh_tokens=call.quote.fresh_tokens,
        cached_tokens=call.quote.cached_tokens,
        written_tokens=call.quote.written_tokens,
        output_tokens=call.output_tokens,
        nano_usd=paid.nano_usd,
        latency_ms=paid.latency_ms,
        cold_nano_usd=_nano(call.quote.cold_pico_usd + call.output_tokens * call.card.output_pico_usd),
    )
    held = PrefixCache(call.quote.pieces, state.clock_ms + paid.latency_ms)
    return _entered(state, entry, {**state.prefix_caches, f"{call.who}:{call.card.model_id}": held})


def book_refusal(state: EpisodeState, call: Call, left: Charge) -> EpisodeState:
    """A refused action is billed too, but at most what is left of each budget."""
    full = charge(call.card, call.quote, call.output_tokens)
    if full.tokens <= left.tokens and full.nano_usd <= left.nano_usd and full.latency_ms <= left.latency_ms:
        return book(state, call)
    cached = min(call.quote.cached_tokens, left.tokens)
    fresh = min(call.quote.fresh_tokens, left.tokens - cached)
    output = min(call.output_tokens, left.tokens - cached - fresh)
    nano_usd = min(full.nano_usd, left.nano_usd)
    latency_ms = min(full.latency_ms, left.latency_ms)
    entry = LedgerEntry.trusted(
        step=state.step,
        who=call.who,
        model_id=call.card.model_id,
        fresh_tokens=fresh,
        cached_tokens=cached,
        written_tokens=min(call.quote.written_tokens, fresh),
        output_tokens=output,
        nano_usd=nano_usd,
        latency_ms=latency_ms,
        cold_nano_usd=nano_usd,
    )
    return _entered(state, entry, state.prefix_caches)


def left(state: EpisodeState, visible: VisibleWorld) -> Charge:
    bounds, spent = visible.limits, state.spent
    return Charge(
        tokens=max(0, bounds.tokens - spent.tokens),
        nano_usd=max(0, bounds.nano_usd - spent.nano_usd),
        latency_ms=max(0, bounds.latency_ms - spent.latency_ms),
    )


def overrun(state: EpisodeState, visible: VisibleWorld) -> bool:
    bounds, spent = visible.limits, state.spent
    return spent.tokens > bounds.tokens or spent.nano_usd > bounds.nano_usd or spent.latency_ms > bounds.latency_ms


def budgets(state: EpisodeState, visible: VisibleWorld) -> Budgets:
    bounds, spent = visible.limits, state.spent
    return Budgets.trusted(
        tokens=_budget(bounds.tokens, spent.tokens),
        nano_usd=_budget(bounds.nano_usd, spent.nano_usd),
        steps=_step_budget(bounds.steps, state.step),
        latency_ms=_budget(bounds.latency_ms, spent.latency_ms),
    )


@lru_cache(maxsize=1_024)
def _step_budget(limit: int, spent: int) -> Budget:
    return _budget(limit, spent)


def _budget(limit: int, spent: int) -> Budget:
    return Budget.trusted(limit=limit, spent=spent, left=max(0, limit - spent))


def _entered(state: EpisodeState, entry: LedgerEntry, prefix_caches: Mapping[str, PrefixCache]) -> EpisodeState:
    spent = state.spent
    routed = entry.nano_usd if entry.who == "worker" else 0
    return evolve(
        state,
        clock_ms=state.clock_ms + entry.latency_ms,
        prefix_caches=prefix_caches,
        entries=(*state.entries, entry),
        spent=Spent(
            tokens=spent.tokens + entry.fresh_tokens + entry.cached_tokens + entry.output_tokens,
            nano_usd=spent.nano_usd + entry.nano_usd,
            latency_ms=spent.latency_ms + entry.latency_ms,
            routed_nano_usd=spent.routed_nano_usd + routed,
        ),
    )


def _nano(pico_usd: int) -> int:
    return -(-pico_usd // _PICO_PER_NANO)
