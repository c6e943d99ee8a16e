"""The prompt a language-model policy reads, and that the controller is billed for: one definition for both.

    [preamble + brief + questions + artifacts + models][memory items in order][last result + what is left]

The head changes only with the phase, items never change, and the tail changes at every step: so a
provider's prefix cache holds everything up to the first item that was dropped or rewritten.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from TokenOptEnv.config import Profile, Track
from TokenOptEnv.models import (
    ActionType,
    ArtifactHandle,
    Budgets,
    Checkpoint,
    Effort,
    MemoryItem,
    ModelCard,
    TaskBrief,
    TokenOptEnvObservation,
    ToolResult,
    WorkingMemory,
)

_GOAL = (
    "Solve it at least cost: each prompt of yours and each ask is billed. An answer counts only if it is right and "
    "rests on evidence that was read here. Reply with one action:"
)
_V1_VERBS = """read A [page]: a small artifact whole, of a large one its segments
cache words: earlier results, which may be outdated
squeeze S.. method ratio[: words]: rewrite items shorter, as by extract 0.3
ask Q M S.. [low | medium | high]: a model answers from these items and segments
submit F.. [with S..]: hand in findings, and end"""
_V2_VERBS = """find words [kN]: the N segments that fit best
load S..: segments into memory
drop S..: items out of memory
up F [M] [effort]: a stronger model on the same
note F.. S..: text, which outlasts a phase
recall C: a note"""
_SOLVER_SUBMIT = "submit S..: field=value; field=value | (in your own words; S the evidence)"


_LAST_CHANCE = "Only submit can still be paid.\n"
_DONE = {kind: kind.value.split("_")[0].lower() for kind in ActionType}
"""How the tail calls the last action."""


def head_text(task: TaskBrief, artifacts: Iterable[ArtifactHandle], models: Iterable[ModelCard]) -> str:
    """What stays the same for a whole phase: all that is public and decides what is worth reading and what a call
    costs. Of what kind an artifact is, and how much a model thinks, a title and a name tell those alone who know them.
    """
    verbs = _V1_VERBS if task.profile is Profile.V1 else f"{_V1_VERBS}\n{_V2_VERBS}"
    lines = [_GOAL, verbs]
    if task.track is Track.SOLVER:
        lines.append(_SOLVER_SUBMIT)
    lines.append(f"## {task.title} [{task.version}]")
    lines.append(task.brief)
    if task.phases > 1:
        lines.append(f"Phase {task.phase + 1} of {task.phases}. {_phase_end(task.phase_ends_at_step)}")
    lines.append("## Q")
    for number, subtask in enumerate(task.subtasks, start=1):
        lines.append(f"{number} {subtask.question} -> {', '.join(subtask.fields)}")
    if task.track is Track.SOLVER:
        for field in task.answer_fields:
            options = f" ({' | '.join(field.choices)})" if field.choices else ""
            lines.append(f"{field.name}: {field.question}{options}")
    lines.append("## A")
    for artifact in artifacts:
        lines.append(f"{artifact.alias} {artifact.kind} {artifact.title}, {_size(artifact.tokens)}")
    lines.append("## M, usd per million in/out, thinks so many tokens at low/medium/high")
    for number, card in enumerate(models, start=1):
        price = f"{card.input_pico_usd / 1e6:g}/{card.output_pico_usd / 1e6:g}"
        thought = "/".join(str(card.reasoning_tokens[effort]) for effort in Effort)
        lines.append(f"{number} {card.name} {card.tier} {price} {thought}")
    lines.append("## Memory")
    return "\n".join(lines) + "\n"


def _phase_end(step: int | None) -> str:
    if step is None:
        return "The last."
    return f"It ends at step {step}, or with a note that holds a finding for each Q; all else is lost then."


def _size(tokens: int) -> str:
    """Small artifacts are read whole, so their exact size matters; of large ones it is enough to know roughly."""
    return f"{tokens}t" if tokens < 1_000 else f"{round(tokens / 1_000)}kt"


def item_header(alias: int, label: str) -> str:
    return f"#{alias} {label}\n"


def item_text(item: MemoryItem) -> str:
    return item_header(item.alias, item.label) + item.text


def tail_text(
    memory: WorkingMemory,
    last: ToolResult | None,
    budgets: Budgets,
    checkpoints: tuple[Checkpoint, ...],
    must_submit: bool,
) -> str:
    """What is new at every step."""
    return now_text(
        last,
        len(checkpoints),
        memory.token_budget_used,
        memory.token_budget,
        budgets.steps.left,
        budgets.nano_usd.left,
        budgets.tokens.left,
        must_submit,
    )


def now_text(
    last: ToolResult | None,
    checkpoints: int,
    memory_used_tokens: int,
    memory_tokens: int | None,
    left_steps: int,
    left_nano_usd: int,
    left_tokens: int,
    must_submit: bool,
) -> str:
    """The tail, of the numbers that it tells: most prompts are only counted, and nothing is made to be shown."""
    told = ""
    if last is not None:
        outcome = f"refused: {last.refusal.message}" if last.refusal is not None else f"ok {last.tokens:+d}t"
        told = f"last {_DONE[last.action_type]} {outcome}\n"
    within = "" if memory_tokens is None else f"/{memory_tokens}"
    return (
        f"## Now\n{told}{_saved(checkpoints) if checkpoints else ''}memory {memory_used_tokens}{within}t, "
        f"left {left_steps} steps ${left_nano_usd / 1e9:.4f} {left_tokens}t\n{_LAST_CHANCE if must_submit else ''}"
    )


@lru_cache(maxsize=256)
def _saved(checkpoints: int) -> str:
    return f"saved {' '.join([str(number) for number in range(1, checkpoints + 1)])}\n"


def render_text(observation: TokenOptEnvObservation) -> str:
    """The compact prompt: what it shows is what is billed. No reward and no milestone in it."""
    return (
        head_text(observation.task, observation.artifacts, observation.models)
        + "".join(item_text(item) for item in observation.working_memory.items)
        + tail_text(
            observation.working_memory,
            observation.last_tool_result,
            observation.budgets,
            observation.checkpoints,
            observation.must_submit,
        )
    )
