"""`camre scenarios import`: logs, a repository or questions of one's own, as scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from TokenOptEnv.importing import CaseFile, Imported, ImportReport

_GIT_SLUG = "bad-commit"
_GIT_TITLE = "One commit broke it"
_GIT_BRIEF = "One of the latest commits broke something. Find out which, and in which file."
_ASK_SLUG = "question"
_ASK_BRIEF = "Answer the question from the files, and cite the lines that show the answer."


def import_scenarios(
    spec: Annotated[
        Path | None, typer.Argument(help="A spec (.toml, .json) or questions and answers (.jsonl, .csv).")
    ] = None,
    logs: Annotated[
        list[Path] | None, typer.Option(help="A file or folder of evidence, besides those the spec names; repeatable.")
    ] = None,
    git: Annotated[Path | None, typer.Option(help="A repository; with --bad, no spec is needed.")] = None,
    bad: Annotated[str | None, typer.Option(help="Its commit that is known to be bad.")] = None,
    good: Annotated[str | None, typer.Option(help="A commit before it that is known to be sound.")] = None,
    ask: Annotated[str | None, typer.Option(help="One question about --logs; no spec is needed.")] = None,
    answer: Annotated[str | None, typer.Option(help="Its answer.")] = None,
    quote: Annotated[str | None, typer.Option(help="The text in the logs that shows the answer.")] = None,
    wrong: Annotated[
        list[str] | None,
        typer.Option(help="An answer somebody might believe; repeatable. Ids are found by themselves."),
    ] = None,
    slug: Annotated[str | None, typer.Option(help="The end of the scenario's id, where no spec names it.")] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Where scenarios are kept; CAMRE_SCENARIOS_DIR when left out.")
    ] = None,
    max_tokens: Annotated[int, typer.Option(help="Keep so many tokens, those around the quotes.")] = 250_000,
    encoding: Annotated[str | None, typer.Option(help="Of the evidence; UTF-8 when left out.")] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="A kind of secret that is not masked, like ip; repeatable.")
    ] = None,
    plans: Annotated[bool, typer.Option("--plans/--no-plans", help="Make the plans to compare with now.")] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing: say what would be imported.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Make scenarios of your own evidence; they are played, checked and scored like any other."""
    from TokenOptEnv.cli import screen
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.importing import ImportOptions, import_case

    options = ImportOptions(max_tokens, tuple(keep or ()), encoding)
    if ask is not None and spec is None and git is None:
        files: Sequence[CaseFile] = (_one_question(ask, answer, quote, wrong or [], slug),)
    elif ask is not None or answer is not None or quote is not None or wrong:
        raise BadInput("questions go into the spec, as [[question]]; --ask is for --logs without a spec")
    else:
        files = _case_files(spec, git, bad, good, slug)
    places = [str(place.absolute()) for place in logs or ()]
    made = [import_case(file.with_sources(*places), options) for file in screen.progress(files, len(files), "Reading")]
    _stop_at_faults(made)
    if not dry_run:
        _keep(made, folder, plans)
    if as_json:
        screen.json([each.report for each in made])
        return
    for each in made:
        screen.show(*_told(each.report))
    if not dry_run:
        _say_next(made, folder)


def _case_files(
    spec: Path | None, git: Path | None, bad: str | None, good: str | None, slug: str | None
) -> Sequence[CaseFile]:
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.importing import QUESTION_ENDINGS, SPEC_ENDINGS, case_file, read_case_file, read_question_file

    if git is not None:
        if spec is not None:
            raise BadInput("a repository goes into the spec, as its [git] table; give a spec or --git")
        if bad is None:
            raise BadInput("which commit is bad? name it: --bad COMMIT")
        table = {"repository": str(git.absolute()), "bad": bad, **({"good": good} if good is not None else {})}
        data = {"slug": slug or _GIT_SLUG, "title": _GIT_TITLE, "brief": _GIT_BRIEF, "git": table}
        return (case_file(data, "--git", Path()),)
    if spec is None:
        raise BadInput("nothing to import; give a spec, or --git and --bad; begin one: camre scenarios new case NAME")
    if spec.suffix in QUESTION_ENDINGS:
        return read_question_file(spec)
    if spec.suffix in SPEC_ENDINGS:
        return (read_case_file(spec),)
    raise BadInput(
        f"{spec.name!r} is no spec: it ends on {', '.join((*SPEC_ENDINGS, *QUESTION_ENDINGS))}; logs go to --logs"
    )


def _one_question(ask: str, answer: str | None, quote: str | None, wrong: Sequence[str], slug: str | None) -> CaseFile:
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.importing import case_file

    if answer is None or quote is None:
        raise BadInput("a question needs --answer, and --quote: the text in the logs that shows it")
    question = {"id": "answer", "ask": ask, "answer": answer, "quote": quote, "wrong": list(wrong)}
    data = {"slug": slug or _ASK_SLUG, "title": ask[:100], "brief": _ASK_BRIEF, "question": [question]}
    return case_file(data, "--ask", Path())


def _stop_at_faults(made: Sequence[Imported]) -> None:
    from TokenOptEnv.cli import screen
    from TokenOptEnv.evaluation.faults import Level
    from TokenOptEnv.evaluation.spec_faults import faults_of

    errors = 0
    for each in made:
        for fault in faults_of(each):
            errors += fault.level is Level.ERROR
            screen.line(fault.line)
    if errors:
        screen.line(f"{errors} faults; nothing is written")
        raise typer.Exit(1)


def _keep(made: Sequence[Imported], folder: Path | None, plans: bool) -> None:
    from TokenOptEnv import scenario_store
    from TokenOptEnv.cli import screen
    from TokenOptEnv.scenario_store import imported

    place = folder if folder is not None else imported.folder()
    for each in screen.progress(made, len(made), "Planning"):
        scenario_store.keep_imported(each.scenario, _plans(each) if plans else None, place)


def _plans(made: Imported) -> bytes:
    from TokenOptEnv.errors import BadInput, PlanNotFound, ScenarioInvalid
    from TokenOptEnv.plans.stored_plans import dump_plans, make_stored_plans

    try:
        return dump_plans(make_stored_plans(made.scenario))
    except (PlanNotFound, ScenarioInvalid) as fault:
        raise BadInput(f"{made.file.name}: {fault}; ask fewer questions, or let each need fewer facts") from None


def _told(report: ImportReport) -> Sequence[RenderableType]:
    from rich.table import Table

    table = Table("file", title=report.scenario_id, title_justify="left")
    for column in ("lines", "kept", "tokens kept", "dropped, about"):
        table.add_column(column, justify="right")
    for source in report.sources:
        name = f"{source.name} ({source.note})" if source.note else source.name
        table.add_row(
            name,
            f"{source.lines:,}",
            f"{source.kept_lines:,}",
            f"{source.kept_tokens:,}",
            f"{source.dropped_tokens_estimate:,}",
        )
    masked = ", ".join(f"{count} {kind}" for kind, count in report.masked.items()) or "nothing"
    strays = sum(source.windows_1252_lines for source in report.sources)
    shortened = sum(source.shortened_lines for source in report.sources)
    lines = [
        f"{report.artifact_tokens:,} tokens in {report.segments} segments; about"
        f" {report.dropped_tokens_estimate:,} tokens dropped",
        f"masked: {masked}",
        f"{report.facts} facts, {report.decoys} decoys ({report.derived_decoys} of them found by the import)",
        *(
            f"question {name!r}: a search in its own words misses its facts, which makes it harder"
            for name in report.hard_to_find
        ),
        *([f"{strays:,} lines were read as Windows-1252"] if strays else []),
        *([f"{shortened:,} lines were too long and are shortened"] if shortened else []),
    ]
    return (table, *lines)


def _say_next(made: Sequence[Imported], folder: Path | None) -> None:
    from TokenOptEnv.cli import screen
    from TokenOptEnv.scenario_store import imported

    if folder is not None and folder.resolve() != imported.folder().resolve():
        screen.line(f"written to {folder}; to play from there: export CAMRE_SCENARIOS_DIR={folder}")
    screen.line(f"next: camre eval --scenario {made[0].scenario.scenario_id}")
