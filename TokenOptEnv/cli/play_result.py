"""What an action brought, and what it took: the result, the bill, and what the environment noted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from TokenOptEnv.by_hand.labels import place
from TokenOptEnv.by_hand.plain_text import clipped, plain
from TokenOptEnv.cli import play_board
from TokenOptEnv.cli.play_board import grid, usd
from TokenOptEnv.models import (
    CachePayload,
    CheckpointPayload,
    CompressPayload,
    Finding,
    HydratePayload,
    LedgerEntry,
    PurgePayload,
    ReadPayload,
    RefusedPayload,
    RestorePayload,
    RoutePayload,
    SearchPayload,
    SubmitPayload,
    TokenOptEnvAction,
    TokenOptEnvObservation,
    ToolResult,
)
from TokenOptEnv.text_actions import Numbering, write

_LONGEST_TITLE = 70


def told(
    action: TokenOptEnvAction, before: TokenOptEnvObservation, after: TokenOptEnvObservation
) -> Iterator[RenderableType]:
    short_form = plain(write(action, Numbering.of(before))).replace("\n", " ")
    yield ""
    yield Rule(Text(clipped(short_form, _LONGEST_TITLE)), align="left")
    if after.last_tool_result is not None:
        yield from _result(after.last_tool_result, after)
    yield from _bill(after)
    for name in after.milestones.achieved_ids:
        if name not in before.milestones.achieved_ids and name in after.milestones.listed_ids:
            yield Text(f"milestone: {name}", style="green")
    for event in after.guardrail_events[len(before.guardrail_events) :]:
        if not after.done:
            yield Text(plain(f"guardrail: {event.guardrail_id}, {event.message}"), style="red")
    if after.task.phase != before.task.phase:
        yield Text("The context was reset: only notes are left of the phase before.", style="bold yellow")
        yield from play_board.opening(after)


def _result(result: ToolResult, after: TokenOptEnvObservation) -> Iterator[RenderableType]:
    payload = result.payload
    match payload:
        case ReadPayload(access_mode="full") | HydratePayload() | RestorePayload():
            yield from _items(payload.item_ids, after)
        case ReadPayload():
            yield f"Page {payload.page} of {payload.pages} of {payload.artifact_tokens:,} tokens, in segments:"
            outline = grid("right", "right")
            for line in payload.outline:
                outline.add_row(f"#{line.alias}", f"{line.tokens}t", plain(line.title))
            yield outline
        case SearchPayload():
            if not payload.hits:
                yield "No segment has any of these words."
            hits = grid("right", "left", "right", "right")
            for hit in payload.hits:
                where, score = place(hit.segment_id, after), Text(f"{hit.score:.1f}", style="dim")
                hits.add_row(f"#{hit.alias}", where, f"{hit.tokens}t", score, plain(hit.snippet))
            yield hits
        case PurgePayload():
            yield f"{len(payload.purged_ids)} dropped, {payload.tokens_freed:,} tokens freed."
        case CompressPayload():
            yield f"From {payload.tokens_before:,} to {payload.tokens_after:,} tokens by {payload.method}:"
            yield from _items(payload.item_ids, after)
        case CachePayload():
            yield from _cached(payload, after)
        case RoutePayload():
            yield from _replied(payload, after)
        case CheckpointPayload():
            yield f"Saved as {payload.checkpoint_id}, {payload.tokens} tokens: it outlives a reset."
        case SubmitPayload():
            yield "Answered:"
            yield _values(payload.answer)
        case RefusedPayload():
            if result.refusal is not None:
                yield Text(plain(f"Refused. {result.refusal.message}"), style="red")
        case _ as never:
            assert_never(never)


def _items(item_ids: Iterable[str], after: TokenOptEnvObservation) -> Iterator[RenderableType]:
    held = {item.item_id: item for item in after.working_memory.items}
    for item_id in item_ids:
        if item_id in held:
            yield play_board.item_text(held[item_id])


def _cached(payload: CachePayload, after: TokenOptEnvObservation) -> Iterator[RenderableType]:
    if not payload.hits:
        yield "No earlier result is near."
    findings = {finding.finding_id: finding for finding in after.findings}
    for hit in payload.hits:
        same = "this version" if hit.version == after.task.version else f"now it is {after.task.version}"
        title = f"{_item_number(hit.finding_id, after)} earlier result, {hit.similarity:.2f} alike"
        yield Text(plain(f"{title}, of {hit.version} ({same}), {hit.age_hours} h old"), style="bold yellow")
        yield Text(plain(hit.question), style="dim")
        if hit.finding_id in findings:
            yield from _finding(findings[hit.finding_id], after)


def _replied(payload: RoutePayload, after: TokenOptEnvObservation) -> Iterator[RenderableType]:
    name = next((card.name for card in after.models if card.model_id == payload.model_id), payload.model_id)
    number = next((f"#{item.alias} " for item in after.working_memory.items if item.item_id in payload.item_ids), "")
    yield Text(f"{number}{name}, confidence {payload.confidence:.2f}", style="bold green")
    if payload.finding_id is None:
        yield Text("It says that the evidence does not suffice; that is no finding.", style="yellow")
        yield Text(plain(payload.text))
        return
    yield _values(payload.values)
    yield Text(plain(payload.text))
    yield _cites(payload.cites, after)


def _finding(finding: Finding, after: TokenOptEnvObservation) -> Iterator[RenderableType]:
    yield _values(finding.values)
    yield Text(plain(finding.text))
    yield _cites(finding.cites, after)


def _values(values: dict[str, str]) -> RenderableType:
    listed = grid("left")
    for name, value in values.items():
        listed.add_row(name, Text(plain(value), style="bold"))
    return Padding(listed, (0, 0, 0, 2), expand=False)


def _cites(cites: tuple[str, ...], after: TokenOptEnvObservation) -> Text:
    numbers = Numbering.of(after).things
    named = [f"#{numbers[cite]} ({place(cite, after)})" if cite in numbers else cite for cite in cites]
    return Text("cites " + (", ".join(named) or "nothing"), style="dim")


def _item_number(finding_id: str, after: TokenOptEnvObservation) -> str:
    number = Numbering.of(after).finding_items.get(finding_id)
    return "" if number is None else f"#{number}"


def _bill(after: TokenOptEnvObservation) -> Iterator[RenderableType]:
    paid = sum(entry.nano_usd for entry in after.ledger)
    bill = grid("left", "right", "left")
    bill.style = "dim"
    bill.add_row("this step", usd(paid, 5), "", "")
    for entry in after.ledger:
        who = "  deciding" if entry.who == "controller" else "  asking"
        bill.add_row(who, usd(entry.nano_usd, 5), entry.model_id, _tokens(entry))
    yield ""
    yield bill


def _tokens(entry: LedgerEntry) -> str:
    read = entry.fresh_tokens + entry.cached_tokens
    cached = f"{entry.cached_tokens / read:.0%}" if read else "0%"
    return f"{read:,} in ({cached} cached, {entry.fresh_tokens:,} fresh), {entry.output_tokens:,} out"
