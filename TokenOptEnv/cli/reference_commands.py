"""The page of commands: what `--help` says of each, without a terminal's width in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_HEAD = """# Commands

Written by `camre reference`. Every command takes `--help`; those with results take `--json`.
"""


def commands_page() -> str:
    from typer.main import get_command

    from TokenOptEnv.cli.main import app

    return "\n".join([_HEAD, *(_section(words, command) for words, command in _leaves("camre", get_command(app)))])


def _leaves(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    """In the order of their names, groups opened. The parser's classes live elsewhere in every version: hence Any."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield words, command
        return
    for name in sorted(inner):
        yield from _leaves(f"{words} {name}", inner[name])


def _section(words: str, command: Any) -> str:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    usage = " ".join([words, *(_placeholder(each) for each in arguments)])
    lines = [f"## {words}", "", " ".join((command.help or "").split()), "", f"    {usage}", ""]
    rows = [_argument_row(each) for each in arguments] + [_option_row(each) for each in options]
    if rows:
        lines += ["| takes | default | |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _placeholder(argument: Any) -> str:
    name = (argument.metavar or argument.name).upper().strip("[]. ")
    many = "..." if argument.nargs == -1 or argument.multiple else ""
    return f"{name}{many}" if argument.required else f"[{name}{many}]"


def _argument_row(argument: Any) -> str:
    return f"| `{argument.name.upper()}` | | {_cell(argument.help)} |"


def _option_row(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    return f"| {names} | {_default(option)} | {_cell(option.help)} |"


def _default(option: Any) -> str:
    if isinstance(option.show_default, str):
        return _cell(option.show_default)
    value = option.default
    if value is None or value is False or callable(value) or value in ((), []):
        return "required" if option.required else ""
    if isinstance(value, list | tuple):
        return _cell(", ".join(str(each) for each in value))
    return _cell(str(getattr(value, "value", value)))


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")
