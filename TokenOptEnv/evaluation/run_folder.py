"""What a run leaves behind, and finds again after a kill.

    run.json         what is played: everything that decides the results
    results.jsonl    a line an episode, each with its own checksum; appended as episodes end, sorted when all have
    traces/          POLICY/SCENARIO@SEED.jsonl
    answers.jsonl    of a run that real models answered: what they said, and what it cost

An episode counts once its line is whole, and its trace was written before that: killed at any moment, a run has lost
at most what it was playing. A half-written last line is cut off and its episode played again. The finished folder
holds the same bytes however often it was interrupted and however many workers played; answers alone stand in the
order in which they came.
"""

from __future__ import annotations

import fcntl
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from urllib.parse import quote

from pydantic import ValidationError

from TokenOptEnv.backends import BackendStatement
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation.answers import ANSWERS, answers_file
from TokenOptEnv.evaluation.episodes import EpisodeResult
from TokenOptEnv.evaluation.result_lines import from_line, to_line
from TokenOptEnv.evaluation.suite import Job, RunSpec, differing
from TokenOptEnv.models.base import Frozen

SPEC = "run.json"
RESULTS = "results.jsonl"
TRACES = "traces"
_LONGEST_VALUE = 60


class Run(Frozen):
    """A run as it was read back."""

    folder: Path
    spec: RunSpec
    results: tuple[EpisodeResult, ...]

    @property
    def recording(self) -> Path | None:
        """What answers its routed questions again; None where simulated models did."""
        return answers_file(self.folder, self.spec.backend)

    @property
    def finished(self) -> bool:
        return len(self.results) == len(self.spec.jobs())


def job_of(result: EpisodeResult) -> Job:
    return Job(result.policy, result.scenario_id, result.seed)


def trace_path(folder: Path, job: Job) -> Path:
    """A policy's name may hold anything; a folder's may not."""
    return folder / TRACES / quote(job.policy, safe="") / f"{job.scenario_id}@{job.seed}.jsonl"


class RunFolder:
    """Open while a run plays: one run at a time, and only the run it was begun for."""

    def __init__(self, folder: Path, done: dict[Job, EpisodeResult], lines: TextIOWrapper) -> None:
        self.path = folder
        self.done = done
        self._lines = lines

    @classmethod
    @contextmanager
    def opened(cls, folder: Path, spec: RunSpec, fresh: bool = False) -> Iterator[RunFolder]:
        """`fresh` throws away what an earlier run left here."""
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / SPEC).open("a+", encoding="utf-8", errors="replace", newline="\n") as held:
            _lock(folder, held)
            if fresh:
                _clear(folder, held, spec)
            _agree(folder, held, spec)
            done = {job_of(result): result for result in _whole_lines(folder, mend=True)}
            with (folder / RESULTS).open("a", encoding="utf-8", newline="\n") as lines:
                yield cls(folder, done, lines)

    def add(self, result: EpisodeResult, trace: str) -> None:
        job = job_of(result)
        if job in self.done:
            return
        place = trace_path(self.path, job)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(trace, encoding="utf-8", newline="\n")
        self._lines.write(to_line(result))
        self._lines.flush()
        self.done[job] = result

    def finish(self, jobs: Iterable[Job]) -> tuple[EpisodeResult, ...]:
        """Sort the lines; the file is replaced in one move."""
        results = tuple(self.done[job] for job in jobs)
        draft = self.path / f".{RESULTS}"
        draft.write_text("".join(map(to_line, results)), encoding="utf-8", newline="\n")
        draft.replace(self.path / RESULTS)
        return results


def load_run(folder: Path) -> Run:
    if not (folder / SPEC).is_file():
        raise BadInput(f"{str(folder)!r} holds no {SPEC}; name a folder that camre eval --out wrote")
    spec = _spec(folder, (folder / SPEC).read_text(encoding="utf-8", errors="replace"))
    results = tuple(_whole_lines(folder, mend=False))
    twice = [job for job, times in Counter(map(job_of, results)).items() if times > 1]
    if twice:
        job = twice[0]
        raise BadInput(f"{str(folder)!r} has two results of {job.policy} on {job.scenario_id}@{job.seed}; keep one")
    return Run(folder=folder, spec=spec, results=results)


def recording_beside(trace: Path) -> Path | None:
    """What answered a trace that lies where a run put it; None where simulated models did, or nobody can tell."""
    folder = trace.resolve().parents[2] if len(trace.resolve().parents) > 2 else trace.parent
    if not (folder / SPEC).is_file():
        return None
    return answers_file(folder, _spec(folder, (folder / SPEC).read_text(encoding="utf-8", errors="replace")).backend)


def _lock(folder: Path, held: TextIOWrapper) -> None:
    """The system lets go of it when its holder dies, however it dies."""
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise BadInput(f"another run is writing to {str(folder)!r}; wait for it, or choose another folder") from None


def _clear(folder: Path, held: TextIOWrapper, spec: RunSpec) -> None:
    """Only what a run wrote: without its `run.json`, files of these names are somebody else's.

    Answers that were paid for stay: the same backend gives them again, and for another one nothing is thrown away.
    """
    held.seek(0)
    text = held.read()
    if not text and any((folder / name).exists() for name in (RESULTS, TRACES, ANSWERS)):
        raise BadInput(f"{str(folder)!r} is no run's folder, and nothing is deleted there; choose another")
    if (folder / ANSWERS).exists():
        _clear_answers(folder, text, spec.backend)
    (folder / RESULTS).unlink(missing_ok=True)
    shutil.rmtree(folder / TRACES, ignore_errors=True)
    held.truncate(0)


def _clear_answers(folder: Path, text: str, backend: BackendStatement) -> None:
    try:
        earlier = RunSpec.model_validate_json(text).backend
    except ValidationError:
        earlier = None
    if earlier == backend:
        return
    if earlier is None or earlier.grows:
        raise BadInput(
            f"{str(folder / ANSWERS)!r} holds what {earlier or 'real models'} answered, and is not thrown away;"
            " choose another folder"
        )
    (folder / ANSWERS).unlink()


def _agree(folder: Path, held: TextIOWrapper, spec: RunSpec) -> None:
    """Write down what is played, or see that the run found here plays the same."""
    held.seek(0)
    text = held.read()
    if not (folder / RESULTS).exists():
        if text and not text.startswith("{"):
            raise BadInput(f"{str(folder / SPEC)!r} is of something else; choose another folder")
        held.truncate(0)
        held.write(spec.model_dump_json(indent=1) + "\n")
        held.flush()
        (folder / RESULTS).touch()
        return
    difference = differing(_spec(folder, text), spec)
    if difference is not None:
        name, there, here = (str(part)[:_LONGEST_VALUE] for part in difference)
        raise BadInput(
            f"{str(folder)!r} holds another run: {name} is {there}, and not {here};"
            " choose another folder, or begin anew with --fresh"
        )


def _spec(folder: Path, text: str) -> RunSpec:
    try:
        return RunSpec.model_validate_json(text)
    except ValidationError:
        raise BadInput(f"{str(folder / SPEC)!r} is damaged, or of another version; begin anew with --fresh") from None


def _whole_lines(folder: Path, mend: bool) -> Iterator[EpisodeResult]:
    """A line without its end was being written when its writer was killed; with `mend` it is cut off."""
    file = folder / RESULTS
    if not file.is_file():
        return
    data = file.read_bytes()
    end = data.rfind(b"\n") + 1
    if mend and end < len(data):
        with file.open("r+b") as lines:
            lines.truncate(end)
    text = data[:end].decode("utf-8", errors="replace")
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        result = from_line(f"{line}\n")
        if result is None:
            raise BadInput(
                f"line {number} of {str(file)!r} is damaged: its checksum does not fit;"
                " delete the line and run again, or begin anew with --fresh"
            )
        yield result
