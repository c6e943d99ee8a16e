"""Episodes as the report's viewer shows them: replayed from their traces, since a trace repeats no text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import assert_never

from TokenOptEnv.evaluation import answers
from TokenOptEnv.evaluation.episodes import EpisodeResult
from TokenOptEnv.evaluation.recorded import read_trace
from TokenOptEnv.evaluation.replay import Replay, ReplayedStep
from TokenOptEnv.evaluation.run_folder import job_of, trace_path
from TokenOptEnv.evaluation.suite import RunOptions
from TokenOptEnv.models import (
    AnyPayload,
    CachePayload,
    CheckpointPayload,
    CompressPayload,
    FieldScore,
    HydratePayload,
    LedgerEntry,
    PurgePayload,
    ReadPayload,
    RefusedPayload,
    RestorePayload,
    RewardTerm,
    RoutePayload,
    SearchPayload,
    SubmitPayload,
    TokenOptEnvObservation,
)
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.text_actions import describe

_LONGEST_TEXT = 400
_LONGEST_LINE = 140


class WatchedItem(Frozen):
    """An item of working memory: what it is, and what it takes."""

    name: str
    kind: str
    tokens: int


class WatchedStep(Frozen):
    action: str
    said: str
    """The action in full."""
    lines: tuple[str, ...]
    """What it brought."""
    refused: bool
    reward: float
    entries: tuple[LedgerEntry, ...]
    memory: tuple[WatchedItem, ...]
    """After the step."""
    milestones: tuple[str, ...]
    guardrails: tuple[str, ...]
    phase: int


class WatchedEpisode(Frozen):
    policy: str
    scenario_id: str
    seed: int
    title: str
    brief: str
    memory_budget: int | None
    usd_budget_nano: int
    reference_nano_usd: int
    cost_nano_usd: int
    success: bool
    total_return: float
    sce: float
    end_reason: str
    fields: tuple[FieldScore, ...]
    answer: dict[str, str]
    terms: tuple[RewardTerm, ...]
    steps: tuple[WatchedStep, ...]


def watch(folder: Path, options: RunOptions, recording: Path | None, result: EpisodeResult) -> WatchedEpisode:
    trace = read_trace(trace_path(folder, job_of(result)))
    replay = Replay(trace, answers.from_file(recording), **options.model_dump())
    steps = tuple(map(_step, replay.steps()))
    last, task = replay.record.last, replay.first.task
    return WatchedEpisode(
        policy=result.policy,
        scenario_id=result.scenario_id,
        seed=result.seed,
        title=task.title,
        brief=task.brief,
        memory_budget=last.working_memory.token_budget,
        usd_budget_nano=last.budgets.nano_usd.limit,
        reference_nano_usd=result.reference_nano_usd,
        cost_nano_usd=result.cost_nano_usd,
        success=result.success,
        total_return=result.total_return,
        sce=result.sce,
        end_reason=result.end_reason.value,
        fields=result.score.fields,
        answer=_answer(last),
        terms=result.score.terms,
        steps=steps,
    )


def chosen(results: Sequence[EpisodeResult], most: int) -> tuple[EpisodeResult, ...]:
    """At most so many, spread evenly over the suite, and always every policy on the same case: then they compare."""
    cases = list(dict.fromkeys((result.scenario_id, result.seed) for result in results))
    policies = len({result.policy for result in results})
    wanted = min(len(cases), most // max(1, policies))
    kept = {cases[number * len(cases) // wanted] for number in range(wanted)}
    return tuple(result for result in results if (result.scenario_id, result.seed) in kept)


def _step(step: ReplayedStep) -> WatchedStep:
    before, after = step.before, step.after
    result = after.last_tool_result
    assert result is not None
    refusal = result.refusal
    lines = (refusal.message,) if refusal is not None else tuple(_lines(result.payload, after))
    return WatchedStep(
        action=step.action.action_type.value,
        said=_clipped(describe(step.action)),
        lines=tuple(map(_clipped, lines)),
        refused=refusal is not None,
        reward=after.reward or 0.0,
        entries=after.ledger,
        memory=tuple(
            WatchedItem(name=item.item_id, kind=item.kind.value, tokens=item.tokens)
            for item in after.working_memory.items
        ),
        milestones=after.milestones.achieved_ids[len(before.milestones.achieved_ids) :],
        guardrails=tuple(
            f"{event.guardrail_id}: {event.message}" for event in after.guardrail_events[len(before.guardrail_events) :]
        ),
        phase=after.task.phase,
    )


def _answer(last: TokenOptEnvObservation) -> dict[str, str]:
    payload = last.last_tool_result.payload if last.last_tool_result is not None else None
    return payload.answer if isinstance(payload, SubmitPayload) else {}


def _lines(payload: AnyPayload, after: TokenOptEnvObservation) -> Iterator[str]:
    match payload:
        case ReadPayload():
            yield f"{payload.artifact_id}: {payload.access_mode}, page {payload.page} of {payload.pages}"
            yield from (f"{line.segment_id}, {line.tokens} tokens: {line.title}" for line in payload.outline)
        case SearchPayload():
            yield from (f"{hit.segment_id}, score {hit.score:.1f}: {_line(hit.snippet)}" for hit in payload.hits)
        case HydratePayload():
            yield f"{', '.join(payload.item_ids)}: {payload.tokens_added} tokens loaded"
        case PurgePayload():
            yield f"{', '.join(payload.purged_ids)}: {payload.tokens_freed} tokens freed"
        case CompressPayload():
            yield f"{payload.method}: from {payload.tokens_before} to {payload.tokens_after} tokens"
        case CachePayload():
            for hit in payload.hits:
                same = "this version" if hit.version == after.task.version else f"version {hit.version}"
                yield f"{hit.finding_id}: {same}, {hit.age_hours} h old, {hit.similarity:.2f} alike: {hit.question}"
        case RoutePayload():
            values = "; ".join(f"{name} = {_line(value)}" for name, value in payload.values.items())
            yield f"{payload.model_id}, confidence {payload.confidence:.2f}: {values or 'evidence does not suffice'}"
            yield payload.text
            yield f"cites {', '.join(payload.cites) or 'nothing'}"
        case CheckpointPayload():
            yield f"{payload.checkpoint_id}: {payload.tokens} tokens"
        case RestorePayload():
            yield f"{payload.checkpoint_id}: {', '.join(payload.finding_ids) or 'no finding'}"
        case SubmitPayload():
            yield from (f"{name} = {_line(value)}" for name, value in payload.answer.items())
            yield f"evidence {', '.join(payload.evidence_segment_ids) or 'none'}"
        case RefusedPayload():
            pass
        case _ as never:
            assert_never(never)


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST_LINE else flat[: _LONGEST_LINE - 1] + "…"


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
