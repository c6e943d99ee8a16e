"""How a finding reads in working memory: values, confidence, citations, then prose, within its cap."""

from __future__ import annotations

from collections.abc import Mapping

from TokenOptEnv.config import YARDSTICK
from TokenOptEnv.models import Finding
from TokenOptEnv.simulators import tokens
from TokenOptEnv.world import PhaseView

_HEADER_TOKENS = 8
"""What the item's own header takes of the cap."""


def finding_text(finding: Finding, phase: PhaseView, aliases: Mapping[str, int], cap_tokens: int) -> str:
    """Values come first, so that the cap cuts prose; a value too long for the cap is still whole in the finding."""
    question = phase.subtask_ids.index(finding.subtask_id) + 1
    values = "; ".join([f"{name}={value}" for name, value in finding.values.items()]) or "insufficient evidence"
    cites = " ".join([str(aliases[cite]) for cite in finding.cites if cite in aliases])
    if finding.source == "cache":
        origin = f"cached {finding.version}, {finding.age_hours}h old"
    else:
        origin = f"confidence {finding.confidence:g}"
    text = f"Q{question} {origin}, cites {cites or 'nothing'}\n{values}\n{finding.text}"
    return tokens.clip(YARDSTICK, text, cap_tokens - _HEADER_TOKENS).rstrip("\n") + "\n"
