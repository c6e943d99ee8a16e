"""`camre play`: an episode in the terminal, played by a person or by a policy that a person watches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from TokenOptEnv.cli.play_terminal import Terminal
    from TokenOptEnv.local_env import LocalEnv
    from TokenOptEnv.models import TokenOptEnvObservation
    from TokenOptEnv.policies import Policy


def play(
    scenario_id: Annotated[str | None, typer.Argument(help="Chosen from the core suite when left out.")] = None,
    seed: Annotated[int, typer.Option(help="Chooses the world: what the models will say.")] = 0,
    policy: Annotated[
        str | None, typer.Option(help="Watch this policy play instead; see: camre policies list.")
    ] = None,
    profile: Annotated[str | None, typer.Option(help="v1 or v2.")] = None,
    track: Annotated[str | None, typer.Option(help="controller or solver.")] = None,
    catalog: Annotated[str | None, typer.Option(help="measured or current.")] = None,
    delay: Annotated[
        float | None, typer.Option(min=0, max=3_600, help="Seconds between a policy's steps; Enter when left out.")
    ] = None,
    reveal: Annotated[bool, typer.Option("--reveal", help="Show the truth and the reference plan at the end.")] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="Plain text, whatever the terminal can do.")] = False,
) -> None:
    """Play a scenario in the terminal: choose by number, or type actions in their short form."""
    from TokenOptEnv import policies
    from TokenOptEnv.cli.play_person import Person
    from TokenOptEnv.cli.play_suite import choose
    from TokenOptEnv.cli.play_terminal import Left, Terminal
    from TokenOptEnv.cli.play_watched import Watched
    from TokenOptEnv.local_env import LocalEnv

    env = LocalEnv(profile=profile, track=track, catalog=catalog, reveal=reveal)
    watched = policies.make(policy, seed) if policy is not None else None
    terminal = Terminal(no_color)
    try:
        chosen = scenario_id if scenario_id is not None else choose(terminal)
        if reveal:
            _refuse_on_test(chosen)
        observation = env.reset(chosen, seed)
        player = Person(terminal) if watched is None else Watched(watched, terminal, delay)
        _episode(env, player, terminal, observation)
    except Left:
        _farewell(env, terminal)
    except KeyboardInterrupt:
        terminal.show("")  # the shell's next prompt begins its own line
        raise


def _episode(env: LocalEnv, player: Policy, terminal: Terminal, observation: TokenOptEnvObservation) -> None:
    from TokenOptEnv.cli import play_board, play_result, play_score
    from TokenOptEnv.models import ActionType

    terminal.show(*play_board.opening(observation))
    while not observation.done:
        terminal.show(*play_board.standing(observation))
        before, action = observation, player.act(observation)
        if action.action_type is ActionType.SUBMIT_ANSWER:
            terminal.show("Grading; a plan to compare with may have to be made first.")
        observation = env.step(action)
        terminal.show(*play_result.told(action, before, observation))
    terminal.show(*play_score.explained(observation))


def _refuse_on_test(scenario_id: str) -> None:
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.scenario_store.splits import case_named
    from TokenOptEnv.task_defs.generation import Split, split_of

    case = case_named(scenario_id)
    if case is not None and split_of(case.number) is Split.TEST:
        raise BadInput(f"{scenario_id!r} is of the test split, whose truth is never shown; play it without --reveal")


def _farewell(env: LocalEnv, terminal: Terminal) -> None:
    state = env.state
    steps = "1 step" if state.step_count == 1 else f"{state.step_count} steps"
    terminal.show("Nothing was played." if state.scenario_id is None else f"Left after {steps}; nothing was graded.")
