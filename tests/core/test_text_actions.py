"""The short form: `parse` undoes `write`, every word is billed, and nothing a policy says breaks it."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import STRONGEST, WEAKEST, Play, find_everything, segment_with, toy, world_of
from TokenOptEnv import segment_ranges
from TokenOptEnv.config import ITEM_HEADER_TOKENS
from TokenOptEnv.models import ActionType, RefusalReason, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.text_actions import Numbering, describe, parse, referred, write

ORDERS = segment_with(toy(), "pool exhausted")
_A = ActionType


@cache
def play() -> Play:
    """Shared: nobody acts on it further."""
    game = Play(world_of(toy()))
    find_everything(game)
    game.checkpoint("kept", *game.finding_ids)
    return game


def said(text: str) -> TokenOptEnvAction:
    return parse(text, play().observation)


def written(action: TokenOptEnvAction) -> str:
    return write(action, Numbering.of(play().observation))


def action(kind: ActionType, **fields: object) -> TokenOptEnvAction:
    return TokenOptEnvAction.model_validate({"action_type": kind, **fields})


@pytest.mark.parametrize(
    "whole",
    [
        action(_A.READ_ARTIFACT, artifact_id="log-gateway"),
        action(_A.READ_ARTIFACT, artifact_id="log-gateway", page=2),
        action(_A.QUERY_CACHE, query="which setting bounds the pool?"),
        action(_A.SEARCH_ARTIFACTS, query="pool exhausted"),
        action(_A.SEARCH_ARTIFACTS, query="pool exhausted", top_k=3),
        action(_A.HYDRATE_SEGMENTS, context_segment_ids=(ORDERS,)),
        action(_A.PURGE_MEMORY, context_segment_ids=("config-orders-s1", "search-3")),
        action(_A.COMPRESS_CONTEXT, context_segment_ids=("config-orders-s1",), method="dedupe"),
        action(_A.COMPRESS_CONTEXT, context_segment_ids=("config-orders-s1",), method="dedupe", target_ratio=0.25),
        action(_A.COMPRESS_CONTEXT, context_segment_ids=("config-orders-s1",), method="extract", target_ratio=1.0),
        action(_A.ROUTE_SUBTASK, subtask_id="q-setting", model_id=WEAKEST),
        action(
            _A.ROUTE_SUBTASK, subtask_id="q-cause", model_id=STRONGEST, context_segment_ids=(ORDERS,), effort="high"
        ),
        action(_A.ESCALATE_ROUTE, route_id="route-1"),
        action(_A.ESCALATE_ROUTE, route_id="route-1", model_id=STRONGEST),
        action(_A.ESCALATE_ROUTE, route_id="route-1", model_id=STRONGEST, effort="high"),
        action(_A.ESCALATE_ROUTE, route_id="route-1", effort="low"),
        action(_A.WRITE_CHECKPOINT, note="the pool: 50 of 50"),
        action(
            _A.WRITE_CHECKPOINT, note="so far", finding_ids=("finding-1",), context_segment_ids=("config-orders-s1",)
        ),
        action(_A.RESTORE_CHECKPOINT, checkpoint_id="checkpoint-1"),
        action(_A.SUBMIT_ANSWER, finding_ids=("finding-2", "finding-3")),
        action(_A.SUBMIT_ANSWER, answer={"cause": "deadlock"}, evidence_segment_ids=(ORDERS,)),
        action(_A.SUBMIT_ANSWER, answer={"cause": "deadlock", "setting": "x"}, evidence_segment_ids=(ORDERS,)),
    ],
    ids=describe,
)
def test_what_is_written_is_read_back(whole: TokenOptEnvAction) -> None:
    assert said(written(whole)) == whole


@pytest.mark.parametrize(
    ("short", "kind"),
    [
        ("read 1", _A.READ_ARTIFACT),
        ("READ 1 p2", _A.READ_ARTIFACT),
        ("  find pool \nbecause I want to know", _A.SEARCH_ARTIFACTS),
        ("recall 1", _A.RESTORE_CHECKPOINT),
        ("note : only words", _A.WRITE_CHECKPOINT),
    ],
)
def test_small_liberties_are_taken(short: str, kind: ActionType) -> None:
    assert said(short).action_type is kind


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "hello",
        "read",
        "read one",
        "ask 1",
        "ask 1 2 3 fast",
        "submit",
        "load",
        "load x",
        "up",
        "read 1 2 3",
        "7",
    ],
)
def test_what_has_no_form_is_malformed_and_kept_as_said(text: str) -> None:
    parsed = said(text)
    assert parsed.action_type is ActionType.MALFORMED
    assert parsed.raw_text == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("read 99", RefusalReason.UNKNOWN_ID),
        ("load 99", RefusalReason.NOT_SURFACED),
        ("drop 99", RefusalReason.NOT_IN_MEMORY),
        ("ask 99 1", RefusalReason.UNKNOWN_ID),
        ("ask 1 99", RefusalReason.UNKNOWN_ID),
        ("up 99", RefusalReason.UNKNOWN_ID),
        ("recall 99", RefusalReason.UNKNOWN_ID),
        ("submit 99", RefusalReason.NOT_IN_MEMORY),
        ("read 0", RefusalReason.UNKNOWN_ID),
    ],
)
def test_a_number_that_names_nothing_is_refused_with_that_number(text: str, reason: RefusalReason) -> None:
    game = Play(world_of(toy()))
    find_everything(game)
    game.act(parse(text, game.observation))
    assert game.refusal is not None
    assert game.refusal.reason is reason
    assert game.refusal.value == "#" + text.split()[1 if text != "ask 1 99" else 2]


@given(st.text(st.characters(), max_size=200))
def test_whatever_is_said_becomes_an_action(text: str) -> None:
    assert isinstance(said(text), TokenOptEnvAction)


@pytest.mark.parametrize(
    "text", ["\ud800 read 1", "find \udfff pool", "cache \ud800", "note : \ud800", "submit 4: cause=\ud800"]
)
def test_half_a_character_is_played_like_anything_else_that_was_said(text: str) -> None:
    """A policy's words may come out of JSON that escapes only half of a pair."""
    game = Play(world_of(toy()))
    game.act(parse(text, game.observation))
    assert game.observation.step == 1
    assert TokenOptEnvObservation.model_validate_json(game.observation.model_dump_json()) == game.observation


@given(
    st.builds(
        lambda verb, rest: f"{verb} {rest}",
        st.sampled_from(["read", "cache", "find", "squeeze", "ask", "submit", "load", "drop", "note", "recall", "up"]),
        st.text("0123456789 :;=.pabcdefxyz_\u0663", max_size=40),
    )
)
def test_whatever_follows_a_verb_becomes_an_action(text: str) -> None:
    assert isinstance(said(text), TokenOptEnvAction)


def test_a_flood_is_cut() -> None:
    parsed = said("find " + "pool " * 100_000)
    assert len(parsed.query or "") <= 4_000


# --- the bill


_LONG = "a dozen words or more that say nothing at all about any of this, really"


@pytest.mark.parametrize(
    ("kind", "fields", "name"),
    [
        (_A.QUERY_CACHE, {}, "query"),
        (_A.SEARCH_ARTIFACTS, {}, "query"),
        (_A.COMPRESS_CONTEXT, {"context_segment_ids": ("config-orders-s1",), "method": "extract"}, "query"),
        (_A.WRITE_CHECKPOINT, {}, "note"),
        (_A.READ_ARTIFACT, {}, "artifact_id"),
        (_A.ROUTE_SUBTASK, {"subtask_id": "q-setting"}, "model_id"),
        (_A.ESCALATE_ROUTE, {"route_id": "route-1"}, "model_id"),
        (_A.ESCALATE_ROUTE, {"route_id": "route-1"}, "effort"),
        (_A.RESTORE_CHECKPOINT, {}, "checkpoint_id"),
        (_A.MALFORMED, {}, "raw_text"),
    ],
)
def test_every_word_of_an_action_is_billed(kind: ActionType, fields: dict[str, object], name: str) -> None:
    bills = []
    for words in ("x", _LONG):
        game = Play(world_of(toy()))
        find_everything(game)
        game.act(action(kind, **fields, **{name: words}))
        bills.append(game.observation.ledger[0].output_tokens)
    assert bills[1] >= bills[0] + 10


def test_an_answer_is_billed_by_its_length() -> None:
    bills = []
    for words in ("x", _LONG):
        game = Play(world_of(toy()))
        game.act(action(_A.SUBMIT_ANSWER, answer={"cause": words}))
        bills.append(game.observation.ledger[0].output_tokens)
    assert bills[1] >= bills[0] + 10


def test_words_beyond_what_is_counted_exactly_are_billed_too() -> None:
    bills = []
    for length in (4_000, 8_000):
        game = Play(world_of(toy()))
        game.act(action(_A.MALFORMED, raw_text="x" * length))
        bills.append(game.observation.ledger[0].output_tokens)
    assert bills[1] >= bills[0] + 1_000


# --- for people


def test_the_long_form_names_every_field_that_was_set() -> None:
    told = describe(action(_A.ROUTE_SUBTASK, subtask_id="q-cause", model_id=WEAKEST, context_segment_ids=("a", "b")))
    assert told == f"ROUTE_SUBTASK context_segment_ids=a,b subtask_id=q-cause model_id={WEAKEST}"


def test_a_question_is_named_in_a_query_instead_of_copied() -> None:
    assert said("find ?1 k3") == action(_A.SEARCH_ARTIFACTS, query="request failed gateway", top_k=3)
    assert said("cache ?3") == action(_A.QUERY_CACHE, query="setting bounds pool")
    assert said("squeeze 1 extract 0.3: lease ?3").query == "lease setting bounds pool"


def test_a_named_question_is_read_with_its_slot_filled() -> None:
    assert said("find ?2").query == "req-7f3a fail"


@pytest.mark.parametrize("query", ["?9", "?", "why?1", "?1st", "?0"])
def test_what_names_no_question_is_searched_for_as_it_is(query: str) -> None:
    assert said(f"find {query}").query == query


def test_a_named_question_costs_what_its_words_cost() -> None:
    named, copied = Play(world_of(toy())), Play(world_of(toy()))
    named.act(parse("find ?1 k2", named.observation))
    copied.act(parse("find request failed gateway k2", copied.observation))
    assert named.observation == copied.observation


@pytest.mark.parametrize("query", ["request failed gateway", "req-7f3a fail", "something else"])
def test_naming_is_undone_by_reading(query: str) -> None:
    whole = action(_A.SEARCH_ARTIFACTS, query=query, top_k=2)
    short = referred(whole, play().observation)
    assert (short.query == query) is (query == "something else")
    assert said(written(short)) == whole


# --- a range of segments


@cache
def listed() -> TokenOptEnvObservation:
    """Many segments, two of them in memory, one of those shortened."""
    game = Play(world_of(toy()))
    for text in ("find pool exhausted request failed k8", "load 2 5", "squeeze 2 extract 0.5"):
        game.act(parse(text, game.observation))
    return game.observation


def roomy(free_tokens: int | None) -> TokenOptEnvObservation:
    """The same, as if memory had just this much room."""
    shown = listed()
    memory = shown.working_memory
    budget = None if free_tokens is None else memory.token_budget_used + free_tokens
    return shown.model_copy(update={"working_memory": memory.model_copy(update={"token_budget": budget})})


def whole_range() -> str:
    numbers = [handle.alias for handle in listed().surfaced]
    return f"load {min(numbers)}-{max(numbers)}"


def held() -> set[str]:
    return {name for item in listed().working_memory.items for name in (item.item_id, *item.source_ids)}


def test_a_range_means_what_of_it_is_not_held() -> None:
    loaded = parse(whole_range(), roomy(None))
    surfaced = {handle.segment_id for handle in listed().surfaced}
    assert loaded.action_type is _A.HYDRATE_SEGMENTS
    assert len(held() & surfaced) == 2 and set(loaded.context_segment_ids) == surfaced - held()
    numbers = Numbering.of(listed()).things
    assert list(loaded.context_segment_ids) == sorted(loaded.context_segment_ids, key=lambda name: numbers[name])


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_range_goes_as_far_as_memory_does(share: float) -> None:
    tokens = {handle.segment_id: handle.tokens + ITEM_HEADER_TOKENS for handle in listed().surfaced}
    everything = parse(whole_range(), roomy(None)).context_segment_ids
    room = int(share * sum(tokens[name] for name in everything))
    loaded = parse(whole_range(), roomy(room)).context_segment_ids
    left = room - sum(tokens[name] for name in loaded)
    assert 0 < len(loaded) < len(everything) and left >= 0
    assert all(tokens[name] > left for name in everything if name not in loaded)


@pytest.mark.parametrize("text", ["load 90-95", "load 9-2"])
def test_a_range_that_means_nothing_is_refused_by_its_first_number(text: str) -> None:
    first = text.removeprefix("load ").split("-")[0]
    assert said(text) == said(f"load {first}")


def test_a_range_costs_what_its_numbers_cost() -> None:
    ranged, spelt_out = Play(world_of(toy())), Play(world_of(toy()))
    for game in (ranged, spelt_out):
        game.act(parse("find pool exhausted k3", game.observation))
    action = parse("load 1-3", ranged.observation)
    ranged.act(action)
    spelt_out.act(parse(write(action, Numbering.of(spelt_out.observation)), spelt_out.observation))
    assert ranged.observation.working_memory.items and ranged.observation == spelt_out.observation


@given(st.sets(st.integers(0, 30)), st.integers(0, 4_000))
def test_the_widest_range_means_just_what_it_was_made_for(places: set[int], free_tokens: int) -> None:
    shown = roomy(free_tokens)
    names = [handle.segment_id for handle in sorted(shown.surfaced, key=lambda each: each.alias)]
    wanted = tuple(name for place, name in enumerate(names) if place in places)
    if wanted and (found := segment_ranges.widest(shown, wanted)) is not None:
        assert parse(f"load {found[0]}-{found[1]}", shown).context_segment_ids == wanted


def test_no_range_stands_for_what_was_not_shown_or_is_held() -> None:
    assert segment_ranges.widest(roomy(None), ("nothing-s1",)) is None
    surfaced = {handle.segment_id for handle in listed().surfaced}
    assert all(segment_ranges.widest(roomy(None), (name,)) is None for name in held() & surfaced)
