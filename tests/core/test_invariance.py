"""Names and order mean nothing: a case with its artifacts shuffled or its ids renamed is the same case, and a case is
the same whoever makes it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from hashlib import sha256

import pytest

from tests.cases import marathon, toy
from TokenOptEnv.config import YARDSTICK, Difficulty, EpisodeConfig
from TokenOptEnv.episode_runtime import advance, start
from TokenOptEnv.evaluation.validate import CHECKS
from TokenOptEnv.models import Effort, ScoreBreakdown, TokenOptEnvAction
from TokenOptEnv.plans.bound import lower_bound
from TokenOptEnv.plans.plan import Plan
from TokenOptEnv.plans.reference import make_reference_plan
from TokenOptEnv.plans.stored_plans import dump_plans, make_stored_plans
from TokenOptEnv.scenario import Artifact, CacheEntry, Place, Scenario
from TokenOptEnv.scenario_store.splits import Case, generate
from TokenOptEnv.simulators.backend import ContextPiece, RouteReply, RouteRequest
from TokenOptEnv.simulators.routing import exact_context
from TokenOptEnv.streams import Stream
from TokenOptEnv.world import build_world

CONFIG = EpisodeConfig()
GENERATED = tuple(Case(family, Difficulty.EASY, 100_021) for family in ("bugfix", "ci", "incident"))
SUBJECTS = ("toy", "marathon", *(case.family for case in GENERATED))
WORLDS = (0, 1)
each_subject = pytest.mark.parametrize("subject", SUBJECTS)


@cache
def scenario_of(subject: str) -> Scenario:
    match subject:
        case "toy":
            return toy()
        case "marathon":
            return marathon()
        case family:
            return generate(next(case for case in GENERATED if case.family == family))


@cache
def plan_of(subject: str, world: int) -> Plan:
    return make_reference_plan(scenario_of(subject), world, CONFIG)


# --- the same case in other clothes


def shuffled(scenario: Scenario) -> Scenario:
    """Its artifacts in another order, with the counts of their segments."""
    public = scenario.public
    counts: dict[str, dict[str, list[int]]] = {}
    for vocabulary, numbers in public.segment_tokens.items():
        left = iter(numbers)
        counts[vocabulary] = {each.artifact_id: [next(left) for _ in each.segments] for each in public.artifacts}
    order = Stream("another order", public.scenario_id).shuffled(public.artifacts)
    changed = public.model_copy(
        update={
            "artifacts": tuple(order),
            "segment_tokens": {
                vocabulary: tuple(number for each in order for number in by_artifact[each.artifact_id])
                for vocabulary, by_artifact in counts.items()
            },
        }
    )
    return Scenario(changed, scenario.hidden)


def new_name(name: str) -> str:
    """Names keep their order among themselves: between equals, the first by name is taken."""
    return f"zz-{name}"


def renamed(scenario: Scenario) -> Scenario:
    """Other ids for artifacts, segments, earlier results, facts, decoys and candidates."""
    public, hidden = scenario.public, scenario.hidden

    def artifact(each: Artifact) -> Artifact:
        segments = tuple(s.model_copy(update={"segment_id": new_name(s.segment_id)}) for s in each.segments)
        return each.model_copy(update={"artifact_id": new_name(each.artifact_id), "segments": segments})

    def entry(each: CacheEntry) -> CacheEntry:
        return each.model_copy(update={"entry_id": new_name(each.entry_id), "cites": tuple(map(new_name, each.cites))})

    def places(found: tuple[Place, ...]) -> tuple[Place, ...]:
        return tuple(place.model_copy(update={"segment_id": new_name(place.segment_id)}) for place in found)

    changed_public = public.model_copy(
        update={
            "artifacts": tuple(map(artifact, public.artifacts)),
            "cache_entries": tuple(map(entry, public.cache_entries)),
            "phases": tuple(
                phase.model_copy(update={"artifact_ids": tuple(map(new_name, phase.artifact_ids))})
                for phase in public.phases
            ),
        }
    )
    changed_hidden = hidden.model_copy(
        update={
            "facts": tuple(
                fact.model_copy(update={"fact_id": new_name(fact.fact_id), "places": places(fact.places)})
                for fact in hidden.facts
            ),
            "decoys": tuple(
                decoy.model_copy(update={"decoy_id": new_name(decoy.decoy_id), "places": places(decoy.places)})
                for decoy in hidden.decoys
            ),
            "subtasks": tuple(
                truth.model_copy(
                    update={
                        "needs": tuple(map(new_name, truth.needs)),
                        "candidates": tuple(
                            candidate.model_copy(
                                update={
                                    "candidate_id": new_name(candidate.candidate_id),
                                    "decoy_ids": tuple(map(new_name, candidate.decoy_ids)),
                                }
                            )
                            for candidate in truth.candidates
                        ),
                    }
                )
                for truth in hidden.subtasks
            ),
            "fields": tuple(
                truth.model_copy(update={"path": tuple(map(new_name, truth.path))}) for truth in hidden.fields
            ),
            "cache": {new_name(name): validity for name, validity in hidden.cache.items()},
        }
    )
    return Scenario(changed_public, changed_hidden)


Change = Callable[[Scenario], Scenario]
each_change = pytest.mark.parametrize("change", [shuffled, renamed])


def translated(plan: Plan, scenario: Scenario, change: Change) -> tuple[TokenOptEnvAction, ...]:
    """The same actions in the words of the changed case."""
    if change is shuffled:
        return plan.actions
    public = scenario.public
    known = {each.artifact_id for each in public.artifacts} | {entry.entry_id for entry in public.cache_entries}
    known |= {segment.segment_id for each in public.artifacts for segment in each.segments}

    def name(each: str) -> str:
        return new_name(each) if each in known else each

    return tuple(
        action.model_copy(
            update={
                "artifact_id": None if action.artifact_id is None else name(action.artifact_id),
                "context_segment_ids": tuple(map(name, action.context_segment_ids)),
                "evidence_segment_ids": tuple(map(name, action.evidence_segment_ids)),
            }
        )
        for action in plan.actions
    )


def replayed(scenario: Scenario, world: int, actions: tuple[TokenOptEnvAction, ...]) -> ScoreBreakdown:
    where = build_world(scenario, world, CONFIG)
    outcome = start(where, "replay")
    for action in actions:
        outcome = advance(outcome.state, action, where)
    assert outcome.score is not None
    return outcome.score


def replies(scenario: Scenario, world: int) -> list[tuple[dict[str, str], str, float, int, int]]:
    """What every model says to every question: on its exact evidence, on a part of it, and on nothing."""
    where = build_world(scenario, world, CONFIG)
    found = []
    for truth in scenario.hidden.subtasks:
        exact = exact_context(scenario, truth)
        for context in (exact, exact[:1], ()):
            for model_id in scenario.public.menus[CONFIG.catalog]:
                reply = _asked(where.backend.answer, truth.subtask_id, truth.slot_value, model_id, context)
                found.append((reply.values, reply.text, reply.confidence, reply.reasoning_tokens, len(reply.cites)))
    return found


def _asked(
    answer: Callable[[RouteRequest], RouteReply],
    subtask_id: str,
    slot_value: str | None,
    model_id: str,
    context: tuple[ContextPiece, ...],
) -> RouteReply:
    return answer(
        RouteRequest(
            subtask_id=subtask_id,
            question="",
            slot_value=slot_value,
            model_id=model_id,
            effort=Effort.MEDIUM,
            context=context,
            context_tokens=sum(len(piece.text) for piece in context) // 4,
        )
    )


@each_change
@each_subject
def test_the_changed_case_is_a_sound_one_of_the_same_size(subject: str, change: Change) -> None:
    before, after = scenario_of(subject), change(scenario_of(subject))
    assert after.content_hash != before.content_hash
    assert sum(after.public.segment_tokens[YARDSTICK]) == sum(before.public.segment_tokens[YARDSTICK])
    causes = [
        sorted(fault.cause.replace("zz-", "") for check in CHECKS for fault in check(each)) for each in (before, after)
    ]
    assert causes[0] == causes[1]


@each_change
@each_subject
def test_models_say_the_same(subject: str, change: Change) -> None:
    for world in WORLDS:
        assert replies(scenario_of(subject), world) == replies(change(scenario_of(subject)), world)


@each_subject
def test_under_other_names_the_same_actions_get_the_same_score_to_the_last_coin(subject: str) -> None:
    scenario = scenario_of(subject)
    for world in WORLDS:
        plan = plan_of(subject, world)
        score = replayed(renamed(scenario), world, translated(plan, scenario, renamed))
        assert score == replayed(scenario, world, plan.actions)
        assert score.success


@each_subject
def test_in_another_order_the_same_actions_are_graded_alike_and_cost_nearly_the_same(subject: str) -> None:
    """Artifacts have other numbers then, and a number of two digits is a token longer."""
    scenario = scenario_of(subject)
    for world in WORLDS:
        plan = plan_of(subject, world)
        before, after = replayed(scenario, world, plan.actions), replayed(shuffled(scenario), world, plan.actions)
        assert after.fields == before.fields
        assert after.success
        assert after.cost_nano_usd == pytest.approx(before.cost_nano_usd, rel=0.02)


@each_subject
def test_under_other_names_the_same_plan_is_made(subject: str) -> None:
    scenario = scenario_of(subject)
    made = make_reference_plan(renamed(scenario), 0, CONFIG)
    plan = plan_of(subject, 0)
    assert made.nano_usd == plan.nano_usd
    assert made.actions == translated(plan, scenario, renamed)


@each_change
@each_subject
def test_the_bound_stays_what_it_is(subject: str, change: Change) -> None:
    scenario = scenario_of(subject)
    before, after = (lower_bound(each, 0, CONFIG) for each in (scenario, change(scenario)))
    assert after == (before if change is renamed else pytest.approx(before, rel=0.02))


# --- the same case whoever makes it

_ELSEWHERE = """
from hashlib import sha256
from tests.core.test_invariance import GENERATED
from TokenOptEnv.plans.stored_plans import dump_plans, make_stored_plans
from TokenOptEnv.scenario_store.splits import generate
for case in reversed(GENERATED):
    scenario = generate(case)
    print(scenario.content_hash, sha256(dump_plans(make_stored_plans(scenario))).hexdigest())
"""


def test_cases_and_plans_are_the_same_in_other_processes_in_another_order_under_other_hash_seeds() -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _ELSEWHERE],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "4242")
    ]
    here = []
    for case in GENERATED:
        scenario = scenario_of(case.family)
        here.append(f"{scenario.content_hash} {sha256(dump_plans(make_stored_plans(scenario))).hexdigest()}")
    told = [process.communicate()[0].split("\n")[:-1] for process in running]
    assert told == [here[::-1]] * 2
