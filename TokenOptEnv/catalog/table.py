"""The catalogs as Markdown tables, so that the documentation shows what is billed and simulated, never a copy of it."""

from __future__ import annotations

from collections.abc import Sequence

from TokenOptEnv.catalog.lineage import LINEAGES
from TokenOptEnv.catalog.snapshot import CATALOGS, load_behaviours, load_catalog
from TokenOptEnv.config import DEFAULT_CONTROLLERS
from TokenOptEnv.errors import BadInput
from TokenOptEnv.models.card import CacheRule, Effort
from TokenOptEnv.scenario.hidden import QuestionKind

_PICO_PER_USD_PER_MILLION = 1_000_000
_END = "<!-- end -->"


def fill_page(page: str) -> str:
    """The page with every marked place filled: `<!-- prices measured -->` up to `<!-- end -->`, and so on."""
    page = _filled(page, "<!-- stamps -->", stamp_table())
    for name in CATALOGS:
        for what, text in (("prices", price_table(name)), ("behaviour", behaviour_table(name))):
            page = _filled(page, f"<!-- {what} {name} -->", text)
    return page


def _filled(page: str, mark: str, text: str) -> str:
    before, found, rest = page.partition(mark)
    _, closed, after = rest.partition(_END)
    if not found or not closed:
        raise BadInput(f"the page has no place {mark} … {_END}; put it back")
    return f"{before}{mark}\n{text}\n{_END}{after}"


def stamp_table() -> str:
    stamps = [load_catalog(name).stamp for name in CATALOGS]
    rows = [
        (
            stamp.catalog,
            stamp.version,
            stamp.date,
            f"{stamp.package} {stamp.package_version}",
            DEFAULT_CONTROLLERS[stamp.catalog],
        )
        for stamp in stamps
    ]
    return _markdown(("catalog", "version", "prices of", "price package", "default controller"), rows)


def price_table(name: str) -> str:
    """In usd per million tokens."""
    catalog = load_catalog(name)
    rows = [
        (
            card.model_id,
            card.provider,
            card.tier.value,
            _usd(card.input_pico_usd),
            _usd(card.output_pico_usd),
            _usd(card.cache_read_pico_usd) if card.cache_rule else "-",
            _usd(card.cache_write_pico_usd) if card.cache_rule and card.cache_rule.writes_cost else "-",
            _rule(card.cache_rule),
            f"{card.context_window_tokens:,}",
            card.vocabulary + (f" x {card.vocabulary_permille / 1000:g}" if card.vocabulary_permille != 1000 else ""),
            " / ".join(str(card.reasoning_tokens[effort]) for effort in Effort),
            f"{card.first_token_ms} ms, {card.output_tokens_per_s}/s",
            catalog.price_sources[card.model_id],
        )
        for card in catalog.cards.values()
    ]
    heads = (
        "model",
        "maker",
        "tier",
        "in",
        "out",
        "cache read",
        "cache write",
        "cache rule",
        "window",
        "vocabulary",
        "reasoning tokens",
        "latency",
        "price row",
    )
    return _markdown(heads, rows)


def behaviour_table(name: str) -> str:
    cards = load_catalog(name).cards
    rows = [
        (
            behaviour.model_id,
            *(f"{behaviour.ceiling[kind]:g}" for kind in QuestionKind),
            " / ".join(f"{behaviour.effort_gain[effort]:+g}" for effort in Effort),
            f"{behaviour.lexical_length.half_tokens:,}, {behaviour.lexical_length.slope:g}",
            f"{behaviour.nonlexical_length.half_tokens:,}, {behaviour.nonlexical_length.slope:g}",
            f"{behaviour.decoy_factor:g}",
            f"{behaviour.confidence_bias:g}, {behaviour.confidence_noise:g}, {behaviour.confidence_signal:g}",
            _descent(behaviour.model_id, cards[behaviour.model_id].behaviour_note),
        )
        for behaviour in load_behaviours(name)[1].values()
    ]
    heads = (
        "model",
        *(kind.value for kind in QuestionKind),
        "effort gain",
        "lexical half, slope",
        "non-lexical half, slope",
        "decoy",
        "confidence bias, noise, signal",
        "source",
    )
    return _markdown(heads, rows)


def _descent(model_id: str, note: str) -> str:
    if model_id not in LINEAGES:
        return note
    lineage = LINEAGES[model_id]
    borrowed = [f"{what} after {whose}" for what, whose in lineage.borrowed.items()]
    return "; ".join([f"measured: {', '.join(lineage.tables)}", *borrowed])


def _usd(pico: int) -> str:
    return f"{pico / _PICO_PER_USD_PER_MILLION:g}"


def _rule(rule: CacheRule | None) -> str:
    if rule is None:
        return "none"
    return f"from {rule.min_tokens:,} by {rule.block_tokens}, {rule.ttl_ms // 60_000} min"


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in (heads, ["---"] * len(heads), *rows))
