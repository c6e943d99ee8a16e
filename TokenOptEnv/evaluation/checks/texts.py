"""Artifacts: unique ids, segments within their cap, stored counts that are true, sizes that fit the difficulty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from TokenOptEnv.config import BUGFIX_HARD_ARTIFACT_TOKENS, SEGMENT_CAP_TOKENS, SIZES, YARDSTICK, Difficulty
from TokenOptEnv.evaluation.faults import Fault, Level
from TokenOptEnv.scenario import PublicScenario, Scenario
from TokenOptEnv.scenario_store.imported import is_imported
from TokenOptEnv.simulators import tokens


def check(scenario: Scenario) -> Iterator[Fault]:
    public = scenario.public
    yield from _ids(public)
    yield from _caps(public)
    yield from _counts(public)
    yield from _size(public)


def _ids(public: PublicScenario) -> Iterator[Fault]:
    seen = Counter(artifact.artifact_id for artifact in public.artifacts)
    for artifact_id, times in seen.items():
        if times > 1:
            yield Fault(
                scenario_id=public.scenario_id,
                place=f"artifact {artifact_id}",
                cause=f"its id is used {times} times",
                remedy="rename all but one",
            )
    for artifact in public.artifacts:
        for number, segment in enumerate(artifact.segments, start=1):
            if segment.segment_id != f"{artifact.artifact_id}-s{number}":
                yield Fault(
                    scenario_id=public.scenario_id,
                    place=f"segment {segment.segment_id}",
                    cause=f"is number {number} of {artifact.artifact_id} and not named so",
                    remedy=f"call it {artifact.artifact_id}-s{number}",
                )


def _caps(public: PublicScenario) -> Iterator[Fault]:
    for artifact in public.artifacts:
        for segment in artifact.segments:
            size = tokens.count(YARDSTICK, segment.text)
            if size > SEGMENT_CAP_TOKENS:
                yield Fault(
                    scenario_id=public.scenario_id,
                    place=f"segment {segment.segment_id}",
                    cause=f"takes {size} tokens of {SEGMENT_CAP_TOKENS}",
                    remedy="break its lines, or let the segmenter cut it",
                )


def _counts(public: PublicScenario) -> Iterator[Fault]:
    segments = [segment for artifact in public.artifacts for segment in artifact.segments]
    for vocabulary in tokens.VOCABULARIES:
        stored = public.segment_tokens.get(vocabulary, ())
        if len(stored) != len(segments):
            yield Fault(
                scenario_id=public.scenario_id,
                place=f"segment_tokens {vocabulary}",
                cause=f"has {len(stored)} counts for {len(segments)} segments",
                remedy="rebuild it: camre scenarios build",
            )
            continue
        for segment, count in zip(segments, stored, strict=True):
            real = tokens.count(vocabulary, segment.text)
            if real != count:
                yield Fault(
                    scenario_id=public.scenario_id,
                    place=f"segment_tokens {vocabulary} {segment.segment_id}",
                    cause=f"says {count}, a recount says {real}",
                    remedy="rebuild it: camre scenarios build",
                )


def _size(public: PublicScenario) -> Iterator[Fault]:
    """Real packages come in the sizes they have, so hard bug fixes have a range of their own and only warn.

    So does a user's own evidence that is little.
    """
    is_hard_bugfix = public.family == "bugfix" and public.difficulty is Difficulty.HARD
    low, high = BUGFIX_HARD_ARTIFACT_TOKENS if is_hard_bugfix else SIZES[public.difficulty].artifact_tokens
    size = sum(tokens.count(YARDSTICK, s.text) for artifact in public.artifacts for s in artifact.segments)
    is_small_import = is_imported(public.scenario_id) and size < low
    if not low <= size <= high:
        yield Fault(
            scenario_id=public.scenario_id,
            place="artifacts",
            cause=f"take {size} tokens; {public.difficulty.value} is {low} to {high}",
            remedy="lengthen or cut them, or change the difficulty",
            level=Level.WARNING if is_hard_bugfix or is_small_import else Level.ERROR,
        )
