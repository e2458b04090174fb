"""`causeway watch`: a lab, live in the terminal."""

import json
import sys
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Annotated, Any

import typer
from rich.live import Live
from rich.text import Text

from causeway import interrupts
from causeway.cli import board
from causeway.cli.command import LabName
from causeway.cli.inside import the_lab
from causeway.cli.screen import out, print_json, tell
from causeway.errors import LabBroken
from causeway.hosts import host
from causeway.hosts.host import LabHost
from causeway.hosts.uml import UmlHost
from causeway.lab.probes.glance import glances
from causeway.model.site import Site


def watch(
    lab: LabName = None,
    once: Annotated[bool, typer.Option("--once", help="one look, with the rates of a second")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON: a line a look; with --once one value")] = False,
) -> None:
    """Watch the lab that is up: nodes, channels, rates of links, mounts, faults that are in. Ctrl-C ends it.

    Whoever trains sees here which faults are in, and so does who is trained.
    """
    if host.inside():
        for glance in glances(the_lab(lab)):
            sys.stdout.write(json.dumps(glance, separators=(",", ":")) + "\n")
            sys.stdout.flush()
        return
    found = host.running(lab)
    site = found.site()
    try:
        with interrupts.raised(), closing(looks(found, site)) as seen:
            _show(seen, once=once, as_json=as_json)
    except KeyboardInterrupt:
        pass  # it is the way to end it
    except LabBroken:
        if not isinstance(found, UmlHost) or found.running():
            raise
        tell(f"{found.name} has ended")


def looks(found: LabHost, site: Site) -> Generator[dict[str, Any], None, None]:
    """One look after the other, from the second on, with the rates of links since the last one and in a minute."""
    rates = board.Rates(site)
    while True:
        with closing(found.lines(["watch", "--lab", site.name])) as lines:
            for line in lines:
                look = rates.add(json.loads(line))
                if look is not None:
                    yield look


def _show(seen: Iterator[dict[str, Any]], *, once: bool, as_json: bool) -> None:
    if once:
        look = next(seen)
        if as_json:
            print_json(look)
        else:
            out.print(_screen(look, height=None))
    elif as_json:
        for look in seen:
            sys.stdout.write(json.dumps(look) + "\n")
            sys.stdout.flush()
    elif out.is_terminal:
        with Live(Text("looking ..."), console=out, screen=True, auto_refresh=False) as live:
            for look in seen:
                live.update(_screen(look, out.height), refresh=True)
    else:
        for look in seen:
            out.print(_screen(look, height=None))


def _screen(look: dict[str, Any], height: int | None) -> Text:
    return Text("\n", no_wrap=True, overflow="crop").join(board.lines(look, out.width, height))
