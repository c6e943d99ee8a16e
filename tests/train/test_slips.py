"""Mistakes in traces: refused, made good at once, and never taught."""

from __future__ import annotations

import re

import pytest

from TokenOptEnv import LocalEnv
from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.models import ActionType
from TokenOptEnv.streams import Stream
from TokenOptEnv.text_actions import parse
from training.collect import ExampleTrace, Job, collect_case
from training.slips import slip

_CASE = "incident-easy-orders-cell2"


@pytest.fixture(scope="module")
def traces() -> tuple[ExampleTrace, ...]:
    job = Job(_CASE, EpisodeConfig(), ("rag",), least_return=-1.0, slip_share=0.5)
    return collect_case(job).traces


def test_worlds_are_also_shown_with_slips_and_never_twice_without(traces: tuple[ExampleTrace, ...]) -> None:
    clean, slipped = traces[:4], traces[4:]
    assert [trace.seed for trace in clean] == [0, 1, 2, 3]
    assert not any(trace.slips for trace in clean)
    assert slipped and all(trace.slips for trace in slipped)
    assert len({(trace.seed, trace.actions) for trace in traces}) == len(traces)


def test_a_slip_is_refused_and_what_follows_is_not(traces: tuple[ExampleTrace, ...]) -> None:
    for trace in traces:
        env = LocalEnv()
        observation = env.reset(scenario_id=trace.scenario_id, seed=trace.seed)
        for place, text in enumerate(trace.actions):
            observation = env.step(parse(text, observation))
            assert observation.last_tool_result is not None
            assert (observation.last_tool_result.refusal is not None) == (place in trace.slips), text


def test_without_its_slips_a_trace_is_the_one_without(traces: tuple[ExampleTrace, ...]) -> None:
    for slipped in traces[4:]:
        clean = traces[slipped.seed]
        kept = tuple(text for place, text in enumerate(slipped.actions) if place not in slipped.slips)
        assert kept == clean.actions
        assert slipped.total_return <= clean.total_return


def test_slips_are_the_same_in_any_process(traces: tuple[ExampleTrace, ...]) -> None:
    job = Job(_CASE, EpisodeConfig(), ("rag",), least_return=-1.0, slip_share=0.5)
    assert collect_case(job).traces == traces


def test_every_action_that_names_something_by_number_may_be_misnumbered() -> None:
    """Nothing but a number changes; a search names nothing."""
    observation = LocalEnv().reset(scenario_id=_CASE, seed=0)
    draw = Stream("misnumbered")
    wrong = {slip(parse("read 1", observation), observation, draw) for _ in range(200)}
    assert all(each is None or re.fullmatch(r"read \d+", each) for each in wrong)
    assert len(wrong) > 3 and "read 1" not in wrong
    assert {slip(parse("find errors k5", observation), observation, draw) for _ in range(50)} == {None}


def test_a_refused_slip_is_now_and_then_said_again(traces: tuple[ExampleTrace, ...]) -> None:
    places = [(trace, place) for trace in traces for place in trace.slips]
    again = [trace.actions[place] == trace.actions[place - 1] for trace, place in places if place - 1 in trace.slips]
    assert any(again)


def test_where_any_slip_will_do_it_may_be_something_else_altogether() -> None:
    observation = LocalEnv().reset(scenario_id=_CASE, seed=0)
    draw = Stream("astray")
    wrong = {slip(parse("find errors k5", observation), observation, draw, may_go_through=True) for _ in range(400)}
    verbs = {"up", "ask", "read", "load", "drop", "submit", "recall", "squeeze"}
    assert {each.split()[0] for each in wrong if each} == verbs
    assert all(parse(each, observation).action_type is not ActionType.MALFORMED for each in wrong if each)


def test_where_few_are_shown_they_are_the_best(traces: tuple[ExampleTrace, ...]) -> None:
    job = Job(_CASE, EpisodeConfig(), ("rag",), least_return=-1.0, most_traces=1)
    shown = collect_case(job).traces
    assert len(shown) < len(traces[:4])
    assert max(each.total_return for each in shown) == max(each.total_return for each in traces[:4])
    hidden = [each.total_return for each in traces[:4] if each not in shown]
    assert max(hidden) <= min(each.total_return for each in shown)
