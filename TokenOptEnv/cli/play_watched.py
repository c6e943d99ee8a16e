"""A policy that a person watches: it waits before each step, and says what it does by name."""

from __future__ import annotations

import time

from rich.text import Text

from TokenOptEnv.by_hand.plain_text import plain
from TokenOptEnv.cli.play_desk import Desk
from TokenOptEnv.cli.play_terminal import Terminal
from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies import Policy
from TokenOptEnv.text_actions import describe

_HELP = "Enter plays the next step, show N prints an item in memory, q leaves."


class Watched:
    def __init__(self, policy: Policy, terminal: Terminal, delay_s: float | None) -> None:
        self._policy = policy
        self._terminal = terminal
        self._delay_s = delay_s

    def act(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        if self._delay_s is not None:
            time.sleep(self._delay_s)
        elif self._terminal.interactive:
            desk = Desk(self._terminal, observation)
            while desk.line("Enter for the next step> ", _HELP):
                self._terminal.show(_HELP)
        action = self._policy.act(observation)
        self._terminal.show("", Text(plain(describe(action)), style="dim"))
        return action
