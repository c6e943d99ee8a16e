"""`camre play`: a person, or a policy that is watched, plays an episode by typed lines and printed pages."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from typing import assert_never

import pytest

from TokenOptEnv import rewards, scenario_store
from TokenOptEnv.by_hand import menu, wording
from TokenOptEnv.by_hand.choices import Choices, Sightings
from TokenOptEnv.by_hand.plain_text import plain
from TokenOptEnv.cli import play_menu
from TokenOptEnv.cli.main import run
from TokenOptEnv.config import FULL_READ_CAP_TOKENS, PREVIEW_PAGE_SEGMENTS, EpisodeConfig
from TokenOptEnv.evaluation import episodes
from TokenOptEnv.grading import TRUTH_MILESTONES
from TokenOptEnv.guardrails import Guardrail
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.models import V2_ACTIONS, ActionType, ScoreBreakdown, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.plans import reference_plan
from TokenOptEnv.text_actions import Numbering, parse, write

EASY = "incident-easy-orders-cell2"
MENU = {kind: str(number) for number, kind in enumerate(menu.ENTRIES, start=1)}
Out = pytest.CaptureFixture[str]


def _camre(*arguments: str, typed: Iterable[str] = (), **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from TokenOptEnv.cli.main import main; main()", "play", *arguments],
        input="".join(f"{line}\n" for line in typed),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "80", **environment},
    )


@pytest.fixture
def typing(monkeypatch: pytest.MonkeyPatch, capsys: Out) -> Typing:
    monkeypatch.setenv("COLUMNS", "80")
    return Typing(monkeypatch, capsys)


class Typing:
    """Plays in this process, which is quicker; gives what was printed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *lines: str, options: tuple[str, ...] = (EASY,)) -> str:
        self._monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert run(["play", *options]) == 0
        told = self._capsys.readouterr()
        assert told.err == ""
        return told.out


def _planned(scenario_id: str) -> tuple[list[tuple[TokenOptEnvAction, TokenOptEnvObservation]], ScoreBreakdown]:
    """Each action of the reference plan with what it answers to, and the score it ends with."""
    env = LocalEnv()
    observation = env.reset(scenario_id, 0)
    steps = []
    for action in reference_plan(scenario_store.load(scenario_id), 0, EpisodeConfig()).actions:
        steps.append((action, observation))
        observation = env.step(action)
        if observation.done:
            break
    assert observation.score is not None and observation.score.success
    return steps, observation.score


def _chosen(action: TokenOptEnvAction, observation: TokenOptEnvObservation) -> list[str]:
    """The lines by which a person chooses this action from menus."""
    numbers = Numbering.of(observation)
    things = " ".join(str(numbers.things[name]) for name in action.context_segment_ids)
    findings = " ".join(str(numbers.finding_items[name]) for name in action.finding_ids)
    model = str(numbers.models.index(action.model_id) + 1) if action.model_id else ""
    first = MENU[action.action_type]
    match action.action_type:
        case ActionType.READ_ARTIFACT:
            artifact = next(each for each in observation.artifacts if each.artifact_id == action.artifact_id)
            paged = artifact.tokens > FULL_READ_CAP_TOKENS and artifact.segments > PREVIEW_PAGE_SEGMENTS
            return [first, str(artifact.alias), *([str(action.page or "")] if paged else [])]
        case ActionType.SEARCH_ARTIFACTS:
            return [first, action.query or "", str(action.top_k or "")]
        case ActionType.QUERY_CACHE:
            return [first, action.query or ""]
        case ActionType.HYDRATE_SEGMENTS | ActionType.PURGE_MEMORY:
            return [first, things]
        case ActionType.COMPRESS_CONTEXT:
            return [first, things, action.method or "", str(action.target_ratio or ""), action.query or ""]
        case ActionType.ROUTE_SUBTASK:
            question = str(numbers.subtasks.index(action.subtask_id or "") + 1)
            return [first, question, model, things, action.effort or ""]
        case ActionType.ESCALATE_ROUTE:
            return [first, str(numbers.route_items[action.route_id or ""]), model, action.effort or ""]
        case ActionType.SUBMIT_ANSWER:
            return [first, findings, "", "y"]
        case ActionType.WRITE_CHECKPOINT | ActionType.RESTORE_CHECKPOINT | ActionType.MALFORMED:
            raise AssertionError(f"no easy plan needs {action.action_type}")
        case _ as never:
            assert_never(never)


def test_an_easy_case_is_played_to_success_by_typing_actions() -> None:
    steps, score = _planned(EASY)
    lines = [write(action, Numbering.of(observation)) for action, observation in steps]
    done = _camre(EASY, typed=lines)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Solved: return {score.total_return:.3f}" in done.stdout
    assert f"Spent: ${score.cost_nano_usd / 1e9:.5f}" in done.stdout
    assert done.stdout.count("right, backed, grounded") == len(score.fields)
    told = (line for line in done.stdout.splitlines() if not line.endswith(tuple(lines)))  # what is typed may be long
    assert all(len(line) <= 80 for line in told)


def test_an_easy_case_is_played_to_success_by_choosing_numbers(typing: Typing) -> None:
    steps, score = _planned(EASY)
    shown = typing(*(line for action, observation in steps for line in _chosen(action, observation)))
    assert f"Solved: return {score.total_return:.3f}" in shown
    assert f"Spent: ${score.cost_nano_usd / 1e9:.5f}" in shown
    assert "None was touched." in shown


def test_a_policy_is_watched_to_its_end() -> None:
    played = episodes.play("cheapest", EASY, 3, LocalEnv())
    done = _camre(EASY, "--policy", "cheapest", "--seed", "3", "--delay", "0")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("this step ") == played.result.steps
    assert f"return {played.result.total_return:.3f}" in done.stdout
    shown = [done.stdout.index(f"step {number} of 12") for number in range(1, played.result.steps + 1)]
    assert shown == sorted(shown)
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


def test_nobody_is_waited_for_where_nobody_types(typing: Typing) -> None:
    assert "score" in typing(options=(EASY, "--policy", "cheapest"))


SLIPS = {
    "nothing": ("", "Type a number of the menu, an action, or ? for help."),
    "a number out of the menu": ("99", "99 is not in the menu; it has 1, 2, 3, 7, 9, 11."),
    "an action that is not possible yet": ("drop 1", "drop is not possible now"),
    "an unknown word": ("dance", "'dance' is no action"),
    "a verb with the wrong words": ("ask me anything", "it goes like: ask Q M N N.. [effort]"),
    "an artifact that is not there": ("read 99", "No artifact has the number 99 here."),
    "a question that is not there": ("ask 9 1", "No question has the number 9 here."),
    "a model that is not there": ("ask 1 9", "No model has the number 9 here."),
    "evidence that is not there": ("ask 1 1 77", "No item or segment has the number 77 here."),
    "a finding that is not there": ("submit 5", "No finding has the number 5 here."),
    "control characters": ("\x1b[31mred", "'?[31mred' is no action"),
    "an item that is not there": ("show 5", "Nothing in memory is numbered 5."),
    "no item": ("show", "show takes the number of an item in memory"),
}


@pytest.mark.parametrize("what", SLIPS)
def test_a_slip_is_told_in_one_line_and_costs_nothing(what: str, typing: Typing) -> None:
    line, told = SLIPS[what]
    *_, after = typing(line, "q").split("helps> ", 1)
    said, asked_again = after.split("number or action", 1)
    assert told in said
    assert said.count("\n") <= 3  # what was typed, and one line that may be wrapped
    assert "Left after 0 steps;" in asked_again and "this step" not in asked_again


def test_a_slip_within_an_action_asks_for_that_field_again(typing: Typing) -> None:
    shown = typing("read", "99", "", "1", "q")
    assert shown.count("is none of these; type one of their numbers") == 2
    assert "Left after 1 step;" in shown


def test_going_back_sends_nothing(typing: Typing) -> None:
    shown = typing("ask", "1", "b", "find", "back", "q")
    assert "Left after 0 steps;" in shown


def test_an_answer_is_sent_only_when_confirmed(typing: Typing) -> None:
    name = scenario_store.load(EASY).public.answer_fields[0].name
    fields = [field for field in scenario_store.load(EASY).public.answer_fields if field.kind.value != "patch"]
    own_words = ["1", *[""] * (len(fields) - 1)]
    unsure = typing("submit", *own_words, "n", "q")
    assert "Left after 0 steps;" in unsure
    sure = typing("submit", *own_words, "y")
    assert "Not solved" in sure
    assert name in sure and "no finding behind it" in sure
    assert wording.GUARDRAILS[Guardrail.UNGROUNDED_SUBMIT] in sure.replace("\n", " ")


def test_more_handles_than_a_model_reads_are_asked_for_again(typing: Typing) -> None:
    long = max(LocalEnv().reset(EASY, 0).artifacts, key=lambda each: each.segments).alias
    shown = typing(f"read {long}", "ask", "1", "1", "1 2 3 4 5", "1 2", "", "q")
    assert "5 of these are not held, and at most 4 may be" in shown
    assert "ask 1 1 1 2 " in shown


def test_a_refusal_names_the_remedy_and_the_price(typing: Typing) -> None:
    artifacts = LocalEnv().reset(EASY, 0).artifacts
    longest = sorted(artifacts, key=lambda each: -each.tokens)[:2]
    previews = [f"read {each.alias}" for each in longest]
    env = LocalEnv()
    observation = env.reset(EASY, 0)
    for line in previews:
        observation = env.step(parse(line, observation))
    numbers = " ".join(str(handle.alias) for handle in observation.surfaced)
    shown = typing(*previews, f"load {numbers}", "q")
    refused = shown[shown.index("Refused. ") :]
    assert refused.startswith("Refused. MEMORY_FULL: needs ")
    assert "this step  $0.00" in refused
    assert "guardrail: invalid_action" in refused


def test_an_item_is_shown_whole_and_for_free(typing: Typing) -> None:
    small = min(LocalEnv().reset(EASY, 0).artifacts, key=lambda each: each.tokens)
    env = LocalEnv()
    observation = env.reset(EASY, 0)
    held = env.step(parse(f"read {small.alias}", observation)).working_memory.items[0]
    shown = typing(f"read {small.alias}", f"show {held.alias}", "q")
    first_line = held.text.split("\n", 1)[0][:60]
    assert shown.count(first_line) == 2
    assert "Left after 1 step;" in shown


def test_only_what_is_possible_is_offered(typing: Typing) -> None:
    shown = typing("find anything", "q", options=(EASY, "--profile", "v1"))
    offered = shown[shown.index("step 1 of") :]
    verbs = [menu.verb(kind) for kind in menu.ENTRIES]
    assert [verb for verb in verbs if f" {verb:<8} " in offered] == ["read", "cache", "ask", "submit"]
    assert "find is not possible now" in offered


def test_the_menu_has_every_action_under_the_verb_of_its_short_form() -> None:
    assert sorted(menu.ENTRIES) == sorted(V2_ACTIONS)
    for kind, entry in menu.ENTRIES.items():
        assert entry.usage.split()[0] == menu.verb(kind)


def test_the_example_in_the_help_can_be_typed() -> None:
    action = parse(play_menu.EXAMPLE, LocalEnv().reset(EASY, 0))
    assert (action.action_type, action.query, action.top_k) == (ActionType.SEARCH_ARTIFACTS, "pool exhausted", 4)


def test_every_part_of_a_score_has_words() -> None:
    _, score = _planned(EASY)
    assert list(wording.TERMS) == [term.term for term in score.terms]
    assert set(wording.GUARDRAILS) == set(Guardrail) == set(rewards.PENALTIES)
    assert {*LocalEnv().reset(EASY, 0).milestones.listed_ids, *TRUTH_MILESTONES} <= set(wording.MILESTONES)


def test_without_a_scenario_the_core_suite_is_offered(typing: Typing) -> None:
    ids = scenario_store.ids()
    shown = typing("0", "nothing-here", str(len(ids)), "q", options=())
    assert all(scenario_id in shown for scenario_id in ids)
    assert f"Type a number from 1 to {len(ids)}" in shown
    assert "no scenario 'nothing-here'" in shown
    assert f"{ids[-1]}, seed 0" in shown


@pytest.mark.parametrize(
    ("typed", "options", "last"),
    [
        ((), (), "Nothing was played."),
        ((), (EASY,), "Left after 0 steps; nothing was graded."),
        (("read",), (EASY,), "Left after 0 steps; nothing was graded."),
        (("read 1",), (EASY,), "Left after 1 step; nothing was graded."),
    ],
    ids=["choosing a scenario", "at the menu", "within an action", "in the middle"],
)
def test_the_end_of_the_input_ends_the_game_cleanly(
    typed: tuple[str, ...], options: tuple[str, ...], last: str, typing: Typing
) -> None:
    assert typing(*typed, options=options).splitlines()[-1] == last


def test_an_interrupt_ends_the_process_with_130() -> None:
    code = "from TokenOptEnv.cli.main import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "play", EASY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores it
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        shown = ""
        while not shown.endswith("helps> "):
            sign = process.stdout.read(1)
            assert sign, shown
            shown += sign
        time.sleep(0.3)  # the prompt is written before the read begins, and only a read is interrupted
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 130
        assert "Traceback" not in process.stderr.read()


def test_colours_are_left_out_when_asked(typing: Typing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in typing("read 1", "q")
    assert "\x1b[" not in typing("read 1", "q", options=(EASY, "--no-color"))


def test_a_terminal_obeys_nothing_that_stands_in_the_evidence() -> None:
    assert plain("\x1b[2Jgone\r\x9b31m kept …\n") == "?[2Jgone??31m kept …\n"


def test_truth_and_plan_are_shown_at_the_end_only_when_asked_for(typing: Typing) -> None:
    plan = reference_plan(scenario_store.load(EASY), 0, EpisodeConfig())
    watched = (EASY, "--policy", "random")
    assert "The reference plan\n" not in typing(options=watched)
    truth = typing(options=(*watched, "--reveal")).split("truth ─", 1)[1]
    for field in scenario_store.load(EASY).hidden.fields:
        assert field.accepted[0].split("\n", 1)[0] in truth
    assert f"{len(plan.actions)} SUBMIT_ANSWER" in truth


def test_the_truth_of_a_test_case_is_never_shown(capsys: Out) -> None:
    assert run(["play", scenario_store.at("test", 0), "--reveal"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "is of the test split, whose truth is never shown" in told.err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["nothing"], "no scenario 'nothing'"),
        ([EASY, "--policy", "cheap"], "did you mean 'cheapest'?"),
        ([EASY, "--seed", "-1"], "seed must be a whole number"),
        ([EASY, "--track", "x"], "track must be one of controller, solver"),
    ],
)
def test_a_wrong_option_is_one_line_before_anything_is_shown(options: list[str], told: str, capsys: Out) -> None:
    assert run(["play", *options]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert told in shown.err and shown.err.count("\n") == 1


def test_a_reset_between_phases_is_announced_with_the_new_task(store: tuple[str, ...], typing: Typing) -> None:
    marathon = next(name for name in store if "marathon" in name)
    shown = typing(options=(marathon, "--policy", "cheapest"))
    for phase in (1, 2, 3):
        assert f"Phase {phase} of 3: " in shown
    assert shown.count("The context was reset: only notes are left") == 2


def test_findings_of_one_restored_note_are_told_apart_by_letters() -> None:
    env = LocalEnv()
    observation = env.reset(EASY, 0)
    for line in (write(action, Numbering.of(before)) for action, before in _planned(EASY)[0]):
        observation = env.step(parse(line, observation))
        if len(observation.findings) == 2:
            break
    items = " ".join(str(item.alias) for item in observation.working_memory.items if item.finding_ids)
    for line in (f"note {items}: both", f"drop {items}", "recall 1"):
        observation = env.step(parse(line, observation))
        assert observation.last_tool_result is not None and observation.last_tool_result.status == "ok"
    restored = observation.working_memory.items[-1]
    offered = Choices(observation, Sightings()).findings()
    assert [choice.key for choice in offered] == [f"{restored.alias}a", f"{restored.alias}b"]
    assert [choice.value for choice in offered] == [finding.finding_id for finding in observation.findings]
