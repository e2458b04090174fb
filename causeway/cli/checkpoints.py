"""Commands for the moments of a lab that people want to have again."""

import re
from datetime import datetime
from typing import Annotated

import typer

from causeway.cli import complete, tables
from causeway.cli.command import AsJson, LabName
from causeway.cli.screen import out, print_json, tell
from causeway.errors import BadInput
from causeway.hosts import host
from causeway.hosts.checkpoints import BACK, DROP, LIST, MAKE

Name = Annotated[str, typer.Argument(metavar="NAME", help="of the checkpoint", autocompletion=complete.checkpoints)]


def checkpoint(
    name: Annotated[str, typer.Argument(metavar="NAME", help="what to call it: letters, digits, . _ -")],
    lab: LabName = None,
) -> None:
    """Keep this moment of the lab that is up, all of it, to go `back` to; the lab goes on."""
    if not re.fullmatch(r"[\w.-]{1,64}", name, re.ASCII):
        raise BadInput(f"checkpoint {name}: use letters, digits, dots, _ and -, at most 64")
    made = host.ask_for_a_clone(host.with_checkpoints(lab), MAKE, name)
    tell(f"checkpoint {name}: {made['memory_mib']} MiB of memory, {made['took_s']:.1f} s; `causeway back {name}`")


def back(name: Name, lab: LabName = None) -> None:
    """Have the lab be as it was at a checkpoint, its clock, too; what came after is lost, and shells end."""
    gone = host.ask_for_a_clone(host.with_checkpoints(lab), BACK, name)
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
    found = host.with_checkpoints(lab)
    for name in drop or []:
        found.ask(DROP, name)
    rows = found.ask(LIST)
    if as_json:
        print_json(rows)
    else:
        out.print(tables.checkpoints([row | {"made": _local(row["made"])} for row in rows]))


def _local(when: str) -> str:
    return f"{datetime.fromisoformat(when).astimezone():%Y-%m-%d %H:%M:%S}"
