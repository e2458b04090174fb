"""The command for labs that have come up once and stay at rest, for others to be cloned of them."""

from datetime import datetime
from typing import Annotated

import typer

from causeway.cli import complete, tables
from causeway.cli.command import AsJson, pass_on
from causeway.cli.screen import out, print_json
from causeway.hosts import templates as kept


def templates(
    drop: Annotated[
        str | None,
        typer.Option(metavar="[LAB|all]", help="end those of a site, or all", autocompletion=complete.templates),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the templates: labs that have come up once on this machine, of which `up` and `run` make theirs."""
    pass_on(lambda: _show(drop, as_json=as_json))


def _show(drop: str | None, *, as_json: bool) -> int:
    if drop is not None:
        kept.drop(drop)
    rows = kept.rows()
    if as_json:
        print_json(rows)
    else:
        out.print(tables.templates([row | {part: _local(row[part]) for part in ("made", "used")} for row in rows]))
    return 0


def _local(when: str) -> str:
    return f"{datetime.fromisoformat(when).astimezone():%Y-%m-%d %H:%M:%S}"
