"""A case out of a spec: two passes over the evidence, then the same builder that cases designed by hand use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from TokenOptEnv.config import SIZES, YARDSTICK, Difficulty
from TokenOptEnv.errors import BadInput
from TokenOptEnv.importing.git_history import with_history
from TokenOptEnv.importing.laid_out import lay_out
from TokenOptEnv.importing.needed import check_names, wanted_texts, with_inline_facts
from TokenOptEnv.importing.questions import Asking
from TokenOptEnv.importing.quotes import Survey, survey
from TokenOptEnv.importing.report import ImportReport, report_of
from TokenOptEnv.importing.secrets import Masker
from TokenOptEnv.importing.sources import find_sources
from TokenOptEnv.importing.spec_file import CaseFile
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.simulators import tokens
from TokenOptEnv.task_defs.authoring import CaseBuilder

FAMILY: Final = "imported"
MOST_TOKENS: Final = SIZES[Difficulty.HARD].artifact_tokens[1]
_LEAST_TOKENS: Final = 1_000


@dataclass(frozen=True)
class ImportOptions:
    most_tokens: int = MOST_TOKENS
    keep_secrets: tuple[str, ...] = ()
    """Kinds that are not masked."""
    encoding: str | None = None

    def __post_init__(self) -> None:
        if not _LEAST_TOKENS <= self.most_tokens <= MOST_TOKENS:
            raise BadInput(f"a scenario keeps {_LEAST_TOKENS} to {MOST_TOKENS} tokens, not {self.most_tokens}")
        Masker(self.keep_secrets)


@dataclass(frozen=True)
class Imported:
    scenario: Scenario
    report: ImportReport
    file: CaseFile
    """With everything that was derived before the evidence was read."""


def import_case(file: CaseFile, options: ImportOptions) -> Imported:
    spec = file.spec
    sources = find_sources([file.folder / place for place in spec.sources], options.encoding or spec.encoding)
    if spec.git is not None:
        spec, derived = with_history(spec, file.folder)
        sources = (*derived, *sources)
    if not sources:
        raise BadInput(f"{file.name}: names no sources; give files or folders: sources = [...], or --logs")
    spec = with_inline_facts(spec, file)
    check_names(spec, file)
    seen = survey(sources, [wanted for _, wanted in wanted_texts(spec, file)])
    return _assembled(replace(file, spec=spec), options, seen)


def _assembled(file: CaseFile, options: ImportOptions, seen: Survey) -> Imported:
    spec, masker = file.spec, Masker(options.keep_secrets)
    builder = CaseBuilder("", FAMILY, Difficulty.EASY, "", "", "")
    laid = lay_out(builder, masker, file, seen, options.most_tokens)
    builder.difficulty = _difficulty(sum(tokens.count(YARDSTICK, segment.text) for _, segment in laid.segments))
    builder.scenario_id = f"{FAMILY}-{builder.difficulty.value}-{spec.slug.replace('_', '-')}"
    builder.title, builder.brief, builder.version = (
        masker.mask(text).text for text in (spec.title, spec.brief, spec.version)
    )
    asking = Asking(builder, masker, file, laid)
    asking.add_all()
    scenario = builder.build()
    report = report_of(scenario, laid, seen, derived_decoys=len(asking.found_decoys), hard_to_find=asking.hard_to_find)
    return Imported(scenario, report, file)


def _difficulty(artifact_tokens: int) -> Difficulty:
    """By size, as for every case."""
    for difficulty in (Difficulty.EASY, Difficulty.MEDIUM):
        if artifact_tokens <= SIZES[difficulty].artifact_tokens[1]:
            return difficulty
    return Difficulty.HARD
