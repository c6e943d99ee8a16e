"""What lies on the table: the task, working memory and what is left to spend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from TokenOptEnv import questions
from TokenOptEnv.by_hand.labels import item_gist
from TokenOptEnv.by_hand.plain_text import plain
from TokenOptEnv.config import Track
from TokenOptEnv.models import Budget, ItemKind, MemoryItem, TokenOptEnvObservation

KINDS: Final[dict[ItemKind, tuple[str, str]]] = {
    ItemKind.SEGMENT: ("S", "cyan"),
    ItemKind.PREVIEW: ("P", "blue"),
    ItemKind.SEARCH: ("H", "magenta"),
    ItemKind.CACHE: ("C", "yellow"),
    ItemKind.FINDING: ("F", "green"),
    ItemKind.COMPRESSED: ("Z", "bright_cyan"),
    ItemKind.CHECKPOINT: ("N", "bright_yellow"),
}
"""The letter and the colour of each kind of item: the letter says it where colours do not show."""

_MEMORY_BAR: Final = 46
_CHIPS_WIDTH: Final = 72
_BUDGET_BAR: Final = 10
_TIGHT, _SPENT = 0.6, 0.85
_NANO: Final = 1_000_000_000


def usd(nano_usd: int, decimals: int = 4) -> str:
    return f"${nano_usd / _NANO:.{decimals}f}"


def grid(*justified: str) -> Table:
    """Columns without lines; the last one takes what is left and wraps."""
    made = Table.grid(padding=(0, 1))
    for side in justified:
        made.add_column(justify="right" if side == "right" else "left", no_wrap=True)
    made.add_column(overflow="fold")
    return made


def opening(observation: TokenOptEnvObservation) -> Iterator[RenderableType]:
    """The task, as it stands at the beginning of a phase."""
    task = observation.task
    yield Rule(Text(f"{task.scenario_id}, seed {observation.seed}"), align="left")
    yield Text(plain(f"{task.title} [{task.version}]"), style="bold")
    yield Text(plain(task.brief))
    if task.phases > 1:
        end = task.phase_ends_at_step
        until = "the last one" if end is None else f"ends at step {end}, or with a note that answers every question"
        yield Text(f"Phase {task.phase + 1} of {task.phases}: {until}.", style="yellow")
    yield ""
    yield Text("Questions", style="bold")
    asked = grid("right")
    for number, subtask in enumerate(task.subtasks, start=1):
        asked.add_row(str(number), plain(f"{questions.wording(observation, subtask)} -> {', '.join(subtask.fields)}"))
    yield asked
    if task.track is Track.SOLVER:
        yield Text("Answer (also in your own words)", style="bold")
        fields = grid("left")
        for field in task.answer_fields:
            options = f" ({' | '.join(field.choices)})" if field.choices else ""
            fields.add_row(field.name, plain(field.question + options))
        yield fields
    yield Text("Artifacts", style="bold")
    artifacts = grid("right", "left", "right")
    for artifact in observation.artifacts:
        kind = Text(artifact.kind.value, style="dim")
        artifacts.add_row(str(artifact.alias), kind, f"{artifact.tokens:,}t", plain(artifact.title))
    yield artifacts
    yield Text("Models, usd per million tokens in/out", style="bold")
    models = grid("right", "left")
    for number, card in enumerate(observation.models, start=1):
        price = f"{card.input_pico_usd / 1e6:g}/{card.output_pico_usd / 1e6:g}"
        models.add_row(str(number), card.name, f"{card.tier.value}, {price}")
    yield models


def standing(observation: TokenOptEnvObservation) -> Iterator[RenderableType]:
    """Working memory and budgets, before a decision."""
    steps = observation.budgets.steps
    yield ""
    yield Rule(Text(f"step {observation.step + 1} of {steps.limit}"), align="left")
    yield memory_bar(observation)
    if observation.working_memory.items:
        yield Padding(_chips(observation.working_memory.items), (0, 0, 0, 7), expand=False)
    yield _budgets(observation)
    if observation.checkpoints:
        saved = grid("left", "right")
        for number, checkpoint in enumerate(observation.checkpoints, start=1):
            holds = f", {len(checkpoint.finding_ids)} findings" if checkpoint.finding_ids else ""
            note = checkpoint.note.strip().split("\n", 1)[0]
            saved.add_row(f"note {number}", f"{checkpoint.tokens}t", plain(f"{note}{holds}"))
        yield saved
    if observation.must_submit:
        yield Text("Only an answer can still be paid for: anything else ends the episode without one.", style="red")
    elif steps.left == 1:
        yield Text("This is the last step: anything but an answer ends the episode without one.", style="red")


def memory_bar(observation: TokenOptEnvObservation) -> Text:
    memory = observation.working_memory
    bound = memory.token_budget
    parts = [(*KINDS[item.kind], item.tokens) for item in memory.items]
    line = Text("memory ")
    line.append_text(_bar(parts, max(1, memory.token_budget_used) if bound is None else bound, _MEMORY_BAR))
    line.append(f" {memory.token_budget_used:,}" + (" tokens" if bound is None else f" of {bound:,} tokens"))
    return line


def memory_list(observation: TokenOptEnvObservation) -> RenderableType:
    """Each item with the beginning of its text."""
    items = observation.working_memory.items
    if not items:
        return "Working memory is empty."
    listed = grid("right", "left", "right")
    for item in items:
        listed.add_row(f"#{item.alias}", _kind(item), f"{item.tokens}t", item_gist(item))
    return listed


def item_text(item: MemoryItem) -> RenderableType:
    """An item as it stands in memory, whole."""
    head = Text(f"#{item.alias} {plain(item.label)}, {item.tokens}t", style=f"bold {KINDS[item.kind][1]}")
    return Group(head, Text(plain(item.text).rstrip("\n")))


def _kind(item: MemoryItem) -> Text:
    letter, colour = KINDS[item.kind]
    return Text(f"{letter} {item.kind.value}", style=colour)


def _chips(items: Sequence[MemoryItem]) -> Text:
    """Never broken within an item."""
    packed, width = Text(), 0
    for item in items:
        chip = f"#{item.alias} {item.kind.value} {item.tokens}t"
        if width + len(chip) > _CHIPS_WIDTH:
            packed.append("\n")
            width = 0
        packed.append("  " if width else "").append(chip, style=KINDS[item.kind][1])
        width += len(chip) + 2
    return packed


def _bar(parts: Sequence[tuple[str, str, int]], whole: int, width: int) -> Text:
    """Ends are rounded, not lengths, so that rounding never adds up."""
    drawn, so_far, at = Text("["), 0, 0
    for letter, colour, amount in parts:
        so_far += amount
        end = min(width, round(so_far / whole * width))
        drawn.append(letter * (end - at), style=f"black on {colour}")
        at = end
    drawn.append("." * (width - at), style="dim")
    return drawn.append("]")


def _budgets(observation: TokenOptEnvObservation) -> Table:
    budgets = observation.budgets
    money = f"{usd(budgets.nano_usd.spent)} of {usd(budgets.nano_usd.limit)}"
    seconds = f"{budgets.latency_ms.spent / 1000:.0f} s of {budgets.latency_ms.limit / 1000:.0f} s"
    made = Table.grid(padding=(0, 2))
    made.add_row(_gauge("money", budgets.nano_usd, money), _gauge("steps", budgets.steps, _of(budgets.steps)))
    made.add_row(_gauge("tokens", budgets.tokens, _of(budgets.tokens)), _gauge("time", budgets.latency_ms, seconds))
    return made


def _of(budget: Budget) -> str:
    return f"{budget.spent:,} of {budget.limit:,}"


def _gauge(name: str, budget: Budget, figures: str) -> Text:
    share = budget.spent / budget.limit
    colour = "green" if share < _TIGHT else "yellow" if share < _SPENT else "red"
    line = Text(f"{name:<6} ")
    line.append_text(_bar([("#", colour, budget.spent)], budget.limit, _BUDGET_BAR))
    return line.append(f" {figures}")
