"""The least that the policy's own prompts cost, given how many there are and what they must hold."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf
from typing import Final

from TokenOptEnv.models import ModelCard

_STEPS_OF_A_NOTE: Final = 2


@dataclass(frozen=True, slots=True)
class Warm:
    """Prompts that are long enough for the provider's cache."""

    pico_usd: int
    filling_pico_usd: int
    """Of this, what was spent on reaching the least length: evidence that must be shown anyway may fill it."""


def cold_pico_usd(card: ModelCard, head: int, prompts: int, findings: list[int], stay: bool) -> int:
    """Nothing cached. The longest finding comes last; each stays in the later prompts, or is shown once."""
    held = sum(tokens * (place if stay else 1) for place, tokens in enumerate(sorted(findings, reverse=True), 1))
    return (prompts * head + held) * card.input_pico_usd


def warm_pico_usd(
    card: ModelCard,
    head: int,
    prompts: int,
    findings: list[int],
    stay: bool,
    most_held: list[float],
    notes: bool = False,
) -> list[Warm]:
    """By the first prompt that is long enough: from the next one on, what was there before is a cache read.

    `most_held` is what memory can hold at the most after none, one, two steps. What is longer with `notes` is in the
    agent's own words, each of which it has to write.
    """
    rule = card.cache_rule
    if rule is None:
        return []
    fresh, again = card.input_pico_usd, min(card.input_pico_usd, card.cache_read_pico_usd)
    longest_first = sorted(findings, reverse=True)
    new = [
        longest_first[prompts - number] if 0 <= prompts - number < len(longest_first) else 0
        for number in range(1, prompts + 1)
    ]
    held: list[int] = []
    for tokens in new:
        held.append((held[-1] if held and stay else 0) + tokens)
    found: list[Warm] = []
    before = 0
    for number in range(prompts):
        short = max(0, ceil(rule.min_tokens - head - most_held[number])) if most_held[number] < inf else 0
        if short and (not notes or number < _STEPS_OF_A_NOTE):
            before += (head + held[number]) * fresh
            continue
        reached = max(rule.min_tokens, head + held[number])
        filling = (reached - head - held[number]) * fresh
        later = 0
        for place in range(number + 1, prompts):
            kept = max(rule.min_tokens, head + held[place] - new[place]) * again + new[place] * fresh
            later += min(kept, (head + held[place]) * fresh)
        found.append(Warm(before + reached * fresh + short * card.output_pico_usd + later, filling))
        before += (head + held[number]) * fresh
    return found
