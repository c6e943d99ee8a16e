"""The faults of a case that lies in a file, told at the place in the file that they come from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation.faults import Fault
from TokenOptEnv.evaluation.validate import CHECKS, validate
from TokenOptEnv.importing import (
    QUESTION_ENDINGS,
    SPEC_ENDINGS,
    CaseFile,
    Imported,
    ImportOptions,
    import_case,
    read_case_file,
    read_question_file,
)
from TokenOptEnv.scenario import load_scenario

_SCENARIO_ENDING: Final = ".json.gz"
_PLACE: Final = re.compile(r"(fact|decoy|subtask|field|candidate|brief|scenario_id)(?: ([\w-]+))?")


def is_case_file(name: str) -> bool:
    """A scenario's id has no ending."""
    return name.endswith((*SPEC_ENDINGS, *QUESTION_ENDINGS, _SCENARIO_ENDING))


def check_file(path: Path) -> tuple[Fault, ...]:
    """A spec or a file of questions is imported without being kept; a scenario is read from its own file."""
    if not path.is_file():
        raise BadInput(f"there is no file {str(path)!r}; give a spec, a scenario's file, or a scenario's id")
    if path.name.endswith(_SCENARIO_ENDING):
        scenario = load_scenario(path.read_bytes(), path.name)
        return tuple(fault.model_copy(update={"scenario_id": path.name}) for fault in validate(scenario))
    files = read_question_file(path) if path.suffix in QUESTION_ENDINGS else (read_case_file(path),)
    made = [import_case(file, ImportOptions()) for file in files]
    return tuple(_placed(fault, each.file) for each in made for fault in validate(each.scenario))


def faults_of(made: Imported) -> tuple[Fault, ...]:
    """By every check that needs no plan."""
    return tuple(_placed(fault, made.file) for check in CHECKS for fault in check(made.scenario))


def _placed(fault: Fault, file: CaseFile) -> Fault:
    """With the file and, where it can be told, the line in place of the scenario's id."""
    field = next(_fields(fault.place, file), ())
    return fault.model_copy(update={"scenario_id": file.where(*field)})


def _fields(place: str, file: CaseFile) -> Iterator[tuple[str | int, ...]]:
    """What in the spec a check's place came from."""
    match = _PLACE.match(place)
    if match is None:
        return
    kind, name = match[1], match[2] or ""
    if kind in ("brief", "scenario_id"):
        yield ("slug",) if kind == "scenario_id" else (kind,)
    if kind in ("fact", "decoy"):
        evidence = file.spec.fact if kind == "fact" else file.spec.decoy
        yield from ((kind, number) for number, each in enumerate(evidence) if each.id == name)
    for number, question in enumerate(file.spec.question):
        owner = name.rpartition("-c")[0] if kind == "candidate" else name
        if kind in ("subtask", "candidate", "field") and owner in (question.id, question.field):
            yield ("question", number)
