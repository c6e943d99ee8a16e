"""`camre replay`: step through a recorded episode in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation


class _Said:
    """A policy that has spoken already."""

    def __init__(self, action: TokenOptEnvAction) -> None:
        self._action = action

    def act(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        return self._action


def replay(
    trace: Annotated[Path, typer.Argument(help="A file of a run's folder traces/.")],
    delay: Annotated[
        float | None, typer.Option(min=0, max=3_600, help="Seconds between steps; Enter when left out.")
    ] = None,
    recording: Annotated[
        Path | None, typer.Option(help="What real models answered; that of the trace's run when left out.")
    ] = None,
    no_color: Annotated[bool, typer.Option("--no-color", help="Plain text, whatever the terminal can do.")] = False,
) -> None:
    """Play a trace again, step by step, and tell where it is not what this engine does."""
    from TokenOptEnv.cli import play_board, play_result, play_score
    from TokenOptEnv.cli.play_terminal import Left, Terminal
    from TokenOptEnv.cli.play_watched import Watched
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.evaluation import answers
    from TokenOptEnv.evaluation.recorded import read_trace
    from TokenOptEnv.evaluation.replay import Replay, told
    from TokenOptEnv.evaluation.run_folder import recording_beside

    backend = answers.from_file(recording or recording_beside(trace))
    replaying = Replay(read_trace(trace), backend)
    terminal = Terminal(no_color)
    terminal.show(*play_board.opening(replaying.first))
    try:
        for step in replaying.steps():
            terminal.show(*play_board.standing(step.before))
            Watched(_Said(step.action), terminal, delay).act(step.before)
            terminal.show(*play_result.told(step.action, step.before, step.after))
    except Left:
        return
    terminal.show(*play_score.explained(replaying.record.last))
    departure = replaying.departure()
    if departure is not None:
        raise BadInput(
            f"{str(trace)!r} is not what this engine plays: {told(departure)}; see: camre verify-run, and if real"
            " models answered, name their recording with --recording"
        )
