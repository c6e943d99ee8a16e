"""Small cases for tests of the engine, and a hand to play them with.

`toy` has everything one phase can have: a slot, decoys, valid and stale cache entries, artifacts that are read whole
and artifacts that are previewed. `patches` asks for a patch. `marathon` has three phases, and the last needs what
was seen in the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from TokenOptEnv.config import Difficulty, EpisodeConfig
from TokenOptEnv.episode_runtime import StepOutcome, advance, start
from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.models import (
    ActionType,
    ArtifactKind,
    FieldKind,
    Refusal,
    Slot,
    TokenOptEnvAction,
    TokenOptEnvObservation,
)
from TokenOptEnv.scenario import CacheValidity, QuestionKind, Scenario
from TokenOptEnv.simulators.backend import Backend, RouteReply, RouteRequest
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply
from TokenOptEnv.traces import Trace
from TokenOptEnv.world import ReferenceCosts, VisibleWorld, World, build_world

TOY = "incident-easy-toy"
PATCHES = "bugfix-easy-toy"
MARATHON = "incident-marathon-toy"
MENU = ("gpt-5-nano", "gpt-5-mini", "claude-sonnet-4.5", "gpt-5.2")
"""Two of OpenAI's cache rule, one of Anthropic's, from the weakest to the strongest by the order of escalation."""
WEAKEST, STRONGEST = "gpt-5-nano", "claude-sonnet-4.5"

_REQUEST_LINE = "09:14:02.117 ERROR gateway request req-7f3a failed with status 503 after 30012 ms"
_POOL_LINE = "09:14:02.101 WARN orders req-7f3a waited 30000 ms: pool exhausted, 50 of 50 connections in use"
_DISK_LINE = "09:13:57.640 ERROR archive volume /srv/cold at 97 percent, oldest snapshot kept"
_SETTING_LINE = "pool.max_connections = 50"


def _log(service: str, lines: int, *special: tuple[int, str]) -> str:
    """A log of routine lines, with the special ones at their places."""
    stream = Stream("toy", service)
    at = dict(special)
    text = []
    for number in range(lines):
        second, milli = divmod(number * 750, 1000)
        routine = (
            f"09:{10 + second // 60:02d}:{second % 60:02d}.{milli:03d} INFO {service} request req-{stream.hex(4)}"
            f" served from shard {stream.integer(1, 9)} in {stream.integer(11, 48)} ms"
        )
        text.append(at.get(number, routine))
    return "\n".join(text)


_CONFIG = f"""# orders service, production
[pool]
{_SETTING_LINE}
pool.wait_ms = 30000
[retry]
retry.attempts = 3
"""

_TICKET = "\n".join(
    f"{hour:02d}:{minute:02d} support: customer {hour}{minute:02d} says that checkout hangs and then fails;"
    " told them we look into it"
    for hour in (8, 9)
    for minute in range(1, 9)
)

_CODE = '''"""Connections to the orders database."""


class Pool:
    """A bounded set of connections."""

    def __init__(self, most):
        self.most = most
        self.idle = []
        self.busy = []

    def take(self, wait_ms):
        """Take a connection, or wait for one."""
        if self.idle:
            connection = self.idle.pop()
        elif len(self.busy) < self.most:
            connection = connect()
        else:
            connection = self.wait(wait_ms)
        self.busy.append(connection)
        return connection

    def give_back(self, connection):
        """Give a connection back."""
        self.busy.remove(connection)
        self.idle.append(connection)
'''


@cache
def toy() -> Scenario:
    builder = CaseBuilder(
        TOY, "incident", Difficulty.EASY, "Checkout fails", "Since 09:14 checkout fails now and then. Why?", "4.2.0"
    )
    builder.artifact("log-gateway", ArtifactKind.LOG, "Gateway log", _log("gateway", 130, (104, _REQUEST_LINE)))
    builder.artifact("log-orders", ArtifactKind.LOG, "Orders log", _log("orders", 60, (33, _POOL_LINE)))
    builder.artifact("log-archive", ArtifactKind.LOG, "Archive log", _log("archive", 40, (21, _DISK_LINE)))
    builder.artifact("config-orders", ArtifactKind.CONFIG, "Orders settings", _CONFIG)
    builder.artifact("ticket-checkout", ArtifactKind.TICKET, "Support ticket", _TICKET)
    builder.artifact("code-pool", ArtifactKind.CODE, "pool.py", _CODE)
    builder.fact("zf-request", "zwhy the gateway names the request", Quote("log-gateway", "request req-7f3a failed"))
    builder.fact("zf-pool", "zwhy the pool was empty", Quote("log-orders", "pool exhausted, 50 of 50"))
    builder.fact("zf-setting", "zwhy the bound is set here", Quote("config-orders", _SETTING_LINE))
    builder.decoy("zd-disk", "zwhy a cold volume misleads", Quote("log-archive", "/srv/cold at 97 percent"))
    causes = ("pool_exhaustion", "disk_full", "deadlock")
    builder.answer_field("cause", "What failed?", FieldKind.CHOICE, [causes[0]], ["zf-request", "zf-pool"], causes)
    builder.answer_field("setting", "Which setting?", FieldKind.TEXT, ["pool.max_connections"], ["zf-setting"])
    builder.subtask(
        "q-request",
        "Which request failed at the gateway?",
        ["request_id"],
        QuestionKind.LOOKUP,
        lexical=True,
        needs=["zf-request"],
        right=Reply({"request_id": "req-7f3a"}, "ztext The gateway log names it."),
        wrong=[Reply({"request_id": "req-0000"}, "ztext It looks like the first.")],
    )
    builder.subtask(
        "q-cause",
        "Why did {request_id} fail?",
        ["cause"],
        QuestionKind.CAUSAL,
        lexical=False,
        needs=["zf-request", "zf-pool"],
        right=Reply({"cause": "pool_exhaustion"}, "ztext It waited for a connection in vain."),
        wrong=[
            Reply({"cause": "disk_full"}, "ztext A volume is nearly full.", ("zd-disk",)),
            Reply({"cause": "deadlock"}, "ztext Two transactions wait for each other."),
        ],
        slot=Slot(name="request_id", from_subtask_id="q-request"),
        slot_value="req-7f3a",
    )
    builder.subtask(
        "q-setting",
        "Which setting bounds the pool?",
        ["setting"],
        QuestionKind.LOOKUP,
        lexical=True,
        needs=["zf-setting"],
        right=Reply({"setting": "pool.max_connections"}, "ztext It stands in the settings."),
        wrong=[Reply({"setting": "pool.wait_ms"}, "ztext The wait is what bounds it.")],
    )
    builder.cached(
        "cache-setting",
        "q-setting",
        "Which setting bounds the pool of the orders service?",
        {"setting": "pool.max_connections"},
        "It is pool.max_connections.",
        "4.2.0",
        3,
        [Quote("config-orders", _SETTING_LINE)],
        CacheValidity.VALID,
    )
    builder.cached(
        "cache-cause",
        "q-cause",
        "Why did a checkout request fail last month?",
        {"cause": "disk_full"},
        "A volume was full.",
        "3.9.1",
        800,
        [Quote("log-archive", "/srv/cold at 97 percent")],
        CacheValidity.STALE,
    )
    return _with_menu(builder.build())


RIGHT_PATCH = "--- a/pool.py\n+++ b/pool.py\n@@ -1 +1 @@\n-most = 5\n+most = 50\n"
WRONG_PATCH = "--- a/pool.py\n+++ b/pool.py\n@@ -1 +1 @@\n-most = 5\n+most = 0\n"


@cache
def patches() -> Scenario:
    builder = CaseBuilder(
        PATCHES, "bugfix", Difficulty.EASY, "The pool is too small", "Tests fail. Mend the pool.", "1.0.0"
    )
    builder.artifact("code-pool", ArtifactKind.CODE, "pool.py", f"most = 5\n{_CODE}")
    builder.fact("zf-bound", "zwhy the bound is wrong", Quote("code-pool", "most = 5\n"))
    builder.answer_field("patch", "Which patch mends it?", FieldKind.PATCH, [RIGHT_PATCH], ["zf-bound"])
    builder.subtask(
        "q-patch",
        "Write the patch.",
        ["patch"],
        QuestionKind.CODE,
        lexical=False,
        needs=["zf-bound"],
        right=Reply({"patch": RIGHT_PATCH}, "ztext The bound goes up."),
        wrong=[Reply({"patch": WRONG_PATCH}, "ztext The bound goes down.")],
    )
    builder.verdict(RIGHT_PATCH, True)
    builder.verdict(WRONG_PATCH, False)
    return _with_menu(builder.build())


@cache
def marathon() -> Scenario:
    builder = CaseBuilder(
        MARATHON, "incident", Difficulty.MARATHON, "A long night", "Three shifts look for one cause.", "4.2.0"
    )
    builder.artifact("log-first", ArtifactKind.LOG, "First shift", _log("gateway", 60, (30, _REQUEST_LINE)))
    builder.artifact("log-second", ArtifactKind.LOG, "Second shift", _log("archive", 60, (30, _DISK_LINE)))
    builder.artifact("log-third", ArtifactKind.LOG, "Third shift", _log("orders", 60, (30, _POOL_LINE)))
    builder.fact("zf-request", "zwhy the request is named", Quote("log-first", "request req-7f3a failed"))
    builder.fact("zf-disk", "zwhy the volume is named", Quote("log-second", "/srv/cold at 97 percent"))
    builder.fact("zf-pool", "zwhy the pool was empty", Quote("log-third", "pool exhausted, 50 of 50"))
    builder.answer_field("volume", "Which volume?", FieldKind.TEXT, ["/srv/cold"], ["zf-disk"])
    builder.answer_field("cause", "What failed?", FieldKind.TEXT, ["pool_exhaustion"], ["zf-request", "zf-pool"])
    lookup = QuestionKind.LOOKUP
    builder.subtask(
        "q-request",
        "Which request failed?",
        ["request_id"],
        lookup,
        lexical=True,
        needs=["zf-request"],
        right=Reply({"request_id": "req-7f3a"}, "ztext It is named."),
        wrong=[Reply({"request_id": "req-0000"}, "ztext The first.")],
    )
    builder.subtask(
        "q-volume",
        "Which volume is nearly full?",
        ["volume"],
        lookup,
        lexical=True,
        needs=["zf-disk"],
        right=Reply({"volume": "/srv/cold"}, "ztext It is named."),
        wrong=[Reply({"volume": "/srv/hot"}, "ztext The other.")],
    )
    builder.subtask(
        "q-cause",
        "Why did {request_id} fail?",
        ["cause"],
        QuestionKind.CAUSAL,
        lexical=False,
        needs=["zf-pool"],
        right=Reply({"cause": "pool_exhaustion"}, "ztext It waited in vain."),
        wrong=[Reply({"cause": "deadlock"}, "ztext It was locked.")],
        slot=Slot(name="request_id", from_subtask_id="q-request"),
        slot_value="req-7f3a",
    )
    builder.phase("first", "Find the request.", ["log-first"], ["q-request"], 4)
    builder.phase("second", "Find the volume.", ["log-second"], ["q-volume"], 5)
    builder.phase("third", "Find the cause.", ["log-third"], ["q-cause"], 31)
    return _with_menu(builder.build())


def _with_menu(scenario: Scenario) -> Scenario:
    menus = {**scenario.public.menus, "measured": MENU}
    return replace(scenario, public=scenario.public.model_copy(update={"menus": menus}))


def segment_with(scenario: Scenario, text: str) -> str:
    """The id of the first segment that shows `text`."""
    return next(
        segment.segment_id
        for artifact in scenario.public.artifacts
        for segment in artifact.segments
        if text in segment.text
    )


def right_values(scenario: Scenario) -> dict[str, dict[str, str]]:
    """By subtask: what a model that is right says."""
    return {
        truth.subtask_id: candidate.values
        for truth in scenario.hidden.subtasks
        for candidate in truth.candidates
        if candidate.right
    }


@dataclass(frozen=True)
class ScriptedBackend:
    """Answers each subtask with the values given for it, citing all it was handed; without values it knows nothing."""

    values: Mapping[str, Mapping[str, str]]
    reasoning_tokens: int = 0
    asked: list[RouteRequest] = field(default_factory=list)

    def answer(self, request: RouteRequest) -> RouteReply:
        self.asked.append(request)
        values = dict(self.values.get(request.subtask_id, {}))
        cites = tuple(dict.fromkeys(source for piece in request.context for source in piece.source_ids))
        return RouteReply(values, "As the evidence shows.", 0.8, cites if values else (), self.reasoning_tokens)


Visibly = Callable[[VisibleWorld], VisibleWorld]


def world_of(
    scenario: Scenario,
    seed: int = 0,
    backend: Backend | None = None,
    reference: ReferenceCosts | None = None,
    visibly: Visibly | None = None,
    **options: Any,
) -> World:
    """A world with a scripted backend that is always right, unless another is given."""
    world = build_world(
        scenario,
        seed,
        EpisodeConfig(**options),
        reference=None if reference is None else lambda: reference,
        backend=backend or ScriptedBackend(right_values(scenario)),
    )
    return world if visibly is None else replace(world, visible=visibly(world.visible))


def simulated_world(scenario: Scenario, seed: int = 0, **options: Any) -> World:
    return build_world(scenario, seed, EpisodeConfig(**options))


def with_cards(**changes: Any) -> Visibly:
    """Every card of the menu, changed alike."""

    def changed(visible: VisibleWorld) -> VisibleWorld:
        menu = tuple(card.model_copy(update=changes) for card in visible.menu)
        return replace(visible, menu=menu, cards={card.model_id: card for card in menu})

    return changed


def with_limits(**changes: int) -> Visibly:
    return lambda visible: replace(visible, limits=replace(visible.limits, **changes))


class Play:
    """Plays one episode with short words; keeps every observation and the trace."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.outcome: StepOutcome = start(world, "episode")
        self.observations = [self.outcome.observation]
        self.trace = Trace(self.observation)

    @property
    def observation(self) -> TokenOptEnvObservation:
        return self.observations[-1]

    @property
    def state(self) -> EpisodeState:
        return self.outcome.state

    @property
    def refusal(self) -> Refusal | None:
        last = self.observation.last_tool_result
        return None if last is None else last.refusal

    @property
    def item_ids(self) -> tuple[str, ...]:
        return tuple(item.item_id for item in self.observation.working_memory.items)

    @property
    def finding_ids(self) -> tuple[str, ...]:
        return tuple(finding.finding_id for finding in self.observation.findings)

    def act(self, action: TokenOptEnvAction) -> TokenOptEnvObservation:
        self.outcome = advance(self.state, action, self.world)
        self.observations.append(self.outcome.observation)
        self.trace.add(action, self.observation)
        return self.observation

    def do(self, kind: ActionType, **fields: Any) -> TokenOptEnvObservation:
        return self.act(TokenOptEnvAction(action_type=kind, **fields))

    def read(self, artifact_id: str, page: int | None = None) -> TokenOptEnvObservation:
        return self.do(ActionType.READ_ARTIFACT, artifact_id=artifact_id, page=page)

    def search(self, query: str, top_k: int | None = None) -> TokenOptEnvObservation:
        return self.do(ActionType.SEARCH_ARTIFACTS, query=query, top_k=top_k)

    def query_cache(self, query: str) -> TokenOptEnvObservation:
        return self.do(ActionType.QUERY_CACHE, query=query)

    def hydrate(self, *segment_ids: str) -> TokenOptEnvObservation:
        return self.do(ActionType.HYDRATE_SEGMENTS, context_segment_ids=segment_ids)

    def purge(self, *item_ids: str) -> TokenOptEnvObservation:
        return self.do(ActionType.PURGE_MEMORY, context_segment_ids=item_ids)

    def compress(self, *item_ids: str, method: str = "head_tail", **fields: Any) -> TokenOptEnvObservation:
        return self.do(ActionType.COMPRESS_CONTEXT, context_segment_ids=item_ids, method=method, **fields)

    def route(self, subtask_id: str, model_id: str, *context: str, **fields: Any) -> TokenOptEnvObservation:
        return self.do(
            ActionType.ROUTE_SUBTASK, subtask_id=subtask_id, model_id=model_id, context_segment_ids=context, **fields
        )

    def escalate(self, route_id: str, model_id: str | None = None, **fields: Any) -> TokenOptEnvObservation:
        return self.do(ActionType.ESCALATE_ROUTE, route_id=route_id, model_id=model_id, **fields)

    def checkpoint(
        self, note: str | None = None, *finding_ids: str, items: tuple[str, ...] = ()
    ) -> TokenOptEnvObservation:
        return self.do(ActionType.WRITE_CHECKPOINT, note=note, finding_ids=finding_ids, context_segment_ids=items)

    def restore(self, checkpoint_id: str) -> TokenOptEnvObservation:
        return self.do(ActionType.RESTORE_CHECKPOINT, checkpoint_id=checkpoint_id)

    def submit(self, *finding_ids: str, **fields: Any) -> TokenOptEnvObservation:
        return self.do(ActionType.SUBMIT_ANSWER, finding_ids=finding_ids, **fields)


def find_everything(play: Play) -> None:
    """The toy case up to its answer: every question asked on exactly its evidence."""
    scenario = toy()
    gateway, orders = segment_with(scenario, "req-7f3a failed"), segment_with(scenario, "pool exhausted")
    play.search("req-7f3a failed pool exhausted", 2)
    play.read("config-orders")
    play.route("q-request", "gpt-5-mini", gateway)
    play.route("q-cause", "gpt-5-mini", gateway, orders)
    play.route("q-setting", "gpt-5-mini", "config-orders-s1")
