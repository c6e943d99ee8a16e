"""Which of two policies is better, and how sure that is: on the scenarios both played, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from TokenOptEnv.evaluation import bootstrap
from TokenOptEnv.evaluation.episodes import EpisodeResult
from TokenOptEnv.models.base import Frozen

SURE = 0.05
"""From this p on, chance may have set two policies apart."""
_DECIMALS = 6


class Comparison(Frozen):
    """`better` against `worse` by mean SCE over the scenarios that both played."""

    better: str
    worse: str
    scenarios: int
    sce_gain: float
    low: float
    high: float
    p: float
    """Of a paired sign-flip test over scenarios, two-sided: small where chance would hardly set them so far apart."""

    def __str__(self) -> str:
        return (
            f"{self.better} against {self.worse}: SCE {self.sce_gain:+.3f}"
            f" (95 %: {self.low:+.3f} to {self.high:+.3f}, p {self.p:.3f}, {self.scenarios} scenarios)"
        )


def compare(better: str, worse: str, results: Sequence[EpisodeResult]) -> Comparison:
    first, second = _by_scenario(better, results), _by_scenario(worse, results)
    shared = sorted(first.keys() & second.keys())
    gains = [first[name] - second[name] for name in shared]
    drawn = [bootstrap.dot(counts, gains) / len(gains) for counts in bootstrap.resamples(len(gains))]
    low, high = bootstrap.interval(drawn) or (0.0, 0.0)
    return Comparison(
        better=better,
        worse=worse,
        scenarios=len(shared),
        sce_gain=round(sum(gains) / len(gains), _DECIMALS),
        low=round(low, _DECIMALS),
        high=round(high, _DECIMALS),
        p=round(bootstrap.sign_flip_p(gains), _DECIMALS),
    )


def ladder(ranking: Sequence[str], results: Sequence[EpisodeResult]) -> tuple[Comparison, ...]:
    """Each policy against the next below it: what a reader of a ranking asks first."""
    return tuple(compare(better, worse, results) for better, worse in pairwise(ranking))


def _by_scenario(policy: str, results: Sequence[EpisodeResult]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for result in results:
        if result.policy == policy:
            found.setdefault(result.scenario_id, []).append(result.sce)
    return {scenario_id: sum(values) / len(values) for scenario_id, values in found.items()}
