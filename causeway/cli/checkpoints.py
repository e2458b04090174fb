"""Commands for the moments of a lab that people want to have again."""

import re
from datetime import datetime
from typing import Annotated, Any

import typer

from causeway.cli import complete, tables
from causeway.cli.command import AsJson, LabName
from causeway.cli.screen import out, print_json, tell
from causeway.errors import BadInput
from causeway.hosts import host, memory
from causeway.hosts.alone import alone
from causeway.hosts.checkpoints import BACK, DROP, LIST, MAKE

Name = Annotated[str, typer.Argument(metavar="NAME", help="of the checkpoint", autocompletion=complete.checkpoints)]


def checkpoint(
    name: Annotated[str, typer.Argument(metavar="NAME", help="what to call it: letters, digits, . _ -")],
    lab: LabName = None,
) -> None:
    """Keep this moment of the lab that is up, all of it, to go `back` to; the lab goes on."""
    if not re.fullmatch(r"[\w.-]{1,64}", name, re.ASCII):
        raise BadInput(f"checkpoint {name}: use letters, digits, dots, _ and -, at most 64")
    made = _ask(lab, MAKE, name)
    tell(f"checkpoint {name}: {made['memory_mib']} MiB of memory, {made['took_s']:.1f} s; `causeway back {name}`")


def back(name: Name, lab: LabName = None) -> None:
    """Have the lab be as it was at a checkpoint, its clock, too; what came after is lost, and shells end."""
    gone = _ask(lab, BACK, name)
    for command in gone["cut_off"]:
        tell(f"cut off: causeway {command}")
    tell(f"back at {name} of {_local(gone['made'])}, in {gone['took_s']:.1f} s")


def checkpoints(
    lab: LabName = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="remove this one; once a checkpoint", autocompletion=complete.checkpoints),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the checkpoints of the lab that is up, and what memory they hold."""
    for name in drop or []:
        _ask(lab, DROP, name)
    rows = _ask(lab, LIST)
    if as_json:
        print_json(rows)
    else:
        out.print(tables.checkpoints([row | {"made": _local(row["made"])} for row in rows]))


def _ask(lab: str | None, what: str, *words: str) -> Any:
    found = host.with_checkpoints(lab)
    if what not in (MAKE, BACK):
        return found.ask(what, *words)
    with alone(memory.FOLDER):  # the clone takes what a lab that comes up beside it must not count on
        return found.ask(what, *words)


def _local(when: str) -> str:
    return f"{datetime.fromisoformat(when).astimezone():%Y-%m-%d %H:%M:%S}"
