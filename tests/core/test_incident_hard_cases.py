"""The hard case and the marathon of the incident family: that their logs tell one story, and what makes them hard."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import pairwise

import pytest

from tests.cases import Play, right_values, world_of
from TokenOptEnv.config import DEFAULT_WORLDS, ROUTE_MAX_HANDLES, SIZES, Difficulty, EpisodeConfig, Profile
from TokenOptEnv.evaluation.validate import CHECKS
from TokenOptEnv.models import RefusalReason
from TokenOptEnv.plans.bound import lower_bound
from TokenOptEnv.plans.reference import make_reference_plan
from TokenOptEnv.scenario import Scenario, dump_scenario
from TokenOptEnv.simulators.routing import exact_context
from TokenOptEnv.task_defs.incident.cases import late_readings, refused_labels
from TokenOptEnv.task_defs.incident.cases.late_readings import nights, scheduler_audit
from TokenOptEnv.task_defs.incident.cases.refused_labels import cast, gate_logs
from TokenOptEnv.task_defs.incident.cases.refused_labels.traffic import traffic
from TokenOptEnv.world import visible_world

BOTH = {"hard": refused_labels.build, "marathon": late_readings.build}
WIDE = {"hard": "common", "marathon": "joins"}
CONFIG = EpisodeConfig()
MOST_SHIPPED_BYTES = 400_000
each = pytest.mark.parametrize("name", BOTH)


@cache
def built(name: str) -> Scenario:
    return BOTH[name]()


def text_of(name: str, artifact_id: str) -> str:
    artifact = next(a for a in built(name).public.artifacts if a.artifact_id == artifact_id)
    return "".join(segment.text for segment in artifact.segments)


def wide_segments(name: str) -> list[str]:
    truth = next(truth for truth in built(name).hidden.subtasks if truth.subtask_id == WIDE[name])
    return [piece.item_id for piece in exact_context(built(name), truth)]


def wide_phase(name: str) -> int:
    phases = visible_world(built(name), CONFIG).phases
    return next(number for number, phase in enumerate(phases) if WIDE[name] in phase.subtasks)


# --- both


@each
def test_no_check_finds_fault(name: str) -> None:
    assert [fault.line for check in CHECKS for fault in check(built(name))] == []


@each
def test_it_is_small_enough_to_ship(name: str) -> None:
    assert len(dump_scenario(built(name))) < MOST_SHIPPED_BYTES


@each
def test_every_world_has_a_reference_plan_within_its_steps_that_does_not_undercut_the_bound(name: str) -> None:
    scenario = built(name)
    steps = SIZES[scenario.public.difficulty].steps
    for index in range(DEFAULT_WORLDS):
        plan = make_reference_plan(scenario, index, CONFIG)
        assert len(plan.actions) <= steps
        assert lower_bound(scenario, index, CONFIG) <= plan.nano_usd


@each
def test_the_widest_question_stands_in_more_segments_than_memory_and_handles_hold(name: str) -> None:
    phase = visible_world(built(name), CONFIG).phases[wide_phase(name)]
    sizes = sorted(phase.segments[segment_id].tokens for segment_id in wide_segments(name))
    beside_handles = sizes[: -ROUTE_MAX_HANDLES[Profile.V2]]
    assert sum(beside_handles) > SIZES[built(name).public.difficulty].memory_tokens


def test_loading_all_of_the_widest_question_is_refused_and_a_third_of_it_squeezed_leaves_room_for_the_rest() -> None:
    play = Play(world_of(built("hard")))
    for word in ("bearer", "stale", "ago"):
        play.search(word, 8)
    segment_ids = wide_segments("hard")
    assert {handle.segment_id for handle in play.observation.surfaced} == set(segment_ids)
    play.purge(*play.item_ids)
    play.hydrate(*segment_ids[:-4])
    assert play.refusal is not None and play.refusal.reason is RefusalReason.MEMORY_FULL
    for start in range(0, len(segment_ids), 8):
        batch = segment_ids[start : start + 8]
        play.hydrate(*batch)
        assert play.refusal is None
        play.compress(*batch, method="extract", target_ratio=0.5, query="mint-3 mint-1 key kid k-30 k-31 minter from")
    held = "".join(item.text for item in play.observation.working_memory.items)
    spans = [gate_logs.refusal_span(use) for audience in cast.AUDIENCES for use in traffic().told_refusals(audience)]
    assert [span for span in spans if span not in held] == []


# --- the hard case: refused labels


def test_a_token_is_refused_exactly_when_the_late_host_minted_it_after_it_woke() -> None:
    for use in traffic().uses:
        late = use.token.host == cast.LATE_MINT and use.token.minted_ms >= cast.RESUMED_MS
        assert use.refused is late, use


def test_the_gates_write_out_refusals_of_many_callers_and_of_both_keys_and_all_of_one_host() -> None:
    pattern = re.compile(r"(k-3[01])\W.*?(mint-\d).*?(t-[0-9a-f]{8})")
    spans = [gate_logs.refusal_span(use) for audience in cast.AUDIENCES for use in traffic().told_refusals(audience)]
    found = [match.groups() for span in spans if (match := pattern.search(span))]
    assert len(found) == len(spans) == 24
    assert {host for _, host, _ in found} == {cast.LATE_MINT}
    keys = [key for key, _, _ in found]
    assert min(keys.count(cast.OLD_KEY), keys.count(cast.NEW_KEY)) >= 4
    told = [use for audience in cast.AUDIENCES for use in traffic().told_refusals(audience)]
    assert len({use.token.holder.caller for use in told}) >= 4


def test_what_a_gate_counts_by_the_minute_is_what_was_refused_there() -> None:
    lines = [json.loads(line) for line in text_of("hard", "log-labels").splitlines()]
    counted = sum(line["refused"] for line in lines if line["msg"] == "gate, last minute")
    refused = [use for use in traffic().uses_at(cast.LABELS) if use.refused]
    assert counted == len(refused) + 1, "one token was really too old"


def test_every_token_of_the_mint_log_was_minted_in_the_run() -> None:
    logged = re.findall(r"(\S+) level=INFO msg=\"minted\" token=(\S+) .*kid=(\S+)", text_of("hard", "log-mint-hosts"))
    minted = {token.token_id: (token.host, token.key) for token in traffic().tokens}
    assert len(logged) > 100
    assert all(minted[token_id] == (host, key) for host, token_id, key in logged)
    paused = [
        t for t in traffic().tokens if t.host == cast.LATE_MINT and cast.PAUSED_MS <= t.minted_ms < cast.RESUMED_MS
    ]
    assert paused == []


def test_left_alone_the_late_clock_would_need_two_days_and_refusals_last_until_the_brief_is_read() -> None:
    assert cast.DOWNTIME_MS * 1_000_000 // cast.SLEW_PPM > 48 * 3_600_000
    assert cast.behind_ms(cast.LATE_MINT, cast.DAY.at("11:40")) > cast.LIFETIME_MS + cast.LEEWAY_MS
    assert cast.behind_ms("mint-1", cast.DAY.at("11:40")) == 0


def test_a_merchant_s_failed_request_is_in_the_log_of_the_desk_too() -> None:
    failed = re.findall(r'" 502 - 61 \d+ "([0-9a-f]{8})"', text_of("hard", "log-edge-eu2"))
    desk = text_of("hard", "log-desk-api")
    assert len(failed) > 20
    assert all(f"rid={request_id} " in desk for request_id in failed)


# --- the marathon: late readings


def test_no_paper_of_one_leg_can_be_read_in_another_and_the_steps_make_up_the_whole() -> None:
    phases = built("marathon").public.phases
    named = [artifact_id for phase in phases for artifact_id in phase.artifact_ids]
    assert len(named) == len(set(named)) == len(built("marathon").public.artifacts)
    assert sum(phase.steps for phase in phases) == SIZES[Difficulty.MARATHON].steps


def test_every_question_rests_on_what_its_own_leg_shows() -> None:
    scenario = built("marathon")
    places = {fact.fact_id: {place.segment_id for place in fact.places} for fact in scenario.hidden.facts}
    needs = {truth.subtask_id: truth.needs for truth in scenario.hidden.subtasks}
    for phase in visible_world(scenario, CONFIG).phases:
        for subtask_id in phase.subtasks:
            assert all(places[fact_id] <= set(phase.segments) for fact_id in needs[subtask_id])


def test_the_last_leg_asks_about_an_id_of_the_first_and_nothing_there_says_which_of_many_it_was() -> None:
    scenario = built("marathon")
    first, _, last = scenario.public.phases
    owner = next(subtask for subtask in scenario.public.subtasks if subtask.subtask_id == "owner")
    assert owner.slot is not None
    assert owner.slot.from_subtask_id in first.subtask_ids
    assert owner.subtask_id in last.subtask_ids
    naming = [name for name in last.artifact_ids if nights.FIRST.stranger in text_of("marathon", name)]
    assert naming == ["audit-scheduler"]
    pods = re.findall(r'"msg":"bound","pod":"(\w+)"', text_of("marathon", "audit-scheduler"))
    assert pods.count(nights.FIRST.stranger) == 1
    assert len(pods) > 50


def last_leg(*, saved: bool) -> Play:
    """The first two legs asked on their facts, kept or not."""
    scenario = built("marathon")
    play = Play(world_of(scenario))
    model_id = play.observation.models[0].model_id
    for searches, subtask_ids in (
        ((("stalled", 3), ("busy nvme1 slice", 3)), ("where", "who")),
        ((("held", 3),), ("joins",)),
    ):
        for query, top_k in searches:
            play.search(query, top_k)
        surfaced = [handle.segment_id for handle in play.observation.surfaced][:4]
        for subtask_id in subtask_ids:
            play.route(subtask_id, model_id, *surfaced)
            assert play.refusal is None, play.refusal
        leg = play.observation.task.phase
        if saved:
            play.checkpoint("what this night showed", *play.finding_ids)
        while play.observation.task.phase == leg:
            play.search("wait")
    return play


def test_without_a_note_of_the_first_night_the_owner_cannot_even_be_asked_for() -> None:
    play = last_leg(saved=False)
    play.search("bound", 2)
    play.route("owner", play.observation.models[0].model_id)
    assert play.refusal is not None and play.refusal.reason is RefusalReason.SLOT_EMPTY


def test_with_the_note_restored_the_question_names_the_slice() -> None:
    play = last_leg(saved=True)
    play.restore("checkpoint-1")
    play.search(nights.FIRST.stranger, 1)
    play.route("owner", play.observation.models[0].model_id, play.observation.surfaced[0].segment_id)
    assert play.refusal is None
    values = right_values(built("marathon"))["owner"]
    assert play.observation.findings[-1].values == values == {"service": scheduler_audit.TILES}


@pytest.mark.parametrize(
    ("night", "logs"),
    [
        (nights.FIRST, {"log-store-north": r"(\d\d:\d\d:\d\d)\.\d+ wal\.go:131"}),
        (
            nights.SECOND,
            {
                "log-store-south": r"(\d\d:\d\d:\d\d)\.\d+ wal\.go:131",
                "log-router-south": r"(\d\d:\d\d:\d\d)\.\d+ WARN .*outbox held",
                "log-disks-rack-d": r"(\d\d:\d\d:\d\d) n-22 busy",
            },
        ),
    ],
    ids=["first", "second"],
)
def test_every_stall_falls_into_a_surge_of_its_own(night: nights.Night, logs: dict[str, str]) -> None:
    for artifact_id, pattern in logs.items():
        times = [night.clock.at(time) for time in re.findall(pattern, text_of("marathon", artifact_id))]
        assert len(times) == len(night.surges)
        assert all(surge.holds(at_ms) for surge, at_ms in zip(night.surges, times, strict=True)), artifact_id
    assert all(earlier.end_ms < later.start_ms for earlier, later in pairwise(night.surges))


def test_the_archive_writes_much_and_nobody_waits_for_it() -> None:
    waits = re.findall(rf"n-17 ok {nights.ARCHIVE_SLICE}:(\d+) .* await=(\d+)", text_of("marathon", "log-disks-rack-b"))
    assert len(waits) > 20
    assert all(int(mb_s) > 300 and int(wait_ms) < 10 for mb_s, wait_ms in waits)


def test_the_strangers_are_pods_of_one_job_which_ran_while_the_disks_were_busy() -> None:
    for night in (nights.FIRST, nights.SECOND):
        started = scheduler_audit.run_of(night.stranger)
        assert started.start.owner == scheduler_audit.TILES
        assert (night.stranger, night.node) in started.start.pods
        bound = re.search(rf'T(\S+)Z".*"pod":"{night.stranger}"', text_of("marathon", "audit-scheduler"))
        done = re.search(
            rf'T(\S+)Z","level":"info","msg":"run done","run":"{started.run}"', text_of("marathon", "audit-scheduler")
        )
        assert bound is not None and done is not None
        assert night.clock.at(bound[1]) < night.surges[0].start_ms
        assert night.surges[-1].end_ms < night.clock.at(done[1])
