"""A marathon: what a phase turn takes away, and what a checkpoint brings back."""

from __future__ import annotations

from collections.abc import Callable

from tests.cases import STRONGEST, WEAKEST, Play, ScriptedBackend, marathon, right_values, segment_with, toy, world_of
from TokenOptEnv.models import ActionType, ItemKind, RefusalReason

REQUEST = segment_with(marathon(), "req-7f3a failed")
VOLUME = segment_with(marathon(), "/srv/cold at 97")
POOL = segment_with(marathon(), "pool exhausted")


def wait(play: Play, step: int) -> None:
    while play.observation.step < step:
        play.do(ActionType.MALFORMED)


def first_phase(play: Play) -> None:
    """Up to the finding, with one step left."""
    play.search("req-7f3a failed", 1)
    play.hydrate(REQUEST)
    play.route("q-request", WEAKEST, REQUEST)


def at_third_phase(*, save: bool, backend: ScriptedBackend | None = None) -> Play:
    play = Play(world_of(marathon(), backend=backend))
    first_phase(play)
    if save:
        play.checkpoint("the request", *play.finding_ids)
    wait(play, 4)
    play.search("volume percent", 1)
    play.route("q-volume", WEAKEST, VOLUME)
    if save:
        play.checkpoint("the volume", *play.finding_ids)
    wait(play, 9)
    assert play.observation.task.phase == 2
    return play


def refused(play: Play) -> RefusalReason | None:
    return None if play.refusal is None else play.refusal.reason


# --- the turn


def test_a_phase_ends_with_its_steps() -> None:
    play = Play(world_of(marathon()))
    assert (play.observation.task.phase, play.observation.task.phase_ends_at_step) == (0, 4)
    wait(play, 3)
    assert play.observation.task.phase == 0
    wait(play, 4)
    assert (play.observation.task.phase, play.observation.task.phase_ends_at_step) == (1, 9)
    wait(play, 9)
    assert (play.observation.task.phase, play.observation.task.phase_ends_at_step) == (2, None)


def test_a_phase_ends_early_when_a_checkpoint_hands_over_all_it_was_asked() -> None:
    play = Play(world_of(marathon()))
    play.search("req-7f3a failed", 1)
    play.route("q-request", WEAKEST, REQUEST)
    assert play.observation.task.phase == 0
    play.checkpoint("the request", *play.finding_ids)
    assert play.observation.step == 3
    assert play.observation.task.phase == 1


def test_a_note_without_findings_does_not_end_a_phase() -> None:
    play = Play(world_of(marathon()))
    play.search("req-7f3a failed", 1)
    play.route("q-request", WEAKEST, REQUEST)
    play.checkpoint("only words")
    assert play.observation.task.phase == 0


def test_at_the_turn_memory_surfaced_ids_and_unsaved_findings_are_gone() -> None:
    play = Play(world_of(marathon()))
    first_phase(play)
    assert play.item_ids and play.observation.surfaced and play.finding_ids
    wait(play, 4)
    observation = play.observation
    assert observation.working_memory.items == ()
    assert observation.working_memory.token_budget_used == 0
    assert observation.surfaced == ()
    assert observation.findings == ()
    assert observation.legal_actions.choices["routes"] == ()
    assert [artifact.artifact_id for artifact in observation.artifacts] == ["log-second"]
    assert [subtask.subtask_id for subtask in observation.task.subtasks] == ["q-volume"]
    assert observation.task.brief == "Find the volume."


def test_what_was_spent_stays_spent() -> None:
    play = Play(world_of(marathon()))
    first_phase(play)
    before = play.observation.budgets.nano_usd.spent
    wait(play, 4)
    assert play.observation.budgets.nano_usd.spent > before
    assert len(play.observation.routing.routes) == 1


def test_what_belongs_to_an_earlier_phase_is_refused() -> None:
    play = Play(world_of(marathon()))
    first_phase(play)
    finding_id, item_id = play.finding_ids[0], play.item_ids[0]
    wait(play, 4)
    kinds: list[tuple[Callable[[], object], RefusalReason]] = [
        (lambda: play.read("log-first"), RefusalReason.UNKNOWN_ID),
        (lambda: play.hydrate(REQUEST), RefusalReason.NOT_SURFACED),
        (lambda: play.route("q-request", WEAKEST), RefusalReason.UNKNOWN_ID),
        (lambda: play.escalate("route-1", STRONGEST), RefusalReason.UNKNOWN_ID),
        (lambda: play.purge(item_id), RefusalReason.NOT_IN_MEMORY),
    ]
    for act, reason in kinds:
        act()
        assert refused(play) is reason
    play.submit(finding_id)
    assert refused(play) is RefusalReason.NOT_IN_MEMORY


def test_what_belongs_to_a_later_phase_is_refused() -> None:
    play = Play(world_of(marathon()))
    play.read("log-third")
    assert refused(play) is RefusalReason.UNKNOWN_ID
    play.route("q-cause", WEAKEST)
    assert refused(play) is RefusalReason.UNKNOWN_ID


def test_a_search_finds_only_what_the_phase_has() -> None:
    play = Play(world_of(marathon()))
    wait(play, 4)
    play.search("request req-7f3a failed pool exhausted", 8)
    assert play.observation.surfaced
    assert all(handle.segment_id.startswith("log-second") for handle in play.observation.surfaced)


def test_a_new_prompt_head_makes_the_turn_cold() -> None:
    play = at_third_phase(save=True)
    play.read("log-third")
    (entry,) = play.observation.ledger
    assert entry.cached_tokens == 0


# --- the checkpoint


def test_without_a_checkpoint_the_last_phase_cannot_even_ask() -> None:
    play = at_third_phase(save=False)
    play.search("pool exhausted", 1)
    assert play.observation.legal_actions.choices["subtasks"] == ()
    play.route("q-cause", WEAKEST, POOL)
    assert refused(play) is RefusalReason.SLOT_EMPTY


def test_a_restored_checkpoint_brings_findings_back_and_fills_slots() -> None:
    backend = ScriptedBackend(right_values(marathon()))
    play = at_third_phase(save=True, backend=backend)
    play.restore("checkpoint-1")
    assert refused(play) is None
    assert [finding.values for finding in play.observation.findings] == [{"request_id": "req-7f3a"}]
    (item,) = play.observation.working_memory.items
    assert item.kind is ItemKind.CHECKPOINT
    assert "req-7f3a" in item.text
    assert play.observation.legal_actions.choices["subtasks"] == ("q-cause",)
    play.search("pool exhausted", 1)
    play.route("q-cause", WEAKEST, POOL)
    assert refused(play) is None
    assert backend.asked[-1].question == "Why did req-7f3a fail?"


def test_a_purged_checkpoint_empties_the_slot_again() -> None:
    play = at_third_phase(save=True)
    play.restore("checkpoint-1")
    play.purge(play.item_ids[0])
    play.route("q-cause", WEAKEST)
    assert refused(play) is RefusalReason.SLOT_EMPTY
    play.restore("checkpoint-1")
    assert refused(play) is None


def test_the_case_is_solved_with_what_was_saved_and_only_with_it() -> None:
    play = at_third_phase(save=True)
    play.restore("checkpoint-1")
    play.restore("checkpoint-2")
    play.search("pool exhausted", 1)
    play.route("q-cause", WEAKEST, POOL)
    play.submit(*play.finding_ids)
    score = play.observation.score
    assert score is not None and score.success
    assert "saved-before-reset" in play.observation.milestones.achieved_ids
    unsaved = at_third_phase(save=False)
    unsaved.submit(answer={"volume": "/srv/cold", "cause": "pool_exhaustion"})
    assert unsaved.observation.score is not None and not unsaved.observation.score.success


def test_evidence_of_an_earlier_phase_grounds_only_through_a_restored_finding() -> None:
    """The first phase's segment is on the path of `cause`; its finding must be there for it to be cited."""
    play = at_third_phase(save=True)
    play.restore("checkpoint-1")
    play.search("pool exhausted", 1)
    play.route("q-cause", WEAKEST, POOL)
    (cause,) = [finding.finding_id for finding in play.observation.findings if finding.subtask_id == "q-cause"]
    play.submit(cause)
    assert play.observation.score is not None
    by_name = {field.name: field for field in play.observation.score.fields}
    assert by_name["cause"].right and by_name["cause"].backed
    assert not by_name["cause"].grounded


def test_saving_before_a_reset_is_a_milestone_of_marathons() -> None:
    play = Play(world_of(marathon()))
    assert "saved-before-reset" in play.observation.milestones.listed_ids
    first_phase(play)
    play.checkpoint("kept", *play.finding_ids)
    assert "saved-before-reset" in play.observation.milestones.achieved_ids
    assert "saved-before-reset" not in Play(world_of(toy())).observation.milestones.listed_ids


def test_free_checkpoints_are_counted_by_phase() -> None:
    play = Play(world_of(marathon()))
    for _ in range(3):
        play.checkpoint("kept")
    wait(play, 4)
    before = len(play.observation.guardrail_events)
    for _ in range(3):
        play.checkpoint("kept")
    assert len(play.observation.guardrail_events) == before
    play.checkpoint("kept")
    assert play.observation.guardrail_events[-1].guardrail_id == "checkpoint_spam"
