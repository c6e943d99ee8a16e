"""Cases so small that every way of playing them can be looked at."""

from __future__ import annotations

from dataclasses import replace

from TokenOptEnv.config import Difficulty
from TokenOptEnv.models import ArtifactKind, FieldKind, Slot
from TokenOptEnv.scenario import CacheValidity, QuestionKind, Scenario
from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.authoring import CaseBuilder, Quote, Reply

MODELS = ("llama-3.1-8b", "gpt-5-nano", "gpt-4o-mini", "deepseek-v3.2", "gpt-5-mini", "llama-3.3-70b", "gpt-5")
_VERSION = "2.1.0"


def tiny(number: int) -> Scenario:
    """Two artifacts, one question or two, two models; all else drawn."""
    draw = Stream("tiny", number)
    builder = CaseBuilder(f"incident-easy-tiny{number}", "incident", Difficulty.EASY, "It fails", "Why?", _VERSION)
    first, second = f"request {draw.hex(4)} failed late", f"limit.{draw.hex(3)} = {draw.integer(10, 99)}"
    builder.artifact("log", ArtifactKind.LOG, "Log", _log(draw, draw.integer(4, 22), first))
    builder.artifact("config", ArtifactKind.CONFIG, "Settings", _log(draw, draw.integer(1, 6), second))
    builder.fact("f-log", "it names the request", Quote("log", first))
    builder.fact("f-config", "it sets the bound", Quote("config", second))
    both = draw.chance(0.5)
    slot = draw.chance(0.3)
    if draw.chance(0.4):
        builder.decoy("d-noise", "it is loud", Quote("log", "served"))
    decoys = ("d-noise",) if builder._decoys else ()
    needs = ["f-log", "f-config"] if both else ["f-log"]
    builder.answer_field("cause", "Why?", FieldKind.TEXT, ["late"], needs[: draw.integer(1, len(needs))])
    _question(builder, draw, "q-cause", "Why did it fail?", "cause", "late", needs, decoys)
    if number % 6 == 0:
        builder.answer_field("bound", "Which bound?", FieldKind.TEXT, ["limit"], ["f-config"])
        _question(builder, draw, "q-bound", "Which bound is set?", "bound", "limit", ["f-config"], (), slot)
    if draw.chance(0.4):
        right = draw.chance(0.6)
        builder.cached(
            "entry",
            "q-cause",
            "Why did the request fail?",
            {"cause": "late" if right else "early"},
            "It was late." if right else "It was early.",
            _VERSION if right else "1.0.0",
            5,
            [Quote("log", first)],
            CacheValidity.VALID if right else CacheValidity.WRONG_VERSION,
        )
    scenario = builder.build()
    menu = tuple(draw.shuffled(MODELS)[:2])
    return replace(scenario, public=scenario.public.model_copy(update={"menus": {"measured": menu, "current": menu}}))


def _log(draw: Stream, lines: int, special: str) -> str:
    text = [f"{draw.integer(10, 59)}:{draw.integer(10, 59)} served {draw.hex(5)} in {n} ms" for n in range(lines)]
    text.insert(draw.integer(0, lines), f"at {draw.integer(10, 59)} {special}")
    return "\n".join(text) + "\n"


def _question(
    builder: CaseBuilder,
    draw: Stream,
    name: str,
    question: str,
    field: str,
    value: str,
    needs: list[str],
    decoys: tuple[str, ...],
    slot: bool = False,
) -> None:
    builder.subtask(
        name,
        f"{question} It was {{cause}}." if slot else question,
        [field],
        draw.choice(tuple(QuestionKind)),
        lexical=draw.chance(0.5),
        needs=needs,
        right=Reply({field: value}, "The evidence says so."),
        wrong=[Reply({field: "early"}, "It looks like it.", decoys), Reply({field: "never"}, "Nothing is known.")],
        slot=Slot(name="cause", from_subtask_id="q-cause") if slot else None,
        slot_value="late" if slot else None,
    )
