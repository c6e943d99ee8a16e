"""Which published figures each model of the measured catalog rests on: its own where they exist, else its kin's.

A model rarely stands in every table. What it lacks it borrows, and its line below says from whom: the mean of one
or two published models, so many tier steps up or down. A tier step is half of what GPT-5 and GPT-5 nano lie apart on
SWE-bench, in log-odds. The choice of kin is judgement, written down here so that it can be disputed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Manner(StrEnum):
    """How a model overstates, after the groups of the confidence fit, least first."""

    CALM = "calm"
    SURE = "sure"
    CERTAIN = "certain"


@dataclass(frozen=True, slots=True)
class Kin:
    """Rows of a published table (their mean, where two), `tier_steps` above or below."""

    table: str
    models: tuple[str, ...]
    tier_steps: float = 0.0

    def __str__(self) -> str:
        named = " and ".join(self.models)
        if not self.tier_steps:
            return named
        steps = abs(self.tier_steps)
        return f"{named}, {steps:g} tier{'s' if steps > 1 else ''} {'up' if self.tier_steps > 0 else 'down'}"


@dataclass(frozen=True, slots=True)
class Lineage:
    published: str
    """The name under which the model itself stands in tables."""
    tables: tuple[str, ...]
    """In which it stands."""
    lookup: Kin
    nonlexical: Kin
    lexical: Kin
    causal: Kin
    code: Kin
    manner: Manner
    reasons: bool
    """Does it think before it answers? One that only writes its steps out gains half as much by effort."""

    @property
    def note(self) -> str:
        """For the card: where it was measured, and what it lacks."""
        lacking = f"; borrowed: {', '.join(self.borrowed)}" if self.borrowed else ""
        return f"measured: {', '.join(self.tables)}{lacking}"

    @property
    def borrowed(self) -> dict[str, Kin]:
        """What it has from whom."""
        kin = {
            "lookup": self.lookup,
            "lexical length": self.lexical,
            "non-lexical length": self.nonlexical,
            "causal": self.causal,
            "code": self.code,
        }
        return {what: whose for what, whose in kin.items() if str(whose) != self.published}


def _nolima(*models: str) -> Kin:
    return Kin("nolima", models)


def _ruler(*models: str) -> Kin:
    return Kin("ruler", models)


def _loca(model: str) -> Kin:
    return Kin("loca", (model,))


def _root_cause(*models: str, tier_steps: float = 0.0) -> Kin:
    return Kin("rootcause", models, tier_steps)


def _swe(*models: str, tier_steps: float = 0.0) -> Kin:
    return Kin("swe-bench", models, tier_steps)


LINEAGES: Final = {
    "llama-3.1-8b": Lineage(
        "Llama-3.1-8B",
        ("NoLiMa", "RULER"),
        lookup=_nolima("Llama-3.1-8B"),
        nonlexical=_nolima("Llama-3.1-8B"),
        lexical=_ruler("Llama-3.1-8B"),
        causal=_root_cause("gpt-oss-120b", tier_steps=-3.0),
        code=_swe("GPT-4.1", tier_steps=-3.0),
        manner=Manner.CERTAIN,
        reasons=False,
    ),
    "gpt-5-nano": Lineage(
        "GPT-5-nano",
        ("SWE-bench bash-only",),
        lookup=_nolima("GPT-4o-mini"),
        nonlexical=_nolima("GPT-4o-mini"),
        lexical=_ruler("Llama-3.1-8B"),
        causal=_root_cause("gpt-oss-120b", tier_steps=-1.0),
        code=_swe("GPT-5-nano"),
        manner=Manner.SURE,
        reasons=True,
    ),
    "gpt-4o-mini": Lineage(
        "GPT-4o-mini",
        ("NoLiMa",),
        lookup=_nolima("GPT-4o-mini"),
        nonlexical=_nolima("GPT-4o-mini"),
        lexical=_ruler("Llama-3.1-8B"),
        causal=_root_cause("gpt-oss-120b", tier_steps=-2.0),
        code=_swe("GPT-4.1", tier_steps=-2.0),
        manner=Manner.CERTAIN,
        reasons=False,
    ),
    "gemma-4-31b": Lineage(
        "Gemma-4-31B",
        ("ITBench-AA (its place alone)",),
        lookup=_nolima("Llama-3.1-8B", "Llama-3.3-70B"),
        nonlexical=_nolima("Llama-3.1-8B", "Llama-3.3-70B"),
        lexical=_ruler("Llama-3.1-70B"),
        causal=_root_cause("gpt-oss-120b", tier_steps=0.5),
        code=_swe("GPT-5-nano", "GLM-4.5"),
        manner=Manner.SURE,
        reasons=True,
    ),
    "gpt-oss-120b": Lineage(
        "gpt-oss-120b",
        ("RootCauseBench",),
        lookup=_nolima("GPT-4o-mini", "Claude-3.5-Sonnet"),
        nonlexical=_nolima("GPT-4o-mini", "Llama-3.3-70B"),
        lexical=_ruler("Llama-3.1-70B"),
        causal=_root_cause("gpt-oss-120b"),
        code=_swe("o4-mini"),
        manner=Manner.SURE,
        reasons=True,
    ),
    "gpt-5-mini": Lineage(
        "GPT-5-mini",
        ("SWE-bench bash-only",),
        lookup=_nolima("Llama-3.3-70B"),
        nonlexical=_nolima("Llama-3.3-70B", "GPT-4o"),
        lexical=_ruler("GPT-4-1106"),
        causal=_root_cause("gpt-5.4-mini", tier_steps=-1.0),
        code=_swe("GPT-5-mini"),
        manner=Manner.SURE,
        reasons=True,
    ),
    "deepseek-v3.2": Lineage(
        "DeepSeek-V3.2",
        ("LOCA-bench",),
        lookup=_nolima("Llama-3.3-70B"),
        nonlexical=_loca("DeepSeek-V3.2"),
        lexical=_ruler("Llama-3.1-70B"),
        causal=_loca("DeepSeek-V3.2"),
        code=_swe("GLM-4.5", "GPT-5-mini"),
        manner=Manner.SURE,
        reasons=True,
    ),
    "llama-3.3-70b": Lineage(
        "Llama-3.3-70B",
        ("NoLiMa",),
        lookup=_nolima("Llama-3.3-70B"),
        nonlexical=_nolima("Llama-3.3-70B"),
        lexical=_ruler("Llama-3.1-70B"),
        causal=_root_cause("gpt-oss-120b", tier_steps=-0.5),
        code=_swe("GPT-4.1", tier_steps=-1.0),
        manner=Manner.SURE,
        reasons=False,
    ),
    "glm-4.5": Lineage(
        "GLM-4.5",
        ("SWE-bench bash-only",),
        lookup=_nolima("Llama-3.3-70B", "Claude-3.5-Sonnet"),
        nonlexical=_nolima("Llama-3.3-70B"),
        lexical=_ruler("Llama-3.1-70B"),
        causal=_root_cause("gpt-5.4-mini", "gpt-oss-120b"),
        code=_swe("GLM-4.5"),
        manner=Manner.SURE,
        reasons=True,
    ),
    "gpt-5.4-mini": Lineage(
        "gpt-5.4-mini",
        ("RootCauseBench",),
        lookup=_nolima("Llama-3.3-70B"),
        nonlexical=_nolima("Llama-3.3-70B", "GPT-4o"),
        lexical=_ruler("GPT-4-1106"),
        causal=_root_cause("gpt-5.4-mini"),
        code=_swe("GPT-5-mini", tier_steps=0.5),
        manner=Manner.SURE,
        reasons=True,
    ),
    "claude-haiku-4.5": Lineage(
        "Haiku-4.5",
        ("RootCauseBench",),
        lookup=_nolima("Claude-3.5-Sonnet"),
        nonlexical=_nolima("Claude-3.5-Sonnet"),
        lexical=_ruler("Llama-3.1-70B"),
        causal=_root_cause("Haiku-4.5"),
        code=_swe("Sonnet-4", tier_steps=-1.0),
        manner=Manner.SURE,
        reasons=True,
    ),
    "gpt-5": Lineage(
        "GPT-5",
        ("SWE-bench bash-only",),
        lookup=_nolima("GPT-4o"),
        nonlexical=_nolima("GPT-4o"),
        lexical=_ruler("GPT-4-1106"),
        causal=_root_cause("gpt-5.4-mini", tier_steps=1.0),
        code=_swe("GPT-5"),
        manner=Manner.CALM,
        reasons=True,
    ),
    "gemini-2.5-pro": Lineage(
        "Gemini-2.5-Pro",
        ("SWE-bench bash-only",),
        lookup=_nolima("Llama-3.3-70B", "GPT-4o"),
        nonlexical=_nolima("GPT-4o"),
        lexical=_ruler("GPT-4-1106"),
        causal=_root_cause("gpt-5.4-mini", tier_steps=-0.5),
        code=_swe("Gemini-2.5-Pro"),
        manner=Manner.SURE,
        reasons=True,
    ),
    "gpt-5.2": Lineage(
        "GPT-5.2",
        ("LOCA-bench",),
        lookup=_nolima("GPT-4o"),
        nonlexical=_loca("GPT-5.2"),
        lexical=_ruler("GPT-4-1106"),
        causal=_loca("GPT-5.2"),
        code=_swe("GPT-5", tier_steps=0.5),
        manner=Manner.SURE,
        reasons=True,
    ),
    "gpt-4o": Lineage(
        "GPT-4o",
        ("NoLiMa",),
        lookup=_nolima("GPT-4o"),
        nonlexical=_nolima("GPT-4o"),
        lexical=_ruler("GPT-4-1106"),
        causal=_root_cause("gpt-oss-120b"),
        code=_swe("GPT-4.1"),
        manner=Manner.SURE,
        reasons=False,
    ),
    "claude-sonnet-4.5": Lineage(
        "Sonnet-4.5",
        ("SWE-bench bash-only",),
        lookup=_nolima("GPT-4o"),
        nonlexical=_nolima("GPT-4o"),
        lexical=_ruler("GPT-4-1106"),
        causal=_root_cause("Sonnet-4.6", tier_steps=-1.0),
        code=_swe("Sonnet-4.5"),
        manner=Manner.CALM,
        reasons=True,
    ),
    "claude-sonnet-4.6": Lineage(
        "Sonnet-4.6",
        ("RootCauseBench",),
        lookup=_nolima("GPT-4o"),
        nonlexical=_nolima("GPT-4o"),
        lexical=_ruler("GPT-4-1106"),
        causal=_root_cause("Sonnet-4.6"),
        code=_swe("Sonnet-4.5", tier_steps=0.5),
        manner=Manner.CALM,
        reasons=True,
    ),
    "claude-opus-4.5": Lineage(
        "Opus-4.5",
        ("LOCA-bench",),
        lookup=_nolima("GPT-4o"),
        nonlexical=_loca("Opus-4.5"),
        lexical=_ruler("GPT-4-1106"),
        causal=_loca("Opus-4.5"),
        code=_swe("Sonnet-4.5", tier_steps=1.0),
        manner=Manner.CALM,
        reasons=True,
    ),
}
