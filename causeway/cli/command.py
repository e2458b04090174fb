"""What the commands share: their options, and that one for a lab is passed on into the lab's host."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from causeway.cli import complete
from causeway.errors import BadInput
from causeway.hosts import host

#: What a seat's lab is called: its site, and its number.
SEAT = re.compile(r"(?P<site>.+)-seat-(?P<number>\d+)")
Topology = Annotated[
    str, typer.Argument(metavar="LAB", help="a shipped lab's name, or a topology file", autocompletion=complete.shipped)
]
LabName = Annotated[
    str | None, typer.Option("--lab", help="which lab, where more than one is up", autocompletion=complete.labs)
]
Seat = Annotated[int | None, typer.Option(help="of a class: the lab of this seat")]
Count = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[POOL=]N",
        help="how many nodes of a pool, in place of its count in the site's file; once a pool",
    ),
]
Node = Annotated[str, typer.Argument(autocompletion=complete.nodes)]
Overlay = Annotated[
    Path | None,
    typer.Option(help="folder of your own files: NODE/PATH takes the place of NODE's rendered /PATH"),
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on standard output, and nothing else there")]
Clock = Annotated[
    str | None, typer.Option(help="virtual, paced (UML lab host) or real (native)", autocompletion=complete.clocks)
]


def lab_of(lab: str | None, seat: int | None) -> str | None:
    """The name of a seat's lab, where one is asked for. BadInput where it is not there, or the lab is named, too."""
    if seat is None:
        return lab
    found = [one.name for one in host.every() if SEAT.fullmatch(one.name) and one.name.endswith(f"-{seat}")]
    if lab is not None or len(found) != 1:
        there = ", ".join(one.name for one in host.every() if SEAT.fullmatch(one.name)) or "none"
        raise BadInput(f"--seat {seat}: say it alone, for one of the seats that there are: {there}")
    return found[0]


def counts(file: Path, words: list[str] | None) -> dict[str, int] | None:
    """What --count says, as pool -> number of nodes; None where it says nothing, so that the site's file decides.

    A number alone is for the only pool whose nodes can be counted. BadInput where it is not clear what is counted.
    """
    found: dict[str, int] = {}
    for word in words or []:
        pool, _, number = word.rpartition("=")
        if not number.isdecimal():
            raise BadInput(f"--count {word}: say [POOL=]N, with a number for N")
        pool = pool or _only_pool(file, word)
        if pool in found:
            raise BadInput(f"--count {word}: {pool} is counted twice")
        found[pool] = int(number)
    return found or None


def _only_pool(file: Path, word: str) -> str:
    from causeway.model.load import counted_pools

    pools = counted_pools(file)
    if not pools:
        raise BadInput(f"--count {word}: {file} has no pool with a count; leave it out")
    if len(pools) > 1:
        raise BadInput(f"--count {word}: of which pool? Say {' or '.join(f'{pool}={word}' for pool in pools)}")
    return pools[0]


def pass_on(take: Callable[[], int]) -> None:
    """Outside a lab host: have `take` get the command done in one, and end with its exit code. Inside: go on."""
    if not host.inside():
        raise typer.Exit(take())


def pass_on_as_typed(context: typer.Context, lab: str | None, *, terminal: bool = False) -> None:
    """Pass the command on, word for word, into the host of the lab that is up."""

    def take() -> int:
        found = host.running(lab)
        return found.terminal(context.obj) if terminal else found.do(context.obj)

    pass_on(take)
