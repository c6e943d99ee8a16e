"""A file of questions and answers: each row a question, rows of one `case` asked together.

JSON Lines or CSV. A row has `question`, `answer` and the `quote` that shows it (or `lines`), and may
have `file`, `wrong`, `choices`, `kind`, `case`, `id`; in CSV several wrong answers are separated by `|`.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from TokenOptEnv.errors import BadInput
from TokenOptEnv.importing.spec import Texts
from TokenOptEnv.importing.spec_file import CaseFile, case_file, read_text
from TokenOptEnv.models.base import Frozen

QUESTION_ENDINGS: Final = (".jsonl", ".csv")
_BRIEF: Final = "Answer the questions from the files, and cite the lines that show the answers."
_LONGEST_SLUG: Final = 40


class _Row(Frozen):
    question: str
    answer: Texts
    quote: Texts = ()
    lines: str | None = None
    file: str | None = None
    wrong: Texts = ()
    choices: Texts = ()
    kind: str = "lookup"
    case: str | None = None
    id: str | None = None


def read_question_file(path: Path) -> tuple[CaseFile, ...]:
    """One case for each `case`, or for each row that has none."""
    rows = [(number, _row(data, f"{path.name}:{number}")) for number, data in _rows(path)]
    if not rows:
        raise BadInput(f"{path.name}: holds no question; write a row with question, answer and quote")
    cases: dict[str, list[tuple[int, _Row]]] = {}
    for number, row in rows:
        cases.setdefault(row.case or f"{path.stem}-{number}", []).append((number, row))
    return tuple(_case(path, name, held) for name, held in cases.items())


def _case(path: Path, name: str, rows: list[tuple[int, _Row]]) -> CaseFile:
    questions = [
        {
            "id": row.id or f"q{place}",
            "ask": row.question,
            "answer": row.answer,
            "kind": row.kind,
            "wrong": row.wrong,
            "choices": row.choices,
            "quote": row.quote,
            "lines": row.lines,
            "file": row.file,
        }
        for place, (_, row) in enumerate(rows, start=1)
    ]
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST_SLUG].strip("-") or "questions"
    data = {"slug": slug, "title": rows[0][1].question[:100], "brief": _BRIEF, "question": questions}
    return case_file(data, f"{path.name}:{rows[0][0]}", path.parent)


def _row(data: Mapping[str, Any], where: str) -> _Row:
    try:
        return _Row.model_validate({key: value for key, value in data.items() if value not in (None, "")})
    except ValidationError as fault:
        error = fault.errors()[0]
        field = ".".join(str(part) for part in error["loc"])
        what = {"missing": "is missing", "extra_forbidden": "is no column of a question file"}.get(
            error["type"], error["msg"]
        )
        raise BadInput(f"{where}: {field}: {what}; a row has question, answer and quote") from None


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    text = read_text(path)
    if path.suffix == ".csv":
        reader = csv.DictReader(io.StringIO(text), restkey="more", strict=True)
        try:
            for row in reader:
                split = {name: _several(name, value) for name, value in row.items()}
                yield reader.line_num, split
        except csv.Error as fault:
            raise BadInput(f"{path.name}:{reader.line_num}: is no CSV: {fault}") from None
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                data = json.loads(line)
            except json.JSONDecodeError as fault:
                raise BadInput(f"{path.name}:{number}: is no JSON: {fault.msg}") from None
            if not isinstance(data, dict):
                raise BadInput(f"{path.name}:{number}: is no object; write one question a line, in braces")
            yield number, data


def _several(name: str | None, value: Any) -> Any:
    if name in ("wrong", "choices") and isinstance(value, str):
        return [part.strip() for part in value.split("|") if part.strip()]
    return value
