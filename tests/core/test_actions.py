"""Every action does what it says, and every refusal says why and changes nothing but the bill."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import pytest
from pydantic import ValidationError

from tests.cases import (
    MENU,
    STRONGEST,
    WEAKEST,
    Play,
    ScriptedBackend,
    find_everything,
    marathon,
    patches,
    segment_with,
    toy,
    with_cards,
    with_limits,
    world_of,
)
from TokenOptEnv.config import (
    CHECKPOINT_CAP_TOKENS,
    PREVIEW_CAP_TOKENS,
    SEARCH_HIT_CAP_TOKENS,
    TEXT_CAP_CHARACTERS,
    Profile,
    Track,
)
from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.models import (
    V1_ACTIONS,
    V2_ACTIONS,
    ActionType,
    CachePayload,
    CheckpointPayload,
    CompressPayload,
    EndReason,
    HydratePayload,
    ItemKind,
    LegalActions,
    PurgePayload,
    ReadPayload,
    RefusalReason,
    RestorePayload,
    RoutePayload,
    SearchPayload,
    SubmitPayload,
    TokenOptEnvAction,
    TokenOptEnvObservation,
)
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.simulators.compression import methods

GATEWAY = segment_with(toy(), "req-7f3a failed")
ORDERS = segment_with(toy(), "pool exhausted")
CONFIG = "config-orders-s1"
TEXTS = {s.segment_id: s.text for artifact in toy().public.artifacts for s in artifact.segments}


def play(**options: Any) -> Play:
    return Play(world_of(toy(), **options))


def told(observation: TokenOptEnvObservation) -> Any:
    assert observation.last_tool_result is not None
    assert observation.last_tool_result.status == "ok", observation.last_tool_result.refusal
    return observation.last_tool_result.payload


# --- what each action does


def test_a_small_artifact_is_read_whole() -> None:
    game = play()
    payload = told(game.read("ticket-checkout"))
    assert isinstance(payload, ReadPayload)
    assert payload["access_mode"] == "full"
    assert payload.item_ids == payload.preview_segment_ids == ("ticket-checkout-s1", "ticket-checkout-s2")
    assert [item.text for item in game.observation.working_memory.items] == [TEXTS[name] for name in payload.item_ids]


def test_a_large_artifact_is_previewed_a_page_at_a_time() -> None:
    game = play()
    first = told(game.read("log-gateway"))
    second = told(game.read("log-gateway", 2))
    assert (first.access_mode, first.page, first.pages, len(first.preview_segment_ids)) == ("preview", 1, 2, 8)
    assert (second.page, len(second.preview_segment_ids)) == (2, 7)
    shown = first.preview_segment_ids + second.preview_segment_ids
    assert shown == tuple(f"log-gateway-s{number}" for number in range(1, 16))
    assert tuple(handle.segment_id for handle in game.observation.surfaced) == shown
    for item in game.observation.working_memory.items:
        assert item.kind is ItemKind.PREVIEW
        assert item.tokens <= PREVIEW_CAP_TOKENS
    assert not any(TEXTS[name] in item.text for name in shown for item in game.observation.working_memory.items)


def test_the_outline_shows_what_each_segment_would_take() -> None:
    payload = told(play().read("log-orders"))
    counts = dict(zip(TEXTS, toy().public.segment_tokens["qwen3"], strict=True))
    assert [line.tokens for line in payload.outline] == [counts[line.segment_id] for line in payload.outline]
    assert [line.alias for line in payload.outline] == list(range(1, 8))


def test_a_search_surfaces_its_hits_best_first() -> None:
    game = play()
    payload = told(game.search("pool exhausted", 3))
    assert isinstance(payload, SearchPayload)
    assert payload.hits[0].segment_id == ORDERS
    assert "req-7f3a waited" in payload.hits[0].snippet
    assert 1 <= len(payload.hits) <= 3
    scores = [hit.score for hit in payload.hits]
    assert scores == sorted(scores, reverse=True)
    assert {handle.segment_id for handle in game.observation.surfaced} == {hit.segment_id for hit in payload.hits}
    (item,) = game.observation.working_memory.items
    assert item.kind is ItemKind.SEARCH
    assert item.tokens <= 3 * SEARCH_HIT_CAP_TOKENS


def test_a_search_without_a_number_gives_four_hits_and_one_for_nonsense_none() -> None:
    game = play()
    assert len(told(game.search("request served from shard")).hits) == 4
    assert told(game.search("xyzzy plugh")).hits == ()


def test_an_earlier_result_comes_with_its_version_and_age_and_becomes_a_finding() -> None:
    game = play()
    payload = told(game.query_cache("Which setting bounds the pool?"))
    assert isinstance(payload, CachePayload)
    hit = payload.hits[0]
    assert (hit.entry_id, hit.version, hit.age_hours, hit.cites) == ("cache-setting", "4.2.0", 3, (CONFIG,))
    finding = next(f for f in game.observation.findings if f.finding_id == hit.finding_id)
    assert (finding.source, finding.values) == ("cache", {"setting": "pool.max_connections"})
    assert CONFIG in {handle.segment_id for handle in game.observation.surfaced}
    assert game.observation.cache.queries == 1
    assert game.observation.cache.hits == len(payload.hits)


def test_the_same_earlier_result_is_not_held_twice() -> None:
    game = play()
    game.query_cache("Which setting bounds the pool?")
    held = game.item_ids
    game.query_cache("Which setting bounds the pool of orders?")
    assert game.item_ids == held


def test_a_surfaced_segment_is_loaded_as_it_is() -> None:
    game = play()
    game.search("pool exhausted", 1)
    payload = told(game.hydrate(ORDERS))
    assert isinstance(payload, HydratePayload)
    item = game.observation.working_memory.items[-1]
    assert (item.item_id, item.text, item.tokens) == (ORDERS, TEXTS[ORDERS], payload.tokens_added)


def test_what_is_purged_is_gone_but_can_be_loaded_again() -> None:
    game = play()
    game.read("ticket-checkout")
    before = game.observation.working_memory.token_budget_used
    payload = told(game.purge("ticket-checkout-s1"))
    assert isinstance(payload, PurgePayload)
    assert list(game.item_ids) == ["ticket-checkout-s2"]
    assert game.observation.working_memory.token_budget_used == before - payload.tokens_freed
    told(game.hydrate("ticket-checkout-s1"))
    assert list(game.item_ids) == ["ticket-checkout-s2", "ticket-checkout-s1"]


def test_a_finding_that_is_purged_is_forgotten() -> None:
    game = play()
    find_everything(game)
    finding_id = game.finding_ids[0]
    holder = next(item for item in game.observation.working_memory.items if finding_id in item.finding_ids)
    game.purge(holder.item_id)
    assert finding_id not in game.finding_ids
    game.submit(finding_id)
    assert game.refusal is not None
    assert game.refusal.reason is RefusalReason.NOT_IN_MEMORY


@pytest.mark.parametrize("method", methods())
def test_items_are_rewritten_as_one_where_the_first_was(method: str) -> None:
    game = play()
    game.read("config-orders")
    game.read("ticket-checkout")
    game.read("code-pool")
    wanted = ("ticket-checkout-s1", "code-pool-s1")
    before = {item.item_id: item for item in game.observation.working_memory.items}
    payload = told(game.compress(*wanted, method=method, target_ratio=0.3, query="pool"))
    assert isinstance(payload, CompressPayload)
    assert payload.tokens_before == sum(before[name].tokens for name in wanted)
    joined = "".join(before[name].text for name in wanted)
    expected = methods()[method].compress(joined, 0.3, "pool").rstrip("\n") + "\n"
    if payload.tokens_after == payload.tokens_before:
        assert game.item_ids == tuple(before)
        return
    assert game.item_ids == ("config-orders-s1", *payload.item_ids, "ticket-checkout-s2")
    item = game.observation.working_memory.items[1]
    assert (item.text, item.tokens, item.label) == (expected, payload.tokens_after, method)
    assert item.source_ids == payload.source_ids == wanted
    assert item.tokens < payload.tokens_before


def test_some_method_makes_the_ticket_shorter() -> None:
    """Else the test above would prove nothing."""
    shorter = []
    for method in methods():
        game = play()
        game.read("ticket-checkout")
        game.compress(*game.item_ids, method=method, target_ratio=0.3)
        shorter.append(len(game.item_ids) == 1)
    assert sum(shorter) >= 2


@pytest.mark.parametrize("method", methods())
@pytest.mark.parametrize("artifact_id", ["config-orders", "log-orders"])
def test_what_does_not_get_shorter_stays_as_it_is(artifact_id: str, method: str) -> None:
    """Not even its number changes: the line over a compressed item may be shorter, but its text is the same."""
    game = play()
    game.read(artifact_id)
    before = game.observation.working_memory
    (item,) = before.items
    same = methods()[method].compress(item.text, 1.0, "pool") == item.text
    payload = told(game.compress(item.item_id, method=method, target_ratio=1.0, query="pool"))
    assert (game.observation.working_memory == before) is same
    assert (game.observation.compression.runs == 0) is same
    assert (payload.item_ids == (item.item_id,)) is same


def test_a_route_reads_items_and_handles_in_the_order_given_and_returns_a_finding() -> None:
    backend = ScriptedBackend({"q-setting": {"setting": "pool.max_connections"}})
    game = play(backend=backend)
    game.read("config-orders")
    game.search("pool exhausted", 1)
    payload = told(game.route("q-setting", WEAKEST, ORDERS, CONFIG, effort="high"))
    assert isinstance(payload, RoutePayload)
    (request,) = backend.asked
    assert [(piece.item_id, piece.text) for piece in request.context] == [
        (ORDERS, TEXTS[ORDERS]),
        (CONFIG, TEXTS[CONFIG]),
    ]
    assert (request.subtask_id, request.model_id, request.effort.value) == ("q-setting", WEAKEST, "high")
    finding = game.observation.findings[-1]
    assert finding.values == payload.values == {"setting": "pool.max_connections"}
    assert (finding.source, finding.cites) == ("route", (ORDERS, CONFIG))
    route = game.observation.routing.routes[-1]
    worker = game.observation.ledger[-1]
    assert (
        (route.nano_usd, route.latency_ms)
        == (worker.nano_usd, worker.latency_ms)
        == (payload.nano_usd, payload.latency_ms)
    )
    assert worker.who == "worker"


def test_a_route_reads_a_compressed_item_as_it_now_stands() -> None:
    backend = ScriptedBackend({})
    game = play(backend=backend)
    game.read("ticket-checkout")
    game.compress(*game.item_ids, method="head_tail", target_ratio=0.3)
    (item,) = game.observation.working_memory.items
    game.route("q-setting", WEAKEST, item.item_id)
    (piece,) = backend.asked[0].context
    assert (piece.text, piece.source_ids) == (item.text, ("ticket-checkout-s1", "ticket-checkout-s2"))


def test_a_slot_is_filled_by_the_finding_held() -> None:
    backend = ScriptedBackend({"q-request": {"request_id": "req-7f3a"}})
    game = play(backend=backend)
    game.search("req-7f3a failed", 1)
    game.route("q-request", WEAKEST, GATEWAY)
    game.route("q-cause", WEAKEST, GATEWAY)
    assert backend.asked[-1].question == "Why did req-7f3a fail?"
    assert backend.asked[-1].slot_value == "req-7f3a"


def test_a_model_that_finds_the_evidence_wanting_leaves_no_finding() -> None:
    game = play(backend=ScriptedBackend({}))
    payload = told(game.route("q-setting", WEAKEST))
    assert payload.finding_id is None
    assert game.observation.findings == ()
    assert game.observation.routing.routes[-1].finding_id is None
    assert "insufficient evidence" in game.observation.working_memory.items[-1].text


def test_an_escalation_asks_a_stronger_model_the_same() -> None:
    backend = ScriptedBackend({"q-setting": {"setting": "x"}})
    game = play(backend=backend)
    game.read("config-orders")
    game.route("q-setting", WEAKEST, CONFIG)
    game.purge(CONFIG)
    payload = told(game.escalate("route-1"))
    assert payload.model_id == "gpt-5-mini"
    told(game.escalate("route-1", STRONGEST))
    first, *others = backend.asked
    for request in others:
        assert (request.subtask_id, request.question) == (first.subtask_id, first.question)
        assert [piece.text for piece in request.context] == [piece.text for piece in first.context]
    assert [route.escalated_from for route in game.observation.routing.routes] == [None, "route-1", "route-1"]


def test_a_checkpoint_lies_outside_memory_until_it_is_restored() -> None:
    game = play()
    find_everything(game)
    finding_id = game.finding_ids[0]
    before = game.observation.working_memory
    payload = told(game.checkpoint("The gateway names it.", finding_id, items=(CONFIG,)))
    assert isinstance(payload, CheckpointPayload)
    assert game.observation.working_memory == before
    game.purge(*game.item_ids)
    assert game.observation.findings == ()
    restored = told(game.restore(payload.checkpoint_id))
    assert isinstance(restored, RestorePayload)
    assert game.finding_ids == restored.finding_ids == (finding_id,)
    (item,) = game.observation.working_memory.items
    assert item.kind is ItemKind.CHECKPOINT
    for part in ("The gateway names it.", "req-7f3a", TEXTS[CONFIG].strip()):
        assert part in item.text


def test_a_finding_held_twice_is_listed_once() -> None:
    """Once as the reply it came as, once in a restored checkpoint."""
    game = play()
    find_everything(game)
    game.checkpoint("kept", *game.finding_ids)
    game.restore("checkpoint-1")
    assert list(game.finding_ids) == ["finding-1", "finding-2", "finding-3"]
    assert list(game.observation.legal_actions.choices["findings"]) == ["finding-1", "finding-2", "finding-3"]


def test_findings_alone_make_an_answer_with_its_evidence() -> None:
    game = play()
    find_everything(game)
    payload = told(game.submit(*game.finding_ids))
    assert isinstance(payload, SubmitPayload)
    assert payload.answer == {"cause": "pool_exhaustion", "setting": "pool.max_connections"}
    assert set(payload.evidence_segment_ids) == {GATEWAY, ORDERS, CONFIG}
    observation = game.observation
    assert observation.done and observation.terminated and not observation.truncated
    assert observation.end_reason is EndReason.SUBMITTED
    assert observation.legal_actions == LegalActions(actions=(), choices={})


def test_an_answer_that_says_what_a_finding_says_is_backed_by_it() -> None:
    game = play()
    find_everything(game)
    game.submit(answer={"cause": "pool_exhaustion", "setting": "pool.max_connections"})
    score = game.observation.score
    assert score is not None and score.success


# --- what is refused


Prepared = Callable[[Play], None]


def _nothing(game: Play) -> None:
    pass


def _read(*artifact_ids: str) -> Prepared:
    def prepare(game: Play) -> None:
        for artifact_id in artifact_ids:
            game.read(artifact_id)

    return prepare


def _routed(game: Play) -> None:
    game.read("config-orders")
    game.route("q-setting", STRONGEST, CONFIG)


def _requested(game: Play) -> None:
    game.search("req-7f3a failed", 1)
    game.route("q-request", WEAKEST, GATEWAY)


def _surfaced(game: Play) -> None:
    game.search("pool exhausted", 1)


def _saved(game: Play) -> None:
    game.checkpoint("a note of about a dozen words, so that it does not fit")


def _saved_and_restored(game: Play) -> None:
    game.checkpoint("a note")
    game.restore("checkpoint-1")


@dataclass(frozen=True)
class Bad:
    """A bad action, the state it is bad in, and what must be said of it."""

    reason: RefusalReason
    about: str
    value: str
    kind: ActionType
    fields: dict[str, Any] = field(default_factory=dict)
    prepare: Prepared = _nothing
    scenario: Callable[[], Scenario] = toy
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.reason.value}-{self.kind.value}-{self.about}"


_R, _A = RefusalReason, ActionType
_LONG = "w" * (TEXT_CAP_CHARACTERS + 1)
BAD = [
    Bad(_R.MALFORMED, "raw_text", "open the log", _A.MALFORMED, {"raw_text": "open the log"}),
    Bad(
        _R.OUT_OF_RANGE,
        "reasoning_tokens",
        "-1",
        _A.READ_ARTIFACT,
        {"artifact_id": "code-pool", "reasoning_tokens": -1},
    ),
    Bad(_R.MISSING_FIELD, "artifact_id", "", _A.READ_ARTIFACT),
    Bad(_R.UNKNOWN_ID, "artifact_id", "log-nowhere", _A.READ_ARTIFACT, {"artifact_id": "log-nowhere"}),
    Bad(_R.OUT_OF_RANGE, "page", "3", _A.READ_ARTIFACT, {"artifact_id": "log-gateway", "page": 3}),
    Bad(_R.OUT_OF_RANGE, "page", "0", _A.READ_ARTIFACT, {"artifact_id": "log-gateway", "page": 0}),
    Bad(_R.OUT_OF_RANGE, "page", "2", _A.READ_ARTIFACT, {"artifact_id": "code-pool", "page": 2}),
    Bad(
        _R.ALREADY_IN_MEMORY,
        "artifact_id",
        "code-pool",
        _A.READ_ARTIFACT,
        {"artifact_id": "code-pool"},
        _read("code-pool"),
    ),
    Bad(_R.MISSING_FIELD, "query", "", _A.SEARCH_ARTIFACTS, {"query": "  "}),
    Bad(_R.TOO_LONG, "query", _LONG, _A.SEARCH_ARTIFACTS, {"query": _LONG}),
    Bad(_R.OUT_OF_RANGE, "top_k", "9", _A.SEARCH_ARTIFACTS, {"query": "pool", "top_k": 9}),
    Bad(_R.OUT_OF_RANGE, "top_k", "0", _A.SEARCH_ARTIFACTS, {"query": "pool", "top_k": 0}),
    Bad(_R.MISSING_FIELD, "query", "", _A.QUERY_CACHE),
    Bad(_R.TOO_LONG, "query", _LONG, _A.QUERY_CACHE, {"query": _LONG}),
    Bad(_R.MISSING_FIELD, "context_segment_ids", "", _A.HYDRATE_SEGMENTS),
    Bad(_R.NOT_SURFACED, "context_segment_ids", ORDERS, _A.HYDRATE_SEGMENTS, {"context_segment_ids": (ORDERS,)}),
    Bad(
        _R.ALREADY_IN_MEMORY,
        "context_segment_ids",
        CONFIG,
        _A.HYDRATE_SEGMENTS,
        {"context_segment_ids": (CONFIG,)},
        _read("config-orders"),
    ),
    Bad(_R.MISSING_FIELD, "context_segment_ids", "", _A.PURGE_MEMORY),
    Bad(_R.NOT_IN_MEMORY, "context_segment_ids", "item-1", _A.PURGE_MEMORY, {"context_segment_ids": ("item-1",)}),
    Bad(_R.NOT_IN_MEMORY, "context_segment_ids", CONFIG, _A.COMPRESS_CONTEXT, {"context_segment_ids": (CONFIG,)}),
    Bad(
        _R.NOT_COMPRESSIBLE,
        "context_segment_ids",
        "finding-2",
        _A.COMPRESS_CONTEXT,
        {"context_segment_ids": ("finding-2",), "method": "head_tail"},
        _routed,
    ),
    Bad(
        _R.MISSING_FIELD,
        "method",
        "",
        _A.COMPRESS_CONTEXT,
        {"context_segment_ids": (CONFIG,)},
        _read("config-orders"),
    ),
    Bad(
        _R.UNKNOWN_ID,
        "method",
        "zip",
        _A.COMPRESS_CONTEXT,
        {"context_segment_ids": (CONFIG,), "method": "zip"},
        _read("config-orders"),
    ),
    *(
        Bad(
            _R.OUT_OF_RANGE,
            "target_ratio",
            str(ratio),
            _A.COMPRESS_CONTEXT,
            {"context_segment_ids": (CONFIG,), "method": "dedupe", "target_ratio": ratio},
            _read("config-orders"),
        )
        for ratio in (0.0, -1.0, 1.5, float("nan"), float("inf"))
    ),
    Bad(
        _R.TOO_LONG,
        "query",
        _LONG,
        _A.COMPRESS_CONTEXT,
        {"context_segment_ids": (CONFIG,), "method": "extract", "query": _LONG},
        _read("config-orders"),
    ),
    Bad(_R.MISSING_FIELD, "subtask_id", "", _A.ROUTE_SUBTASK, {"model_id": WEAKEST}),
    Bad(_R.UNKNOWN_ID, "subtask_id", "q-none", _A.ROUTE_SUBTASK, {"subtask_id": "q-none", "model_id": WEAKEST}),
    Bad(_R.MISSING_FIELD, "model_id", "", _A.ROUTE_SUBTASK, {"subtask_id": "q-setting"}),
    Bad(_R.UNKNOWN_ID, "model_id", "gpt-2", _A.ROUTE_SUBTASK, {"subtask_id": "q-setting", "model_id": "gpt-2"}),
    Bad(
        _R.UNKNOWN_ID,
        "effort",
        "utmost",
        _A.ROUTE_SUBTASK,
        {"subtask_id": "q-setting", "model_id": WEAKEST, "effort": "utmost"},
    ),
    Bad(_R.SLOT_EMPTY, "subtask_id", "q-cause", _A.ROUTE_SUBTASK, {"subtask_id": "q-cause", "model_id": WEAKEST}),
    Bad(
        _R.NOT_SURFACED,
        "context_segment_ids",
        ORDERS,
        _A.ROUTE_SUBTASK,
        {"subtask_id": "q-setting", "model_id": WEAKEST, "context_segment_ids": (ORDERS,)},
    ),
    Bad(
        _R.TOO_MANY,
        "context_segment_ids",
        "5 by handle",
        _A.ROUTE_SUBTASK,
        {
            "subtask_id": "q-setting",
            "model_id": WEAKEST,
            "context_segment_ids": tuple(f"log-orders-s{number}" for number in range(1, 6)),
        },
        _read("log-orders"),
    ),
    Bad(
        _R.CONTEXT_WINDOW,
        "context tokens",
        "",
        _A.ROUTE_SUBTASK,
        {"subtask_id": "q-setting", "model_id": WEAKEST},
        options={"visibly": with_cards(context_window_tokens=200)},
    ),
    Bad(
        _R.ALREADY_ANSWERED,
        "model_id",
        STRONGEST,
        _A.ROUTE_SUBTASK,
        {"subtask_id": "q-request", "model_id": STRONGEST, "context_segment_ids": (GATEWAY,)},
        _requested,
    ),
    Bad(_R.MISSING_FIELD, "route_id", "", _A.ESCALATE_ROUTE),
    Bad(_R.UNKNOWN_ID, "route_id", "route-7", _A.ESCALATE_ROUTE, {"route_id": "route-7"}),
    Bad(_R.NO_STRONGER_MODEL, "route_id", "route-1", _A.ESCALATE_ROUTE, {"route_id": "route-1"}, _routed),
    Bad(
        _R.UNKNOWN_ID,
        "model_id",
        "gpt-2",
        _A.ESCALATE_ROUTE,
        {"route_id": "route-1", "model_id": "gpt-2"},
        _requested,
    ),
    Bad(
        _R.NO_STRONGER_MODEL,
        "model_id",
        WEAKEST,
        _A.ESCALATE_ROUTE,
        {"route_id": "route-1", "model_id": WEAKEST},
        _requested,
    ),
    Bad(
        _R.UNKNOWN_ID,
        "effort",
        "utmost",
        _A.ESCALATE_ROUTE,
        {"route_id": "route-1", "effort": "utmost"},
        _requested,
    ),
    Bad(_R.MISSING_FIELD, "note", "", _A.WRITE_CHECKPOINT),
    Bad(_R.TOO_LONG, "note", _LONG, _A.WRITE_CHECKPOINT, {"note": _LONG}),
    Bad(_R.NOT_IN_MEMORY, "finding_ids", "finding-9", _A.WRITE_CHECKPOINT, {"finding_ids": ("finding-9",)}),
    Bad(_R.NOT_IN_MEMORY, "context_segment_ids", CONFIG, _A.WRITE_CHECKPOINT, {"context_segment_ids": (CONFIG,)}),
    Bad(
        _R.TOO_LONG,
        "checkpoint tokens",
        "",
        _A.WRITE_CHECKPOINT,
        {"context_segment_ids": ("ticket-checkout-s1", "ticket-checkout-s2", "code-pool-s1", CONFIG)},
        _read("ticket-checkout", "code-pool", "config-orders"),
    ),
    Bad(_R.MISSING_FIELD, "checkpoint_id", "", _A.RESTORE_CHECKPOINT),
    Bad(_R.UNKNOWN_ID, "checkpoint_id", "checkpoint-1", _A.RESTORE_CHECKPOINT, {"checkpoint_id": "checkpoint-1"}),
    Bad(
        _R.ALREADY_IN_MEMORY,
        "checkpoint_id",
        "checkpoint-1",
        _A.RESTORE_CHECKPOINT,
        {"checkpoint_id": "checkpoint-1"},
        _saved_and_restored,
    ),
    Bad(_R.MISSING_FIELD, "finding_ids", "", _A.SUBMIT_ANSWER),
    Bad(_R.NOT_IN_MEMORY, "finding_ids", "finding-1", _A.SUBMIT_ANSWER, {"finding_ids": ("finding-1",)}),
    Bad(_R.UNKNOWN_ID, "answer", "culprit", _A.SUBMIT_ANSWER, {"answer": {"culprit": "me"}}),
    Bad(_R.TOO_LONG, "answer.cause", _LONG, _A.SUBMIT_ANSWER, {"answer": {"cause": _LONG}}),
    Bad(_R.EMPTY_ANSWER, "finding_ids", "finding-1", _A.SUBMIT_ANSWER, {"finding_ids": ("finding-1",)}, _requested),
    Bad(
        _R.NOT_SURFACED,
        "evidence_segment_ids",
        ORDERS,
        _A.SUBMIT_ANSWER,
        {"answer": {"cause": "deadlock"}, "evidence_segment_ids": (ORDERS,)},
    ),
    Bad(
        _R.SANDBOX_UNAVAILABLE,
        "answer.patch",
        "--- a/mine",
        _A.SUBMIT_ANSWER,
        {"answer": {"patch": "--- a/mine"}},
        scenario=patches,
        options={"track": Track.SOLVER},
    ),
    *(
        Bad(_R.NOT_IN_PROFILE, "action_type", kind.value, kind, options={"profile": Profile.V1})
        for kind in V2_ACTIONS
        if kind not in V1_ACTIONS
    ),
    *(
        Bad(_R.MEMORY_FULL, "memory tokens", "", kind, fields, prepare, options={"memory_tokens": bound})
        for kind, fields, prepare, bound in (
            (_A.READ_ARTIFACT, {"artifact_id": "ticket-checkout"}, _nothing, 400),
            (_A.READ_ARTIFACT, {"artifact_id": "log-orders"}, _nothing, 399),
            (_A.SEARCH_ARTIFACTS, {"query": "pool", "top_k": 4}, _nothing, 239),
            (_A.QUERY_CACHE, {"query": "pool"}, _nothing, 239),
            (
                _A.HYDRATE_SEGMENTS,
                {"context_segment_ids": (ORDERS,)},
                lambda game: game.search("pool exhausted", 1),
                300,
            ),
            (_A.ROUTE_SUBTASK, {"subtask_id": "q-setting", "model_id": WEAKEST}, _nothing, 119),
            (
                _A.RESTORE_CHECKPOINT,
                {"checkpoint_id": "checkpoint-1"},
                lambda game: game.checkpoint("a b c d e f g h"),
                9,
            ),
        )
    ),
    Bad(
        _R.OVER_BUDGET,
        "nano-usd",
        "",
        _A.ROUTE_SUBTASK,
        {"subtask_id": "q-setting", "model_id": STRONGEST, "effort": "high"},
        options={"visibly": with_limits(nano_usd=1_000_000)},
    ),
    Bad(
        _R.OVER_BUDGET,
        "tokens",
        "",
        _A.ROUTE_SUBTASK,
        {"subtask_id": "q-setting", "model_id": STRONGEST, "effort": "high"},
        options={"visibly": with_limits(tokens=1_000)},
    ),
    Bad(
        _R.OVER_BUDGET,
        "ms",
        "",
        _A.ROUTE_SUBTASK,
        {"subtask_id": "q-setting", "model_id": STRONGEST, "effort": "high"},
        options={"visibly": with_limits(latency_ms=3_000)},
    ),
]

BILL = {"step", "spent", "entries", "prefix_caches", "prompt", "left", "must_submit"}
PENALTY = {"guardrail_events", "full_memory_steps", "paid"}


def changed(before: EpisodeState, after: EpisodeState) -> set[str]:
    return {each.name for each in fields(EpisodeState) if getattr(before, each.name) != getattr(after, each.name)}


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_a_bad_action_is_refused_with_the_field_the_value_and_the_remedy(bad: Bad) -> None:
    game = Play(world_of(bad.scenario(), **bad.options))
    bad.prepare(game)
    before = game.state
    assert game.refusal is None, "the preparation was refused itself"
    game.do(bad.kind, **bad.fields)
    refusal = game.refusal
    assert refusal is not None
    assert (refusal.reason, refusal.field) == (bad.reason, bad.about)
    shown = bad.value if len(bad.value) <= 60 else bad.value[:59] + "…"
    assert refusal.value == shown
    assert "\n" not in refusal.message
    named, _, remedy = refusal.message.partition("; " if refusal.needed is not None else ": ")
    assert bad.reason.value in named and bad.about in named and shown in named
    assert remedy.strip()
    if refusal.needed is not None and refusal.left is not None:
        assert refusal.needed > refusal.left
        assert f"needs {refusal.needed} " in refusal.message and f"{refusal.left} left" in refusal.message
    assert changed(before, game.state) <= BILL | PENALTY
    assert game.state.step == before.step + 1
    new = game.state.guardrail_events[len(before.guardrail_events) :]
    assert [(event.guardrail_id, event.message) for event in new] == [("invalid_action", bad.reason.value)]
    (entry,) = game.state.entries[len(before.entries) :]
    assert entry.who == "controller" and entry.nano_usd > 0


def test_a_stronger_model_may_be_asked_anew_where_the_first_found_nothing() -> None:
    game = play(backend=ScriptedBackend({}))
    game.read("config-orders")
    game.route("q-setting", WEAKEST)
    assert game.state.routes[-1].finding_id is None
    game.route("q-setting", STRONGEST, CONFIG)
    assert game.refusal is None


def test_a_second_opinion_of_a_model_no_stronger_is_asked_anew() -> None:
    game = play()
    _routed(game)
    assert game.state.routes[-1].finding_id is not None
    game.route("q-setting", WEAKEST, CONFIG)
    assert game.refusal is None


def test_in_profile_v1_which_cannot_escalate_a_stronger_model_is_asked_anew() -> None:
    game = play(profile=Profile.V1)
    game.read("config-orders")
    game.route("q-setting", WEAKEST, CONFIG)
    game.route("q-setting", STRONGEST, CONFIG)
    assert game.refusal is None


def test_every_reason_for_a_refusal_occurs() -> None:
    assert {bad.reason for bad in BAD} == set(RefusalReason)


HUGE = [2**63, 10**30, 10**400, 10**4299]


@pytest.mark.parametrize("value", ["two\nlines", "carriage\rreturn", "next\x85line", "line\u2028separator", "\x1b[31m"])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (ActionType.READ_ARTIFACT, "artifact_id"),
        (ActionType.MALFORMED, "raw_text"),
        (ActionType.RESTORE_CHECKPOINT, "checkpoint_id"),
    ],
)
def test_a_refusal_is_one_printable_line_whatever_was_sent(kind: ActionType, name: str, value: str) -> None:
    """It becomes part of the next prompt, where a line break could pass for another section."""
    game = play()
    game.do(kind, **{name: value})
    assert game.refusal is not None
    assert len(game.refusal.message.splitlines()) == 1
    assert game.refusal.message.isprintable()


@pytest.mark.parametrize("size", HUGE, ids=lambda size: f"{size.bit_length()}bits")
@pytest.mark.parametrize("name", ["page", "top_k", "reasoning_tokens"])
@pytest.mark.parametrize("sign", [1, -1])
def test_no_number_is_too_large_to_be_refused(size: int, name: str, sign: int) -> None:
    """JSON carries whole numbers of up to 4,300 digits."""
    game = play()
    kind = ActionType.SEARCH_ARTIFACTS if name == "top_k" else ActionType.READ_ARTIFACT
    game.do(kind, artifact_id="log-orders", query="pool", **{name: sign * size})
    assert game.refusal is not None
    assert len(game.refusal.message) < 400
    assert TokenOptEnvObservation.model_validate_json(game.observation.model_dump_json()) == game.observation


@pytest.mark.parametrize("size", HUGE, ids=lambda size: f"{size.bit_length()}bits")
def test_a_submission_may_claim_any_amount_of_reasoning(size: int) -> None:
    game = play()
    game.do(ActionType.SUBMIT_ANSWER, answer={"cause": "deadlock"}, reasoning_tokens=size)
    assert game.observation.done
    assert TokenOptEnvObservation.model_validate_json(game.observation.model_dump_json()) == game.observation


# --- wrong shapes


@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"action_type": "FLY"},
        {"action_type": "READ_ARTIFACT", "artifact_id": 3},
        {"action_type": "READ_ARTIFACT", "artifact_id": "code-pool", "colour": "red"},
        {"action_type": "READ_ARTIFACT", "page": "first"},
        {"action_type": "READ_ARTIFACT", "page": 1.5},
        {"action_type": "HYDRATE_SEGMENTS", "context_segment_ids": "log-orders-s1"},
        {"action_type": "HYDRATE_SEGMENTS", "context_segment_ids": [1]},
        {"action_type": "SUBMIT_ANSWER", "answer": ["cause"]},
        {"action_type": "SUBMIT_ANSWER", "answer": {"cause": None}},
        {"action_type": "COMPRESS_CONTEXT", "target_ratio": "half"},
    ],
    ids=str,
)
def test_a_wrong_shape_is_a_validation_error(shape: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TokenOptEnvAction.model_validate(shape)


def test_an_action_cannot_be_changed_once_made() -> None:
    action = TokenOptEnvAction(action_type=ActionType.READ_ARTIFACT, artifact_id="code-pool")
    with pytest.raises(ValidationError):
        action.artifact_id = "log-orders"  # type: ignore[misc]


# --- profiles and tracks


def test_profile_v1_has_unbounded_memory_and_offers_the_core_actions_alone() -> None:
    game = play(profile=Profile.V1)
    assert game.observation.working_memory.token_budget is None
    for artifact in toy().public.artifacts:
        game.read(artifact.artifact_id)
        assert game.refusal is None
    assert {form.action_type for form in game.observation.legal_actions.actions} == set(V1_ACTIONS)


def test_profile_v1_hands_over_up_to_eight_segments_and_no_more() -> None:
    game = play(profile=Profile.V1)
    game.read("log-gateway")
    game.read("log-gateway", 2)
    segments = tuple(f"log-gateway-s{number}" for number in range(1, 10))
    game.route("q-request", WEAKEST, *segments[:8])
    assert game.refusal is None
    game.route("q-request", WEAKEST, *segments)
    assert game.refusal is not None
    assert game.refusal.reason is RefusalReason.TOO_MANY


def test_an_item_in_memory_does_not_count_as_a_handle() -> None:
    game = play()
    game.read("log-orders")
    segments = tuple(f"log-orders-s{number}" for number in range(1, 6))
    game.hydrate(segments[0])
    game.route("q-setting", WEAKEST, *segments)
    assert game.refusal is None


def test_in_the_solver_track_an_answer_in_own_words_is_taken() -> None:
    game = play(track=Track.SOLVER)
    game.read("config-orders")
    game.search("req-7f3a failed pool exhausted", 2)
    game.hydrate(GATEWAY, ORDERS)
    answer = {"cause": "pool_exhaustion", "setting": "pool.max_connections"}
    game.submit(answer=answer, evidence_segment_ids=(GATEWAY, ORDERS, CONFIG))
    score = game.observation.score
    assert score is not None and score.success


def test_in_the_controller_track_an_answer_in_own_words_does_not_count() -> None:
    game = play(track=Track.CONTROLLER)
    game.read("config-orders")
    game.search("req-7f3a failed pool exhausted", 2)
    game.hydrate(GATEWAY, ORDERS)
    answer = {"cause": "pool_exhaustion", "setting": "pool.max_connections"}
    game.submit(answer=answer, evidence_segment_ids=(GATEWAY, ORDERS, CONFIG))
    score = game.observation.score
    assert score is not None and not score.success
    assert [(each.right, each.grounded, each.backed) for each in score.fields] == [(True, True, False)] * 2


# --- what is offered


def _everything_held() -> Play:
    game = play(memory_tokens=4_000)
    find_everything(game)
    game.checkpoint("kept", *game.finding_ids)
    game.restore("checkpoint-1")
    game.checkpoint("not held")
    game.query_cache("Which setting bounds the pool?")
    game.escalate("route-3", STRONGEST)
    return game


def test_each_kind_of_action_names_its_fields_and_where_their_choices_are() -> None:
    offered = _everything_held().observation.legal_actions
    assert {form.action_type for form in offered.actions} == set(V2_ACTIONS)
    for form in offered.actions:
        for each in form.fields:
            assert each.name in TokenOptEnvAction.model_fields
            assert set(each.choices_from) <= set(offered.choices)


@pytest.mark.parametrize(
    ("kind", "name", "others"),
    [
        (ActionType.READ_ARTIFACT, "artifact_id", {}),
        (ActionType.COMPRESS_CONTEXT, "context_segment_ids", {"method": "dedupe"}),
        (ActionType.COMPRESS_CONTEXT, "method", {"context_segment_ids": (CONFIG,)}),
        (ActionType.ROUTE_SUBTASK, "subtask_id", {"model_id": WEAKEST}),
        (ActionType.ROUTE_SUBTASK, "model_id", {"subtask_id": "q-setting"}),
        (ActionType.HYDRATE_SEGMENTS, "context_segment_ids", {}),
        (ActionType.PURGE_MEMORY, "context_segment_ids", {}),
        (ActionType.WRITE_CHECKPOINT, "finding_ids", {}),
        (ActionType.WRITE_CHECKPOINT, "context_segment_ids", {}),
        (ActionType.RESTORE_CHECKPOINT, "checkpoint_id", {}),
        (ActionType.ESCALATE_ROUTE, "route_id", {}),
    ],
)
def test_every_choice_offered_for_a_field_is_accepted(kind: ActionType, name: str, others: dict[str, Any]) -> None:
    game = _everything_held()
    (form,) = [form for form in game.observation.legal_actions.actions if form.action_type is kind]
    listed = [each.choices_from[0] for each in form.fields if each.name == name and each.choices_from]
    refused = {}
    for choice in game.observation.legal_actions.choices[listed[0]]:
        twin = _everything_held()
        twin.do(kind, **{name: (choice,) if name.endswith("_ids") else choice}, **others)
        if twin.refusal is not None:
            refused[choice] = twin.refusal.reason.value
    assert refused == {}


def test_an_action_with_nothing_to_choose_from_is_not_offered() -> None:
    offered = {form.action_type for form in play().observation.legal_actions.actions}
    absent = {
        ActionType.COMPRESS_CONTEXT,
        ActionType.HYDRATE_SEGMENTS,
        ActionType.PURGE_MEMORY,
        ActionType.RESTORE_CHECKPOINT,
        ActionType.ESCALATE_ROUTE,
    }
    assert offered == set(V2_ACTIONS) - absent


def test_a_subtask_is_offered_once_its_slot_can_be_filled() -> None:
    game = play()
    assert list(game.observation.legal_actions.choices["subtasks"]) == ["q-request", "q-setting"]
    _requested(game)
    assert list(game.observation.legal_actions.choices["subtasks"]) == ["q-request", "q-cause", "q-setting"]


def test_the_menu_is_offered_as_the_scenario_draws_it() -> None:
    assert play().observation.legal_actions.choices["models"] == MENU


def test_a_marathon_offers_what_its_phase_has() -> None:
    game = Play(world_of(marathon()))
    assert game.observation.legal_actions.choices["artifacts"] == ("log-first",)
    assert game.observation.legal_actions.choices["subtasks"] == ("q-request",)


def test_a_checkpoint_just_within_its_cap_is_kept() -> None:
    game = play()
    note = " ".join(["word"] * (CHECKPOINT_CAP_TOKENS // 2 - 1))
    game.checkpoint(note[:TEXT_CAP_CHARACTERS])
    assert game.refusal is None
