"""A run as a Hugging Face dataset: one row a step, the prompt that was billed and the action that was taken.

    README.md                             the card; it names the files, so `datasets.load_dataset(folder)` needs no more
    data/train-00000-of-00001.parquet     and `validation-…` for episodes of that split

A trace holds no texts: each episode is played again from its actions, and one that no longer plays to the same
bytes stops the export. Two things are kept out of what is meant for training: the test split, and policies that know
the truth, which would teach what no prompt shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

from TokenOptEnv.errors import BadInput, UnknownName
from TokenOptEnv.evaluation import answers
from TokenOptEnv.evaluation.episodes import EpisodeResult
from TokenOptEnv.evaluation.recorded import read_trace
from TokenOptEnv.evaluation.replay import Replay, ReplayedStep, told
from TokenOptEnv.evaluation.run_folder import Run, job_of, trace_path
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.prompt import render_text
from TokenOptEnv.simulators.backend import Backend
from TokenOptEnv.text_actions import Numbering, parse
from TokenOptEnv.text_actions import write as short_form

if TYPE_CHECKING:
    import pyarrow as pa

_HELD_OUT: Final = "test"
_FILE: Final = "data/{split}-00000-of-00001.parquet"
_ROWS_A_GROUP: Final = 1_000


class Row(Frozen):
    """One step: the columns, and what the card says of them."""

    prompt: str = Field(description="what the policy was shown, and billed for")
    completion: str = Field(description="the action in its short form")
    policy: str = Field(description="who played")
    scenario_id: str = Field(description="the task")
    family: str = Field(description="the kind of task")
    difficulty: str = Field(description="easy, medium, hard or marathon")
    split: str = Field(description="of the scenario: core, train, validation or a user's own")
    seed: int = Field(description="the world that the scenario was played in")
    step: int = Field(description="from 1 on")
    refused: bool = Field(description="whether the environment refused the action")
    reward: float = Field(description="of this step")
    total_return: float = Field(description="of the whole episode")
    success: bool = Field(description="of the whole episode")
    sce: float = Field(description="of the whole episode: success per dollar, against the reference")
    cost_usd: float = Field(description="of the whole episode")


class Written(Frozen):
    folder: Path
    episodes: int
    rows: int
    unspoken: int
    """Steps left out, because no short form spells them."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The episodes of a run that are to be learnt from."""

    run: Run
    results: tuple[EpisodeResult, ...]

    def episodes(self) -> Iterator[tuple[Row, ...]]:
        backend = answers.from_file(self.run.recording)
        for result in self.results:
            yield tuple(_rows(self.run, backend, result))


def select(run: Run, policy_names: Collection[str], least_return: float) -> Selection:
    """All policies of the run but those that know the truth, where none is named."""
    for name in policy_names:
        if name not in run.spec.policy_names:
            raise UnknownName("policy in this run", name, run.spec.policy_names, "its run.json")
        if name in run.spec.truth_knowers:
            raise BadInput(f"policy {name!r} knows the truth and is no teacher; choose another")
    if any(result.split == _HELD_OUT for result in run.results):
        raise BadInput(f"{str(run.folder)!r} holds episodes of the test split, which nobody trains on; export another")
    teachers = set(policy_names or run.spec.policy_names) - run.spec.truth_knowers
    if not teachers:
        raise BadInput(f"only policies that know the truth played {str(run.folder)!r}; export a run of others")
    results = tuple(
        result for result in run.results if result.policy in teachers and result.total_return >= least_return
    )
    if not results:
        raise BadInput(f"no episode of {str(run.folder)!r} has a return of {least_return:g}; lower --least-return")
    return Selection(run, results)


def write(episodes: Iterable[Sequence[Row]], chosen: Selection, folder: Path) -> Written:
    """In one move: killed half-way, there is no folder of that name."""
    if find_spec("pyarrow") is None:
        raise BadInput("the export needs pyarrow; install it: pip install 'openenv-TokenOptEnv[export]'")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{str(folder)!r} is not empty; choose a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as beside:
        draft = Path(beside) / folder.name
        (draft / "data").mkdir(parents=True)
        rows = _write_tables(episodes, draft)
        if not rows:
            raise BadInput("no action of these episodes has a short form to learn; export others")
        unspoken = sum(result.steps for result in chosen.results) - sum(rows.values())
        (draft / "README.md").write_text(_card(chosen, rows, unspoken), encoding="utf-8", newline="\n")
        draft.replace(folder)
    return Written(folder=folder, episodes=len(chosen.results), rows=sum(rows.values()), unspoken=unspoken)


def _rows(run: Run, backend: Backend | None, result: EpisodeResult) -> Iterator[Row]:
    file = trace_path(run.folder, job_of(result))
    replay = Replay(read_trace(file), backend, **run.spec.options.model_dump())
    steps = list(replay.steps())
    departure = replay.departure()
    if departure is not None:
        raise BadInput(f"{str(file)!r} is not what this engine plays: {told(departure)}; see: camre verify-run")
    if replay.record.last.score != result.score:
        raise BadInput(f"the score of {str(file)!r} does not follow from it; see: camre verify-run")
    for step in steps:
        spoken = _spoken(step)
        if spoken is not None:
            yield _row(step, spoken, result)


def _spoken(step: ReplayedStep) -> str | None:
    """What a text policy would have had to say; None where nothing it can say means that action."""
    text = short_form(step.action, Numbering.of(step.before))
    meant = step.action.model_copy(update={"reasoning_tokens": 0, "metadata": {}})
    return text if parse(text, step.before) == meant else None


def _row(step: ReplayedStep, spoken: str, result: EpisodeResult) -> Row:
    last = step.after.last_tool_result
    return Row(
        prompt=render_text(step.before),
        completion=spoken,
        policy=result.policy,
        scenario_id=result.scenario_id,
        family=result.family,
        difficulty=result.difficulty.value,
        split=result.split,
        seed=result.seed,
        step=step.after.step,
        refused=last is not None and last.refusal is not None,
        reward=step.after.reward or 0.0,
        total_return=result.total_return,
        success=result.success,
        sce=result.sce,
        cost_usd=result.cost_nano_usd / 1e9,
    )


def _write_tables(episodes: Iterable[Sequence[Row]], folder: Path) -> Counter[str]:
    """Rows are written as they come, so that a long run needs no more memory than a short one; counted by split."""
    counts: Counter[str] = Counter()
    tables: dict[str, _Table] = {}
    with ExitStack() as opened:
        for row in chain.from_iterable(episodes):
            split = "validation" if row.split == "validation" else "train"
            if split not in tables:
                tables[split] = opened.enter_context(closing(_Table(folder / _FILE.format(split=split))))
            tables[split].add(row)
            counts[split] += 1
    return counts


class _Table:
    """A Parquet file that is being written."""

    def __init__(self, file: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        self._arrow = pa
        self._schema = _schema(pa)
        self._writer = parquet.ParquetWriter(file, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []

    def add(self, row: Row) -> None:
        self._rows.append(row.model_dump())
        if len(self._rows) == _ROWS_A_GROUP:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(self._arrow.Table.from_pylist(self._rows, self._schema))
            self._rows = []


def _schema(arrow: Any) -> pa.Schema:
    kinds: dict[Any, Any] = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
    return arrow.schema([(name, kinds[field.annotation]) for name, field in Row.model_fields.items()])


def _card(chosen: Selection, rows: Counter[str], unspoken: int) -> str:
    spec = chosen.run.spec
    files = [f"  - split: {split}\n    path: {_FILE.format(split=split)}" for split in sorted(rows)]
    by_policy = Counter(result.policy for result in chosen.results)
    teachers = [f"| {name} | {number} |" for name, number in sorted(by_policy.items())]
    lines = [
        "---",
        "license: apache-2.0",
        "language: [en]",
        "task_categories: [text-generation]",
        "tags: [camre, agents, cost-aware, tool-use]",
        "pretty_name: CAMRE episodes",
        "configs:",
        "- config_name: default",
        "  data_files:",
        *files,
        "---",
        "",
        "# CAMRE episodes",
        "",
        "Steps of agents that solve code and log tasks under a budget, with a bounded memory. A row is one step: the",
        "prompt is all that the agent held at that moment, so a policy learns from rows as they stand, one by one.",
        "",
        f"- {sum(rows.values())} steps of {len(chosen.results)} episodes, all of a return of at least"
        f" {min(result.total_return for result in chosen.results):g}",
        f"- {unspoken} steps were left out, because no short form spells them",
        f"- suite {spec.suite}, seeds {', '.join(map(str, spec.seeds))}; answered by {spec.backend}",
        f"- TokenOptEnv {spec.version}, scoring {spec.scoring_version}, code {spec.code}",
        "",
        "| policy | episodes |",
        "|---|---:|",
        *teachers,
        "",
        "| column | |",
        "|---|---|",
        *(f"| {name} | {field.description} |" for name, field in Row.model_fields.items()),
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        'rows = load_dataset("PATH/OF/THIS/FOLDER", split="train")',
        "```",
    ]
    return "\n".join(lines) + "\n"
