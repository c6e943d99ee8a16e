"""Puts a case together and refuses one that is not as the outline asks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from TokenOptEnv.config import YARDSTICK, Difficulty
from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.models import FieldKind
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.simulators import tokens
from TokenOptEnv.task_defs.authoring import CaseBuilder
from TokenOptEnv.task_defs.bugfix.generator.agenda import COMMIT, Item, agenda, marathon_agenda
from TokenOptEnv.task_defs.bugfix.generator.earlier_results import remember
from TokenOptEnv.task_defs.bugfix.generator.evidence import Evidence
from TokenOptEnv.task_defs.bugfix.generator.exhibits import CODE, HISTORY, RUNS, Table, lay_out
from TokenOptEnv.task_defs.bugfix.generator.library import lore, modules
from TokenOptEnv.task_defs.bugfix.generator.plot import Plot, draw_plot
from TokenOptEnv.task_defs.bugfix.generator.questions import Asked, Asker
from TokenOptEnv.task_defs.bugfix.generator.replies import NONE, Theories
from TokenOptEnv.task_defs.bugfix.generator.sheet import Sheet
from TokenOptEnv.task_defs.generation import Outline

_BRIEF_CAP_TOKENS = 110
_QUESTIONS = {
    COMMIT: "Which commit did it begin with? Short id.",
    "file": "Which file holds the fault, or none?",
    "function": "Which function, as Class.method or function, or none?",
    "line": "Which line of the file, by number, or none?",
    "patch": "The minimal unified diff, or none.",
    "run": "The number of the last good run before the streak.",
    "later": "The short id of the later commit to the same function.",
}
_STEPS = (13, 13, 14)
"""Of a marathon's phases."""


def write(outline: Outline, attempt: int) -> Scenario:
    plot = draw_plot(outline, attempt)
    table = lay_out(plot, attempt)
    sheet = Sheet(_builder(plot, attempt))
    sheet.lay(table.exhibits)
    low, high = outline.artifact_tokens
    if not low <= sheet.size_tokens <= high:
        raise ScenarioInvalid(f"{sheet.size_tokens} tokens of artifacts; {low} to {high} were asked for")
    asker = Asker(plot, table, Evidence(plot, table), sheet, attempt)
    if outline.difficulty is Difficulty.MARATHON:
        asked = _ask_by_phase(plot, table, sheet, asker)
    else:
        wanted = agenda(outline, outline.stream("agenda"))
        by_words = _by_words(outline, wanted)
        asked = [asker.ask(item, item.name in by_words) for item in wanted]
    _add_fields(plot, sheet, asked)
    _check_brief(plot, table, sheet.builder.brief)
    _add_verdicts(sheet, asker.theories)
    remember(plot, sheet, asked, attempt)
    return sheet.builder.build()


def _ask_by_phase(plot: Plot, table: Table, sheet: Sheet, asker: Asker) -> list[Asked]:
    """Nights, then code, then history; each phase asks about what lies on the table in it."""
    phases = marathon_agenda(plot.outline)
    by_words = _by_words(plot.outline, [item for phase in phases for item in phase])
    asked: list[Asked] = []
    for name, brief, steps, wanted in zip((RUNS, CODE, HISTORY), plot.voice.phases, _STEPS, phases, strict=True):
        artifacts = table.of_phase(name)
        asked += [asker.ask(item, item.name in by_words, artifacts) for item in wanted]
        words = {"nightly": plot.voice.nightly, "number": plot.red_night.number, "package": plot.package}
        sheet.builder.phase(name, brief.format(**words), artifacts, [item.name for item in wanted], steps)
    return asked


def _builder(plot: Plot, attempt: int) -> CaseBuilder:
    draw = plot.outline.stream("brief", attempt)
    words = {
        "package": plot.package,
        "about": lore(plot.package).about[:1].upper() + lore(plot.package).about[1:],
        "nightly": plot.voice.nightly,
        "Nightly": plot.voice.nightly.capitalize(),
        "number": plot.red_night.number,
        "version": plot.version,
        "hours": plot.unchanged_hours,
        "symptom": plot.symptom,
    }
    return CaseBuilder(
        scenario_id=plot.outline.scenario_id,
        family=plot.outline.family,
        difficulty=plot.outline.difficulty,
        title=draw.choice(plot.voice.title).format(**words),
        brief=draw.choice(plot.voice.brief).format(**words),
        version=plot.version,
    )


def _by_words(outline: Outline, wanted: Sequence[Item]) -> set[str]:
    """Which questions are to share the words of their evidence: the outline's share of them, drawn."""
    exact = outline.lexical_share * len(wanted)
    count = int(exact) + outline.stream("lexical", "count").chance(exact - int(exact))
    return {item.name for item in outline.stream("lexical").shuffled(wanted)[:count]}


def _add_fields(plot: Plot, sheet: Sheet, asked: Sequence[Asked]) -> None:
    slotted = {COMMIT} if any(each.item.needs_commit for each in asked) else set()
    for question in asked:
        for name in question.item.fields:
            if name in slotted:
                continue
            sheet.builder.answer_field(
                name,
                _QUESTIONS[name],
                _field_kind(name),
                _accepted(plot, name, question.right.values[name]),
                [sheet.fact(clue) for clue in question.decisive],
                _choices(plot) if name == "file" else (),
            )


def _field_kind(name: str) -> FieldKind:
    return {"file": FieldKind.CHOICE, "patch": FieldKind.PATCH}.get(name, FieldKind.TEXT)


def _choices(plot: Plot) -> list[str]:
    others = [path for name in plot.neighbours for path in modules(name)]
    draw = plot.outline.stream("choices")
    return draw.shuffled([*modules(plot.package), *draw.shuffled(others)[:2], NONE])


def _accepted(plot: Plot, name: str, value: str) -> list[str]:
    slip = plot.bug.mutation
    if name == "function" and value != NONE:
        dotted = slip.path.removesuffix(".py").replace("/", ".")
        return [value, f"{dotted}.{value}", f"{dotted.partition('.')[2]}.{value}", f"{value}()"]
    if name == "line" and value != NONE:
        return [str(slip.line + step) for step in range(max(len(slip.wrong), len(slip.right)))]
    return [value]


def _add_verdicts(sheet: Sheet, theories: Theories) -> None:
    """As they were run when the bugs were recorded; `checking` runs them again."""
    for theory in (theories.right, *theories.wrong):
        sheet.builder.verdict(theory.values["patch"], theory is theories.right)


def _check_brief(plot: Plot, table: Table, brief: str) -> None:
    """It is short and says no answer, neither that there is a fault and where, nor that there is none.

    Both are looked for whichever is true, or cases that are refused for one would be missing on one side.
    """
    if tokens.count(YARDSTICK, brief) > _BRIEF_CAP_TOKENS:
        raise ScenarioInvalid("the brief is too long")
    slip = plot.bug.mutation
    lines, names = _accepted(plot, "line", str(slip.line)), _accepted(plot, "function", slip.function)
    runs = [str(run.night.number) for run in table.runs[:-1]]
    for value in (NONE, slip.path, *lines, *names, *runs, table.past.culprit.commit.sha):
        if re.search(rf"(?<!\w){re.escape(value.casefold())}(?!\w)", brief.casefold()):
            raise ScenarioInvalid(f"the brief says the answer {value!r}")
