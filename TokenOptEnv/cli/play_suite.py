"""Choosing what to play: the core suite by number, anything else by its id."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from TokenOptEnv import scenario_store
from TokenOptEnv.cli.play_terminal import Left, Terminal
from TokenOptEnv.errors import CamreError


def choose(terminal: Terminal) -> str:
    rows = scenario_store.index().scenarios
    listed = Table.grid(padding=(0, 1))
    listed.add_column(justify="right")
    listed.add_column(no_wrap=True)
    listed.add_column()
    for number, row in enumerate(rows, start=1):
        listed.add_row(str(number), row.scenario_id, Text(row.title, style="dim"))
    terminal.show("Which scenario?", listed)
    while True:
        line = terminal.ask("number or id (q quits)> ")
        if line in ("q", "quit"):
            raise Left
        if line.isdecimal() and 1 <= int(line[:9]) <= len(rows):
            return rows[int(line) - 1].scenario_id
        if not line or line == "?" or line.isdecimal():
            terminal.show(f"Type a number from 1 to {len(rows)}, or the id of a scenario.")
            continue
        try:
            return scenario_store.load(line).scenario_id
        except CamreError as fault:
            terminal.show(Text(str(fault)))
