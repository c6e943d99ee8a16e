"""What an evaluation leaves behind: a line per episode, and the trace of each. Bytes depend on nothing but the run."""

from __future__ import annotations

from pathlib import Path

from TokenOptEnv.evaluation.episodes import PlayedEpisode


class RunFolder:
    """`results.jsonl` begins anew with each run and grows as episodes end; a trace of the same name is replaced."""

    def __init__(self, folder: Path) -> None:
        self._traces = folder / "traces"
        self._results = folder / "results.jsonl"
        self._traces.mkdir(parents=True, exist_ok=True)
        self._results.write_text("", encoding="utf-8")

    def add(self, played: PlayedEpisode) -> None:
        result = played.result
        with self._results.open("a", encoding="utf-8", newline="\n") as lines:
            lines.write(result.model_dump_json() + "\n")
        place = self._traces / result.policy / f"{result.scenario_id}@{result.seed}.jsonl"
        place.parent.mkdir(exist_ok=True)
        place.write_text(played.trace.to_jsonl(), encoding="utf-8", newline="\n")
