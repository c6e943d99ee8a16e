"""The table that an evaluation ends with: best SCE first, with intervals, and what it proves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from TokenOptEnv.backends import BackendStatement
from TokenOptEnv.backends.statement import SIMULATED
from TokenOptEnv.errors import BadInput, UnknownName
from TokenOptEnv.evaluation import comparisons, front, metrics
from TokenOptEnv.evaluation.comparisons import Comparison
from TokenOptEnv.evaluation.episodes import EpisodeResult
from TokenOptEnv.evaluation.front import Point
from TokenOptEnv.evaluation.measures import Measure
from TokenOptEnv.evaluation.metrics import Dimension, Summary
from TokenOptEnv.evaluation.run_folder import Run
from TokenOptEnv.evaluation.suite import RunSpec, changed_case
from TokenOptEnv.models import EpisodeStamp
from TokenOptEnv.models.base import Frozen

TRUTH_MARK = "*"
TRUTH_NOTE = f"{TRUTH_MARK} knows the hidden truth: a yardstick, not a contestant"
TIE_MARK = "="
TIE_NOTE = f"{TIE_MARK} not set apart from the one above (paired over scenarios, p of .05 or more)"
PROOF = (
    "What a verified run proves: every number follows from its traces, and every trace from its actions, replayed in"
    " this engine on these scenarios. What it does not prove: who chose the actions. A policy that speaks only the"
    " wire never sees the truth; one that runs beside the scenarios could read it."
)
REAL_NOTE = (
    "Answers of real models are those of the recording in the run's folder; that the models gave them is not proven."
    " SCE and regret are measured against the simulated reference."
)
MIXED_NOTE = "These runs were answered by different models: between them, a rank is not the policy's doing alone."


class Board(Frozen):
    """A ranking, with the steps between its rungs."""

    title: str
    ranking: tuple[Summary, ...]
    steps: tuple[Comparison, ...]
    """Between each contestant and the next."""
    truth_knowers: tuple[str, ...]
    front: tuple[str, ...]
    """Contestants that nobody beats in both cost and success, the cheapest first."""
    hypervolume: float
    """Of that front."""
    answered_by: tuple[BackendStatement, ...] = (BackendStatement(),)
    """Who answered the routed questions: more than one where runs of different backends share the board."""


class Report(Frozen):
    """All there is to say of results, for machines."""

    board: Board
    families: tuple[Summary, ...]
    difficulties: tuple[Summary, ...]
    splits: tuple[Summary, ...]
    classes: tuple[Summary, ...]
    results: tuple[EpisodeResult, ...]


def ranked(summaries: Iterable[Summary]) -> tuple[Summary, ...]:
    """By SCE, then return: the second tells apart those that solve nothing."""
    return tuple(
        sorted(
            summaries,
            key=lambda each: (-(each.value(Measure.SCE) or 0.0), -(each.value(Measure.RETURN) or 0.0), each.policy),
        )
    )


def board(
    results: Sequence[EpisodeResult],
    truth_knowers: Collection[str],
    title: str,
    answered_by: tuple[BackendStatement, ...] = (BackendStatement(),),
) -> Board:
    ranking = ranked(metrics.summaries(results))
    contestants = [each for each in ranking if each.policy not in truth_knowers]
    points = [point(each) for each in contestants]
    return Board(
        title=title,
        ranking=ranking,
        steps=comparisons.ladder([each.policy for each in contestants], results),
        truth_knowers=tuple(each.policy for each in ranking if each.policy in truth_knowers),
        front=tuple(each.name for each in front.front(points)),
        hypervolume=front.hypervolume(points),
        answered_by=answered_by,
    )


def point(summary: Summary) -> Point:
    return Point(summary.policy, summary.value(Measure.USD_PER_TASK) or 0.0, summary.value(Measure.SUCCESS) or 0.0)


def board_of(runs: Sequence[Run]) -> tuple[Board, tuple[EpisodeResult, ...]]:
    """Several runs on one board: on the episodes that every policy played, and only if they are comparable."""
    for run in runs:
        if not run.results:
            raise BadInput(f"{str(run.folder)!r} holds no finished episode yet; run its command again")
    first, *others = runs
    for run in others:
        _comparable(first, run)
    named = names(runs)
    played: dict[str, dict[tuple[str, int], EpisodeResult]] = {}
    for number, run in enumerate(runs):
        for result in run.results:
            policy = named[number, result.policy]
            shown = result.model_copy(update={"policy": policy})
            played.setdefault(policy, {})[result.scenario_id, result.seed] = shown
    shared = set.intersection(*(set(episodes) for episodes in played.values()))
    if not shared:
        raise BadInput("these policies have no episode in common; let them play the same scenarios and seeds")
    results = tuple(result for held in played.values() for pair, result in held.items() if pair in shared)
    knowers = [named[number, name] for number, run in enumerate(runs) for name in run.spec.truth_knowers]
    answered_by = backends_of(runs)
    titled = _title(sorted({run.spec.suite for run in runs}), shared, answered_by)
    return board(results, knowers, titled, answered_by), results


def compared(shown: Board, results: Sequence[EpisodeResult], with_policy: str) -> tuple[Comparison, ...]:
    """Every policy of the board with one of them, in its order."""
    names = [each.policy for each in shown.ranking]
    if with_policy not in names:
        raise UnknownName("policy of this board", with_policy, names, "the table")
    return tuple(comparisons.compare(name, with_policy, results) for name in names if name != with_policy)


def report(shown: Board, results: Sequence[EpisodeResult]) -> Report:
    return Report(
        board=shown,
        families=metrics.summaries(results, Dimension.FAMILY),
        difficulties=metrics.summaries(results, Dimension.DIFFICULTY),
        splits=metrics.summaries(results, Dimension.SPLIT),
        classes=metrics.summaries(results, Dimension.CLASS),
        results=tuple(results),
    )


def table(shown: Board) -> Table:
    """Within 80 columns, which is why it has no frame; only a long name is folded."""
    made = Table(title=shown.title, title_justify="left", box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    made.add_column("policy", overflow="fold")
    for head in ("SCE", "95 %", "solved", "return", "$/task", "$/solved", "regret"):
        made.add_column(head, justify="right", no_wrap=True)
    for row in _rows(shown):
        made.add_row(*row)
    return made


def notes(shown: Board) -> tuple[str, ...]:
    rows = _rows(shown)
    ties = (TIE_NOTE,) if any(row[0].startswith(TIE_MARK) for row in rows) else ()
    truth = (TRUTH_NOTE,) if shown.truth_knowers else ()
    best = f"Pareto front: {', '.join(shown.front)} (hypervolume {shown.hypervolume:.3f})" if shown.front else ""
    return (*truth, *ties, *([best] if best else []), *answered_notes(shown))


def answered_notes(shown: Board) -> tuple[str, ...]:
    """Nothing where simulated models answered, which is the rule."""
    by = shown.answered_by
    if all(each.is_simulated for each in by):
        return ()
    return (
        f"Answered by: {'; '.join(map(str, by))}",
        *((MIXED_NOTE,) if len(by) > 1 else ()),
        REAL_NOTE,
    )


def markdown(shown: Board, pairs: Sequence[Comparison] = ()) -> str:
    heads = ("policy", "SCE", "95 %", "solved", "return", "$ a task", "$ a solved task", "regret, $")
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in _rows(shown)]
    below = (f"{note}.  ".replace(TRUTH_MARK, f"\\{TRUTH_MARK}") for note in notes(shown))
    text = "\n".join([f"{shown.title}.", "", *lines, "", *below]).rstrip()
    return "\n".join([text, "", *(f"- {each}" for each in pairs)]).rstrip()


def _rows(shown: Board) -> list[tuple[str, ...]]:
    """An equals sign before a name: chance may have set it below the one above."""
    tied = {step.worse for step in shown.steps if step.p >= comparisons.SURE}
    rows: list[tuple[str, ...]] = []
    for each in shown.ranking:
        sce = each.measures[Measure.SCE]
        name = each.policy + (TRUTH_MARK if each.policy in shown.truth_knowers else "")
        rows.append(
            (
                f"{TIE_MARK} {name}" if each.policy in tied else name,
                _number(sce.value),
                f"{_number(sce.low)}-{_number(sce.high)}" if sce.low is not None else "-",
                f"{each.solved}/{each.episodes}",
                _number(each.value(Measure.RETURN)),
                _number(each.value(Measure.USD_PER_TASK), 4),
                _number(each.value(Measure.USD_PER_SOLVED), 4),
                _number(each.value(Measure.REGRET_USD), 4),
            )
        )
    return rows


def _comparable(first: Run, other: Run) -> None:
    difference = changed_case(first.spec, other.spec) or _other_rule(first, other)
    if difference is not None:
        name, value, others = difference
        raise BadInput(
            f"{str(first.folder)!r} and {str(other.folder)!r} cannot stand on one board:"
            f" {name} {value} and {others}; play both under the same"
        )


def _other_rule(first: Run, other: Run) -> tuple[str, object, object] | None:
    theirs = _rules(other)
    return next(((name, value, theirs[name]) for name, value in _rules(first).items() if theirs[name] != value), None)


def _rules(run: Run) -> dict[str, object]:
    """What results must share to be compared."""
    result = run.results[0]
    stamp: EpisodeStamp = result.stamp
    return {
        "scoring version": stamp.scoring_version,
        "catalog": stamp.catalog_version,
        "controller model": stamp.controller_model,
        "profile": result.profile.value,
        "track": result.track.value,
        "memory": run.spec.options.memory_tokens,
        "anonymous models": run.spec.options.anonymous_models,
    }


def names(runs: Sequence[Run]) -> dict[tuple[int, str], str]:
    """A policy that several runs played goes by its run's name there. Where backends differ, each row tells its own."""
    played = [name for run in runs for name in run.spec.policy_names]
    mixed = len(backends_of(runs)) > 1
    return {
        (number, name): _labelled(
            name, run.spec.backend.kind if mixed else "", run.folder.resolve().name if played.count(name) > 1 else ""
        )
        for number, run in enumerate(runs)
        for name in run.spec.policy_names
    }


def _labelled(name: str, *labels: str) -> str:
    told = ", ".join(filter(None, labels))
    return f"{name} ({told})" if told else name


def backends_of(runs: Iterable[Run]) -> tuple[BackendStatement, ...]:
    """Each once, in the order of the runs."""
    found: list[BackendStatement] = []
    for run in runs:
        if run.spec.backend not in found:
            found.append(run.spec.backend)
    return tuple(found)


def title(spec: RunSpec) -> str:
    return _title([spec.suite], {(job.scenario_id, job.seed) for job in spec.jobs()}, (spec.backend,))


def _title(
    suites: Iterable[str], shared: Collection[tuple[str, int]], answered_by: tuple[BackendStatement, ...]
) -> str:
    scenarios = len({scenario_id for scenario_id, _ in shared})
    kinds = dict.fromkeys(each.kind for each in answered_by)
    told = "" if list(kinds) == [SIMULATED] else f" ({' and '.join(kinds)} models)"
    return f"{' + '.join(suites)}{told}: {scenarios} scenarios, {len(shared)} episodes a policy"


def _number(value: float | None, decimals: int = 3) -> str:
    """Between 0 and 1 the zero goes without saying, and the column stays narrow."""
    if value is None:
        return "-"
    text = f"{value:.{decimals}f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text
