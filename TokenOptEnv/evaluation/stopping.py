"""How well a policy knows when to stop.

An answer is a bet. What it was stopped on is the least of the confidences behind it; whether it was right is known
at the end. Good stopping answers when right, asks on when wrong, and is as sure as it is right.
"""

from __future__ import annotations

from collections.abc import Sequence

from TokenOptEnv.evaluation.episodes import EpisodeResult
from TokenOptEnv.models import EndReason
from TokenOptEnv.models.base import Frozen

_BINS = 10
_DECIMALS = 4
_NEVER_ASKED_ON = "stopped-when-right"


class ConfidenceBin(Frozen):
    """Answers that were stopped on a confidence in [low, low + 0.1)."""

    low: float
    answers: int
    mean_confidence: float
    right_share: float


class Stopping(Frozen):
    answered_share: float
    """Episodes that ended with an answer, and not because steps or money ran out."""
    right_share: float | None
    """Of the answers."""
    mean_confidence: float | None
    """That answers were stopped on."""
    calibration_error: float | None
    """The mean distance between how sure and how right answers were, over bins of confidence."""
    auroc: float | None
    """How often a right answer was stopped on more than a wrong one; .5 is chance."""
    asked_on_share: float | None
    """Of the answers: before it, a question was asked again that had been answered rightly."""
    bins: tuple[ConfidenceBin, ...]


def stopping(results: Sequence[EpisodeResult]) -> Stopping:
    answered = [result for result in results if result.end_reason is EndReason.SUBMITTED]
    stated = [(r.stated_confidence, r.success) for r in answered if r.stated_confidence is not None]
    bins = _bins(stated)
    error = sum(each.answers * abs(each.mean_confidence - each.right_share) for each in bins)
    return Stopping(
        answered_share=_mean([result.end_reason is EndReason.SUBMITTED for result in results]) or 0.0,
        right_share=_mean([result.success for result in answered]),
        mean_confidence=_mean([confidence for confidence, _ in stated]),
        calibration_error=round(error / len(stated), _DECIMALS) if stated else None,
        auroc=_auroc(stated),
        asked_on_share=_mean([_NEVER_ASKED_ON not in result.score.truth_milestone_ids for result in answered]),
        bins=bins,
    )


def _bins(stated: Sequence[tuple[float, bool]]) -> tuple[ConfidenceBin, ...]:
    members: dict[int, list[tuple[float, bool]]] = {}
    for confidence, right in stated:
        members.setdefault(min(_BINS - 1, int(confidence * _BINS)), []).append((confidence, right))
    return tuple(
        ConfidenceBin(
            low=number / _BINS,
            answers=len(held),
            mean_confidence=_mean([confidence for confidence, _ in held]) or 0.0,
            right_share=_mean([right for _, right in held]) or 0.0,
        )
        for number, held in sorted(members.items())
    )


def _auroc(stated: Sequence[tuple[float, bool]]) -> float | None:
    """By ranks; equals share theirs."""
    rights = sum(right for _, right in stated)
    wrongs = len(stated) - rights
    if not rights or not wrongs:
        return None
    ordered = sorted(confidence for confidence, _ in stated)
    first: dict[float, int] = {}
    last: dict[float, int] = {}
    for rank, confidence in enumerate(ordered, start=1):
        first.setdefault(confidence, rank)
        last[confidence] = rank
    rank_sum = sum((first[confidence] + last[confidence]) / 2 for confidence, right in stated if right)
    return round((rank_sum - rights * (rights + 1) / 2) / (rights * wrongs), _DECIMALS)


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), _DECIMALS) if values else None
