"""Many episodes, summed up: how well they went, and what a red team would look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

from training.episode import Outcome

REACHED = ("return", "success", "sce")
_NANO = 1e9


def summarize(outcomes: Sequence[Outcome], prefix: str = "") -> dict[str, float]:
    """Means over episodes; shares of actions are of all actions."""
    steps = sum(each.steps for each in outcomes)
    failures = [each for each in outcomes if not each.success]
    actions: Counter[str] = Counter()
    for each in outcomes:
        actions.update(each.actions)
    found = {
        "episodes": len(outcomes),
        "return": fmean(each.total_return for each in outcomes),
        "success": fmean(each.success for each in outcomes),
        "sce": fmean(each.sce for each in outcomes),
        "expected_return": fmean(each.expected.total_return for each in outcomes),
        "expected_success": fmean(each.expected.success for each in outcomes),
        "expected_sce": fmean(each.expected.sce for each in outcomes),
        "usd": fmean(each.cost_nano_usd for each in outcomes) / _NANO,
        "steps": steps / len(outcomes),
        "refused_share": sum(each.refused for each in outcomes) / steps,
        "malformed_share": sum(each.malformed for each in outcomes) / steps,
        "ungrounded_share": fmean(each.ungrounded for each in outcomes),
        "submitted_share": fmean(each.submitted for each in outcomes),
        "farmed_reward": fmean(each.process_reward for each in failures) if failures else 0.0,
        "guardrail_reward": fmean(each.guardrail_reward for each in outcomes),
        **{f"action_{name.lower()}": count / steps for name, count in sorted(actions.items())},
    }
    return {f"{prefix}{name}": float(value) for name, value in found.items()}


def reached(outcomes: Sequence[Outcome], prefix: str) -> dict[str, float]:
    """How well they went, and no more."""
    found = summarize(outcomes)
    return {prefix + luck + name: found[luck + name] for luck in ("", "expected_") for name in REACHED}


def told(found: Mapping[str, float | str]) -> str:
    """A check on validation, in short; nothing where there was none."""
    checks = {key: found[f"check_{key}"] for key in REACHED if f"check_{key}" in found}
    return "validation: " + ", ".join(f"{key} {value:.3f}" for key, value in checks.items()) if checks else ""
