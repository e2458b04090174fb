"""The command that rehearses a change."""

from pathlib import Path
from typing import Annotated

import typer

from causeway.cli import tables
from causeway.cli.command import AsJson, Count, counts
from causeway.cli.screen import out, print_json
from causeway.errors import BadInput
from causeway.folders import site_file
from causeway.rehearse.change import read_change
from causeway.rehearse.predict import predict


def rehearse(
    site: Annotated[str, typer.Argument(metavar="SITE", help="a shipped site's name, or a site's file")],
    change: Annotated[
        Path,
        typer.Option(help="another version of the site's file, a patch of it, a folder of native files, or commands"),
    ],
    predicted: Annotated[bool, typer.Option("--predict", help="compute what it moves; start no lab")] = False,
    count: Count = None,
    as_json: AsJson = False,
) -> None:
    """Say what a change would move: who reaches whom, by what, how fast, and what would be missing.

    Exit codes: 0 no regression, 1 a regression, 2 bad input.
    """
    if not predicted:
        raise BadInput("say --predict; how a change is played in a lab, docs/rehearsing.md says")
    file = site_file(site)
    found = predict(read_change(file, counts(file, count), change), str(change))
    if as_json:
        print_json(found.as_data())
    else:
        for part in tables.prediction(found):
            out.print(part)
    raise typer.Exit(found.exit_code)
