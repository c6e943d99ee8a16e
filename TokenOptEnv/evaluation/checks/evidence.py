"""Facts and decoys: every span stands where it is said to, and none stands everywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from TokenOptEnv.evaluation.faults import Fault
from TokenOptEnv.scenario import Decoy, Fact, Scenario

FACT_CAP_SEGMENTS = 12
"""A fact that stands in more segments is found by reading anything."""


def check(scenario: Scenario) -> Iterator[Fault]:
    texts = {s.segment_id: s.text for artifact in scenario.public.artifacts for s in artifact.segments}
    hidden = scenario.hidden
    for fact in hidden.facts:
        yield from _spans(scenario.scenario_id, f"fact {fact.fact_id}", fact, texts)
        spread = len({place.segment_id for place in fact.places})
        if spread > FACT_CAP_SEGMENTS:
            yield Fault(
                scenario_id=scenario.scenario_id,
                place=f"fact {fact.fact_id}",
                cause=f"stands in {spread} segments of at most {FACT_CAP_SEGMENTS}",
                remedy="quote a longer or rarer span",
            )
    for decoy in hidden.decoys:
        yield from _spans(scenario.scenario_id, f"decoy {decoy.decoy_id}", decoy, texts)
    names = Counter([fact.fact_id for fact in hidden.facts] + [decoy.decoy_id for decoy in hidden.decoys])
    for name, times in names.items():
        if times > 1:
            yield Fault(
                scenario_id=scenario.scenario_id,
                place=f"evidence {name}",
                cause=f"its id is used {times} times",
                remedy="rename all but one",
            )


def _spans(scenario_id: str, what: str, evidence: Fact | Decoy, texts: dict[str, str]) -> Iterator[Fault]:
    if not evidence.places:
        yield Fault(scenario_id=scenario_id, place=what, cause="stands nowhere", remedy="quote at least one span")
    for place in evidence.places:
        if not place.text or place.text not in texts.get(place.segment_id, ""):
            yield Fault(
                scenario_id=scenario_id,
                place=f"{what} in {place.segment_id}",
                cause=f"the span {place.text[:60]!r} is not there",
                remedy="quote the segment's own text",
            )
