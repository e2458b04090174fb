"""The page of the commands, from the tool's own help, around a text that stands beside this file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from causeway.cli.app import app
from causeway.docs.markdown import page_from, table
from causeway.folders import REPO

TEXT = Path(__file__).with_name("commands.md")


def commands_page() -> str:
    """Every command with its arguments and options, as `--help` has them; then exit codes, JSON, folders."""
    lines: list[str] = []
    for name, command in _commands(typer.main.get_command(app())):
        shown = [p for p in command.params if not getattr(p, "hidden", False)]
        arguments = [_argument(p) for p in shown if p.param_type_name == "argument"]
        usage = " ".join(["bin/causeway", name, "[OPTIONS]", *arguments])
        lines += [f"## {name}", "", "```text", usage, "```", "", command.help or "", ""]
        rows = [_parameter(p) for p in shown if getattr(p, "help", None)]
        if rows:
            lines += table("argument or option|meaning|default", rows)
    return page_from(TEXT, {"commands": lines[:-1]}, REPO / "causeway/cli")


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every command with its whole name; of a group, those in it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")
        elif not command.hidden:
            yield before + name, command


def _argument(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _parameter(parameter: Any) -> list[str]:
    if parameter.param_type_name == "argument":
        return [f"`{_argument(parameter)}`", parameter.help, _default(parameter)]
    value = "" if parameter.is_flag else " " + (parameter.metavar or parameter.name.upper())
    return [f"`{parameter.opts[0]}{value}`", parameter.help, _default(parameter)]


def _default(parameter: Any) -> str:
    return "" if parameter.default in (None, False) else f"`{parameter.default}`"
