"""The end against the truth: right, backed, grounded; and the faults that only the truth can tell."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import (
    RIGHT_PATCH,
    STRONGEST,
    WEAKEST,
    WRONG_PATCH,
    Play,
    ScriptedBackend,
    find_everything,
    patches,
    right_values,
    segment_with,
    toy,
    world_of,
)
from TokenOptEnv import rewards
from TokenOptEnv.config import Track
from TokenOptEnv.guardrails import Guardrail
from TokenOptEnv.models import ScoreBreakdown

GATEWAY = segment_with(toy(), "req-7f3a failed")
ORDERS = segment_with(toy(), "pool exhausted")
ARCHIVE = segment_with(toy(), "/srv/cold at 97")
CONFIG = "config-orders-s1"
RIGHT = right_values(toy())


def score(play: Play) -> ScoreBreakdown:
    assert play.observation.score is not None
    return play.observation.score


def verdicts(play: Play, name: str) -> tuple[bool, bool, bool]:
    (field,) = [field for field in score(play).fields if field.name == name]
    return field.right, field.backed, field.grounded


def events(play: Play) -> list[str]:
    return [event.guardrail_id for event in play.observation.guardrail_events]


def found(**options: Any) -> Play:
    play = Play(world_of(toy(), **options))
    find_everything(play)
    return play


# --- right


@pytest.mark.parametrize("spelling", ["pool.max_connections", " Pool.MAX_connections ", "POOL.max_connections\n"])
def test_case_and_surrounding_white_space_do_not_matter(spelling: str) -> None:
    play = found(backend=ScriptedBackend({**RIGHT, "q-setting": {"setting": spelling}}))
    play.submit(*play.finding_ids)
    assert score(play).success


@pytest.mark.parametrize("spelling", ["pool.max", "pool.max_connections=50", "pool max_connections", ""])
def test_another_text_is_wrong(spelling: str) -> None:
    play = found(backend=ScriptedBackend({**RIGHT, "q-setting": {"setting": spelling}}))
    play.submit(*play.finding_ids)
    assert verdicts(play, "setting")[0] is False
    assert not score(play).success


def test_a_field_left_out_is_wrong() -> None:
    play = found()
    cause = next(finding for finding in play.observation.findings if finding.subtask_id == "q-cause")
    play.submit(cause.finding_id)
    assert verdicts(play, "cause")[0] is True
    assert verdicts(play, "setting")[0] is False
    assert not score(play).success


@pytest.mark.parametrize(("patch", "right"), [(RIGHT_PATCH, True), (WRONG_PATCH, False), ("--- nothing", False)])
def test_a_patch_is_right_when_the_hidden_tests_passed_on_it(patch: str, right: bool) -> None:
    play = Play(world_of(patches(), backend=ScriptedBackend({"q-patch": {"patch": patch}})))
    play.read("code-pool")
    play.route("q-patch", WEAKEST, "code-pool-s1")
    play.submit(*play.finding_ids)
    assert score(play).success is right


def test_a_patch_of_a_finding_may_be_spelt_out_in_the_solver_track() -> None:
    play = Play(world_of(patches(), track=Track.SOLVER))
    play.read("code-pool")
    play.route("q-patch", WEAKEST, "code-pool-s1")
    play.submit(answer={"patch": RIGHT_PATCH})
    assert play.refusal is None
    assert score(play).success


# --- backed


def test_what_no_finding_says_does_not_count_in_the_controller_track() -> None:
    play = found(backend=ScriptedBackend({**RIGHT, "q-cause": {"cause": "deadlock"}}))
    play.submit(*play.finding_ids, answer={"cause": "pool_exhaustion"})
    assert verdicts(play, "cause") == (True, False, True)
    assert not score(play).success
    assert events(play) == [Guardrail.UNGROUNDED_SUBMIT]


def test_a_finding_need_not_be_named_to_back_an_answer() -> None:
    play = found()
    play.submit(answer={"cause": "pool_exhaustion", "setting": "pool.max_connections"})
    assert verdicts(play, "cause") == verdicts(play, "setting") == (True, True, True)


# --- grounded


def test_evidence_left_out_does_not_ground() -> None:
    play = found()
    play.submit(*play.finding_ids, evidence_segment_ids=(ORDERS, CONFIG))
    assert verdicts(play, "cause") == (True, True, False)
    assert verdicts(play, "setting") == (True, True, True)
    assert terms(play)["partial"] == 0.05


def terms(play: Play) -> dict[str, float]:
    return {term.term: term.value for term in score(play).terms}


def test_evidence_that_was_shown_but_never_read_does_not_ground() -> None:
    play = Play(world_of(toy(), track=Track.SOLVER))
    play.search("req-7f3a failed pool exhausted", 2)
    play.read("config-orders")
    answer = {"cause": "pool_exhaustion", "setting": "pool.max_connections"}
    play.submit(answer=answer, evidence_segment_ids=(GATEWAY, ORDERS, CONFIG))
    assert verdicts(play, "cause") == (True, True, False)
    assert verdicts(play, "setting") == (True, True, True)


def test_evidence_read_by_a_worker_grounds_through_its_finding() -> None:
    play = found()
    assert GATEWAY not in play.state.read_ids
    play.submit(*play.finding_ids)
    assert score(play).success


def test_evidence_read_by_a_worker_whose_finding_is_not_submitted_does_not_ground() -> None:
    """The finding that cites the gateway's log was dropped; the one that is submitted cites another segment."""

    class Forgetful(ScriptedBackend):
        def answer(self, request: Any) -> Any:
            reply = super().answer(request)
            keep = reply.cites[-1:] if request.subtask_id == "q-cause" else reply.cites
            return type(reply)(reply.values, reply.text, reply.confidence, keep, 0)

    play = found(backend=Forgetful(RIGHT))
    submitted = [f.finding_id for f in play.observation.findings if f.subtask_id in ("q-cause", "q-setting")]
    play.submit(*submitted, evidence_segment_ids=(GATEWAY, ORDERS, CONFIG))
    assert verdicts(play, "cause") == (True, True, False)


def test_a_cached_finding_grounds_only_what_is_read_again_here() -> None:
    outcomes = []
    for read_again in (False, True):
        play = Play(world_of(toy()))
        play.query_cache("Which setting bounds the pool?")
        if read_again:
            play.hydrate(CONFIG)
        (setting,) = [finding.finding_id for finding in play.observation.findings if "setting" in finding.values]
        play.submit(setting)
        outcomes.append(verdicts(play, "setting"))
    assert outcomes == [(True, True, False), (True, True, True)]


# --- precise


def test_precision_is_the_share_of_citations_that_show_a_fact() -> None:
    play = found()
    play.search("support customer checkout hangs", 1)
    (noise,) = [h.segment_id for h in play.observation.surfaced if h.segment_id.startswith("ticket")]
    play.submit(*play.finding_ids, evidence_segment_ids=(GATEWAY, ORDERS, CONFIG, noise))
    assert score(play).success
    assert score(play).evidence_precision == 0.75
    assert terms(play)["evidence_precision"] == pytest.approx(0.75 * rewards.PRECISION)


def test_a_segment_cited_twice_counts_once() -> None:
    play = found()
    play.submit(*play.finding_ids, evidence_segment_ids=(GATEWAY, GATEWAY, ORDERS, CONFIG))
    assert score(play).evidence_precision == 1.0


# --- faults that only the truth can tell


def test_trusting_a_stale_result_is_told_at_the_end() -> None:
    play = Play(world_of(toy()))
    play.query_cache("Why did a checkout request fail last month?")
    (cause,) = [finding.finding_id for finding in play.observation.findings if "cause" in finding.values]
    assert events(play) == []
    play.submit(cause)
    assert Guardrail.STALE_CACHE_TRUST in events(play)


def test_trusting_a_valid_result_is_no_fault() -> None:
    play = Play(world_of(toy()))
    play.query_cache("Which setting bounds the pool?")
    play.hydrate(CONFIG)
    (setting,) = [finding.finding_id for finding in play.observation.findings if "setting" in finding.values]
    play.submit(setting)
    assert Guardrail.STALE_CACHE_TRUST not in events(play)


@pytest.mark.parametrize(("values", "needless"), [(RIGHT, True), ({"q-setting": {"setting": "none"}}, False)])
def test_escalating_a_right_answer_is_needless(values: dict[str, dict[str, str]], needless: bool) -> None:
    play = Play(world_of(toy(), backend=ScriptedBackend(values)))
    play.read("config-orders")
    play.route("q-setting", WEAKEST, CONFIG)
    play.escalate("route-1", STRONGEST)
    assert events(play) == []
    play.submit(*play.finding_ids)
    assert (Guardrail.NEEDLESS_ESCALATION in events(play)) is needless
    assert ("stopped-when-right" not in score(play).truth_milestone_ids) is needless


def test_a_compression_that_loses_a_fact_is_told_at_the_end() -> None:
    play = Play(world_of(toy()))
    play.search("pool exhausted", 1)
    play.hydrate(ORDERS)
    play.compress(ORDERS, method="head_tail", target_ratio=0.05)
    (item,) = [item for item in play.observation.working_memory.items if item.source_ids == (ORDERS,)]
    assert "pool exhausted" not in item.text
    play.submit(answer={"cause": "deadlock"})
    assert Guardrail.BLIND_COMPRESSION in events(play)
    assert "no-fact-lost" not in score(play).truth_milestone_ids


def test_a_compression_that_keeps_the_fact_is_no_fault() -> None:
    play = Play(world_of(toy()))
    play.search("pool exhausted", 1)
    play.hydrate(ORDERS)
    play.compress(ORDERS, method="extract", target_ratio=0.5, query="pool exhausted")
    (item,) = [item for item in play.observation.working_memory.items if item.source_ids == (ORDERS,)]
    assert "pool exhausted, 50 of 50" in item.text
    play.submit(answer={"cause": "deadlock"})
    assert Guardrail.BLIND_COMPRESSION not in events(play)


def test_citing_a_decoy_forgoes_a_milestone() -> None:
    play = found()
    play.search("volume cold percent", 1)
    assert ARCHIVE in {handle.segment_id for handle in play.observation.surfaced}
    play.submit(*play.finding_ids, evidence_segment_ids=(GATEWAY, ORDERS, CONFIG, ARCHIVE))
    assert score(play).success
    assert "no-decoy-cited" not in score(play).truth_milestone_ids
    assert terms(play)["truth_milestones"] == pytest.approx(rewards.TRUTH * 2 / 3, abs=1e-6)


def test_asking_on_after_a_right_answer_forgoes_a_milestone() -> None:
    play = found()
    play.escalate(next(each.route_id for each in play.state.routes if each.subtask_id == "q-setting"), STRONGEST)
    play.submit(*play.finding_ids)
    assert score(play).success
    assert "stopped-when-right" not in score(play).truth_milestone_ids
