"""The cache-true ledger: what a call costs, given what the provider still holds of the last prompt.

Rules are the provider's own (`CacheRule`): a prefix counts from a minimum length, in whole blocks, for
so long; some providers charge a premium for writing it. An edit in the middle of a prompt makes all
that follows fresh again; another model starts cold. Money is whole nano-dollars, rounded up per call.
"""

from __future__ import annotations

from functools import lru_cache
from operator import attrgetter
from typing import Literal, NamedTuple

from TokenOptEnv.episode_state import Charge, EpisodeState, InputQuote, PrefixCache, PromptPiece, Spent, evolve
from TokenOptEnv.models import Budget, Budgets, LedgerEntry, ModelCard
from TokenOptEnv.models.base import trusted
from TokenOptEnv.world import VisibleWorld

_PREFILL_TOKENS_PER_MS = 10
_PICO_PER_NANO = 1000
_tokens_of = attrgetter("tokens")


class Call(NamedTuple):
    """A call made: who, which model, its input as quoted, how much it wrote, and what that takes."""

    who: Literal["controller", "worker"]
    card: ModelCard
    quote: InputQuote
    output_tokens: int
    price: Charge


def call(who: Literal["controller", "worker"], card: ModelCard, quote: InputQuote, output_tokens: int) -> Call:
    return Call(who, card, quote, output_tokens, charge(card, quote, output_tokens))


def quote_input(
    card: ModelCard, pieces: tuple[PromptPiece, ...], held: PrefixCache | None, clock_ms: int
) -> InputQuote:
    """A prompt under the provider's minimum is neither read from a cache nor written to one: most never ask further."""
    total = sum(map(_tokens_of, pieces))
    cached = written = 0
    rule = card.cache_rule
    if rule is not None and total >= rule.min_tokens:
        if held is not None and clock_ms - held.used_at_ms <= rule.ttl_ms:
            shared = sum(map(_tokens_of, pieces[: _shared_pieces(pieces, held.pieces)]))
            if shared >= rule.min_tokens:
                cached = shared - shared % rule.block_tokens
        if rule.writes_cost:
            writable = total - pieces[-1].tokens
            if writable >= rule.min_tokens:
                written = max(0, writable - cached)
    fresh = total - cached
    pico = (
        (fresh - written) * card.input_pico_usd
        + written * card.cache_write_pico_usd
        + cached * card.cache_read_pico_usd
    )
    return InputQuote(
        pieces,
        total,
        fresh,
        cached,
        written,
        pico,
        total * card.input_pico_usd,
        card.first_token_ms + fresh // _PREFILL_TOKENS_PER_MS,
    )


def _shared_pieces(pieces: tuple[PromptPiece, ...], before: tuple[PromptPiece, ...]) -> int:
    """How many pieces at the front are the same as before.

    Mostly all are but the last, which changes every time: that is asked first, and answered by one comparison.
    """
    count = len(before) - 1
    if pieces[:count] != before[:count]:
        count = 0
    for now, then in zip(pieces[count:], before[count:], strict=False):
        if now.key != then.key:
            break
        count += 1
    return count


def measured_input(card: ModelCard, quote: InputQuote, prompt_tokens: int, cached_tokens: int) -> InputQuote:
    """The same prompt as its server counted it. What was written to a cache no server tells: it is billed as fresh."""
    fresh = prompt_tokens - cached_tokens
    return quote._replace(
        tokens=prompt_tokens,
        fresh_tokens=fresh,
        cached_tokens=cached_tokens,
        written_tokens=0,
        pico_usd=fresh * card.input_pico_usd + cached_tokens * card.cache_read_pico_usd,
        cold_pico_usd=prompt_tokens * card.input_pico_usd,
        latency_ms=card.first_token_ms + fresh // _PREFILL_TOKENS_PER_MS,
    )


def charge(card: ModelCard, quote: InputQuote, output_tokens: int) -> Charge:
    return Charge(
        quote.tokens + output_tokens,
        _nano(quote.pico_usd + output_tokens * card.output_pico_usd),
        quote.latency_ms + output_tokens * 1000 // card.output_tokens_per_s,
    )


def add_charges(one: Charge, other: Charge) -> Charge:
    return Charge(one.tokens + other.tokens, one.nano_usd + other.nano_usd, one.latency_ms + other.latency_ms)


def book(state: EpisodeState, *calls: Call) -> EpisodeState:
    """A step is over when it is paid for: enter its calls; the prompt each sent is what its provider now holds."""
    tokens, nano_usd, latency_ms, routed_nano_usd = state.spent
    step = state.step + 1
    entries = state.entries
    held = dict(state.prefix_caches)
    for who, card, quote, output_tokens, price in calls:
        tokens += price.tokens
        nano_usd += price.nano_usd
        latency_ms += price.latency_ms
        if who == "worker":
            routed_nano_usd += price.nano_usd
        held[f"{who}:{card.model_id}"] = PrefixCache(quote.pieces, latency_ms)
        entry = trusted(
            LedgerEntry,
            step=step,
            who=who,
            model_id=card.model_id,
            fresh_tokens=quote.fresh_tokens,
            cached_tokens=quote.cached_tokens,
            written_tokens=quote.written_tokens,
            output_tokens=output_tokens,
            nano_usd=price.nano_usd,
            latency_ms=price.latency_ms,
            cold_nano_usd=_nano(quote.cold_pico_usd + output_tokens * card.output_pico_usd),
        )
        entries = (*entries, entry)
    spent = Spent(tokens, nano_usd, latency_ms, routed_nano_usd)
    return evolve(state, step=step, spent=spent, entries=entries, prefix_caches=held)


def book_refusal(state: EpisodeState, call: Call) -> EpisodeState:
    """A refused action is billed too, but at most what is left of each budget."""
    left, price = state.left, call.price
    if price.tokens <= left.tokens and price.nano_usd <= left.nano_usd and price.latency_ms <= left.latency_ms:
        return book(state, call)
    cached = min(call.quote.cached_tokens, left.tokens)
    fresh = min(call.quote.fresh_tokens, left.tokens - cached)
    nano_usd = min(price.nano_usd, left.nano_usd)
    entry = trusted(
        LedgerEntry,
        step=state.step + 1,
        who=call.who,
        model_id=call.card.model_id,
        fresh_tokens=fresh,
        cached_tokens=cached,
        written_tokens=min(call.quote.written_tokens, fresh),
        output_tokens=min(call.output_tokens, left.tokens - cached - fresh),
        nano_usd=nano_usd,
        latency_ms=min(price.latency_ms, left.latency_ms),
        cold_nano_usd=nano_usd,
    )
    spent = Spent(
        state.spent.tokens + fresh + cached + entry.output_tokens,
        state.spent.nano_usd + nano_usd,
        state.spent.latency_ms + entry.latency_ms,
        state.spent.routed_nano_usd,
    )
    return evolve(state, step=entry.step, spent=spent, entries=(*state.entries, entry))


def affordable(quote: InputQuote, left: Charge) -> bool:
    """Can the input be paid, before anything is written?"""
    return (
        quote.tokens <= left.tokens and _nano(quote.pico_usd) <= left.nano_usd and quote.latency_ms <= left.latency_ms
    )


def left(state: EpisodeState, visible: VisibleWorld) -> Charge:
    """Nothing where a submission overran."""
    bounds = visible.limits
    spent_tokens, spent_nano_usd, spent_ms, _ = state.spent
    tokens, nano_usd, ms = bounds.tokens - spent_tokens, bounds.nano_usd - spent_nano_usd, bounds.latency_ms - spent_ms
    return Charge(tokens if tokens > 0 else 0, nano_usd if nano_usd > 0 else 0, ms if ms > 0 else 0)


def overrun(state: EpisodeState, visible: VisibleWorld) -> bool:
    bounds, spent = visible.limits, state.spent
    return spent.tokens > bounds.tokens or spent.nano_usd > bounds.nano_usd or spent.latency_ms > bounds.latency_ms


def budgets(state: EpisodeState, visible: VisibleWorld) -> Budgets:
    bounds, spent, left = visible.limits, state.spent, state.left
    return trusted(
        Budgets,
        tokens=trusted(Budget, limit=bounds.tokens, spent=spent.tokens, left=left.tokens),
        nano_usd=trusted(Budget, limit=bounds.nano_usd, spent=spent.nano_usd, left=left.nano_usd),
        steps=_step_budget(bounds.steps, state.step),
        latency_ms=trusted(Budget, limit=bounds.latency_ms, spent=spent.latency_ms, left=left.latency_ms),
    )


@lru_cache(maxsize=1_024)
def _step_budget(limit: int, spent: int) -> Budget:
    return trusted(Budget, limit=limit, spent=spent, left=limit - spent)


def _nano(pico_usd: int) -> int:
    return -(-pico_usd // _PICO_PER_NANO)
