"""A class: a lab for each seat, all clones of one template, and the board that shows who is where."""

import html as escaping
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.live import Live

from causeway.cli import tables
from causeway.cli.command import SEAT
from causeway.cli.screen import out, print_json, progress, tell
from causeway.errors import BadInput
from causeway.folders import site_file
from causeway.hosts import asking, host, memory, uml
from causeway.hosts.labs import MOST_LABS
from causeway.hosts.uml import UmlHost
from causeway.lab.deploy import Deployment
from causeway.lessons import notes
from causeway.model.load import load_site

#: How often the board is drawn anew, in seconds.
_LOOK_S = 2
_STYLE = (
    "body{font:1.1em sans-serif;margin:2em}table{border-collapse:collapse}"
    "td,th{padding:.3em 1em;text-align:left;white-space:nowrap;border-bottom:1px solid #ccc}"
)


def begin(name: str, seats: int, start: Callable[[UmlHost, Callable[[], object]], int]) -> int:
    """Make a lab for each seat and have a lesson started in it; returns the highest exit code.

    BadInput, before any is made, where memory does not do for all of them, with the sum.
    """
    file = site_file(name)
    wanted, site = Deployment(file, None, None, "paced"), load_site(file)
    if host.choose("paced")[0] != "uml":
        raise BadInput("seats are clones, and this machine's own kernel makes none: they take a lab host of their own")
    if taken := [one.name for one in uml.all_hosts() if SEAT.fullmatch(one.name) and one.running()]:
        raise BadInput(f"there is a class already: {', '.join(taken)}; `causeway down` ends it")
    wish_mib = memory.seat_mib(len(site.nodes))
    _room_for(seats, wish_mib)
    with progress() as say:
        host.ensure_images(say)
    template, rc = host.template(wanted, site, tell, wish_mib)
    if rc:
        return rc
    tell(_room_for(seats, int(template.about["memory_mib"]) + template.ask(asking.ABOUT)["memory_mib"]))
    for seat in range(1, seats + 1):
        tell(f"seat {seat} of {seats}")
        with host.of_a_template(template, f"{site.name}-seat-{seat}", None, tell, stays=True) as lab:
            rc = max(rc, start(lab, lambda lab=lab: lab.ask(asking.STAY)))  # type: ignore[misc]
    tell("`causeway shell --seat 1 NODE` is a shell there, `causeway lab board` shows who is where")
    return rc


def _room_for(seats: int, mib: int) -> str:
    """How many seats there is room for, with the sum; BadInput where that is too few.

    A seat is a lab, and its beginning kept; how much that takes is known once there is a template.
    """
    found = memory.room()
    able = min(MOST_LABS, found.left_mib // mib)
    said = (
        f"a seat may take {mib} MiB, {found.left_mib} are left ({found.terms}): room for {able},"
        f" and {MOST_LABS} at most"
    )
    if able < seats:
        raise BadInput(f"--seats {seats}: {said}")
    return said


def board(html: Path | None, *, as_json: bool) -> None:
    """Show the board: as JSON or off a terminal once, on a terminal until interrupted. The file is kept as long."""
    if as_json:
        print_json(rows())
        return
    if not out.is_terminal:
        out.print(tables.board(rows()))
        _keep(html, rows())
        return
    # an interrupt is the way to end it
    with suppress(KeyboardInterrupt), Live(tables.board(rows()), console=out, refresh_per_second=1) as live:
        while True:
            _keep(html, found := rows())
            live.update(tables.board(found))
            time.sleep(_LOOK_S)


def rows() -> list[dict[str, Any]]:
    """What is noted of each lab in which a lesson is on."""
    found = []
    for one in uml.all_hosts():
        if one.running() and (on := notes.read(one.folder)):
            minutes = (datetime.now(UTC) - datetime.fromisoformat(on.started)).total_seconds() / 60
            found.append(
                {
                    "lab": one.name,
                    "lesson": on.name,
                    "task": on.task,
                    "tasks": on.tasks,
                    "done": on.task > on.tasks,
                    "passed": on.passed,
                    "hints": sum(on.hints.values()),
                    "checks": on.checks,
                    "resets": on.resets,
                    "solved": on.solved,
                    "since": f"{minutes:.0f} min",
                }
            )
    return sorted(found, key=lambda row: (len(str(row["lab"])), row["lab"]))


def _keep(html: Path | None, found: Sequence[dict[str, Any]]) -> None:
    if html is not None:
        new = html.with_name(f".{html.name}")
        new.write_text(page(found))
        new.replace(html)


def page(found: Sequence[dict[str, Any]]) -> str:
    """The board as one file, which a browser shows anew every few seconds."""
    table = tables.board(found)
    heads = "".join(f"<th>{escaping.escape(str(column.header))}</th>" for column in table.columns)
    cells = zip(*(list(column.cells) for column in table.columns), strict=True)
    lines = ["".join(f"<td>{escaping.escape(str(cell))}</td>" for cell in row) for row in cells]
    body = "\n".join(f"<tr>{line}</tr>" for line in [heads, *lines])
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="{_LOOK_S}">\n'
        f"<title>Who is where</title><style>{_STYLE}</style>\n<body><table>\n{body}\n</table></body></html>\n"
    )
