"""What a spec needs found before it is a case: each question's facts, each fact's and decoy's quotes."""

from __future__ import annotations

from collections.abc import Iterator

from TokenOptEnv.errors import BadInput
from TokenOptEnv.importing.quotes import Wanted, line_range
from TokenOptEnv.importing.spec import CaseSpec, EvidenceSpec, QuestionSpec
from TokenOptEnv.importing.spec_file import CaseFile


def _question_id(question: QuestionSpec, place: int) -> str:
    return question.id or question.field or f"q{place + 1}"


def with_inline_facts(spec: CaseSpec, file: CaseFile) -> CaseSpec:
    """A question that quotes needs what it quotes."""
    facts, questions = list(spec.fact), []
    for place, question in enumerate(spec.question):
        name = _question_id(question, place)
        if question.quote or question.lines:
            fact_id = _inline_id(name)
            facts.append(EvidenceSpec(id=fact_id, file=question.file, quote=question.quote, lines=question.lines))
            question = question.model_copy(
                update={"needs": (*question.needs, fact_id), "quote": (), "lines": None, "file": None}
            )
        if not question.needs:
            raise BadInput(
                f"{file.where('question', place)}: question {name!r} rests on nothing; quote what shows the answer,"
                f" or name facts: needs = [...]"
            )
        questions.append(question.model_copy(update={"id": name, "field": (question.field or name).replace("-", "_")}))
    if not questions:
        raise BadInput(f"{file.name}: asks no question; add one with its answer: [[question]]")
    return spec.model_copy(update={"fact": tuple(facts), "question": tuple(questions)})


def _inline_id(question_id: str) -> str:
    return f"shows-{question_id}"


def check_names(spec: CaseSpec, file: CaseFile) -> None:
    known: dict[str, str] = {}
    for kind, evidence in (("fact", spec.fact), ("decoy", spec.decoy)):
        for place, each in enumerate(evidence):
            if each.id in known:
                raise BadInput(f"{file.where(kind, place, 'id')}: {kind} {each.id!r}: the id is used twice; rename one")
            known[each.id] = kind
    used: set[str] = set()
    fields: set[str | None] = set()
    for place, question in enumerate(spec.question):
        where = file.where("question", place)
        if question.id in used:
            raise BadInput(f"{where}: question {question.id!r}: the id is used twice; rename one")
        used.add(question.id or "")
        if question.field in fields:
            raise BadInput(f"{where}: question {question.id!r}: the field {question.field!r} is used twice; rename one")
        fields.add(question.field)
        for kind, names in (
            ("fact", question.needs),
            ("decoy", tuple(name for wrong in question.wrong for name in wrong.decoys)),
        ):
            for name in names:
                if known.get(name) != kind:
                    mine = ", ".join(each for each, sort in known.items() if sort == kind) or "none"
                    raise BadInput(f"{where}: question {question.id!r}: there is no {kind} {name!r}; there are: {mine}")


def wanted_texts(spec: CaseSpec, file: CaseFile) -> Iterator[tuple[str, Wanted]]:
    """By evidence id, everything that must be found."""
    asked = {_inline_id(question.id or ""): place for place, question in enumerate(spec.question)}
    for kind, evidence in (("fact", spec.fact), ("decoy", spec.decoy)):
        for place, each in enumerate(evidence):
            where = file.where("question", asked[each.id]) if each.id in asked else file.where(kind, place)
            what = f"{where}: {kind} {each.id!r}"
            if each.lines is not None:
                if each.file is None:
                    raise BadInput(f"{what}: lines are lines of a file; name it: file = ...")
                yield each.id, Wanted(what, each.file, line_range(each.lines, what))
            elif not each.quote:
                raise BadInput(f"{what}: quotes nothing; give quote = ..., or file = ... and lines = ...")
            for quote in each.quote:
                text = quote.replace("\r\n", "\n").strip("\n")
                if not text.strip():
                    raise BadInput(f"{what}: its quote is blank; quote text that says something")
                yield each.id, Wanted(what, each.file, text)
