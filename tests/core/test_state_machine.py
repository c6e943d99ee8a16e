"""Whatever an agent does, in whatever order and with whatever strings: the books balance and the bounds hold."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from pydantic import ValidationError

from tests.cases import Play, marathon, simulated_world, toy
from TokenOptEnv import render_text
from TokenOptEnv.config import Profile, RewardMode
from TokenOptEnv.models import (
    ActionType,
    EndReason,
    ItemKind,
    LedgerEntry,
    RefusalReason,
    TokenOptEnvAction,
    TokenOptEnvObservation,
)
from TokenOptEnv.plans import reference_plan
from TokenOptEnv.prompt import head_text, item_text, tail_text
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.simulators.compression import methods
from TokenOptEnv.task_defs.family import families
from TokenOptEnv.world import text_tokens

ODD = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["", " ", "\n", "\x00", "#1", "é", "日本語", "🤖" * 30, "\u202e", "x" * 3_000, "<|endoftext|>"]),
)
ODD_NUMBERS = st.one_of(st.integers(-3, 12), st.sampled_from([2**31, -(2**63), 10**30]))
ODD_RATIOS = st.one_of(st.floats(0.01, 1.0), st.sampled_from([0.0, -1.0, 2.0, float("nan"), float("inf"), 1e-300]))
CHOSEN_FROM = {
    "artifact_id": "artifacts",
    "subtask_id": "subtasks",
    "model_id": "models",
    "effort": "efforts",
    "method": "methods",
    "route_id": "routes",
    "checkpoint_id": "checkpoints",
}


class Machine(RuleBasedStateMachine):
    """Plays one episode; the invariants are checked after every step of it."""

    scenario: Callable[[], Scenario]
    options: ClassVar[dict[str, Any]]

    def __init__(self) -> None:
        super().__init__()
        self.ends: list[tuple[EndReason | None, bool]] = []
        self.begin()

    def begin(self) -> None:
        self.play = Play(simulated_world(self.scenario(), **self.options))
        self.entries: list[LedgerEntry] = []
        self.submitted = False

    @property
    def seen(self) -> TokenOptEnvObservation:
        return self.play.observation

    def running(self) -> bool:
        return not self.seen.done

    def act(self, **fields: Any) -> None:
        try:
            action = TokenOptEnvAction.model_validate(fields)
        except ValidationError:
            return
        before = self.seen
        self.play.act(action)
        self.entries += self.seen.ledger
        self.submitted = action.action_type is ActionType.SUBMIT_ANSWER
        self._billed_what_was_shown(before)
        if self.seen.score is not None:
            self.ends.append((self.seen.end_reason, self.seen.score.success))

    def choose(self, data: st.DataObject, name: str) -> tuple[str, ...]:
        offered = self.seen.legal_actions.choices.get(name, ())
        return tuple(data.draw(st.lists(st.sampled_from(offered), max_size=4))) if offered else ()

    # --- what an agent may try

    @precondition(running)
    @rule(data=st.data())
    def a_reasonable_action(self, data: st.DataObject) -> None:
        """A type that is offered, its fields filled from what is offered for them."""
        offered = self.seen.legal_actions
        going_on = [form for form in offered.actions if form.action_type is not ActionType.SUBMIT_ANSWER]
        form = data.draw(st.sampled_from(going_on or list(offered.actions)))
        fields: dict[str, Any] = {"action_type": form.action_type}
        for field in form.fields:
            choices = [name for listed in field.choices_from for name in offered.choices[listed]]
            if field.name.endswith("_ids"):
                picked = data.draw(st.lists(st.sampled_from(choices), min_size=1, max_size=4)) if choices else []
                fields[field.name] = (*fields.get(field.name, ()), *picked)
            elif field.name == "answer":
                continue
            elif choices and (field.required or data.draw(st.booleans())):
                fields[field.name] = data.draw(st.sampled_from(choices))
            elif not field.choices_from and field.name in ("query", "note"):
                fields[field.name] = data.draw(st.sampled_from(["pool exhausted", "request failed", "error", "lag"]))
        self.act(**fields)

    @precondition(running)
    @rule(data=st.data(), kind=st.sampled_from([kind for kind in ActionType if kind is not ActionType.SUBMIT_ANSWER]))
    def an_odd_action(self, data: st.DataObject, kind: ActionType) -> None:
        """Any type with any fields: some offered, some made up."""
        fields: dict[str, Any] = {"action_type": kind}
        for name, listed in CHOSEN_FROM.items():
            choices = self.seen.legal_actions.choices.get(listed, ())
            if data.draw(st.booleans()):
                fields[name] = data.draw(st.one_of(ODD, st.sampled_from(choices)) if choices else ODD)
        for name in ("query", "note", "raw_text"):
            if data.draw(st.booleans()):
                fields[name] = data.draw(ODD)
        for name in ("page", "top_k"):
            if data.draw(st.booleans()):
                fields[name] = data.draw(ODD_NUMBERS)
        if data.draw(st.booleans()):
            fields["target_ratio"] = data.draw(ODD_RATIOS)
        fields["context_segment_ids"] = (*self.choose(data, "items"), *self.choose(data, "surfaced"))
        fields["finding_ids"] = self.choose(data, "findings")
        if data.draw(st.integers(0, 9)) == 0:
            fields["reasoning_tokens"] = data.draw(ODD_NUMBERS)
        self.act(**fields)

    @precondition(lambda self: self.seen.step == 0)
    @rule(share=st.sampled_from([0.4, 0.7, 1.0]))
    def a_good_beginning(self, share: float) -> None:
        """Follow the reference plan for a while, or to its end, so that episodes succeed as well."""
        world = self.play.world
        actions = reference_plan(self.scenario(), world.seed, world.visible.config).actions
        for action in actions[: round(share * len(actions))]:
            self.act(**action.model_dump())
            assert self.play.refusal is None

    @precondition(lambda self: self.running() and self.seen.working_memory.items)
    @rule(share=st.floats(0.1, 0.9), method=st.sampled_from(sorted(methods())))
    def squeeze_everything(self, share: float, method: str) -> None:
        kinds = (ItemKind.SEGMENT, ItemKind.PREVIEW, ItemKind.SEARCH, ItemKind.COMPRESSED)
        items = tuple(item.item_id for item in self.seen.working_memory.items if item.kind in kinds)
        self.act(action_type=ActionType.COMPRESS_CONTEXT, context_segment_ids=items, method=method, target_ratio=share)

    @precondition(lambda self: self.running() and (self.seen.step > 5 or self.seen.must_submit))
    @rule(data=st.data(), own=st.dictionaries(st.sampled_from(["cause", "setting", "volume"]), ODD, max_size=2))
    def a_submission(self, data: st.DataObject, own: dict[str, str]) -> None:
        self.act(
            action_type=ActionType.SUBMIT_ANSWER,
            finding_ids=tuple(finding.finding_id for finding in self.seen.findings),
            answer=own if data.draw(st.booleans()) else None,
            evidence_segment_ids=self.choose(data, "surfaced"),
        )

    @precondition(lambda self: self.seen.done)
    @rule()
    def another_episode(self) -> None:
        self.begin()

    # --- what holds all the same

    @invariant()
    def the_budgets_are_the_sum_of_the_entries(self) -> None:
        budgets = self.seen.budgets
        assert budgets.nano_usd.spent == sum(entry.nano_usd for entry in self.entries)
        assert budgets.latency_ms.spent == sum(entry.latency_ms for entry in self.entries) == self.play.state.clock_ms
        assert budgets.tokens.spent == sum(e.fresh_tokens + e.cached_tokens + e.output_tokens for e in self.entries)
        assert budgets.steps.spent == self.seen.step
        assert self.seen.routing.nano_usd == sum(entry.nano_usd for entry in self.entries if entry.who == "worker")
        assert all(entry.written_tokens <= entry.fresh_tokens for entry in self.entries)

    @invariant()
    def no_budget_is_overrun_but_by_a_submission(self) -> None:
        for budget in (self.seen.budgets.tokens, self.seen.budgets.nano_usd, self.seen.budgets.latency_ms):
            assert budget.left == max(0, budget.limit - budget.spent)
            assert budget.spent <= budget.limit or self.submitted
        assert self.seen.budgets.steps.spent <= self.seen.budgets.steps.limit

    @invariant()
    def memory_keeps_its_bound(self) -> None:
        memory = self.seen.working_memory
        assert memory.token_budget_used == sum(item.tokens for item in memory.items)
        assert memory.token_budget is None or memory.token_budget_used <= memory.token_budget
        assert len({item.item_id for item in memory.items}) == len(memory.items)
        assert len({item.alias for item in memory.items}) == len(memory.items)

    @invariant()
    def the_observation_survives_the_wire(self) -> None:
        assert TokenOptEnvObservation.model_validate_json(self.seen.model_dump_json()) == self.seen

    @invariant()
    def the_prompt_is_head_items_and_tail(self) -> None:
        assert render_text(self.seen) == "".join(self._pieces(self.seen))

    @invariant()
    def the_return_is_bounded_and_paid_once(self) -> None:
        paid = round(sum(seen.reward for seen in self.play.observations if seen.reward is not None), 6)
        assert paid == self.seen.reward_breakdown.total
        assert -0.15 <= paid <= 1.0
        score = self.seen.score
        assert (score is not None) is self.seen.done
        if score is not None:
            assert score.total_return == paid
            assert score.total_return >= 0.25 if score.success else score.total_return <= 0.15
            assert self.seen.end_reason is not None

    @invariant()
    def a_refusal_says_why(self) -> None:
        refusal = self.play.refusal
        if refusal is not None:
            assert refusal.reason in RefusalReason
            assert refusal.message.startswith(refusal.reason.value)
            assert len(refusal.message) < 400

    def _pieces(self, seen: TokenOptEnvObservation) -> list[str]:
        return [
            head_text(seen.task, seen.artifacts, seen.models),
            *(item_text(item) for item in seen.working_memory.items),
            tail_text(seen.working_memory, seen.last_tool_result, seen.budgets, seen.checkpoints, seen.must_submit),
        ]

    def _billed_what_was_shown(self, before: TokenOptEnvObservation) -> None:
        """The controller pays for each piece of the prompt that it decided on, in its own vocabulary."""
        card = self.play.world.visible.controller
        head, *_, tail = self._pieces(before)
        counted = text_tokens(card, head) + text_tokens(card, tail)
        for item in before.working_memory.items:
            if item.kind is ItemKind.SEGMENT:
                over = item_text(item).removesuffix(item.text)
                counted += text_tokens(card, over) + text_tokens(card, item.text)
            else:
                counted += text_tokens(card, item_text(item))
        entry = next(entry for entry in self.seen.ledger if entry.who == "controller")
        billed = entry.fresh_tokens + entry.cached_tokens
        assert billed == counted if not self._cut_short(entry) else billed <= counted

    def _cut_short(self, entry: LedgerEntry) -> bool:
        """A refusal that could not be paid in full took what was left."""
        return self.play.refusal is not None and 0 in (
            self.seen.budgets.tokens.left,
            self.seen.budgets.nano_usd.left,
            self.seen.budgets.latency_ms.left,
        )


@cache
def kafka() -> Scenario:
    return families()["incident"].design("incident-medium-kafka-backpressure")


def _machine(scenario: Callable[[], Scenario], examples: int, steps: int, **options: Any) -> Any:
    name = f"{scenario.__name__.title()}Machine"
    machine: Any = type(name, (Machine,), {"scenario": staticmethod(scenario), "options": options})
    # A failure is shown as it was found: an episode is short, and shrinking one takes minutes.
    machine.TestCase.settings = settings(max_examples=examples, stateful_step_count=steps, phases=[Phase.generate])
    return machine.TestCase


TestToy = _machine(toy, 20, 14)
TestTerminalToy = _machine(toy, 10, 14, seed=1, reward_mode=RewardMode.TERMINAL)
TestCrampedToy = _machine(toy, 15, 14, seed=2, memory_tokens=640, controller_model="gpt-4o")
TestFirstProfile = _machine(toy, 10, 14, seed=3, profile=Profile.V1)
TestMarathon = _machine(marathon, 6, 42)
TestRealCase = _machine(kafka, 10, 18)


def test_the_machine_plays_to_every_kind_of_end() -> None:
    """Else its checks of the end would prove little."""
    ends: set[tuple[EndReason | None, bool]] = set()

    class Watched(Machine):
        scenario = staticmethod(toy)
        options: ClassVar[dict[str, Any]] = {}

        def teardown(self) -> None:
            ends.update(self.ends)

    run_state_machine_as_test(
        Watched, settings=settings(max_examples=20, stateful_step_count=14, phases=[Phase.generate])
    )
    assert {(EndReason.SUBMITTED, True), (EndReason.SUBMITTED, False), (EndReason.STEPS, False)} <= ends
